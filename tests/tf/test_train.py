"""tf.train: clusters, threads that end together, moving averages. TensorFlow was asked."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from intaglio import tf

train = tf.train


def test_clusters():
    cluster = train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "c:3"}})
    assert cluster.jobs == ["worker", "ps"]
    assert (cluster.num_tasks("worker"), cluster.task_indices("ps")) == (2, [3])
    assert cluster.job_tasks("ps") == [None, None, None, "c:3"]
    assert cluster.as_dict() == {"worker": ["a:1", "b:2"], "ps": {3: "c:3"}}
    assert repr(cluster) == "ClusterSpec({'ps': {3: 'c:3'}, 'worker': ['a:1', 'b:2']})"
    message = cluster.as_cluster_def()
    assert [(j.name, dict(j.tasks)) for j in message.job] == [
        ("ps", {3: "c:3"}),
        ("worker", {0: "a:1", 1: "b:2"}),
    ]
    assert train.ClusterSpec(message) == cluster == train.ClusterSpec(cluster)
    assert train.ClusterSpec({"a": ["b"]}) == train.ClusterSpec({"a": {0: "b"}})
    server = train.ServerDef(cluster=message, job_name="ps", task_index=3)
    assert train.ServerDef.FromString(server.SerializeToString()) == server


@pytest.mark.parametrize(
    ("call", "kind", "phrase"),
    [
        (lambda: train.ClusterSpec(3), TypeError, "must be a dictionary"),
        (lambda: train.ClusterSpec({"a": 3}), TypeError, "must be a list or a dictionary"),
        (lambda: train.ClusterSpec({"a": [3]}), TypeError, "must be bytes or unicode"),
        (lambda: train.ClusterSpec({}).num_tasks("x"), ValueError, "No such job"),
        (lambda: train.ClusterSpec({"a": []}).task_address("a", 0), ValueError, "No task"),
    ],
)
def test_clusters_that_are_none(call, kind, phrase):
    with pytest.raises(kind, match=phrase):
        call()


def test_an_error_of_one_thread_stops_all():
    coordinator = train.Coordinator()
    turns: list[int] = []

    def endless() -> None:
        while not coordinator.should_stop():
            turns.append(1)
            coordinator.wait_for_stop(0.01)

    def failing() -> None:
        with coordinator.stop_on_exception():
            raise ValueError("boom")

    threads = [threading.Thread(target=f) for f in (endless, failing)]
    coordinator.register_thread(threads[0])
    for t in threads:
        t.start()
    with pytest.raises(ValueError, match="boom"):
        coordinator.join(threads)
    assert coordinator.joined and not threads[0].is_alive()
    coordinator.clear_stop()
    assert not coordinator.should_stop()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coordinator.join()  # the end of data is no error


def test_threads_that_do_not_stop():
    coordinator, release = train.Coordinator(), threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    coordinator.request_stop()
    with pytest.raises(RuntimeError, match="threads still running"):
        coordinator.join([thread], stop_grace_period_secs=0.01)
    release.set()
    thread.join()


@pytest.mark.parametrize("traced", [False, True])
def test_moving_averages(traced):
    variable = tf.Variable([1.0, 2.0])
    average = train.ExponentialMovingAverage(0.9)

    def update() -> None:
        average.apply([variable])

    call: Any = tf.function(update) if traced else update
    call()
    assert average.average(variable).numpy().tolist() == [1, 2]
    variable.assign([3.0, 4.0])
    call()
    assert average.average(variable).numpy().round(6).tolist() == pytest.approx([1.2, 2.2])
    assert average.average(variable).name == "Variable/ExponentialMovingAverage:0"
    assert [*average.variables_to_restore()] == ["Variable/ExponentialMovingAverage"]
    assert average.average(tf.Variable(1.0)) is None


def test_averages_move_faster_at_the_start():
    variable = tf.Variable(2.0)
    average = train.ExponentialMovingAverage(0.9, num_updates=3)
    average.apply([variable])
    variable.assign(5.0)
    average.apply([variable])
    assert float(average.average(variable)) == pytest.approx(4.0769234)
    with pytest.raises(TypeError, match="must be half, float, or double"):
        average.apply([tf.Variable(1)])
    with pytest.raises(TypeError, match="does not support non-Variable"):
        average.apply([tf.constant(1.0)])


def test_checkpoints_as_they_come(tmp_path):
    checkpoint = train.Checkpoint(v=tf.Variable(1.0))
    first = checkpoint.save(str(tmp_path / "c"))
    found = train.checkpoints_iterator(str(tmp_path), timeout=0)
    assert next(found) == first
    second = checkpoint.save(str(tmp_path / "c"))
    assert list(found) == [second]
    asked: list[int] = []
    ends = train.checkpoints_iterator(
        str(tmp_path / "no"), timeout=0, timeout_fn=lambda: bool(asked) or asked.append(1)
    )
    assert list(ends) == [] and asked == [1]
