"""Rows that data selects, in loops and branches, as sizes and in slices: those of Python."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded
from tests.export.test_selected_rows import compare, numbers

nn: Any = tf.compat.v1.nn  # pyright: ignore[reportAttributeAccessIssue]  # found by name
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def test_selections_in_bodies_of_loops(tmp_path: pathlib.Path) -> None:
    """Of more elements than there are branches for; nothing of them leaves the body."""

    def f(x: Any, n: Any) -> Any:
        total, i = tf.constant(0.0), tf.constant(0)
        while i < n:
            kept = tf.boolean_mask(x, x > tf.cast(i, tf.float32))
            total += tf.reduce_sum(kept) / tf.cast(tf.size(kept) + 1, tf.float32)
            if tf.size(kept) > 20:
                total += tf.reduce_max(tf.unique(kept).y)
            i += 1
        return {"total": total}

    x = numbers(1, 40)
    compare(f, tmp_path, *[(a, np.int32(n)) for a in (x, np.abs(x)) for n in (0, 1, 5)])


def test_rows_as_variables_of_loops(tmp_path: pathlib.Path) -> None:
    """Rows that stay, change element by element, become fewer, or come from a fixed number."""

    def f(x: Any, n: Any) -> Any:
        mask = x[:, 0] > 0.0
        rows, whole, picked = tf.boolean_mask(x, mask), tf.boolean_mask(x[:, 1], mask), x[:, 2]
        i, count = tf.constant(0), tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(picked, [None])])
            rows = rows * 0.5 + whole[:, tf.newaxis]
            picked = tf.boolean_mask(picked, picked > tf.cast(i, tf.float32) - 2.0)
            count += tf.size(picked)
            i += 1
        return {
            "rows": rows,
            "picked": picked,
            "count": count,
            "sum": tf.reduce_sum(rows * whole[:, None], 0),
        }

    x = numbers(2, 40, 3)
    compare(f, tmp_path, *[(a, np.int32(n)) for a in (x, np.abs(x), -np.abs(x)) for n in (0, 3)])


def test_loops_over_as_many_as_there_are(tmp_path: pathlib.Path) -> None:
    """The number of iterations is that of rows."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, x > 0.0)
        total = tf.constant(0.0)
        for i in tf.range(tf.size(rows)):
            total = total * 0.5 + rows[i]
        for row in rows:
            total += tf.sin(row)
        return {"total": total}

    x = numbers(3, 40)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_segments_and_indices_of_rows(tmp_path: pathlib.Path) -> None:
    """Sums by numbers that are rows; of as many segments as there are distinct numbers."""

    def f(x: Any, ids: Any) -> Any:
        mask = x[:, 0] > 0.0
        rows, own = tf.boolean_mask(x, mask), tf.boolean_mask(ids, mask)
        distinct, at = tf.unique(ids)
        some, where = tf.unique(own)
        return {
            "sum": tf.math.unsorted_segment_sum(rows, own, 9), "most": tf.math.unsorted_segment_max(rows[:, 1], own, 9),
            "each": tf.math.unsorted_segment_sum(x, at, tf.size(distinct)),
            "of some": tf.math.unsorted_segment_prod(rows[:, 1], where, tf.size(some)),
            "placed": tf.scatter_nd(own[:, tf.newaxis], rows, [9, 3]),
            "mean": tf.math.unsorted_segment_mean(rows, own, 9),
        }  # fmt: skip

    x = numbers(1, 40, 3)
    ids = np.random.default_rng(1).integers(0, 9, 40).astype(np.int32)
    compare(f, tmp_path, (x, ids), (np.abs(x), ids), (-np.abs(x), ids // 3))


def test_maps_over_many_rows(tmp_path: pathlib.Path) -> None:
    """Of more than there are branches for."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, x[:, 0] > 0.0)
        return {
            "map": tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, rows),
            "scan": tf.scan(lambda total, row: total * 0.5 + row, rows, tf.zeros([3])),
            "fold": tf.foldl(lambda total, row: total * 0.5 + row, rows, tf.zeros([3])),
        }

    x = numbers(1, 40, 3)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_rows_that_grow_are_refused_by_name(tmp_path: pathlib.Path) -> None:
    @tf.function(input_signature=[tf.TensorSpec([40], tf.float32), tf.TensorSpec([], tf.int32)])
    def f(x: Any, n: Any) -> Any:
        rows, i = tf.boolean_mask(x, x > 0.0), tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(rows, [None])])
            rows = tf.concat([rows, x[:1]], 0)
            i += 1
        return rows

    with pytest.raises(
        intaglio.ExportError, match=r"each iteration may add rows.*TensorArray"
    ) as e:
        intaglio.export_library(f, tmp_path / "model", kinds=["object"])
    assert "While" in str(e.value) and "test_row_flow.py" in str(e.value)


def test_numbers_of_rows_are_numbers(tmp_path: pathlib.Path) -> None:
    """Beside rows, of several selections, as indices, as parts of vectors, and in shapes."""

    def f(x: Any) -> Any:
        a, b = tf.boolean_mask(x, x > 1.0), tf.boolean_mask(x, x < -1.0)
        n, m = tf.size(a), tf.size(b)
        return {
            "share": a / tf.cast(n, tf.float32), "both": n + m, "more": tf.maximum(n, m) * 2,
            "last": tf.gather(x, n), "joined": tf.concat([tf.cast(tf.shape(a), tf.float32), a], 0),
            "zeros": tf.zeros([n + m]), "matrix": tf.zeros([3, n + m]) + 1.0, "range": tf.range(n + m),
            "taken": tf.gather(a, tf.maximum(n - 1, 0)) if n > 0 else x[0],
            "even": tf.math.top_k(a, (n // 2) * 2).values, "half": tf.math.top_k(a, n // 2).indices,
        }  # fmt: skip

    compare(f, tmp_path, *[(numbers(s, 40),) for s in range(3)])


@pytest.mark.parametrize("shape", [(30,), (30, 3), (4, 30)])
def test_slices_by_data(shape: tuple[int, ...], tmp_path: pathlib.Path) -> None:
    """Ends are data, also negative ones and those beyond the last element; steps are constants."""
    axis = shape.index(30)

    def f(x: Any, n: Any, m: Any) -> Any:
        whole = (slice(None),) * axis
        found = {
            "first": x[(*whole, slice(None, n))], "rest": x[(*whole, slice(n, None))],
            "between": x[(*whole, slice(n, m))], "steps": x[(*whole, slice(n, m, 3))],
            "of a slice": tf.reduce_sum(x[(*whole, slice(n, m))], axis),
        }  # fmt: skip
        if len(shape) > 1 and not axis:
            found["columns"] = x[:n, 1:]
            found["column"] = x[n:, 2]
        return found

    x = numbers(4, *shape)
    ends = [(0, 0), (3, 17), (17, 3), (-5, 30), (0, -40), (2, 99)]
    compare(f, tmp_path, *[(x, np.int32(n), np.int32(m)) for n, m in ends])


def test_slices_of_rows(tmp_path: pathlib.Path) -> None:
    def f(x: Any, n: Any) -> Any:
        rows = tf.boolean_mask(x, x[:, 0] > 0.0)
        half = tf.shape(rows)[0] // 2
        return {
            "half": rows[:half], "other": rows[half:, 1], "some": rows[n:], "each second": rows[::2],
            "cut": tf.slice(x, [0, 0], [n, 2]), "from": tf.slice(x, [n, 0], [-1, 3]),
        }  # fmt: skip

    x = numbers(5, 30, 3)
    compare(f, tmp_path, *[(a, np.int32(n)) for a in (x, np.abs(x), -np.abs(x)) for n in (0, 4)])
    with pytest.raises(RuntimeError, match="slice index out of bounds"):
        compare(f, tmp_path / "beyond", (x, np.int32(31)))


def test_rows_of_several_elements(tmp_path: pathlib.Path) -> None:
    """What works along rows takes each element of them, where a reshape has joined these."""

    def f(x: Any) -> Any:
        rows = tf.boolean_mask(x, x[:, 0] > 0.0)
        flat = tf.reshape(rows, [-1])
        return {
            "reversed": tf.reverse(flat, [0]), "sorted": tf.sort(flat), "part": flat[1:], "joined": tf.concat([flat, x[0]], 0),
            "sum": tf.reduce_sum(flat), "cumsum": tf.cumsum(flat, reverse=True), "taken": tf.gather(flat, tf.argsort(flat)),
            "product": flat * tf.reverse(flat, [0]),
        }  # fmt: skip

    x = numbers(2, 40, 3)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_branches_with_rows_in_any_dimension(tmp_path: pathlib.Path) -> None:
    def f(x: Any, first: Any) -> Any:
        rows = tf.boolean_mask(x, x[:, 0] > 0.0)
        across, flat = tf.cond(
            first,
            lambda: (tf.transpose(rows), tf.reshape(rows, [-1])),
            lambda: (tf.transpose(x), tf.reshape(rows * 2.0, [-1])),
        )
        return {"across": across * 2.0, "flat": flat + 1.0}

    x = numbers(3, 30, 3)
    compare(f, tmp_path, *[(a, np.bool_(c)) for a in (x, -np.abs(x)) for c in (True, False)])


def test_sparse_tensors_of_data(tmp_path: pathlib.Path) -> None:
    """Of elements that data selects: as arrays, transposed, and of one value."""

    def f(x: Any) -> Any:
        sparse = tf.sparse.from_dense(tf.nn.relu(x))
        turned = tf.sparse.transpose(sparse)
        return {
            "dense": tf.sparse.to_dense(sparse, -1.0), "turned": tf.sparse.to_dense(turned),
            "values": turned.values, "indices": turned.indices,
            "mapped": tf.sparse.to_dense(tf.sparse.map_values(tf.sqrt, sparse)),
        }  # fmt: skip

    x = numbers(2, 5, 8)
    compare(f, tmp_path, (x,), (np.abs(x),), (-np.abs(x),))


def test_as_many_of_the_greatest_as_data_says(tmp_path: pathlib.Path) -> None:
    def f(x: Any, k: Any) -> Any:
        values, places = tf.math.top_k(x, k)
        return {"values": values * 2.0, "places": places, "sum": tf.reduce_sum(values, -1)}

    x = numbers(2, 3, 30)
    compare(f, tmp_path, *[(x, np.int32(k)) for k in (0, 4, 30)])
    with pytest.raises(RuntimeError, match="input must have at least k columns"):
        compare(f, tmp_path / "more", (x, np.int32(31)))


def test_boxes_by_overlaps(tmp_path: pathlib.Path) -> None:
    """The best first, the first of equal ones; a matrix that is not symmetric."""

    def f(overlaps: Any, scores: Any, most: Any) -> Any:
        kept = tf.image.non_max_suppression_overlaps(overlaps, scores, most, 0.6, -1.0)
        return {"kept": kept, "scores": tf.gather(scores, kept)}

    rng = np.random.default_rng(0)
    calls: list[Any] = []
    for most in (0, 3, 40):
        scores = np.round(rng.normal(size=30) * 3).astype(np.float32)
        calls.append((rng.random((30, 30), np.float32), scores, np.int32(most)))
    compare(f, tmp_path, *calls)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int16"])
def test_ranges_of_narrow_integers(dtype: str, tmp_path: pathlib.Path) -> None:
    def f(limit: Any, delta: Any) -> Any:
        return {"numbers": tf.raw_ops.Range(start=tf.cast(1, dtype), limit=limit, delta=delta)}

    compare(f, tmp_path, *[(np.array(n, dtype), np.array(d, dtype)) for n, d in ((9, 2), (100, 1))])


@pytest.mark.parametrize("kernel", ["lanczos3", "triangle", "box"])
def test_scales_and_translations(kernel: str, tmp_path: pathlib.Path) -> None:
    def f(x: Any) -> Any:
        return {
            str(n): tf.raw_ops.ScaleAndTranslate(
                images=x, size=[7, 9], scale=[s, 1.7], translation=[0.3, -1.2], kernel_type=kernel, antialias=bool(n)
            )
            for n, s in enumerate((0.6, 2.1))
        }  # fmt: skip

    compare(f, tmp_path, (numbers(4, 2, 6, 5, 3),))


@pytest.mark.parametrize("merge", [False, True])
def test_beam_search(merge: bool, tmp_path: pathlib.Path) -> None:
    """The labels of several paths, of sequences of several lengths."""

    def f(x: Any, steps: Any) -> Any:
        paths, scores = nn.ctc_beam_search_decoder(
            x, steps, beam_width=5, top_paths=3, merge_repeated=merge
        )
        found = {"scores": scores}
        for number, path in enumerate(paths):
            found |= {
                f"i{number}": path.indices,
                f"v{number}": path.values,
                f"s{number}": path.dense_shape,
            }
        return found

    steps = [np.array(s, np.int32) for s in ([9, 4, 7], [2, 9, 9])]
    calls = [(numbers(s, 9, 3, 4) * np.float32(0.3), steps[s % 2]) for s in range(6)]
    compare(f, tmp_path, *calls)
    with pytest.raises(RuntimeError, match="Less leaves in the beam search than requested"):
        compare(f, tmp_path / "few", (calls[0][0], np.array([0, 1, 2], np.int32)))


@pytest.mark.parametrize("noise", ["uniform", "gaussian"])
def test_noise_outside_of_images(noise: str, tmp_path: pathlib.Path) -> None:
    """What is inside is that of the images; what is outside has their range, and differs from call to call."""

    def f(x: Any, at: Any) -> Any:
        return {
            "inside": tf.image.extract_glimpse(x, [3, 3], at * 0.1, noise=noise),
            "across": tf.image.extract_glimpse(x, [5, 6], at, noise=noise),
        }

    x = np.abs(numbers(7, 2, 9, 9, 1)) + 1.0
    at = np.array([[0.9, -0.8], [0.0, 1.0]], np.float32)
    concrete = tf.function(f).get_concrete_function(tf.constant(x), tf.constant(at))
    made = intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"])
    library = Loaded(made)
    labels = [p.label for p in made.interface.functions[0].inputs]
    first, second = [library.call("run", dict(zip(labels, (x, at), strict=True))) for _ in range(2)]
    np.testing.assert_array_equal(first["inside"], concrete(x, at)["inside"])
    plain = tf.image.extract_glimpse(x, [5, 6], at, noise="zero").numpy()
    outside = plain == 0.0
    assert outside.any() and not outside.all()
    np.testing.assert_array_equal(first["across"][~outside], plain[~outside])
    assert (first["across"] != second["across"])[outside].mean() > 0.9
    if noise == "uniform":
        drawn = first["across"][outside]
        assert x.min() <= drawn.min() and drawn.max() <= x.max()
    library.close()
