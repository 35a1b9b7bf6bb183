"""A function of a ragged tensor gives, row by row, what it gives of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf

numbers = st.integers(-9, 9)
matrices = st.lists(st.lists(numbers, max_size=4), min_size=1, max_size=5)
cubes = st.lists(st.lists(st.lists(numbers, max_size=3), max_size=3), min_size=1, max_size=3)


def ragged(rows: list[Any], ragged_rank: int = 1) -> Any:
    return tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=ragged_rank)


def plain(value: Any) -> Any:
    """A result as nested lists."""
    return value.to_list() if hasattr(value, "to_list") else value.numpy().tolist()


BY_ROW: list[tuple[str, Callable[[Any], Any]]] = [
    ("negative", lambda x: -x),
    ("square", tf.square),
    ("plus", lambda x: x + 3),
    ("compare", lambda x: x > 2),
    ("cast", lambda x: tf.cast(x, tf.float32) / 2),
    ("clip", lambda x: tf.clip_by_value(x, -2, 2)),
    ("zeros", tf.zeros_like),
    ("where", lambda x: tf.where(x > 0, x, -x)),
]


@pytest.mark.parametrize("function", [f for _, f in BY_ROW], ids=[n for n, _ in BY_ROW])
@given(rows=matrices)
def test_elementwise(function: Callable[[Any], Any], rows: list[list[int]]) -> None:
    expected = [plain(function(tf.constant(row, tf.int32))) for row in rows]
    assert plain(function(ragged(rows))) == expected


REDUCTIONS = [tf.reduce_sum, tf.reduce_prod, tf.reduce_max, tf.reduce_min]


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@given(rows=matrices)
def test_reductions_of_rows(function: Any, rows: list[list[int]]) -> None:
    found = plain(function(ragged(rows), axis=1))
    expected = [plain(function(tf.constant(row, tf.int32))) for row in rows]
    assert found == expected


@given(rows=matrices)
def test_reductions_of_columns(rows: list[list[int]]) -> None:
    width = max(len(row) for row in rows)
    columns = [[row[i] for row in rows if len(row) > i] for i in range(width)]
    assert plain(tf.reduce_sum(ragged(rows), 0)) == [sum(c) for c in columns]
    assert plain(tf.reduce_max(ragged(rows), 0)) == [max(c) for c in columns]


@given(cube=cubes, axis=st.integers(0, 2))
def test_nested_reductions(cube: list[list[list[int]]], axis: int) -> None:
    found = plain(tf.reduce_sum(ragged(cube, 2), axis=axis))
    if axis == 2:
        expected: Any = [[sum(row) for row in table] for table in cube]
    elif axis == 1:
        expected = [plain(tf.reduce_sum(ragged(table), 0)) if table else [] for table in cube]
    else:
        depth = max(len(table) for table in cube)
        layers = [[t[i] for t in cube if len(t) > i] for i in range(depth)]
        expected = [plain(tf.reduce_sum(ragged(layer), 0)) for layer in layers]
    assert found == expected


slices = st.builds(
    slice,
    st.none() | st.integers(-5, 5),
    st.none() | st.integers(-5, 5),
    st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]),
)


@given(rows=matrices, outer=slices, inner=slices)
def test_slices(rows: list[list[int]], outer: slice, inner: slice) -> None:
    assert plain(ragged(rows)[outer, inner]) == [row[inner] for row in rows[outer]]


@given(cube=cubes, outer=slices, middle=slices, inner=slices)
def test_slices_of_nested_rows(
    cube: list[list[list[int]]], outer: slice, middle: slice, inner: slice
) -> None:
    expected = [[row[inner] for row in table[middle]] for table in cube[outer]]
    assert plain(ragged(cube, 2)[outer, middle, inner]) == expected


@given(rows=matrices, data=st.data())
def test_concat_and_stack(rows: list[list[int]], data: Any) -> None:
    other = data.draw(
        st.lists(st.lists(numbers, max_size=3), min_size=len(rows), max_size=len(rows))
    )
    x, y = ragged(rows), ragged(other)
    assert plain(tf.concat([x, y], 0)) == rows + other
    assert plain(tf.concat([x, y], 1)) == [a + b for a, b in zip(rows, other, strict=True)]
    assert plain(tf.stack([x, y])) == [rows, other]
    pairs = [[a, b] for a, b in zip(rows, other, strict=True)]
    assert plain(tf.stack([x, y], axis=1)) == pairs


@given(rows=matrices, across=st.integers(0, 3), down=st.integers(0, 3))
def test_tile(rows: list[list[int]], across: int, down: int) -> None:
    expected = [row * across for row in rows] * down
    assert plain(tf.tile(ragged(rows), [down, across])) == expected


@given(rows=matrices, data=st.data())
def test_gather(rows: list[list[int]], data: Any) -> None:
    picks = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5))
    indices = tf.constant(picks, tf.int32)
    assert plain(tf.gather(ragged(rows), indices)) == [rows[i] for i in picks]
    places = [
        data.draw(st.lists(st.integers(0, len(row) - 1), max_size=3)) if row else [] for row in rows
    ]
    found = plain(tf.gather(ragged(rows), ragged(places), batch_dims=1))
    assert found == [[r[i] for i in p] for r, p in zip(rows, places, strict=True)]


@given(rows=matrices, data=st.data())
def test_boolean_mask(rows: list[list[int]], data: Any) -> None:
    mask = [[data.draw(st.booleans()) for _ in row] for row in rows]
    found = tf.ragged.boolean_mask(
        ragged(rows), tf.ragged.constant(mask, dtype=tf.bool, ragged_rank=1)
    )
    kept = [[v for v, m in zip(r, ms, strict=True) if m] for r, ms in zip(rows, mask, strict=True)]
    assert plain(found) == kept


@given(rows=matrices)
def test_running_sums_and_reverse(rows: list[list[int]]) -> None:
    x = ragged(rows)
    assert plain(tf.cumsum(x, axis=1)) == [np.cumsum(r).tolist() for r in rows]
    assert plain(tf.reverse(x, [0, 1])) == [r[::-1] for r in rows[::-1]]


@given(rows=matrices, column=st.data())
def test_broadcasting(rows: list[list[int]], column: Any) -> None:
    values = [column.draw(numbers) for _ in rows]
    expected = [[v + n for v in row] for row, n in zip(rows, values, strict=True)]
    by_column = tf.constant(values, tf.int32)[:, tf.newaxis]
    assert plain(ragged(rows) + by_column) == expected
    assert plain(by_column + ragged(rows)) == expected


@given(rows=matrices)
def test_to_tensor_and_back(rows: list[list[int]]) -> None:
    x = ragged(rows)
    dense = x.to_tensor(default_value=-99)
    width = max(len(row) for row in rows)
    assert dense.numpy().tolist() == [r + [-99] * (width - len(r)) for r in rows]
    back = tf.RaggedTensor.from_tensor(dense, lengths=x.row_lengths())
    assert plain(back) == rows
    assert plain(tf.RaggedTensor.from_tensor(dense, padding=-99)) == rows


@given(cube=cubes)
def test_padding_of_unknown_rank_is_left_out(cube: list[list[list[int]]]) -> None:
    dense = ragged(cube, 2).to_tensor(default_value=-99)
    rows = tf.reshape(dense, [dense.shape[0], dense.shape[1] * dense.shape[2]])
    for x, ragged_rank in ((dense, 1), (dense, 2), (rows, 1)):
        padding = tf.fill(x.shape[ragged_rank + 1 :], -99)

        def unpadded(t: Any, padding: Any = padding, ragged_rank: int = ragged_rank) -> Any:
            return tf.RaggedTensor.from_tensor(t, padding=padding, ragged_rank=ragged_rank)

        traced = tf.function(unpadded, [tf.TensorSpec(None, x.dtype)], autograph=False)
        found, expected = traced(x), unpadded(x)
        assert found.ragged_rank == ragged_rank
        assert plain(found) == plain(expected)


@given(cube=cubes)
def test_partitions_say_the_same(cube: list[list[list[int]]]) -> None:
    x = ragged(cube, 2)
    kinds = [
        tf.RaggedTensor.from_nested_row_splits(x.flat_values, x.nested_row_splits),
        tf.RaggedTensor.from_nested_row_lengths(x.flat_values, x.nested_row_lengths()),
        tf.RaggedTensor.from_nested_value_rowids(
            x.flat_values, x.nested_value_rowids(), [p.nrows() for p in (x, x.values)]
        ),
    ]
    assert [plain(k) for k in kinds] == [cube] * 3


@given(rows=matrices)
def test_graph_gives_what_eager_gives(rows: list[list[int]]) -> None:
    def program(x: Any) -> Any:
        y = x * 2 + x[:, :1].to_tensor(shape=[None, 1])
        return tf.concat([y, x], 1), tf.reduce_sum(y, 1), y[::2, 1:], tf.stack([x, y])

    anything = tf.RaggedTensorSpec([None, None], tf.int32)
    traced = tf.function(program, input_signature=[anything])
    x = ragged(rows)
    now, later = program(x), traced(x)
    assert [plain(v) for v in now] == [plain(v) for v in later]


@given(rows=st.lists(st.lists(st.floats(-2, 2, width=32), max_size=3), min_size=1, max_size=4))
def test_gradients_are_those_of_the_rows(rows: list[list[float]]) -> None:
    x = tf.ragged.constant(rows, dtype=tf.float64, ragged_rank=1)
    with tf.GradientTape() as tape:
        tape.watch(x.flat_values)
        y = tf.reduce_sum(tf.reduce_sum(x * x, 1) ** 2) + tf.reduce_sum(x.to_tensor() ** 3)
    found = tape.gradient(y, x)
    flat = [v for row in rows for v in row]
    sums = [sum(v * v for v in row) for row in rows for _ in row]
    expected = [4 * s * v + 3 * v * v for s, v in zip(sums, flat, strict=True)]
    np.testing.assert_allclose(found.flat_values.numpy(), expected, rtol=1e-9, atol=1e-9)
