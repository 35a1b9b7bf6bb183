"""Results, and values within, whose shape depends on data: as libraries."""

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
SPECS = [tf.TensorSpec([6], tf.int32, name="x"), tf.TensorSpec([6], tf.bool, name="m")]


def arguments(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.integers(-6, 6, 6).astype(np.int32), "m": rng.random(6) < seed / 5}


def compare(function: Any, folder: pathlib.Path) -> Any:
    """The results of a library against those in Python, for several arguments; the library's outputs."""
    concrete = tf.function(function).get_concrete_function(*SPECS)
    written = intaglio.export_library(concrete, folder / "model", kinds=["shared"])
    library = Loaded(written)
    outputs = written.interface.functions[0].outputs
    labels = {p.name: p.label for p in outputs}
    for seed in range(6):
        given = arguments(seed)
        found = library.call("run", given)
        expected = tf.nest.flatten(concrete(*map(tf.constant, given.values())))
        for port, value in zip(outputs, expected, strict=False):
            array = found[port.label]
            if port.extent:
                dims = [d for d in found[labels[port.extent]].tolist() if d >= 0]
                assert not array[int(np.prod(dims)) :].any()
                array = array[: int(np.prod(dims))].reshape(dims)
            np.testing.assert_allclose(array, value.numpy(), rtol=1e-6)
    library.close()
    return written


def test_values_within(tmp_path: pathlib.Path) -> None:
    def f(x: Any, m: Any) -> Any:
        distinct, which = tf.unique(x)
        selected = tf.boolean_mask(tf.cast(x, tf.float32), m)
        rest, _ = tf.raw_ops.ListDiff(x=x, y=tf.constant([1, 5]))
        padded = tf.gather(tf.pad(distinct, [[0, 1]]), tf.range(9) % tf.size(distinct))
        counted = tf.math.bincount(tf.abs(x) % 4, weights=tf.cast(x, tf.float32))
        return [
            *[tf.reduce_sum(distinct), which, tf.reduce_sum(selected), tf.size(selected)],
            *[tf.reduce_sum(rest), padded, tf.reduce_sum(tf.where(m))],
            tf.reduce_logsumexp(counted),
        ]

    written = compare(f, tmp_path)
    assert not any([p.extent for p in written.interface.functions[0].outputs])


def test_results(tmp_path: pathlib.Path) -> None:
    """They come with their shapes, and memory for the largest."""

    def f(x: Any, m: Any) -> Any:
        unlike = tf.cond(
            tf.reduce_sum(x) > 0, lambda: tf.reshape(x, [2, 3]), lambda: tf.concat([x, x], 0)
        )
        return tf.unique(x)[0], tf.boolean_mask(x, m), unlike, x + 1, tf.range(tf.reduce_max(x % 3))

    written = compare(f, tmp_path)
    outputs = written.interface.functions[0].outputs
    assert [bool(p.extent) for p in outputs] == [True, True, True, False, True, *[False] * 4]
    assert [p.shape for p in outputs] == [
        *[(6,), (6,), (12,), (6,), (2,)],
        *[(1,), (1,), (2,), (1,)],
    ]
    header = written.paths["header"].read_text()
    assert "int32 of the shape that output_2_shape is, at most 12: count is 12" in header


def test_what_has_no_limit(tmp_path: pathlib.Path) -> None:
    """Elements of several dimensions of which nothing is known."""
    concrete = tf.function(lambda x: tf.zeros(x[:2])).get_concrete_function(SPECS[0])
    with pytest.raises(intaglio.ExportError, match=r"Fill 'zeros' \(test_open_results.py:\d+\)"):
        intaglio.export_library(concrete, tmp_path / "model", kinds=["object"])
