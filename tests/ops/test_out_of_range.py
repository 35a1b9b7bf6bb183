"""Numbers and indices out of range: what docs/compiler.md says, eagerly, in graphs and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "graph": tf.function,
    "jit": lambda f: tf.function(f, jit_compile=True),
}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# Of which 2 are ordinary.
NUMBERS = [np.inf, -np.inf, np.nan, 1e30, -1e30, 2.0**63, 1.5, -1.5]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return MODES[request.param]


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("target", INTEGERS)
def test_casts(mode: Callable[[Any], Any], source: str, target: str) -> None:
    x = tf.cast(tf.constant(NUMBERS, tf.float64), source)
    got = mode(lambda x: tf.cast(x, target))(x).numpy()
    bits = got.dtype.itemsize * 8
    lost = np.array([1 << bits - 1 if bits >= 32 else 0]).astype(np.uint64).astype(target)[0]
    assert got[:5].tolist() == [lost] * 5
    assert got[6:].tolist() == [1, np.array([-1]).astype(target)[0]]


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("target", [*INTEGERS, "float16", "bfloat16", "float32", "float64"])
def test_saturating_casts(mode: Callable[[Any], Any], source: str, target: str) -> None:
    own, wanted = tf.as_dtype(source), tf.as_dtype(target)
    x = tf.cast(tf.constant([np.inf, -np.inf, 1.5], tf.float64), source)
    high, low, plain = mode(lambda x: tf.saturate_cast(x, target))(x).numpy().tolist()
    assert plain == (1 if wanted.is_integer else 1.5)
    for found, ends in ((high, (own.max, wanted.max)), (low, (own.min, wanted.min))):
        nearest = min([float(v) for v in ends], key=abs)
        # Both dtypes have it: it may be a step of the source below the end of the target.
        assert abs(found) <= abs(float(wanted.max if found > 0 else wanted.min))
        assert found == pytest.approx(nearest, rel=8e-3)
        if wanted.is_integer:
            assert float(own.as_numpy_dtype(float(found))) == found


PARAMS = tf.reshape(tf.range(6.0), [3, 2])
UPDATES = tf.ones([2, 2])
INDEXED: dict[str, Callable[[tf.Tensor], Any]] = {
    "gather": lambda i: tf.gather(PARAMS, i),
    "gather along": lambda i: tf.gather(PARAMS, i, axis=1),
    "gather_nd": lambda i: tf.gather_nd(PARAMS, i[:, None]),
    "embedding_lookup": lambda i: tf.nn.embedding_lookup(PARAMS, i),
    "scatter_nd": lambda i: tf.scatter_nd(i[:, None], UPDATES, [3, 2]),
    "scatter add": lambda i: tf.tensor_scatter_nd_add(PARAMS, i[:, None], UPDATES),
    "scatter update": lambda i: tf.tensor_scatter_nd_update(PARAMS, i[:, None], UPDATES),
    "permutation": tf.math.invert_permutation,
    "labels": lambda i: tf.nn.sparse_softmax_cross_entropy_with_logits(i, tf.ones([2, 3])),
    "slice": lambda i: tf.slice(PARAMS, [i[1], 0], [1, 1]),
}


@pytest.mark.parametrize("index", [3, -1, 1000, -(2**31)])
@pytest.mark.parametrize("name", INDEXED)
def test_indices(mode: Callable[[Any], Any], name: str, index: int) -> None:
    run = mode(INDEXED[name])
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.constant([0, index]))
    run(tf.constant([0, 1]))


def test_a_variable_stays_as_it_was(mode: Callable[[Any], Any]) -> None:
    variable = tf.Variable(tf.zeros([3]))

    def scatter(i: tf.Tensor) -> None:
        variable.scatter_nd_add(i, [1.0, 2.0])

    run = mode(scatter)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.constant([[3], [-1]]))
    run(tf.constant([[0], [2]]))
    assert variable.numpy().tolist() == [1.0, 0.0, 2.0]


@pytest.mark.parametrize("index", [-1, -5])
def test_dropped_segments(mode: Callable[[Any], Any], index: int) -> None:
    run = mode(lambda i: tf.math.unsorted_segment_sum(UPDATES, i, 2))
    assert run(tf.constant([1, index])).numpy().tolist() == [[0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.constant([1, 2]))


@pytest.mark.parametrize("index", [3, -1, -7])
def test_one_hot(mode: Callable[[Any], Any], index: int) -> None:
    assert mode(lambda i: tf.one_hot(i, 3))(tf.constant(index)).numpy().tolist() == [0.0] * 3


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("index", [-1, -32768])
def test_negative_indices_of_16_bits_into_many_rows(
    mode: Callable[[Any], Any], depth: int, index: int
) -> None:
    """As unsigned numbers they are less than the number of rows."""
    rows = tf.zeros([70_000, *[2] * (depth - 1)])
    indices = tf.constant([[index, 1][:depth]], tf.int16)
    calls: list[Callable[[Any], Any]] = [
        lambda i: tf.gather_nd(rows, i),
        lambda i: tf.tensor_scatter_nd_update(rows, i, [5.0]),
    ]
    for call in calls:
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
            mode(call)(indices)
