"""tf.summary: event files. What is written when was asked of TensorFlow; TensorBoard reads it."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.graphdef import event_messages, tensors

s = tf.summary


@pytest.fixture(autouse=True)
def clean_state() -> Any:
    yield
    s.experimental.set_step(None)


def events_in(folder: Any) -> list[Any]:
    """The events of the files of a folder."""
    names = sorted(map(str, folder.iterdir()))
    found = [event_messages.Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(names)]
    assert found[0].file_version == "brain.Event:2"
    return found[1:]


def values_in(folder: Any) -> list[tuple[str, int, Any]]:
    """(tag, step, array) of the values written."""
    return [
        (v.tag, e.step, tensors.array_of(v.tensor))
        for e in events_in(folder)
        for v in e.summary.value
    ]


def test_nothing_is_written_without_a_writer():
    assert not bool(s.write("a", 1.0))  # nor is a step asked for
    assert not bool(s.should_record_summaries())
    assert not bool(s.scalar("a", lambda: 1 / 0, step=0))


def test_writing(tmp_path):
    writer = s.create_file_writer(str(tmp_path))
    assert [p.name.endswith(".v2") for p in tmp_path.iterdir()] == [True]
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            s.write("a", 1.0)
        assert bool(s.write("a", [1.0, 2.0], step=3))
        assert bool(s.write("b", "text", step=-1))
        for condition in (False, tf.constant(False), lambda: tf.constant(False)):
            with s.record_if(condition):
                assert not bool(s.write("c", 1.0, step=4))
        with s.record_if(lambda: tf.constant(True)):
            assert bool(s.write("d", 1, step=tf.Variable(5)))
    (a, step_a, x), (b, step_b, y), (d, step_d, z) = values_in(tmp_path)
    assert (a, step_a, x.tolist()) == ("a", 3, [1.0, 2.0])
    assert (b, step_b, y[()]) == ("b", -1, b"text")
    assert (d, step_d, z[()]) == ("d", 5, 1)
    writer.close()
    with pytest.raises(RuntimeError, match="already closed"), writer.as_default():
        pass


def test_steps():
    s.experimental.set_step(7)
    with s.create_noop_writer().as_default(step=9):
        assert s.experimental.get_step() == 9
    assert s.experimental.get_step() == 7
    others: list[Any] = []
    thread = threading.Thread(target=lambda: others.append(s.experimental.get_step()))
    thread.start()
    thread.join()
    assert others == [None]


def test_functions_write_when_they_run(tmp_path):
    writer = s.create_file_writer(str(tmp_path))
    step = tf.Variable(0, dtype=tf.int64)
    wanted = tf.Variable(True)

    @tf.function
    def train(x: Any) -> Any:
        with writer.as_default(), s.record_if(wanted):
            step.assign_add(1)
            return s.scalar("loss", x * 2, step=step)

    assert bool(train(1.0)) and bool(train(2.0))
    wanted.assign(False)
    assert not bool(train(3.0))
    wanted.assign(True)
    assert bool(train(4.0))
    writer.flush()
    assert [(t, n, float(v)) for t, n, v in values_in(tmp_path)] == [
        ("loss", 1, 2.0),
        ("loss", 2, 4.0),
        ("loss", 4, 8.0),
    ]


def test_tags_are_names_within_scopes():
    with s.experimental.summary_scope("loss") as (tag, scope):
        assert (tag, scope) == ("loss", "loss/")

    @tf.function
    def traced() -> None:
        with tf.name_scope("outer"):
            for wanted in ("outer/loss/", "outer/loss_1/"):
                with s.experimental.summary_scope("loss") as (tag, scope):
                    assert (tag, scope) == ("outer/loss", wanted)
            with s.experimental.summary_scope(None, "other") as (tag, _):
                assert tag == "outer/other"

    traced()


def test_histograms(tmp_path):
    with s.create_file_writer(str(tmp_path)).as_default(step=0):
        s.histogram("even", np.arange(10.0), buckets=3)
        s.histogram("same", [2, 2, 2], buckets=2)
        s.histogram("none", np.zeros(0, np.float32), buckets=2)
    even, same, none = [v for _, _, v in values_in(tmp_path)]
    np.testing.assert_allclose(even, [[0, 3, 3], [3, 6, 3], [6, 9, 4]])
    assert same.tolist() == [[2, 2, 0], [2, 2, 3]]
    assert none.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_images_and_sounds(tmp_path):
    pixels = np.linspace(0, 1, 2 * 4 * 5 * 3, dtype=np.float32).reshape(2, 4, 5, 3)
    with s.create_file_writer(str(tmp_path)).as_default(step=0):
        s.image("image", pixels, max_outputs=1)
        s.audio("audio", np.zeros((5, 8, 2), np.float32), 8000)
        with pytest.raises(ValueError, match="rank 4"):
            s.image("image", pixels[0])
    (_, _, image), (_, _, audio) = values_in(tmp_path)
    assert image[:2].tolist() == [b"5", b"4"] and len(image) == 3
    decoded = tf.io.decode_png(image[2]).numpy()
    np.testing.assert_allclose(decoded / 255, pixels[0], atol=1 / 255)
    assert audio.shape == (3, 2)
    assert tf.audio.decode_wav(audio[0, 0]).audio.shape == (8, 2)


def test_graphs(tmp_path):
    @tf.function
    def double(x: Any) -> Any:
        return x * 2

    with pytest.raises(ValueError, match="Must enable trace"):
        s.trace_export("x", step=1)
    with s.create_file_writer(str(tmp_path)).as_default(step=0):
        s.graph(double.get_concrete_function(tf.constant(1.0)).graph)
        s.trace_on()
        double(tf.constant([1, 2]))
        s.trace_export("traced", step=3)
        with pytest.raises(ValueError, match="is not tf"):
            s.graph(3)
    graph, traced = events_in(tmp_path)
    message = type(tf.Graph().as_graph_def()).FromString(graph.graph_def)
    assert "Mul" in [n.op for n in message.node]
    (value,) = traced.summary.value
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    run = event_messages.RunMetadata.FromString(tensors.array_of(value.tensor)[0])
    (kept,) = run.function_graphs
    assert "Mul" in [n.op for n in kept.pre_optimization_graph.node]


@pytest.mark.parametrize(
    ("metadata", "name"), [(b"\xff\xff\xff", ""), (b"\x12\x01a", "a"), (b"\x12\x01a\x0a\x05a", "a")]
)
def test_of_damaged_metadata_the_fields_before_the_damage_are_kept(metadata, name, tmp_path):
    # As TensorFlow 2.21 does in both ops.
    arguments = {"tag": "t", "tensor": 1.0, "serialized_summary_metadata": metadata}
    op = tf.function(lambda: tf.raw_ops.TensorSummaryV2(**arguments))
    for data in (tf.raw_ops.TensorSummaryV2(**arguments), op()):
        (value,) = event_messages.Summary.FromString(data.numpy()).value
        assert (value.tag, value.metadata.display_name) == ("t", name)
    with s.create_file_writer(str(tmp_path)).as_default(step=2):
        assert bool(s.write("t", 1.0, metadata=metadata))
    (event,) = events_in(tmp_path)
    assert event.summary.value[0].metadata.display_name == name


def test_messages_as_they_are(tmp_path):
    summary = event_messages.Summary()
    summary.value.add(tag="old", simple_value=0.5)
    with s.create_file_writer(str(tmp_path)).as_default(step=2):
        assert bool(s.experimental.write_raw_pb(summary.SerializeToString()))
        with pytest.raises(tf.errors.DataLossError):  # TensorFlow 2.21's error
            s.experimental.write_raw_pb(b"\xff\xff")
    (event,) = events_in(tmp_path)
    assert (event.step, event.summary.value[0].simple_value) == (2, 0.5)


def test_writers_wait_and_are_safe_for_threads(tmp_path):
    writer = s.create_file_writer(str(tmp_path), max_queue=1000)

    def work(number: int) -> None:
        with writer.as_default():
            for step in range(50):
                s.scalar(f"thread{number}", float(step), step=step)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(values_in(tmp_path)) == 200
    with writer.as_default():
        s.scalar("late", 1.0, step=0)
        assert len(values_in(tmp_path)) == 200  # it waits
        s.flush()
        assert len(values_in(tmp_path)) == 201


READ = """
import sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

read = EventAccumulator(sys.argv[1])
read.Reload()
assert sorted(read.Tags()["tensors"]) == ["image", "loss", "note", "weights"]
(loss,) = read.Tensors("loss")
assert (loss.step, tuple(loss.tensor_proto.float_val)) == (4, (0.25,))
plugins = {t: read.SummaryMetadata(t).plugin_data.plugin_name for t in read.Tags()["tensors"]}
assert plugins == {"image": "images", "loss": "scalars", "note": "text", "weights": "histograms"}
assert read.SummaryMetadata("loss").summary_description == "of the model"
"""


def test_tensorboard_reads_it(tmp_path):
    """In a process of its own: TensorBoard keeps whatever it once found as `tensorflow`."""
    pytest.importorskip("tensorboard")
    with s.create_file_writer(str(tmp_path)).as_default(step=4):
        s.scalar("loss", 0.25, description="of the model")
        s.histogram("weights", [1.0, 2.0])
        s.text("note", "hello")
        s.image("image", np.zeros((1, 4, 4, 3), np.float32))
    run = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
