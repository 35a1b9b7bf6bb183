"""Gathering along inner axes, and products of deep batches. TensorFlow 2.21 was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

ROWS = [["a", "b", "c"], ["d"], ["e", "f"]]
CUBE = np.arange(24).reshape(2, 3, 4)
INDICES = [[0, 1], [2]]

GATHERED: list[tuple[Any, Any, dict[str, int], Any, list[int | None]]] = [
    (
        CUBE,
        INDICES,
        {"axis": 1},
        [[CUBE[i, [0, 1]].tolist(), CUBE[i, [2]].tolist()] for i in range(2)],
        [2, 2, None, 4],
    ),
    (
        CUBE,
        INDICES,
        {"axis": -1},
        [[[row[[0, 1]].tolist(), row[[2]].tolist()] for row in m] for m in CUBE],
        [2, 3, 2, None],
    ),
    (
        CUBE,
        INDICES,
        {"axis": 2, "batch_dims": 1},
        [[row[own].tolist() for row in m] for m, own in zip(CUBE, INDICES, strict=True)],
        [2, 3, None],
    ),
    (
        CUBE,
        [[[0], [1, 2]], [[2]]],
        {"axis": 2, "batch_dims": 1},
        [[[[0], [1, 2]], [[4], [5, 6]], [[8], [9, 10]]], [[[14]], [[18]], [[22]]]],
        [2, 3, None, None],
    ),
    (
        [[1, 2, 3], [4, 5, 6, 7]],
        [[0, 2], [1]],
        {"axis": 1},
        [[[1, 3], [2]], [[4, 6], [5]]],
        [2, 2, None],
    ),
    (
        [[[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 0]]],
        [[1], [0, 0]],
        {"axis": 2, "batch_dims": 1},
        [[[2], [4]], [[5, 5], [7, 7], [9, 9]]],
        [2, None, None],
    ),
]


def _made(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else tf.ragged.constant(value)


@pytest.mark.parametrize("case", range(len(GATHERED)))
def test_gather(case: int) -> None:
    params, indices, where, wanted, shape = GATHERED[case]
    params, indices = _made(params), _made(indices)
    found = tf.gather(params, indices, **where)
    assert found.to_list() == wanted
    assert found.shape.as_list() == shape

    @tf.function
    def traced(p, i):
        return tf.gather(p, i, **where)

    assert traced(params, indices).to_list() == wanted


def test_gather_in_dense_inner_dimensions() -> None:
    params = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    assert tf.gather(params, [1, 0], axis=2).to_list() == [[[2, 1], [4, 3]], [[6, 5]]]


def test_gather_looks_at_each_row() -> None:
    """TensorFlow reads from the next rows here."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="inside their rows"):
        tf.gather(tf.ragged.constant(ROWS), tf.ragged.constant([[0], [1]]), axis=1)


def test_gather_has_gradients() -> None:
    params = tf.constant(CUBE, tf.float64)
    indices = tf.ragged.constant([[0, 1, 1], [3]])
    with tf.GradientTape() as tape:
        tape.watch(params)
        found = tf.gather(params, indices, axis=2, batch_dims=1)
        loss = tf.reduce_sum(found * found)
    by = tape.gradient(loss, params).numpy()
    assert by[0].tolist() == (2 * CUBE[0] * [1, 2, 0, 0]).tolist()
    assert by[1].tolist() == (2 * CUBE[1] * [0, 0, 0, 1]).tolist()


@pytest.mark.parametrize("traced", [False, True])
def test_gather_nd_without_coordinates(traced: bool) -> None:
    rows = tf.ragged.constant(ROWS)
    run = tf.function(tf.gather_nd) if traced else tf.gather_nd
    whole = [[b"a", b"b", b"c"], [b"d"], [b"e", b"f"]]
    assert run(rows, tf.zeros([0], tf.int32)).to_list() == whole
    assert run(rows, tf.zeros([2, 0], tf.int32)).to_list() == [whole] * 2
    assert run(rows, tf.zeros([2, 1, 0], tf.int32)).to_list() == [[whole]] * 2


QUADS = [[[[1.0, 2.0], [3.0, 1.0]], [[3.0, 4.0], [1.0, 1.0]]], [[[5.0, 6.0], [1.0, 1.0]]]]
COLUMNS = [[[[1.0], [1.0]], [[2.0], [2.0]]], [[[3.0], [3.0]]]]


@pytest.mark.parametrize("ranks", [(1, 1), (1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("traced", [False, True])
def test_matmul_of_deep_batches(ranks: tuple[int, int], traced: bool) -> None:
    a = tf.ragged.constant(QUADS, ragged_rank=ranks[0])
    b = tf.ragged.constant(COLUMNS, ragged_rank=ranks[1])
    run = tf.function(tf.matmul) if traced else tf.matmul
    wanted = [
        [(np.array(x) @ np.array(y)).tolist() for x, y in zip(xs, ys, strict=True)]
        for xs, ys in zip(QUADS, COLUMNS, strict=True)
    ]
    assert run(a, b).to_list() == wanted


def test_matmul_of_a_ragged_and_a_dense_batch() -> None:
    a = tf.ragged.constant([QUADS[0], QUADS[0]], ragged_rank=1)
    b = tf.constant([COLUMNS[0], COLUMNS[0]])
    product = tf.matmul(a, b).to_list()
    assert product == [[[[3.0], [4.0]], [[14.0], [4.0]]]] * 2
    assert tf.matmul(b, a, transpose_a=True).shape.as_list() == [2, 2, 1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch dimensions"):
        tf.matmul(tf.ragged.constant(QUADS, ragged_rank=1), b)
