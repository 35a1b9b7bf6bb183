"""Results with as many rows as data says: those of Python, in arrays that are long enough, and their shapes."""

from __future__ import annotations

import pathlib
import shutil
import warnings
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def compare(
    function: Any, folder: pathlib.Path, *calls: tuple[Any, ...], name: str = "model"
) -> None:
    """The results of a library for several arguments of the same shapes."""
    specs = [tf.TensorSpec(a.shape, a.dtype, name=f"x{i}") for i, a in enumerate(calls[0])]
    concrete = tf.function(function).get_concrete_function(*specs)
    made = intaglio.export_library(concrete, folder / name, kinds=["shared"])
    library = Loaded(made)
    ports = {p.label: p for p in made.interface.functions[0].outputs}
    labels = {p.name: p.label for p in ports.values()}
    for arguments in calls:
        found = library.call("run", {f"x{i}": a for i, a in enumerate(arguments)})
        for label, value in concrete(*map(tf.constant, arguments)).items():
            own, mine = value.numpy(), found[label]
            if ports[label].extent:
                dims = found[labels[ports[label].extent]]
                size = int(np.prod(dims))
                assert not mine[size:].any(), label
                mine = mine[:size].reshape(dims)
            assert mine.shape == own.shape, label
            assert mine.dtype == own.dtype, label
            rtol = 1e-3 if own.dtype == np.float16 else 1e-5
            np.testing.assert_allclose(mine, own, rtol=rtol, atol=1e-5, err_msg=label)
    library.close()


def numbers(seed: int, *shape: int, dtype: str = "float32") -> Any:
    return (np.random.default_rng(seed).normal(size=shape) * 4).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int32", "int64", "uint8"])
def test_many_distinct_elements(dtype: str, tmp_path: pathlib.Path) -> None:
    """None of them equal, all, and some; with positions and counts, which others compute with."""

    def f(x: Any) -> Any:
        y, index = tf.unique(x)
        z, again, counts = tf.unique_with_counts(x, tf.int64)
        return {
            "y": y, "index": index + 1, "z": z, "again": again, "counts": counts,
            "of_indices": tf.gather(tf.cast(tf.range(50), x.dtype), index), "size": tf.size(y),
        }  # fmt: skip

    calls = [np.arange(50), np.full(50, 3), np.abs(numbers(1, 50))]
    compare(f, tmp_path, *[(c.astype(dtype),) for c in calls])


@pytest.mark.parametrize("shape", [(60,), (5, 7), (2, 3, 4, 2), (1, 1)])
def test_indices(shape: tuple[int, ...], tmp_path: pathlib.Path) -> None:
    """Of numbers and of what is true: none, all, some."""

    def f(x: Any) -> Any:
        return {"places": tf.where(x), "positive": tf.cast(tf.where(x > 0.0), tf.int32)}

    compare(
        f,
        tmp_path,
        *[(c,) for c in (np.zeros(shape, "f"), np.ones(shape, "f"), numbers(2, *shape))],
    )


def test_rows_by_a_mask(tmp_path: pathlib.Path) -> None:
    """Elements and rows, functions of each, and reductions of them, also of none."""

    def f(x: Any, rows: Any) -> Any:
        chosen, some = tf.boolean_mask(x, x > 1.0), tf.boolean_mask(rows, x > 1.0)
        return {
            "chosen": tf.sqrt(chosen), "rows": tf.cast(some, tf.float64), "sum": tf.reduce_sum(chosen),
            "largest": tf.reduce_max(chosen), "least": tf.reduce_min(some, 0),
            "product": tf.reduce_prod(some, [0, 1]), "kept": tf.reduce_sum(some, 0, keepdims=True),
        }  # fmt: skip

    calls = [(numbers(s, 40), numbers(s + 1, 40, 3)) for s in range(3)]
    compare(f, tmp_path, *calls, (np.zeros(40, "f"), numbers(5, 40, 3)))


