"""Views of checkpoints and of live objects, and Python objects in checkpoints."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf


def _tree(leaf: str) -> Any:
    def simple() -> Any:
        made: Any = tf.Module()
        made.a, made.b = tf.Variable(5.0), tf.Variable(4.0)
        made.both = [tf.Variable(1.0), tf.Variable(2.0)]
        return made

    root = simple()
    setattr(root, leaf, simple())
    getattr(root, leaf).more = tf.Variable(6.0)
    return root


def test_a_checkpoint_compared_with_objects(tmp_path: pathlib.Path) -> None:
    """The numbers are those of TensorFlow 2.21, which was asked with this program."""
    path = tf.train.Checkpoint(_tree("leaf")).save(str(tmp_path / "c"))
    view = tf.train.CheckpointView(path)
    assert view.children(0) == {"a": 1, "b": 2, "both": 3, "leaf": 4, "root": 0, "save_counter": 5}
    assert view.descendants() == [*range(14)]
    other = _tree("twig")
    both, stored, live = view.diff(other)
    assert both == view.match(other) and [*both] == [0, 1, 2, 3, 6, 7]
    assert both[1] is other.a and both[7] is other.both[1]
    assert stored == [4, 5, 8, 9, 10, 11, 12, 13]
    assert len(live) == 7 and live[0] is other.twig


def test_views_want_what_can_be_saved(tmp_path: pathlib.Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching"):
        tf.train.CheckpointView(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="Expected a Trackable, got"):
        tf.train.TrackableView([1])


def test_python_objects_are_kept(tmp_path: pathlib.Path) -> None:
    class Kept(tf.train.experimental.PythonState):
        def __init__(self, value: Any) -> None:
            self.value = value

        def serialize(self) -> Any:
            return self.value

        def deserialize(self, string_value: Any) -> None:
            self.value = string_value

    checkpoint = tf.train.Checkpoint(kept=Kept(b"\x00\xff"), step=tf.Variable(1))
    path = checkpoint.save(str(tmp_path / "c"))
    assert ("kept/.ATTRIBUTES/py_state", []) in tf.train.list_variables(path)
    again = tf.train.Checkpoint(kept=Kept(b""), step=tf.Variable(0))
    again.restore(path).assert_consumed()
    assert again.kept.value == b"\x00\xff"
    with pytest.raises(TypeError, match="abstract"):
        tf.train.experimental.PythonState()
