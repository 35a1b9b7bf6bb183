"""From names to objects and back: checkpoints of sessions. TensorFlow 2.21 was asked."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf

v1: Any = tf.compat.v1


@pytest.fixture
def by_name(tmp_path: pathlib.Path) -> str:
    """A checkpoint of a Saver: a, scope/b."""
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("a", initializer=[1.0, 2.0])
        with v1.variable_scope("scope"):
            v1.get_variable("b", initializer=3.0)
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path / "by_name"))


def test_objects_take_values_by_the_names_of_variables(by_name: str) -> None:
    a, b = tf.Variable([0.0, 0.0], name="a"), tf.Variable(0.0, name="scope/b")
    other = tf.Variable(7.0, name="other")
    status: Any = tf.train.Checkpoint(x=[a, b]).restore(by_name)
    assert (a.numpy().tolist(), b.numpy()) == ([1.0, 2.0], 3.0)
    status.assert_consumed()
    status = tf.train.Checkpoint(a=a, other=other).restore(by_name)
    assert other.numpy() == 7.0
    for check in (
        status.assert_nontrivial_match,  # with the others, as in TensorFlow 2.21
        status.assert_existing_objects_matched,
    ):
        with pytest.raises(AssertionError, match="other"):
            check()


def test_objects_of_a_graph_are_saved_and_restored_in_sessions(tmp_path: pathlib.Path) -> None:
    eager: Any = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]), b=tf.Variable(3.0))
    path = eager.save(str(tmp_path / "eager"))
    with tf.Graph().as_default(), v1.Session() as session:
        a = v1.get_variable("other", [2])
        c = v1.get_variable("c", initializer=9.0)
        objects = v1.train.Checkpoint(a=a, c=c)
        objects.restore(path).initialize_or_restore(session)
        assert session.run([a, c])[0].tolist() == [1.0, 2.0]
        assert session.run(c) == 9.0
        session.run(a.assign([5.0, 6.0]))
        written = objects.save(str(tmp_path / "graph"), session=session)
    assert written.endswith("graph-2")
    eager.restore(written).expect_partial()
    assert eager.a.numpy().tolist() == [5.0, 6.0]
    assert eager.b.numpy() == 3.0


@pytest.mark.parametrize(
    "assignment",
    [
        {"a": "new/a", "scope/b": "new/b"},
        {"a": "new/a", "scope/": "new/"},
        [("a", "new/a"), ("scope/b", "new/b")],
    ],
)
def test_variables_begin_with_values_of_a_checkpoint(by_name: str, assignment: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("new"):
            b = v1.get_variable("b", [])
            if isinstance(assignment, dict) and "scope/" in assignment:
                v1.train.init_from_checkpoint(by_name, {"scope/": "new/"})
                assignment = {"a": "new/a"}
            a = v1.get_variable("a", [2])
        v1.train.init_from_checkpoint(by_name, assignment)
        session.run(v1.global_variables_initializer())
        assert session.run(a).tolist() == [1.0, 2.0]
        assert session.run(b) == 3.0


@pytest.mark.parametrize(
    ("assignment", "phrase"),
    [
        ({"none": "a"}, "is not found in"),
        ({"a": "none"}, "should map to scope only"),
        ({"scope/b": "a"}, "doesn't match"),
    ],
)
def test_what_a_checkpoint_cannot_give(by_name: str, assignment: Any, phrase: str) -> None:
    with tf.Graph().as_default():
        v1.get_variable("a", [2])
        with pytest.raises(ValueError, match=phrase):
            v1.train.init_from_checkpoint(by_name, assignment)


def test_printing_in_a_session(capfd: Any) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.Print(tf.constant(2.0), [tf.constant([1, 2])], "seen: ")
        assert session.run(x) == 2.0
    assert "seen: [[1 2]]" in capfd.readouterr().err


def test_checkpoints_are_numbered_in_a_session(tmp_path: pathlib.Path) -> None:
    prefix = str(tmp_path / "ck")
    with tf.Graph().as_default(), v1.Session() as session:
        variable = tf.Variable(3.0)
        session.run(variable.initializer)
        checkpoint = tf.train.Checkpoint(v=variable)
        assert [checkpoint.save(prefix) for _ in range(3)] == [f"{prefix}-{i}" for i in (1, 2, 3)]
        assert checkpoint.save_counter.eval() == 3
        assert tf.train.latest_checkpoint(str(tmp_path)) == f"{prefix}-3"
        restored = tf.train.Checkpoint(v=variable)
        restored.restore(f"{prefix}-2").run_restore_ops()
        assert restored.save(prefix) == f"{prefix}-3"
    assert tf.train.load_variable(f"{prefix}-3", "v/.ATTRIBUTES/VARIABLE_VALUE") == 3.0


def test_a_condition_on_sizes_is_decided_in_graphs_of_sessions() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        matrix = tf.reshape(tf.range(6.0), [3, 2])
        fitted = tf.linalg.lstsq(matrix, tf.ones([3, 1]))
        looped = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, x: (i + 1, x + tf.linalg.lstsq(matrix, tf.ones([3, 1]))),
            [0, tf.zeros([2, 1])],
        )[1]
        once, twice = session.run([fitted, looped])
        assert not [op for op in graph.get_operations() if "If" in op.type]
    assert once.ravel().tolist() == pytest.approx([-1.0, 1.0], abs=1e-5)
    assert twice.ravel().tolist() == pytest.approx([-2.0, 2.0], abs=1e-5)
