"""Loops of evaluation. TensorFlow 2.21 was asked for all answers."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

import pytest

from intaglio import tf
from intaglio.compat_v1.evaluations import (
    StopAfterNEvalsHook,
    evaluate_once,
    get_or_create_eval_step,
)

v1: Any = tf.compat.v1


def _saved(folder: pathlib.Path) -> str:
    """A checkpoint in which `w` is 7."""
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=7.0)
        session.run(w.initializer)
        return v1.train.Saver([w]).save(session, str(folder / "model"))


@pytest.mark.parametrize("form", ["one", "list", "tuple", "dict"])
def test_ops_run_until_a_hook_stops_them(tmp_path: pathlib.Path, form: str) -> None:
    prefix = _saved(tmp_path)
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=0.0)
        total = v1.get_variable(
            "total", initializer=0.0, trainable=False, collections=[v1.GraphKeys.LOCAL_VARIABLES]
        )
        x = v1.placeholder(tf.float32, [])
        y = v1.placeholder(tf.float32, [])
        add = v1.assign_add(total, w * x)
        repeated = {"one": add, "list": [add], "tuple": (add,), "dict": {"add": add}}[form]
        found = evaluate_once(
            prefix,
            eval_ops=repeated,
            feed_dict={x: 2.0},
            final_ops={"total": tf.identity(total) + y, "step": get_or_create_eval_step()},
            final_ops_feed_dict={y: 0.5},
            hooks=[StopAfterNEvalsHook(3), StopAfterNEvalsHook(5)],
        )
        assert found == {"total": 42.5, "step": 3}


def test_only_what_comes_at_the_end(tmp_path: pathlib.Path) -> None:
    prefix = _saved(tmp_path)
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=0.0)
        assert evaluate_once(prefix, final_ops=w * 2) == 14.0
        assert evaluate_once(prefix) is None
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=3.0)
        assert evaluate_once(None, final_ops=[w], hooks=[StopAfterNEvalsHook(1)]) == [3.0]


def test_the_counter_is_a_local_variable() -> None:
    with tf.Graph().as_default() as graph:
        counter = get_or_create_eval_step()
        assert (counter.name, counter.dtype.base_dtype, counter.shape) == (
            "eval_step:0",
            tf.int64,
            [],
        )
        assert get_or_create_eval_step() is counter
        assert v1.local_variables() == [counter]
        assert v1.global_variables() == v1.trainable_variables() == []
        graph.add_to_collection(v1.GraphKeys.EVAL_STEP, tf.constant(1))
        with pytest.raises(ValueError, match="Multiple"):
            get_or_create_eval_step()


@pytest.mark.parametrize(
    ("number", "logged"), [(2, ["1/2", "2/2"]), (30, [f"{n}/30" for n in range(3, 31, 3)])]
)
def test_evaluations_are_logged(
    number: int, logged: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "tensorflow"), tf.Graph().as_default():
        x = tf.constant(1.0)
        evaluate_once(None, eval_ops=x, hooks=[StopAfterNEvalsHook(number)])
        evaluate_once(None, eval_ops=x, hooks=[StopAfterNEvalsHook(number, log_progress=False)])
    found = [m for m in caplog.messages if m.startswith("Evaluation")]
    assert found == [f"Evaluation [{one}]" for one in logged]