def test_boxes(tmp_path: pathlib.Path) -> None:
    """Boxes that are kept, their scores and corners; padded and not; a limit beyond their number."""

    def f(boxes: Any, scores: Any, least: Any) -> Any:
        kept = tf.image.non_max_suppression(boxes, scores, 30, 0.5, least)
        padded, count = tf.image.non_max_suppression_padded(
            boxes, scores, 7, 0.3, pad_to_max_output_size=True
        )
        return {
            "kept": kept, "corners": tf.gather(boxes, kept), "scores": tf.gather(scores, kept),
            "padded": padded, "count": count,
        }  # fmt: skip

    calls = [
        (np.sort(numbers(s, 20, 2, 2), 1).reshape(20, 4), numbers(s + 9, 20), np.float32(least))
        for s, least in enumerate((-9.0, 0.0, 99.0))
    ]
    compare(f, tmp_path, *calls)


def test_lengths_that_are_data(tmp_path: pathlib.Path) -> None:
    """Sequences are reversed up to their lengths, along any axis; a length beyond is an error."""

    def f(x: Any, lengths: Any) -> Any:
        y = tf.transpose(x, [1, 2, 0])
        return {
            "rows": tf.reverse_sequence(x, lengths, 1, 0),
            "last": tf.reverse_sequence(y, lengths, 0, 2),
        }

    lengths = [np.array(v, np.int32) for v in ([5, 0, 3], [1, 5, 2])]
    compare(f, tmp_path, *[(numbers(1, 3, 5, 2), v) for v in lengths])
    with pytest.raises(RuntimeError, match="out of range"):
        compare(f, tmp_path, (numbers(1, 3, 5, 2), np.array([6, 0, 0], np.int32)))


def test_sizes_without_elements(tmp_path: pathlib.Path) -> None:
    """A size of 0 has no rows, where other sizes have as many as data says; memory is a formula of sizes."""

    def f(x: Any) -> Any:
        return {"greater": tf.where(x[:, None] > x[None, :]), "distinct": tf.unique(x).y}

    concrete = tf.function(f).get_concrete_function(tf.TensorSpec([None], tf.float32, name="x"))
    made = intaglio.export_library(
        concrete, tmp_path / "model", kinds=["shared"], shapes={"x": ("n",)}, sizes={"n": range(6)}
    )
    ports = {p.label: p for p in made.interface.functions[0].outputs}
    assert ports["greater"].count_in_c == "2 * n * n"
    library = Loaded(made)
    for n in range(6):
        x = np.round(numbers(n, n))
        found = library.call("run", {"x": x}, n=n)
        for label in ("greater", "distinct"):
            own = tf.where(x[:, None] > x[None, :]) if label == "greater" else tf.unique(x).y
            dims = found[ports[label].extent]
            assert tuple(dims) == tuple(own.shape), (label, n)
            size = int(np.prod(dims))
            np.testing.assert_array_equal(found[label][:size].reshape(dims), own)
    library.close()


def test_boxes_need_no_more_memory_than_there_are(tmp_path: pathlib.Path) -> None:
    """Whatever number of boxes is asked for, as a constant or as data."""

    def f(boxes: Any, scores: Any, most: Any) -> Any:
        return {
            "all": tf.image.non_max_suppression(boxes, scores, 1 << 30, 0.5),
            "most": tf.image.non_max_suppression(boxes, scores, most, 0.5),
        }

    boxes = np.sort(numbers(3, 20, 2, 2), 1).reshape(20, 4)
    compare(f, tmp_path, *[(boxes, numbers(4, 20), np.int32(n)) for n in (0, 3, 20, 2**31 - 1)])
    concrete = tf.function(f).get_concrete_function(
        *[tf.TensorSpec(s, t) for s, t in (((20, 4), "float32"), ((20,), "float32"), ((), "int32"))]
    )
    made = intaglio.export_library(concrete, tmp_path / "again", kinds=["object"])
    assert made.interface.context_bytes < 1 << 16


