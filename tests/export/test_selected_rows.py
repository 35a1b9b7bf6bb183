"""Results with as many rows as data says: those of Python, in arrays that are long enough, and their shapes."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def compare(function: Any, folder: pathlib.Path, *calls: tuple[Any, ...]) -> None:
    """The results of a library for several arguments of the same shapes."""
    specs = [tf.TensorSpec(a.shape, a.dtype, name=f"x{i}") for i, a in enumerate(calls[0])]
    concrete = tf.function(function).get_concrete_function(*specs)
    made = intaglio.export_library(concrete, folder / "model", kinds=["shared"])
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
            np.testing.assert_allclose(mine, own, rtol=1e-6, err_msg=label)
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
