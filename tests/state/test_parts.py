"""Parts that trackable objects are told of by name, as libraries do. TensorFlow's answers were recorded."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.state.tracking import AutoTrackable, no_automatic_dependency_tracking, not_tracking


class Plain(AutoTrackable):
    """A trackable object."""


class AssignsItself(AutoTrackable):
    """Tracks its attributes itself and sets them past `AutoTrackable`, as Keras 2's layers do."""

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, "_self_setattr_tracking", True) and isinstance(value, tf.Variable):
            self._track_trackable(value, name, overwrite=True)
        super(AutoTrackable, self).__setattr__(name, value)


def test_a_part_under_a_name() -> None:
    owner, v, w = Plain(), tf.Variable(1.0), tf.Variable(2.0)
    assert owner._track_trackable(v, "x") is v
    assert owner._trackable_children() == {"x": v}
    with pytest.raises(ValueError, match="already declared as a dependency"):
        owner._track_trackable(w, "x")
    with pytest.raises(TypeError, match="can only be used to track objects of type Trackable"):
        owner._track_trackable(3, "y")
    owner._track_trackable(w, "x", overwrite=True)
    assert owner._lookup_dependency("x") is w
    assert owner._lookup_dependency("q") is None
    owner.z = v
    assert [*owner._trackable_children()] == ["x", "z"]
    owner._delete_tracking("x")
    owner._delete_tracking("z")
    assert owner._trackable_children() == {}
    assert owner.z is v


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["told", "set", "untracked", "deleted", "forgotten"]),
            st.sampled_from("abc"),
        ),
        max_size=12,
    )
)
def test_parts_follow_what_was_done(steps: list[tuple[str, str]]) -> None:
    """After any steps the parts are those told or assigned last under their names."""
    owner, wanted, assigned = Plain(), dict[str, Any](), set[str]()
    for what, name in steps:
        v = tf.Variable(0.0)
        if what == "told" and name not in assigned:
            wanted[name] = owner._track_trackable(v, name, overwrite=True)
        elif what == "set":
            setattr(owner, name, v)
            wanted[name] = v
            assigned.add(name)
        elif what == "untracked":
            setattr(owner, name, owner._no_dependency(v))
            owner._delete_tracking(name)
            wanted.pop(name, None)
            assigned.add(name)
        elif what == "forgotten":
            owner._delete_tracking(name)
            wanted.pop(name, None)
        elif what == "deleted" and name in assigned:
            delattr(owner, name)
            assigned.discard(name)
            wanted.pop(name, None)
    found = owner._trackable_children()
    assert {n: id(v) for n, v in found.items()} == {n: id(v) for n, v in wanted.items()}
    for name in "abc":
        assert owner._lookup_dependency(name) is wanted.get(name)


def test_a_class_that_assigns_its_attributes_itself() -> None:
    owner = AssignsItself()
    with not_tracking(owner):
        owner.hidden = [1]
        owner.unseen = tf.Variable(1.0)
    assert owner._trackable_children() == {}
    owner.v = tf.Variable(2.0)
    assert [*owner._trackable_children()] == ["v"]
    owner._setattr_tracking = False
    owner.w = tf.Variable(3.0)
    owner._setattr_tracking = True
    assert [*owner._trackable_children()] == ["v"]


def test_what_waits_gets_a_part_that_is_told(tmp_path: Any) -> None:
    owner = Plain()
    owner._track_trackable(tf.Variable(5.0), "hidden")
    path = tf.train.Checkpoint(o=owner).save(str(tmp_path / "c"))
    late = Plain()
    status = tf.train.Checkpoint(o=late).restore(path)
    made = late._add_variable_with_custom_getter(
        "hidden", shape=(), dtype=tf.float32, getter=lambda **_: tf.Variable(0.0)
    )
    assert float(made) == 5.0
    status.assert_consumed()


def test_functions_that_are_no_attributes_any_more_are_not_saved() -> None:
    owner = Plain()
    owner.f = owner._track_trackable(tf.function(lambda: 1), "f")
    owner._track_trackable(tf.function(lambda: 2), "h")
    assert [*owner._trackable_children()] == ["f", "h"] or [*owner._trackable_children()] == [
        "h",
        "f",
    ]
    assert [*owner._trackable_children("savedmodel", cache={})] == ["f"]


def test_no_tracking_ends_with_an_error() -> None:
    owner = AssignsItself()
    with contextlib.suppress(KeyError), not_tracking(owner):
        raise KeyError
    owner.v = tf.Variable(1.0)
    assert [*owner._trackable_children()] == ["v"]


def test_lists_that_grow_while_nothing_is_tracked_stay_parts(tmp_path: pathlib.Path) -> None:
    class Archive(AutoTrackable):
        def __init__(self) -> None:
            self.kept: list[Any] = []

        @no_automatic_dependency_tracking
        def add(self, variable: Any) -> None:
            self.kept += [variable]
            self.hidden = [variable]

    archive = Archive()
    archive.add(tf.Variable(2.0))
    tf.saved_model.save(archive, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert [float(v) for v in loaded.kept] == [2.0]
    assert not hasattr(loaded, "hidden")


def test_objects_without_values_match_too(tmp_path: pathlib.Path) -> None:
    def nested(*names: str) -> Any:
        module = tf.Module()
        for name in names:
            setattr(module, name, tf.Module())
        return module

    path = tf.train.Checkpoint(m=nested("a", "b")).write(str(tmp_path / "c"))
    for module in (nested("a"), nested(), nested("c")):
        tf.train.Checkpoint(m=module).read(path).assert_nontrivial_match()
    with pytest.raises(AssertionError):
        tf.train.Checkpoint(other=nested("a")).read(path).assert_nontrivial_match()


def test_masks_are_put_on_extension_types() -> None:
    class Masked(tf.experimental.ExtensionType):
        values: tf.Tensor

    value: Any = Masked(tf.constant(1.0))
    value._keras_mask = tf.constant(True)
    assert bool(value._keras_mask)
    assert bool(value == Masked(tf.constant(1.0)))
    with pytest.raises(AttributeError, match="Cannot mutate attribute `_keras_history`"):
        value._keras_history = 3
