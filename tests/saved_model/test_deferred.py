"""Values that wait in a checkpoint for objects that come later; as TensorFlow does, which was asked."""

from __future__ import annotations

import gc
import logging
import pathlib
import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.errors import InvalidArgumentError
from intaglio.state import deferred

UNRESTORED = "Value in checkpoint could not be found in the restored object: (root)."


class Part(tf.Module):
    """A module with the attributes given."""

    def __init__(self, **parts: Any) -> None:
        super().__init__()
        for name, value in parts.items():
            setattr(self, name, value)


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """A function that returns what has been logged since it was called."""
    gc.collect()
    with caplog.at_level(logging.WARNING, "tensorflow"):

        def texts() -> list[str]:
            found = [r.getMessage() for r in caplog.records]
            caplog.clear()
            return found

        texts()
        yield texts


def written(root: Any, folder: pathlib.Path) -> str:
    """The prefix of a checkpoint of `root`."""
    return tf.train.Checkpoint(root).write(str(folder / "c"))


# -- what grows ------------------------------------------------------------------------------


def test_elements_are_restored_before_they_are_read(tmp_path: pathlib.Path) -> None:
    saved = Part(l=[tf.Variable(1.0), [tf.Variable(2.0)]], d={"k": Part(v=tf.Variable(3.0))})
    path = written(saved, tmp_path)
    new = Part(l=[], d={})
    alias = new.l
    status = tf.train.Checkpoint(new).read(path)
    alias.append(tf.Variable(0.0))
    assert new.l[0].numpy() == 1.0
    new.l.extend([[tf.Variable(0.0)]])
    new.d.update(k=Part(v=tf.Variable(0.0)))
    assert float(new.l[1][0] + new.d["k"].v) == 5.0
    status.assert_consumed()


def test_elements_of_a_traced_function_are_restored_before_it_runs(tmp_path: pathlib.Path) -> None:
    class Late(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers: list[Any] = []

        @tf.function
        def __call__(self, x: Any) -> Any:
            if not self.layers:
                for _ in range(2):
                    self.layers.append(tf.Variable(0.0))
            return x + self.layers[0] * self.layers[1]

    saved = Late()
    saved(1.0)
    saved.layers[0].assign(3.0)
    saved.layers[1].assign(4.0)
    path = written(saved, tmp_path)
    new = Late()
    status = tf.train.Checkpoint(new).read(path)
    assert new(1.0).numpy() == 13.0
    status.assert_consumed()


def test_a_variable_is_an_ordinary_one_once_it_has_been_used(tmp_path: pathlib.Path) -> None:
    ordinary = type(tf.Variable(0.0))
    path = written(Part(l=[tf.Variable(1.0)]), tmp_path)
    new = Part(l=[])
    tf.train.Checkpoint(new).read(path).expect_partial()
    v = tf.Variable(0.0)
    assert type(v) is not ordinary and isinstance(v, tf.Variable)
    assert type(v).__name__ == ordinary.__name__
    new.l.append(v)
    assert v.assign_add(1.0).numpy() == 2.0 and type(v) is ordinary
    del new
    gc.collect()
    assert type(tf.Variable(0.0)) is ordinary and not [*deferred.RESTORATIONS]


def test_values_that_do_not_fit_are_reported_where_they_come(tmp_path: pathlib.Path) -> None:
    path = written(Part(l=[tf.Variable([1.0, 2.0])]), tmp_path)
    new = Part(l=[])
    tf.train.Checkpoint(new).read(path).expect_partial()
    new.l.append(tf.Variable(0.0))
    with pytest.raises(ValueError, match="Received incompatible tensor with shape"):
        new.l[0].numpy()


Tree = Any
trees = st.recursive(
    st.just("v"),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=3),
        st.lists(inner, min_size=1, max_size=2).map(tuple),
        st.dictionaries(st.sampled_from("xyz"), inner, min_size=1, max_size=3).map(
            lambda parts: ("module", parts)
        ),
    ),
    max_leaves=8,
)


def is_module(tree: Tree) -> bool:
    """True for a part that becomes a module."""
    return isinstance(tree, tuple) and len(tree) == 2 and tree[0] == "module"


def whole(tree: Tree, values: Iterator[float]) -> Any:
    """The objects of a tree, all at once."""
    if tree == "v":
        return tf.Variable(float(next(values)))
    if is_module(tree):
        return Part(**{n: whole(t, values) for n, t in tree[1].items()})
    if isinstance(tree, dict):
        return {n: whole(t, values) for n, t in tree.items()}
    return type(tree)([whole(t, values) for t in tree])


def grow(tree: Tree, place: Callable[[Any], None]) -> None:
    """Puts the objects of a tree into a place: containers first, then what they have, one after another."""
    if tree == "v":
        place(tf.Variable(-1.0))
    elif is_module(tree):
        module = Part()
        place(module)
        for name, part in tree[1].items():
            grow(part, lambda v, n=name: setattr(module, n, v))  # type: ignore[misc]  # the defaults bind names
    elif isinstance(tree, dict):
        named: dict[str, Any] = {}
        place(named)
        for name, part in tree.items():
            grow(part, lambda v, n=name: named.__setitem__(n, v))  # type: ignore[misc]  # the defaults bind names
    elif isinstance(tree, tuple):
        place(whole(tree, iter([-1.0] * 99)))
    else:
        listed: list[Any] = []
        place(listed)
        for part in tree:
            grow(part, listed.append)


