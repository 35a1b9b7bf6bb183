"""`tf.train.Checkpoint.save` while a function is traced. TensorFlow 2.21 was asked."""

from __future__ import annotations

import pytest

from intaglio import tf


def test_save_is_refused_and_write_is_not(tmp_path) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))

    @tf.function
    def save() -> None:
        checkpoint.save(str(tmp_path / "c"))

    with pytest.raises(NotImplementedError, match=r"save.. from a function is not supported"):
        save()
    assert int(checkpoint.save_counter) == 0


def test_collections_of_a_graph_have_names() -> None:
    with tf.Graph().as_default() as graph:
        tf.compat.v1.get_variable("v", [])
    assert graph.get_all_collection_keys() == ["variables", "trainable_variables"]
