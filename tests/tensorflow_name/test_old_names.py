"""Names of TensorFlow 1, and undocumented ones, that Keras and its tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

from intaglio import tf
from tests.tensorflow_name.process import printed_by


def test_sparse_placeholders() -> None:
    """Shapes as TensorFlow 2.21 has them."""
    with tf.Graph().as_default():
        for shape in (None, [2, 3], [None, 3]):
            made = tf.compat.v1.sparse_placeholder(tf.float32, shape)
            assert made.shape.as_list() == shape if shape else made.shape.rank is None
            assert made.indices.shape.as_list() == [None, len(shape) if shape else None]
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        tf.compat.v1.sparse_placeholder(tf.float32)


def test_event_files_are_read_under_their_old_names(tmp_path: Path) -> None:
    lines = printed_by(
        f"""
        import glob
        import intaglio
        intaglio.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow.compat.v1 import SummaryMetadata
        from tensorflow.core.util import event_pb2
        from tensorflow.python.lib.io import tf_record

        with tf.summary.create_file_writer({str(tmp_path)!r}).as_default():
            tf.summary.scalar("loss", 0.5, step=3)
        (path,) = glob.glob({str(tmp_path)!r} + "/events.out.*")
        for record in tf_record.tf_record_iterator(path):
            for value in event_pb2.Event.FromString(record).summary.value:
                print(value.tag, value.WhichOneof("value"))
                print(isinstance(value.metadata, SummaryMetadata))
        """
    )
    assert lines == ["loss tensor", "True"]


def test_keras_compares_lists_and_dicts_of_tensorflow_by_name() -> None:
    lines = printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        from tensorflow.python.trackable import data_structures
        print(data_structures._DictWrapper.__name__, data_structures.ListWrapper([1]))
        """
    )
    assert lines == ["_DictWrapper ListWrapper([1])"]
