"""`ops._gradient_registry`, whose functions shap replaces while it explains a model; answers are TensorFlow 2.21's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.tensorflow_name.gradient_registry import REGISTRY
from intaglio.tensorflow_name.names import PRIVATE

X = np.array([[-1.0, 2.0], [3.0, -4.0]], np.float32)


def _gradient(f: Callable[[Any], Any], graph: bool) -> Any:
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return (tf.function(run) if graph else run)(tf.constant(X)).numpy()


def test_the_registry_is_found_under_its_private_name() -> None:
    assert PRIVATE["python.framework.ops"]["_gradient_registry"].endswith(":REGISTRY")


def test_ops_with_a_gradient_and_those_without_one_on_purpose_are_in_it() -> None:
    assert callable(REGISTRY.lookup("MatMul"))
    assert REGISTRY.lookup("Shape") is None
    assert {"Relu", "Shape"} <= set(REGISTRY.list())
    assert "PartitionedCall" not in REGISTRY._registry
    with pytest.raises(LookupError, match="gradient registry has no entry for: Foo"):
        REGISTRY.lookup("Foo")
    with pytest.raises(KeyError, match="Registering two gradient with name 'Relu'!"):
        REGISTRY.register(lambda op, dy: dy, "Relu")


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("Relu", tf.nn.relu),
        ("Maximum", lambda x: tf.maximum(x, 0.5)),
        ("MatMul", lambda x: tf.matmul(x, x, transpose_b=True)),
        ("Split", lambda x: tf.split(x, 2, axis=1)[1]),
        ("Softmax", tf.nn.softmax),
        ("Mul", lambda x: x * tf.ones([2])),
    ],
)
def test_an_override_may_call_the_overridden_gradient(
    name: str, f: Callable[[Any], Any], graph: bool
) -> None:
    usual = _gradient(f, graph)
    entries = REGISTRY._registry
    own = entries[name]["type"]
    asked: list[str] = []

    def doubled(op: Any, *grads: Any) -> Any:
        asked.append(op.type)
        found = own(op, *grads)
        several = isinstance(found, (list, tuple))
        parts = [None if g is None else 2.0 * g for g in (found if several else [found])]
        return parts if several else parts[0]

    entries[name]["type"] = doubled
    try:
        replaced = _gradient(f, graph)
    finally:
        entries[name]["type"] = own
    assert asked == [name]
    np.testing.assert_array_equal(replaced, 2 * usual)
    np.testing.assert_array_equal(_gradient(f, graph), usual)
    assert entries[name]["type"] is own


def test_names_are_added_and_removed() -> None:
    entries = REGISTRY._registry
    entries["shap_Relu"] = {"type": lambda op, dy: dy, "location": None}
    assert "shap_Relu" in entries
    del entries["shap_Relu"]
    assert "shap_Relu" not in entries
    with pytest.raises(KeyError):
        del entries["shap_Relu"]