@settings(max_examples=25, deadline=None)
@given(tree=trees)
def test_programs_that_grow_are_restored_as_whole_ones(tree: Tree) -> None:
    saved = Part(tree=whole(tree, iter(range(1, 99))))  # type: ignore[arg-type]  # integers are floats
    with tempfile.TemporaryDirectory() as folder:
        path = written(saved, pathlib.Path(folder))
        late = Part()
        status = tf.train.Checkpoint(late).read(path)
        grow(tree, lambda value: setattr(late, "tree", value))
        leaves = [
            [float(o) for o in tf.train.TrackableView(root).descendants() if hasattr(o, "assign")]
            for root in (late, saved)
        ]
        assert leaves[0] == leaves[1] and -1.0 not in leaves[0]
        status.assert_consumed()


# -- what is never restored ------------------------------------------------------------------


def model() -> Part:
    """Several values."""
    return Part(
        v=tf.Variable(0.0), w=tf.Variable(0.0), l=[tf.Variable(0.0), Part(q=tf.Variable(0.0))]
    )


@pytest.mark.parametrize(
    "assertion",
    [None, "assert_existing_objects_matched", "assert_nontrivial_match", "run_restore_ops"],
)
def test_values_without_objects_are_reported_when_the_objects_are_freed(
    tmp_path: pathlib.Path, logged: Callable[[], list[str]], assertion: str | None
) -> None:
    path = tf.train.Checkpoint(a=model()).save(tmp_path / "c")
    part = Part(v=tf.Variable(1.0))
    status = tf.train.Checkpoint(a=part).restore(path)
    if assertion is not None:
        getattr(status, assertion)()
    assert logged() == []
    gone = weakref.ref(part)
    del part, status
    assert gone() is None  # no collection is needed
    first, *rest = logged()
    assert "is being deleted with unrestored values" in first and "expect_partial()" in first
    assert rest == [UNRESTORED + "a." + name for name in ("w", "l.0", "l.1.q")]


def test_nothing_is_reported_of_what_is_expected_or_complete(
    tmp_path: pathlib.Path, logged: Callable[[], list[str]]
) -> None:
    path = tf.train.Checkpoint(a=model()).save(tmp_path / "c")
    tf.train.Checkpoint(a=Part(v=tf.Variable(1.0))).restore(path).expect_partial()
    tf.train.Checkpoint(a=model()).restore(path)
    tf.train.Checkpoint(a=Part()).restore(None)
    gc.collect()
    assert logged() == []
    tf.train.Checkpoint(a=model()).read(path)
    gc.collect()
    assert logged()[1:] == [UNRESTORED + "save_counter"]


# -- names -----------------------------------------------------------------------------------


def test_statuses_have_tensorflows_names(tmp_path: pathlib.Path) -> None:
    path = written(Part(v=tf.Variable(0.0)), tmp_path)
    status = tf.train.Checkpoint(Part(v=tf.Variable(0.0))).read(path)
    nothing = tf.train.Checkpoint().restore(None)
    assert [type(s).__name__ for s in (status, nothing)] == [
        "CheckpointLoadStatus",
        "InitializationOnlyStatus",
    ]
    for s in (status, nothing):
        assert [n for n in dir(s) if n[0] != "_"] == [
            "assert_consumed",
            "assert_existing_objects_matched",
            "assert_nontrivial_match",
            "expect_partial",
            "initialize_or_restore",
            "run_restore_ops",
        ]
    with pytest.raises(AssertionError, match="so no restore ops are available"):
        nothing.run_restore_ops()


def test_objects_are_numbered_in_the_order_of_their_names(tmp_path: pathlib.Path) -> None:
    both = tf.train.Checkpoint(b=tf.Variable(1.0), a=tf.Variable(2.0))
    view = tf.train.CheckpointView(both.write(tmp_path / "c"))
    assert list(view.children(0).items()) == [("a", 1), ("b", 2)]
    both.Z = tf.Variable(3.0)
    assert list(tf.train.CheckpointView(both.save(tmp_path / "c")).children(0)) == [
        "a",
        "b",
        "Z",
        "save_counter",
    ]
    with pytest.raises(ValueError, match="expecting root to be a trackable object"):
        tf.train.Checkpoint([tf.Variable(1.0)])


def test_attributes_set_without_tracking_are_not_saved() -> None:
    class Owner(tf.Module):
        @tf.__internal__.tracking.no_automatic_dependency_tracking
        def hide(self, value: Any) -> None:
            self.hidden = value

    owner = Owner()
    owner.seen = tf.Variable(1.0)
    owner.hide(tf.Variable(2.0))
    assert list(owner._trackable_children()) == ["seen"] and len(owner.variables) == 2
    owner.hidden = tf.Variable(3.0)
    assert list(owner._trackable_children()) == ["seen", "hidden"]
    owner._self_setattr_tracking = False
    owner.seen = [tf.Variable(4.0)]
    owner._self_setattr_tracking = True
    assert list(owner._trackable_children()) == ["hidden"]


def test_positions_of_tensorflows_iterators_are_refused(tmp_path: pathlib.Path) -> None:
    """Its attribute is ITERATOR, and its value a variant."""
    iterator = iter(tf.data.Dataset.range(3))
    with pytest.raises(InvalidArgumentError, match=r"a variant of its kernels.*dataset\.skip"):
        iterator._restore_checkpoint_values({})