ROWS: dict[str, Any] = {
    "of two": lambda x, a, b: [a * b[:, 0] + 1.0, tf.where(a > b[:, 1], a, -b[:, 1]), b - a[:, None]],
    "means": lambda x, a, b: [
        tf.reduce_mean(a), tf.reduce_mean(b, 0), tf.reduce_mean(b, [0, 1]), tf.math.reduce_std(b, 1),
        tf.reduce_mean(tf.cast(b, tf.float16), 0, keepdims=True),
    ],
    "quantifiers": lambda x, a, b: [
        tf.reduce_any(a > 2.0), tf.reduce_all(a > 2.0), tf.reduce_any(b > 2.0, 0),
        tf.reduce_logsumexp(b, 1), tf.math.count_nonzero(b > 2.0),
    ],
    "indices": lambda x, a, b: [
        tf.gather_nd(x, tf.where(x > 1.0)), tf.gather(x, tf.where(x[:, 0] > 0.0)[:, 0]), tf.gather(x, tf.cast(tf.abs(a) * 0.2, tf.int32)),
    ],
    "shapes": lambda x, a, b: [
        tf.shape(b), tf.size(b), tf.rank(b), tf.zeros(tf.shape(b)[:1]), tf.ones_like(b) * 2.0,
        tf.range(tf.shape(a)[0]), tf.reshape(b, [-1]), tf.reshape(b, [tf.shape(a)[0], 3, 1]),
        tf.fill([tf.size(a), 2], 7), tf.cast(tf.range(tf.size(b)), tf.float32) + tf.reshape(b, [-1]),
    ],
    "other dimensions": lambda x, a, b: [
        tf.transpose(b), tf.nn.softmax(b), tf.stack([a, a * 2.0], 0), tf.stack([a, -a], 1),
        tf.matmul(b, x[:3]), tf.matmul(b, b, transpose_b=False, transpose_a=True), tf.concat([b, b], 1),
        tf.split(b, 3, 1)[1], tf.unstack(b, axis=1)[2], tf.pad(b, [[0, 0], [1, 2]]), tf.sort(b, 1),
        tf.reverse(b, [1]), b[:, 1], b[:, ::-1], b[..., tf.newaxis], tf.expand_dims(a, 0), tf.cumsum(a),
        tf.transpose(tf.matmul(x[:4], b, transpose_b=True)), tf.linalg.matvec(b, x[0]),
    ],
    "joined": lambda x, a, b: [
        tf.concat([a, a[:2], x[:, 0]], 0), tf.concat([b, tf.boolean_mask(x, x[:, 1] > 0.0)], 0),
        tf.concat([x, b], 0),
    ],
    "parts": lambda x, a, b: [a[:3], a[1:], a[-2:], a[:-1], a[1:-1], b[:2, 1:], b[2:, 0]],
    "again": lambda x, a, b: [
        tf.boolean_mask(a, a > 2.0), tf.boolean_mask(b, b[:, 0] > 0.0), tf.where(a > 3.0),
        *tf.unique_with_counts(tf.round(a)),
    ],
    "in order": lambda x, a, b: [
        tf.sort(a), tf.argsort(a), tf.reverse(a, [0]), tf.reverse(b, [0, 1]), tf.cumsum(a, reverse=True),
        tf.cumsum(b, exclusive=True), tf.math.cumprod(b * 0.1, 0),
    ],
    "sums": lambda x, a, b: [tf.reduce_sum(b, 0) + tf.reduce_sum(a), tf.reduce_max(b) - tf.reduce_min(a)],
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_is_computed_of_rows(name: str, tmp_path: pathlib.Path) -> None:
    """Of all, of none, and of some."""

    def f(x: Any) -> Any:
        mask = x[:, 2] > 1.0
        found = ROWS[name](x, tf.boolean_mask(x[:, 0], mask), tf.boolean_mask(x, mask))
        return {f"y{i}": v for i, v in enumerate(found)}

    some = [numbers(s, 30, 3) for s in range(4)]
    every, none = numbers(5, 30, 3), numbers(6, 30, 3)
    every[:, 2], none[:, 2] = 2.0, 0.0
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare(f, tmp_path, *[(x,) for x in (*some, every, none)])


def test_positions_along_rows(tmp_path: pathlib.Path) -> None:
    """The greatest, the first and the last row; where there is none, and beyond the last, errors."""

    def f(x: Any, at: Any) -> Any:
        rows = tf.boolean_mask(x, x > 1.0)
        return {
            "best": tf.argmax(rows),
            "first": rows[0],
            "last": rows[-1],
            "there": tf.gather(rows, at),
        }

    x = np.array([3.0, -1.0, 5.0, 0.0, 2.0], np.float32)
    compare(f, tmp_path, (x, np.int32(2)), (x[::-1].copy(), np.int32(0)))
    for wrong, at in ((x, 3), (-x * 0.0, 0), (x, -1)):
        with pytest.raises(RuntimeError, match=r"out of range|out of bounds|no elements"):
            compare(f, tmp_path / str(at), (wrong, np.int32(at)))


def test_rows_of_several_masks(tmp_path: pathlib.Path) -> None:
    """Equal numbers of them, one of them beside many, and a fixed number; others are an error."""

    def f(x: Any, y: Any) -> Any:
        a, b = tf.boolean_mask(x, x > 0.0), tf.boolean_mask(y, y > 0.0)
        return {"sum": a + b, "greater": a > b}

    x = np.array([1.0, -2.0, 3.0, 4.0, -5.0], np.float32)
    one = np.array([-1.0, 7.0, 0.0, 0.0, 0.0], np.float32)
    compare(f, tmp_path, (x, x[[0, 1, 1, 2, 3]]), (x, one), (one, x), (x * 0.0, one))
    with pytest.raises(RuntimeError, match="Incompatible shapes"):
        compare(f, tmp_path / "wrong", (x, np.abs(x)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_numbers_up_to_data(dtype: str, tmp_path: pathlib.Path) -> None:
    """Up to 4096 where nothing is known about how many; more are an error."""

    def f(start: Any, limit: Any, delta: Any) -> Any:
        numbers = tf.range(start, limit, delta)
        return {
            "numbers": numbers, "sum": tf.reduce_sum(numbers * 2),
            "filled": tf.fill([tf.size(numbers)], 3), "half": tf.cast(numbers, tf.float32) / 2.0,
        }  # fmt: skip

    calls = [(0, 5, 1), (3, 3, 2), (7, 1, -2), (5, 5, 1), (0, 4096, 1), (1, 10, 4)]
    calls += [(0.0, 1.0, 0.3)] if dtype == "float32" else []
    compare(f, tmp_path, *[tuple(np.array(v, dtype) for v in call) for call in calls])
    with pytest.raises(RuntimeError, match="more than 4096 elements"):
        compare(f, tmp_path / "many", tuple(np.array(v, dtype) for v in (0, 4097, 1)))


def test_sparse_products(tmp_path: pathlib.Path) -> None:
    def f(x: Any, y: Any) -> Any:
        sparse = tf.sparse.from_dense(tf.nn.relu(x))
        return {"y": tf.sparse.sparse_dense_matmul(sparse, y), "values": sparse.values * 2.0}

    compare(
        f, tmp_path, *[(x, numbers(3, 5, 2)) for x in (numbers(1, 4, 5), np.zeros((4, 5), "f"))]
    )


def test_branches_with_rows(tmp_path: pathlib.Path) -> None:
    """Given rows, and giving them: as many as the branch that is taken gives; effects happen once."""
    calls = tf.Variable(0)

    def f(x: Any, first: Any) -> Any:
        rows = tf.boolean_mask(x, x > 0.0)

        def one() -> Any:
            calls.assign_add(1)
            return rows * 2.0, tf.reduce_sum(rows), tf.where(x > 1.0)

        def other() -> Any:
            return x[:7], tf.cast(tf.size(rows), tf.float32), tf.where(x < -1.0)

        a, b, c = tf.cond(first, one, other)
        return {"a": a + 1.0, "b": b, "c": c, "calls": calls.read_value()}

    x = numbers(1, 30)
    specs = [tf.TensorSpec((30,), tf.float32, name="x0"), tf.TensorSpec((), tf.bool, name="x1")]
    concrete = tf.function(f).get_concrete_function(*specs)
    made = intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"])
    library = Loaded(made)
    for number, first in enumerate((True, False, True)):
        found = library.call("run", {"x0": x, "x1": first})
        own = concrete(tf.constant(x), tf.constant(first))
        assert found["calls"] == own["calls"] == [1, 1, 2][number]
        np.testing.assert_allclose(found["b"], own["b"], rtol=1e-6)
        for label in "ac":
            dims = tuple(own[label].shape)
            assert tuple(found[f"{label}_shape"]) == dims
            size = int(np.prod(dims))
            np.testing.assert_allclose(found[label][:size].reshape(dims), own[label], rtol=1e-6)
    library.close()


def test_updates_at_rows(tmp_path: pathlib.Path) -> None:
    """Rows of what a mask selects are changed; what is chosen row by row is put together again."""

    def f(x: Any) -> Any:
        at = tf.where(x[:, 0] > 0.0)
        rows = tf.gather_nd(x, at)
        return {
            "updated": tf.tensor_scatter_nd_update(x, at, -rows),
            "added": tf.tensor_scatter_nd_add(x, at[1:], rows[1:]),
            "greatest": tf.tensor_scatter_nd_max(x[:, 1], at, rows[:, 0]),
            "mapped": tf.vectorized_map(
                lambda z: tf.cond(tf.reduce_sum(z) > 0.0, lambda: z * 3.0, lambda: -z), x),
        }  # fmt: skip

    x = numbers(4, 30, 3)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_branches_of_which_some_give_rows(tmp_path: pathlib.Path) -> None:
    """The number of rows is that of the branch that is taken, also where the first gives a fixed number."""

    def f(x: Any, at: Any) -> Any:
        rows = tf.boolean_mask(x, x > 0.0)
        parts = [lambda: x[:3], lambda: rows * 2.0, lambda: x[:5], lambda: x[2:3]]
        return {"y": tf.switch_case(at, parts) + 1.0}

    compare(f, tmp_path, *[(numbers(1, 30), np.int32(i)) for i in range(4)])


def test_orders_of_rows_with_nan(tmp_path: pathlib.Path) -> None:
    """NaN comes last, and yet before what stands beyond the last row."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, x != 0.0)
        values, places = tf.math.top_k(rows, 2)
        ordered = [tf.sort(rows), tf.sort(rows, direction="DESCENDING"), tf.argsort(rows)]
        return {"values": values, "places": places, **dict(zip("abc", ordered, strict=True))}

    nan, least = np.nan, -np.inf
    rows = [
        [1, 0, nan, 2, 0, -3],
        [nan, nan, 0, 0, 0, 5],
        [least, 0, 0, nan, 0, 0],
        [0, 7, 0, 8, 0, 0],
    ]
    compare(f, tmp_path, *[(np.array(row, np.float32),) for row in rows])


def test_products_of_rows_with_rows(tmp_path: pathlib.Path) -> None:
    """Sums over rows, and what has as many rows as columns."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, tf.reduce_sum(x, 1) > 0.0)
        return {
            "sum": tf.matmul(rows, rows * 2.0, transpose_a=True),
            "columns": tf.transpose(rows) @ rows,
            "square": rows @ tf.transpose(rows),
            "pairs": tf.matmul(rows, rows - 1.0, transpose_b=True),
            "batch": tf.einsum("ij,kj->ik", rows, rows),
            "above": tf.reduce_sum(rows @ tf.transpose(rows)),
        }

    x = numbers(1, 5, 3)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_maps_over_rows(tmp_path: pathlib.Path) -> None:
    """Rows as elements of lists: where there is one, it is a part of the array that others are rows of."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, tf.reduce_sum(x, 1) > 0.0)
        return {
            "map": tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, rows),
            "scan": tf.scan(lambda total, row: total * 0.5 + row, rows, tf.zeros([3])),
            "fold": tf.foldl(lambda total, row: total * 0.5 + row, rows, tf.zeros([3])),
        }

    x = numbers(1, 5, 3)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_lists_of_a_length_that_is_data(tmp_path: pathlib.Path) -> None:
    """Stacked and joined, and what is computed of their elements."""

    def f(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2, 3])
        i = 0
        while i < 70 and x[i] > 0.0:
            rows = rows.write(i, tf.fill([2, 3], x[i]))
            i += 1
        stacked, joined = rows.stack(), rows.concat()
        return {
            "stacked": stacked, "joined": joined, "size": rows.size(),
            "sum": tf.reduce_sum(stacked, [0, 2]), "double": joined * 2.0, "first": stacked[:1],
        }  # fmt: skip

    x = np.abs(numbers(3, 71)) + 0.1
    ends = [x, x.copy(), -x]
    ends[1][5] = 0.0
    compare(f, tmp_path, *[(a,) for a in ends])


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "int64"])
def test_sorted_segments(dtype: str, tmp_path: pathlib.Path) -> None:
    """As many as the last number says, some of them empty; numbers that are not sorted are an error."""

    def f(x: Any, i: Any) -> Any:
        means = tf.math.segment_mean(x, i)
        return {
            "sum": tf.math.segment_sum(x, i), "mean": means, "largest": tf.math.segment_max(x, i),
            "least": tf.math.segment_min(x, i), "product": tf.math.segment_prod(x, i),
            "taken": tf.gather(means, i), "count": tf.shape(means)[0],
        }  # fmt: skip

    x = numbers(5, 6, 2, dtype=dtype)
    ids = [[0, 0, 1, 1, 4, 4], [3, 3, 3, 3, 3, 3], [0, 1, 2, 3, 4, 70], [0] * 6]
    compare(f, tmp_path, *[(x, np.array(i, np.int32)) for i in ids])


def test_segments_that_are_not_sorted(tmp_path: pathlib.Path) -> None:
    specs = [tf.TensorSpec([3], tf.float32, name="x"), tf.TensorSpec([3], tf.int32, name="i")]
    concrete = tf.function(lambda x, i: tf.math.segment_sum(x, i)).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    for wrong in ([1, 0, 2], [-1, 0, 2]):
        with pytest.raises(RuntimeError, match="segment ids are not increasing"):
            library.call("run", {"x": [1, 2, 3], "i": wrong})
    with pytest.raises(RuntimeError, match="more than 4096 elements"):
        library.call("run", {"x": [1, 2, 3], "i": [0, 1, 5000]})
    library.close()


def test_partitions(tmp_path: pathlib.Path) -> None:
    """Of vectors and of matrices of numbers; empty ones; put together again."""

    def f(x: Any, i: Any) -> Any:
        parts = tf.dynamic_partition(x, i, 3)
        places = tf.dynamic_partition(tf.reshape(tf.range(60), [30, 2]), i, 3)
        whole = tf.tensor_scatter_nd_update(tf.zeros([60]), places[1][:, tf.newaxis], -parts[1])
        return {"one": parts[1], "sum": tf.reduce_sum(parts[2], 0), "whole": whole}

    def g(x: Any, i: Any) -> Any:
        return dict(zip("abc", tf.dynamic_partition(x, i, 3), strict=True))

    x = numbers(5, 30, 2)
    rng = np.random.default_rng(0)
    ids = [rng.integers(0, 3, (30, 2)), np.full((30, 2), 1), np.full((30, 2), 2)]
    compare(f, tmp_path, *[(x, i.astype(np.int32)) for i in ids])
    compare(g, tmp_path, *[(x, i[:, 0].astype(np.int32)) for i in ids], name="other")
