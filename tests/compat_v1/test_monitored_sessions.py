"""Loops of training with hooks. TensorFlow 2.21 was asked for all answers."""

from __future__ import annotations

import logging
import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def _model() -> tuple[Any, Any, Any]:
    """Counter, loss, step of training."""
    step = v1.train.get_or_create_global_step()
    w = v1.get_variable("w", initializer=5.0)
    x = v1.placeholder_with_default(2.0, [], name="x")
    loss = tf.square(w * x - 1, name="loss")
    v1.summary.scalar("seen", loss)
    return step, loss, v1.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)


def test_hooks_are_called_around_each_run() -> None:
    calls: list[Any] = []

    class Recording(v1.train.SessionRunHook):
        def begin(self) -> None:
            calls.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            calls.append(("created", v1.get_default_graph().finalized))

        def before_run(self, run_context: Any) -> Any:
            fed = {"x:0": 3.0} if len(calls) == 4 else None
            return v1.train.SessionRunArgs(["loss:0"], fed) if len(calls) > 2 else None

        def after_run(self, run_context: Any, run_values: Any) -> None:
            found = run_values.results
            calls.append(found if found is None else round(float(found[0]), 3))

        def end(self, session: Any) -> None:
            calls.append("end")

    with tf.Graph().as_default() as graph:
        _, loss, train = _model()
        stop = v1.train.StopAtStepHook(last_step=4)
        with v1.train.MonitoredSession(hooks=[Recording(), stop]) as session:
            while not session.should_stop():
                session.run(train)
            assert session.graph is graph
            last = session.run(loss)
        assert session.should_stop()
        assert not graph.finalized
        with pytest.raises(RuntimeError):
            session.run(loss)
    assert calls == ["begin", ("created", True), None, 68.558, 142.239, 38.272, 32.393, "end"]
    np.testing.assert_allclose(last, 32.393, rtol=1e-4)


def _kept(folder: pathlib.Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.suffix == ".index")


def test_training_goes_on_from_the_newest_checkpoint(tmp_path: pathlib.Path) -> None:
    for begin in (0, 5):
        with tf.Graph().as_default():
            step, _, train = _model()
            with v1.train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path),
                save_checkpoint_steps=3,
                save_summaries_steps=2,
                log_step_count_steps=4,
                hooks=[v1.train.StopAtStepHook(num_steps=5)],
            ) as session:
                assert session.run(step) == begin
                while not session.should_stop():
                    session.run(train)
        v1.summary.FileWriterCache.clear()
    names = [f"model.ckpt-{n}.index" for n in (0, 10, 3, 5, 8)]
    assert _kept(tmp_path) == names
    assert (tmp_path / "graph.pbtxt").is_file()
    runs = [
        [
            (e.step, [v.tag for v in e.summary.value])
            for e in v1.train.summary_iterator(str(path))
            if e.WhichOneof("what") == "summary"
        ]
        for path in tmp_path.glob("*tfevents*")
    ]
    summaries = min(runs)  # of the first run: names of one second are in no order
    assert summaries == [(0, ["seen"]), (2, ["seen"]), (4, ["global_step/sec"]), (4, ["seen"])]


class _Texts(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record.getMessage())


def test_logs_of_tensors() -> None:
    logger, texts = tf.get_logger(), _Texts()
    level = logger.level
    logger.addHandler(texts)
    logger.setLevel("INFO")
    try:
        with tf.Graph().as_default():
            _, _, train = _model()
            hook = v1.train.LoggingTensorHook({"l": "loss:0"}, every_n_iter=2, at_end=True)
            stop = v1.train.StopAtStepHook(num_steps=3)
            with v1.train.MonitoredSession(hooks=[hook, stop]) as session:
                while not session.should_stop():
                    session.run(train)
    finally:
        logger.removeHandler(texts)
        logger.setLevel(level)
    logged = [t.partition(" (")[0] for t in texts.found if t.startswith("l = ")]
    assert logged == ["l = 81.0", "l = 58.02782", "l = 49.114742"]


