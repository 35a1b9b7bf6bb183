"""The examples in the docstrings of whole namespaces give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
from typing import Any

import numpy as np
import pytest

import intaglio
from docs import coverage
from intaglio import tf
from intaglio.base.devices import reset_devices
from intaglio.numpy_api import np_config
from tests.architecture.sources import PACKAGE, ROOT, text_of
from tests.printing import Checker

# Modules whose examples have effects that last, and who runs them.
LASTING = {"intaglio.tensorflow_name.names": "an import hook: tests/tensorflow_name"}
# Every other module of the package with an example.
MODULES = [
    name
    for path in PACKAGE
    if ">>> " in text_of(path)
    for name in [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")]
    if name not in LASTING
]


# Public functions without an example, and why.
SILENT = {
    "tf.autograph.experimental.set_loop_options": "for loops of functions whose source is known",
    "tf.autograph.to_code": "of functions whose source is known",
    "tf.autograph.to_graph": "of functions whose source is known",
    "tf.data.experimental.enable_debug_mode": "holds until the program ends",
    "tf.data.experimental.make_saveable_from_iterator": "not done here",
    "tf.debugging.experimental.enable_dump_debug_info": "not done here",
    "tf.experimental.dtensor.create_distributed_mesh": "holds until the program ends",
    "tf.experimental.dtensor.initialize_accelerator_system": "holds until the program ends",
    "tf.experimental.dtensor.initialize_multi_client": "holds until the program ends",
    "tf.experimental.dtensor.initialize_tpu_system": "holds until the program ends",
    "tf.experimental.dtensor.shutdown_accelerator_system": "holds until the program ends",
    "tf.experimental.dtensor.shutdown_tpu_system": "holds until the program ends",
}


def _tried(module, names):
    runner = doctest.DocTestRunner(Checker())
    for example in doctest.DocTestFinder().find(module, globs=names):
        runner.run(example)
    return runner.summarize(verbose=False)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {
        "tf": tf,
        "intaglio": intaglio,
        "np": np,
        "tnp": tf.experimental.numpy,
        "__name__": name,
    }
    try:
        tried = _tried(module, names)
    finally:
        np_config.disable_numpy_behavior()
        reset_devices()  # an example divides the host
    assert not tried.failed


def _functions() -> dict[str, Any]:
    """The public functions with a documented name of TensorFlow's, but for methods."""
    found: dict[str, Any] = {}
    for name, _ in coverage.documented():
        parent, value = name.rpartition(".")[0], coverage.find(name)
        if inspect.isfunction(value) and not inspect.isclass(coverage.find(parent)):
            found[name] = value
    return found


def test_every_public_function_has_an_example():
    functions = _functions()
    assert len(functions) > 1000
    stubs = coverage.stubs()
    silent = [
        name
        for name, value in functions.items()
        if ">>>" not in (value.__doc__ or "") and name not in stubs
    ]
    assert sorted(silent) == sorted(SILENT)


ELSEWHERE = {
    name: value
    for name, value in _functions().items()
    if inspect.unwrap(value).__module__ not in MODULES and ">>>" in (value.__doc__ or "")
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_examples_in_other_modules(name):
    names = {"tf": tf, "np": np}
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(ELSEWHERE[name]) or "", names, name, None, 0
    )
    try:
        failed, tried = doctest.DocTestRunner(Checker()).run(example)
    finally:
        np_config.disable_numpy_behavior()
    assert tried
    assert not failed
