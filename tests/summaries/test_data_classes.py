"""The class of data of each kind of summary, as TensorBoard 2.21's own writers set it."""

from __future__ import annotations

import pathlib

from intaglio import tf
from intaglio.graphdef import event_messages


def test_the_class_of_data_of_each_kind(tmp_path: pathlib.Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=0):
        tf.summary.scalar("scalar", 1.0)
        tf.summary.histogram("histogram", [1.0, 2.0])
        tf.summary.text("text", "x")
        tf.summary.image("image", tf.zeros([1, 4, 4, 3]))
        tf.summary.audio("audio", tf.zeros([1, 100, 1]), 8000)  # TensorBoard leaves it unknown
    writer.close()
    found = {}
    for record in tf.data.TFRecordDataset([str(p) for p in tmp_path.iterdir()]):
        for value in event_messages.Event.FromString(record.numpy()).summary.value:
            found[value.tag] = value.metadata.data_class
    assert found == {"scalar": 1, "histogram": 2, "text": 2, "image": 3, "audio": 0}