def test_a_loss_that_is_no_number() -> None:
    with tf.Graph().as_default():
        _, loss, train = _model()
        bad = tf.math.log(loss - 100.0)
        with (
            pytest.raises(v1.train.NanLossDuringTrainingError, match="NaN loss during training"),
            v1.train.MonitoredSession(hooks=[v1.train.NanTensorHook(bad)]) as session,
        ):
            session.run(train)
        hook = v1.train.NanTensorHook(bad, fail_on_nan_loss=False)
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            session.run(train)
            assert session.should_stop()


def test_final_values_fed_values_and_listeners(tmp_path: pathlib.Path) -> None:
    calls: list[Any] = []

    class Listener(v1.train.CheckpointSaverListener):
        def begin(self) -> None:
            calls.append("begin")

        def before_save(self, session: Any, global_step_value: int) -> None:
            calls.append(("before", global_step_value))

        def after_save(self, session: Any, global_step_value: int) -> Any:
            calls.append(("after", global_step_value))

        def end(self, session: Any, global_step_value: int) -> None:
            calls.append(("end", global_step_value))

    with tf.Graph().as_default():
        step, _, train = _model()
        final = v1.train.FinalOpsHook([step])
        scaffold = v1.train.Scaffold()
        saver = v1.train.CheckpointSaverHook(
            str(tmp_path), save_steps=3, scaffold=scaffold, listeners=[Listener()]
        )
        feeding = v1.train.FeedFnHook(lambda: {"x:0": 1.0})
        hooks = [final, saver, feeding]
        with v1.train.SingularMonitoredSession(hooks=hooks, scaffold=scaffold) as session:
            session.run(train)
            session.run(train)
            with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and"):
                session.run(train, {"x:0": 2.0})
    v1.summary.FileWriterCache.clear()
    assert final.final_ops_values == [2]
    expected = ["begin", ("before", 0), ("after", 0), ("before", 2), ("after", 2), ("end", 2)]
    assert calls == expected


def test_the_end_of_data_ends_the_loop() -> None:
    with tf.Graph().as_default():
        queue = v1.train.range_input_producer(4, num_epochs=1, shuffle=False)
        element, found = queue.dequeue(), list[int]()
        with v1.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(int(session.run(element)))
    assert found == [0, 1, 2, 3]


def test_functions_of_steps() -> None:
    with tf.Graph().as_default():
        step, _, train = _model()
        with v1.train.MonitoredSession() as session:

            def once(step_context: Any) -> Any:
                step_context.run_with_hooks(train)
                return step_context.session.run(step)

            assert session.run_step_fn(once) == 1
            with pytest.raises(ValueError, match="step_context"):
                session.run_step_fn(lambda x: x)
        with v1.train.MonitoredSession() as session:
            session.run_step_fn(lambda step_context: step_context.request_stop())
            raise AssertionError("a request to stop ends the block")


def test_what_begins_a_session() -> None:
    with tf.Graph().as_default():
        u = tf.Variable(2.0, name="u")
        fed = v1.placeholder(tf.float32, [])
        change = u.assign(fed)

        def begin(scaffold: Any, session: Any) -> None:
            session.run(change, {fed: 9.0})

        with v1.train.MonitoredTrainingSession(
            scaffold=v1.train.Scaffold(init_fn=begin)
        ) as session:
            assert session.run(u) == 9.0
    with tf.Graph().as_default():
        tf.Variable(2.0, name="u")
        creator = v1.train.ChiefSessionCreator(v1.train.Scaffold(init_op=tf.no_op()))
        with pytest.raises(RuntimeError, match="Variables not initialized: u"):
            v1.train.MonitoredSession(creator)


def test_when_timers_trigger() -> None:
    timer = v1.train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    assert [timer.should_trigger_for_step(n) for n in (1, 3, 4)] == [False, False, True]
    assert timer.update_last_triggered_step(5)[1] == 4
    train = v1.train
    for call, phrase in (
        (lambda: train.SecondOrStepTimer(), "Either every_secs or every_steps"),
        (lambda: train.StopAtStepHook(), "One of num_steps or last_step"),
        (lambda: train.LoggingTensorHook(["a"]), "either at_end and/or"),
        (lambda: train.LoggingTensorHook(["a"], every_n_iter=0), "invalid every_n_iter=0"),
        (lambda: train.SummarySaverHook(save_steps=1), "Exactly one of scaffold or summary_op"),
    ):
        with pytest.raises(ValueError, match=phrase):
            call()
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Global step should be"):
        train.StopAtStepHook(1).begin()
