"""`intaglio.overhead`: which path recognises a call, and that the times are of that call."""

import pytest

import intaglio
from intaglio import tf


@pytest.mark.parametrize(
    ("value", "shape", "path"),
    [(tf.constant(1.0), [], "machine code"), ([1.0, 2.0], [2], "binding and cache")],
)
def test_path(value: object, shape: list[int], path: str) -> None:
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec(shape)], jit_compile=True)
    found = intaglio.overhead(f, value)
    assert found.path == path
    assert found.call > 0 and found.graph > 0 and found.seconds >= 0
    assert path in str(found)


def test_variables_and_keywords() -> None:
    v = tf.Variable(1.0)
    found = intaglio.overhead(lambda x, by: v * x * by, tf.constant(1.0), by=tf.constant(2.0))
    assert found.path in ("machine code", "generated Python")


def test_what_cannot_be_called() -> None:
    with pytest.raises(TypeError, match="expected a function"):
        intaglio.overhead(3)
