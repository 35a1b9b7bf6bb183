"""The calls of calls.txt give in a graph, with arguments of unknown dimensions, what they give eagerly."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.numpy_api import record
from tests.numpy_api.test_answers import ANSWERS

tnp = tf.experimental.numpy

# What gives Python values, types, or tensors of a number that a graph would not know.
_NOT_TENSORS = re.compile(
    r"type|info|shape|size|ndim|numpy\(\)|list|len|Variable|isscalar|obj|tf\.constant\(\[1,3\]\)"
)
CALLS = [
    call
    for call in record.calls()
    if ANSWERS[call][0] == "value"
    and "tf.Tensor" in ANSWERS[call][1]
    and not _NOT_TENSORS.search(call)
]
_LITERAL = re.compile(r"tf\.(?:constant|ones)\((?:[^()]|\([^()]*\))*\)")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("numpy_behavior")
@pytest.mark.parametrize("call", CALLS)
def test_call(call: str) -> None:
    space: dict[str, Any] = {"tf": tf, "np": np, "tnp": tnp}
    space["x"] = tf.constant([[1, 2], [3, 4]])
    wanted = eval(call, dict(space))
    tensors: list[Any] = []

    def lift(found: re.Match[str]) -> str:
        """A tensor in the call becomes an argument of the graph."""
        tensors.append(eval(found[0], dict(space)))
        return f"_{len(tensors) - 1}"

    text = _LITERAL.sub(lift, call)

    def program(*args: Any) -> Any:
        return eval(text, {**space, **{f"_{i}": a for i, a in enumerate(args)}})

    specs = [tf.TensorSpec([None] * t.shape.rank, t.dtype) for t in tensors]
    got = tf.function(program, input_signature=specs)(*tensors)
    for mine, theirs in zip(tf.nest.flatten(got), tf.nest.flatten(wanted), strict=True):
        assert mine.dtype is theirs.dtype and mine.shape == theirs.shape
        if theirs.dtype.is_floating or theirs.dtype.is_complex:
            pair = (np.asarray(t).astype(complex) for t in (mine, theirs))
            np.testing.assert_allclose(*pair, rtol=1e-5)
        else:
            assert np.all(mine.numpy() == theirs.numpy())


def test_cuts_that_are_not_static() -> None:
    spec = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([2], tf.int32)]
    cut = tf.function(lambda x, at: tnp.split(x, at), input_signature=spec)
    parts = cut(tf.range(5), tf.constant([1, 3]))
    assert [p.numpy().tolist() for p in parts] == [[0], [1, 2], [3, 4]]
    spec = [tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32)]
    with pytest.raises(ValueError, match="known while tracing"):
        tf.function(lambda x, at: tnp.split(x, at), input_signature=spec)(
            tf.range(5), tf.constant([1, 3])
        )


def test_a_stacked_tensor_of_unknown_length() -> None:
    spec = [tf.TensorSpec([None, 2], tf.float32)]
    stacked = tf.function(lambda x: tnp.stack(x, axis=1), input_signature=spec)
    assert stacked(tf.ones([3, 2])).shape == (2, 3)
