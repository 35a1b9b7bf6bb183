"""Input pipelines of queues and threads. TensorFlow 2.21 was asked for all answers."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def _all(make: Any) -> list[Any]:
    """What a pipeline gives until it ends."""
    with tf.Graph().as_default():
        tensors, found = make(), list[Any]()
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
            coordinator: Any = tf.train.Coordinator()
            threads = v1.train.start_queue_runners(session, coordinator)
            try:
                while not coordinator.should_stop():
                    found.append(session.run(tensors))
            except tf.errors.OutOfRangeError:
                coordinator.request_stop()
            coordinator.join(threads)
    return found


@pytest.fixture
def paths(tmp_path: pathlib.Path) -> list[str]:
    for i in range(2):
        lines = [f"{i},{j},{j * 0.5}\n" for j in range(4)]
        (tmp_path / f"f{i}.csv").write_text("".join(lines))
    return [str(tmp_path / f"f{i}.csv") for i in range(2)]


def test_lines_of_files_in_batches(paths: list[str]) -> None:
    def make() -> Any:
        names = v1.train.string_input_producer(paths, num_epochs=1, shuffle=False)
        _, line = v1.TextLineReader(skip_header_lines=1).read(names)
        a, b, c = tf.io.decode_csv(line, [[0], [0], [0.0]])
        batches = v1.train.batch([tf.stack([a, b]), c], 4, allow_smaller_final_batch=True)
        assert [t.shape.as_list() for t in batches] == [[None, 2], [None]]
        assert (names.name, batches[0].name) == ("input_producer", "batch:0")
        runners = v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)
        assert [r.name for r in runners] == ["input_producer", "batch/fifo_queue"]
        (counter,) = v1.local_variables()
        assert counter.name == "input_producer/limit_epochs/epochs:0"
        return batches

    first, last = _all(make)
    assert first[0].tolist() == [[0, 1], [0, 2], [0, 3], [1, 1]]
    assert last[1].tolist() == [1.0, 1.5]


def test_records_in_random_order(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "r.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(7):
            writer.write(b"%d" % i)

    def make() -> Any:
        names = v1.train.string_input_producer([path], num_epochs=2)
        key, record = v1.TFRecordReader().read(names)
        return v1.train.shuffle_batch(
            [key, record], 5, 20, 4, num_threads=2, allow_smaller_final_batch=True
        )

    pairs = [pair for keys, values in _all(make) for pair in zip(keys, values, strict=True)]
    assert sorted(v for _, v in pairs) == sorted([b"%d" % i for i in range(7)] * 2)
    # Keys are offsets: a record of one byte has 17.
    assert {k.rpartition(b":")[2]: v for k, v in pairs}[b"34"] == b"2"


def test_rows_of_tensors_as_dicts() -> None:
    def make() -> Any:
        rows = [tf.reshape(tf.range(8.0), [4, 2]), tf.range(4)]
        image, label = v1.train.slice_input_producer(rows, num_epochs=1, shuffle=False)
        return v1.train.batch({"image": image, "label": label}, 2)

    found = _all(make)
    assert [f["label"].tolist() for f in found] == [[0, 1], [2, 3]]
    assert found[1]["image"].tolist() == [[4.0, 5.0], [6.0, 7.0]]


def _once(make: Any) -> Any:
    with tf.Graph().as_default(), v1.Session() as session:
        tensors = make()
        session.run(v1.local_variables_initializer())
        coordinator: Any = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        found = session.run(tensors)
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def test_other_batches_and_readers(paths: list[str]) -> None:
    def padded() -> Any:
        i = v1.train.range_input_producer(3, shuffle=False).dequeue()
        return v1.train.batch([tf.fill([i + 1], i)], 3, dynamic_pad=True, shapes=[[None]])

    assert _once(padded).tolist() == [[0, 0, 0], [1, 1, 0], [2, 2, 2]]

    def kept() -> Any:
        x = tf.range(8)
        return v1.train.maybe_batch([x], x % 2 > 0, 3, enqueue_many=True)

    assert _once(kept).tolist() == [1, 3, 5]

    def joined() -> Any:
        return v1.train.batch_join([[tf.constant(1)], [tf.constant(1)]], 4)

    assert _once(joined).tolist() == [1, 1, 1, 1]

    def names() -> Any:
        return v1.train.string_input_producer(paths, shuffle=False)

    whole = _once(lambda: v1.WholeFileReader().read(names()))
    assert whole[0].decode() == paths[0]
    assert whole[1] == pathlib.Path(paths[0]).read_bytes()
    # A reader gives what one file has left.
    same = _once(lambda: v1.IdentityReader().read_up_to(names(), 3))
    assert [k.tolist() for k in same] == [[paths[0].encode()]] * 2
    fixed = v1.FixedLengthRecordReader
    parts = _once(lambda: fixed(4, header_bytes=2, footer_bytes=1).read_up_to(names(), 2))
    assert parts[1].tolist() == [b"0,0.", b"0\n0,"]
    assert [k.decode().rpartition(":")[2] for k in parts[0]] == ["0", "1"]


def test_errors_of_threads() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        queue: Any = tf.queue.FIFOQueue(3, tf.float32, shapes=[[]])
        put = queue.enqueue(tf.debugging.check_numerics(tf.constant(np.nan), "bad"))
        v1.train.add_queue_runner(v1.train.QueueRunner(queue, [put] * 2))
        taken = queue.dequeue()
        coordinator: Any = tf.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        assert len(threads) == 3
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(taken)
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            coordinator.join(threads)


def test_what_is_refused() -> None:
    with tf.Graph().as_default():
        for call, phrase in (
            (lambda: v1.train.string_input_producer([]), "non-null input tensor"),
            (lambda: v1.train.limit_epochs(tf.constant(1), 0), "num_epochs must be > 0 not 0"),
            (lambda: v1.train.batch([], 3), "Expected at least one tensor"),
            (lambda: v1.train.QueueRunner(), "Must provide queue and enqueue_ops"),
            (lambda: v1.train.start_queue_runners(), "No default session is registered"),
        ):
            with pytest.raises(ValueError, match=phrase):
                call()
    with pytest.raises(ValueError, match="not supported when eager execution is enabled"):
        v1.train.batch([tf.constant(1)], 2)
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        v1.TextLineReader()
