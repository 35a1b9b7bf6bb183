"""The examples in the docstrings of whole namespaces give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pytest

from docs import coverage
from intaglio import feature_columns, linear_operators, numpy_api, tf
from intaglio.composite_ops import array, image, linalg, math, nn, random, signal
from intaglio.numpy_api import np_config
from tests.printing import Checker

PACKAGES = [
    feature_columns,
    linear_operators,
    numpy_api,
    array,
    linalg,
    image,
    math,
    nn,
    random,
    signal,
    tf.io,
    tf.linalg,
    tf.lookup,
    tf.math,
    tf.nn,
    tf.profiler,
    tf.quantization,
    tf.ragged,
    tf.random,
    tf.saved_model,
    tf.sparse,
    tf.summary,
    tf.test,
    tf.train,
]
MODULES = [
    f"{package.__name__}.{found.name}"
    for package in PACKAGES
    for found in pkgutil.iter_modules(package.__path__)
    if found.name != "experimental"
] + [
    "intaglio.sparse.arithmetic",
    "intaglio.sparse.arranging",
    "intaglio.sparse.crosses",
    "intaglio.ragged.sparse_counting",
    "intaglio.tf.sets",
    "intaglio.tf.edit_distances",
    "intaglio.ragged.sparse_embeddings",
    "intaglio.example_parsing.examples",
    "intaglio.tf.io.sparse_strings",
    "intaglio.tf.data.tables",
    "intaglio.tf.batching",
    "intaglio.tf.config",
    "intaglio.tf.config.experimental",
    "intaglio.tf.config.optimizer",
    "intaglio.tf.config.threading",
    "intaglio.tf.data.records",
    "intaglio.tf.data.transformations",
    "intaglio.composite_ops.printing",
    "intaglio.tf.sysconfig",
    "intaglio.tf.types.distributed",
    "intaglio.tf.audio",
    "intaglio.tf.bitwise",
    "intaglio.tf.control_flow",
    "intaglio.tf.convolution_gradients",
    "intaglio.tf.debugging",
    "intaglio.tf.diagonals",
    "intaglio.composite_ops.array.indexing",
    "intaglio.tf.python_functions",
    "intaglio.tf.queue",
    "intaglio.tf.strings",
    "intaglio.tf.tensor_protos",
    "intaglio.base.nest",
    "intaglio.saved_model.checkpoint",
    "intaglio.saved_model.fingerprint",
    "intaglio.saved_model.sharding",
    "intaglio.saved_model.views",
    "intaglio.state.python_state",
    "intaglio.state.trackable_resource",
]


# Public functions without an example, and why.
SILENT = {
    "tf.autograph.experimental.set_loop_options": "for loops of functions whose source is known",
    "tf.autograph.to_code": "of functions whose source is known",
    "tf.autograph.to_graph": "of functions whose source is known",
    "tf.data.experimental.enable_debug_mode": "holds until the program ends",
    "tf.data.experimental.make_saveable_from_iterator": "not done here",
    "tf.debugging.experimental.enable_dump_debug_info": "not done here",
}


def _tried(module, names):
    runner = doctest.DocTestRunner(Checker())
    for example in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(example)
    return runner.summarize(verbose=False)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {"tf": tf, "np": np, "tnp": tf.experimental.numpy}
    try:
        tried = _tried(module, names)
    finally:
        np_config.disable_numpy_behavior()
    assert not tried.failed
    public = [n for n in getattr(module, "__all__", ()) if inspect.isfunction(getattr(module, n))]
    silent = [n for n in public if ">>>" not in (getattr(module, n).__doc__ or "")]
    assert not silent


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
