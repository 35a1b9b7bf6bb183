"""`dir(tf)`, which editors and notebooks complete from, has TensorFlow's names and no others.

`tests/parity/api_symbols.txt` has the names, as TensorFlow's documentation lists them.
"""

from __future__ import annotations

import collections
import types
from typing import Any

import pytest

from docs import coverage
from intaglio import tf

# What Python gives every module, and what TensorFlow has without documenting it.
UNDOCUMENTED = {
    "tf": {"__internal__", "__operators__", "compat", "tpu", *tf.KERAS},
    "tf.types.experimental": {"TracingContext"},
    # Ops of our own, which graphs that are saved name; and one of TensorFlow's that has no function there.
    "tf.raw_ops": {
        "IteratorHasNext",
        "PythonGeneratorDataset",
        "RandomChoicesDataset",
        "XlaCallModule",
    },
}


def namespaces() -> dict[str, set[str]]:
    """The documented names of each module that is there, by its name."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for name, _ in coverage.documented():
        parts = name.split(".")
        for i in range(1, len(parts)):
            found[".".join(parts[:i])].add(parts[i])
    here = {name: names for name, names in found.items() if not name.startswith("tf.keras")}
    return {n: names for n, names in here.items() if isinstance(resolved(n), types.ModuleType)}


def resolved(name: str) -> Any:
    found: Any = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


NAMESPACES = namespaces()


def test_the_names_are_those_of_many_modules() -> None:
    assert len(NAMESPACES) > 40 and {"tf", "tf.data", "tf.raw_ops", "tf.io.gfile"} <= set(
        NAMESPACES
    )


@pytest.mark.parametrize("name", NAMESPACES)
def test_a_module_lists_tensorflows_names(name: str) -> None:
    module = resolved(name)
    listed = set(dir(module))
    own = {n for n in listed if n.startswith("__") and hasattr(types.ModuleType(""), n)}
    own |= {"__builtins__", "__cached__", "__file__", "__path__", "__version__"}
    strangers = listed - NAMESPACES[name] - own - UNDOCUMENTED.get(name, set())
    assert not strangers
    hidden = {n for n in NAMESPACES[name] - listed if n != "keras" and hasattr(module, n)}
    assert not hidden


def test_what_is_imported_later_and_keras_are_listed() -> None:
    assert {"audio", "RaggedTensor", "keras", "losses", "constant"} <= set(dir(tf))
