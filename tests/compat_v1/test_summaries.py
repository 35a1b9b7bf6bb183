"""Summaries as tensors, and the files that they go to. TensorFlow 2.21 was asked for all answers."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def test_names_and_tags() -> None:
    with tf.Graph().as_default():
        with v1.variable_scope("net"):
            v1.summary.scalar("loss", 1.0)
            v1.summary.histogram("h y", [1.0])
        with tf.name_scope("a"):
            v1.summary.scalar("loss", 1.0, family="fam")
        v1.summary.text("words", tf.constant("hello"))
        names = [s.name for s in v1.get_collection(v1.GraphKeys.SUMMARIES)]
        assert names == ["net/loss:0", "net/h_y:0", "a/fam/loss:0", "words:0"]
        assert v1.summary.merge_all(key="none") is None
        merged = v1.summary.merge_all()
        assert merged.name == "Merge/MergeSummary:0"
        assert v1.summary.merge([merged], name="again").name == "again/again:0"
        with v1.Session() as session:
            values = v1.Summary.FromString(session.run(merged)).value
    assert [v.tag for v in values] == ["net/loss", "net/h_y", "fam/a/fam/loss", "words"]
    assert values[3].metadata.plugin_data.plugin_name == "text"
    assert values[3].tensor.string_val[0] == b"hello"


def _run(make: Any) -> Any:
    with tf.Graph().as_default(), v1.Session() as session:
        return v1.Summary.FromString(session.run(make())).value


def test_buckets_of_a_histogram() -> None:
    histo = _run(lambda: v1.summary.histogram("h", [1.0, 2.0, -3.5]))[0].histo
    assert (histo.min, histo.max, histo.num) == (-3.5, 2.0, 3.0)
    assert (histo.sum, histo.sum_squares) == (-0.5, 17.25)
    assert list(histo.bucket) == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]
    edges = [-3.831566, -3.483242, 0.917246, 1.008971, 1.966199, 2.162819, np.finfo(float).max]
    np.testing.assert_allclose(histo.bucket_limit, edges, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram for: h"):
        _run(lambda: v1.summary.histogram("h", [float("nan")]))


def test_images_and_sounds() -> None:
    pixels = np.arange(12.0, dtype=np.float32).reshape(1, 2, 2, 3) - 6
    values = _run(lambda: v1.summary.image("i", tf.concat([pixels, pixels * 0 + 1], 0)))
    assert [v.tag for v in values] == ["i/image/0", "i/image/1"]
    first = tf.io.decode_png(values[0].image.encoded_image_string).numpy()
    # The largest absolute value is at the end of the range around 128.
    np.testing.assert_array_equal(first, np.trunc(pixels[0] * (127.0 / 6) + 128))
    assert (tf.io.decode_png(values[1].image.encoded_image_string).numpy() == 255).all()
    (sound,) = _run(lambda: v1.summary.audio("a", tf.zeros([2, 8]), 8000.0, max_outputs=1))
    assert (sound.tag, sound.audio.length_frames, sound.audio.num_channels) == ("a/audio", 8, 1)
    assert len(sound.audio.encoded_audio_string) == 60


def test_a_tag_that_comes_twice() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag x found"):
        _run(lambda: v1.summary.merge([tf.raw_ops.ScalarSummary(tags="x", values=1.0)] * 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="tags and values are not the same"):
        _run(lambda: v1.summary.scalar("x", [1.0, 2.0]))


def test_events_of_a_writer(tmp_path: pathlib.Path) -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        summary = session.run(v1.summary.text("t", tf.constant("a")))
        writer = v1.summary.FileWriter(str(tmp_path), graph)
        writer.add_summary(summary, 3)
        writer.add_summary(summary, 4)
        writer.add_event(v1.Event(step=9, wall_time=5.0))
        writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 10)
        writer.close()
        with pytest.warns(UserWarning, match="closed FileWriter"):
            writer.add_summary(summary)
        (path,) = tmp_path.iterdir()
        events = list(v1.train.summary_iterator(str(path)))
    kinds = [(e.step, e.WhichOneof("what")) for e in events]
    begin = [(0, "file_version"), (0, "graph_def"), (0, "meta_graph_def")]
    assert kinds == [*begin, (3, "summary"), (4, "summary"), (9, None), (10, "session_log")]
    # Metadata are written with the first value of a tag.
    assert [e.summary.value[0].HasField("metadata") for e in events[3:5]] == [True, False]
    assert events[5].wall_time == 5.0
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.summary.FileWriter(str(tmp_path))


def test_one_writer_for_a_folder(tmp_path: pathlib.Path) -> None:
    with tf.Graph().as_default():
        cache = v1.summary.FileWriterCache
        assert cache.get(str(tmp_path)) is cache.get(str(tmp_path))
        cache.clear()
