"""Checkpoints in several files: what is written is read, whole or in slices."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.saved_model import bundle, slices

Policy = tf.train.experimental.MaxShardSizePolicy


def _model(scale: float = 1.0) -> Any:
    m = tf.Module()
    m.a = tf.Variable(scale * np.arange(24, dtype=np.float32).reshape(6, 4))
    m.b = tf.Variable(scale * np.arange(200.0).reshape(2, 100))
    m.s = tf.Variable(["x", "yy"] if scale else ["", ""])
    m.z = tf.Variable(int(3 * scale))
    return m


def _options(callback: Any) -> Any:
    return tf.train.CheckpointOptions(experimental_sharding_callback=callback)


def _same(m: Any, n: Any) -> None:
    for mine, theirs in zip(m.variables, n.variables, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("size", [1, 7, 64, 100, 400, 1700, 10**6])
def test_files_of_at_most_a_size(size: int, tmp_path: pathlib.Path) -> None:
    m, empty = _model(), _model(0.0)
    path = tf.train.Checkpoint(m=m).write(tmp_path / "c", _options(Policy(size)))
    sizes = [os.path.getsize(f) for f in sorted(tmp_path.glob("c.data*"))]
    assert all(s <= max(size, 16) for s in sizes[:-1])  # the last one has the objects
    assert (len(sizes) == 1) == (size == 10**6)
    tf.train.Checkpoint(m=empty).read(path).assert_consumed()
    _same(m, empty)
    listed = tf.train.list_variables(path)
    assert [n for n, _ in listed] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        *[f"m/{n}/.ATTRIBUTES/VARIABLE_VALUE" for n in "absz"],
    ]
    assert dict(listed)["m/b/.ATTRIBUTES/VARIABLE_VALUE"] == [2, 100]


def test_models_in_several_files(tmp_path: pathlib.Path) -> None:
    m = _model()
    options = tf.saved_model.SaveOptions(experimental_sharding_callback=Policy(200))
    tf.saved_model.save(m, str(tmp_path), options=options)
    assert len(list((tmp_path / "variables").glob("variables.data*"))) > 5
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_array_equal(loaded.b, m.b)
    np.testing.assert_array_equal(loaded.s, m.s)


class Own(tf.train.experimental.ShardingCallback):
    """A policy that a test brings."""

    def __init__(self, change: Any) -> None:
        self.change = change

    @property
    def description(self) -> str:
        return "own"

    def __call__(self, shardable_tensors: Any) -> Any:
        shards = [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors]
        return self.change(shards, shardable_tensors)


def test_a_policy_of_ones_own(tmp_path: pathlib.Path) -> None:
    seen: list[Any] = []

    def halves(shards: Any, tensors: Any) -> Any:
        seen.extend(tensors)
        key = tensors[0].checkpoint_key
        parts = {"6 4 0,2:-": tensors[0].tensor[:2], "6 4 2,4:-": tensors[0].tensor[2:]}
        return [{key: parts}, *shards[1:]]

    m, empty = _model(), _model(0.0)
    path = tf.train.Checkpoint(m=m).write(tmp_path / "c", _options(Own(halves)))
    tf.train.Checkpoint(m=empty).read(path).assert_consumed()
    _same(m, empty)
    first, last = seen[0], seen[-1]
    assert first.trackable is m.a and first.shape == [6, 4] and not first.slice_spec
    assert first.device.to_string().endswith("CPU:0") and first.dtype == tf.float32
    assert last.checkpoint_key == "_CHECKPOINTABLE_OBJECT_GRAPH"


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s, t: s[1:], ValueError, "leaves out m/a"),
        (lambda s, t: s * 2, tf.errors.InvalidArgumentError, "Duplicate tensor"),
        (
            lambda s, t: [{t[0].checkpoint_key: {"": tf.reshape(t[0].tensor, [-1])}}],
            ValueError,
            r"float32\[24\] instead of float32\[6, 4\]",
        ),
        (
            lambda s, t: [{t[0].checkpoint_key: {"": tf.cast(t[0].tensor, tf.float64)}}],
            ValueError,
            "float64",
        ),
        (lambda s, t: [{"other": {"": t[0].tensor}}], ValueError, "is no value"),
        (
            lambda s, t: [{t[0].checkpoint_key: {"first half": t[0].tensor}}],
            tf.errors.InvalidArgumentError,
            "is no slice of a tensor",
        ),
    ],
)
def test_what_a_policy_may_not_do(
    change: Any, error: Any, words: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(error, match=words):
        tf.train.Checkpoint(m=_model()).write(tmp_path / "c", _options(Own(change)))


@pytest.mark.parametrize("size", [0, -5, "10"])
def test_sizes_are_numbers_of_bytes(size: Any) -> None:
    with pytest.raises(ValueError, match="number of bytes above 0"):
        Policy(size)


def test_missing_slices_are_damage(tmp_path: pathlib.Path) -> None:
    prefix = str(tmp_path / "c")
    bundle.write_shards(prefix, [{"x": {"4 0,2": np.zeros(2, np.float32)}}])
    with pytest.raises(tf.errors.DataLossError, match="2 elements, not 4"):
        bundle.Bundle(prefix).array("x")


# Keys that TensorFlow 2.21 wrote.
@pytest.mark.parametrize(
    ("extents", "wanted"),
    [
        (((0, 3), (0, 4)), b"\x80\x83\x80\x84"),
        (((1, 1), (94, 6)), b"\x81\x81\xc0\x5e\x86"),
        (((74, 247), (0, 1)), b"\xc0\x4a\xc0\xf7\x80\x81"),
        (((3066, 242), (0, 1)), b"\xcb\xfa\xc0\xf2\x80\x81"),
    ],
)
def test_the_keys_of_slices(extents: Any, wanted: bytes) -> None:
    assert slices.key("m/b", extents) == b"\0m/b\0\1\1\2" + wanted
