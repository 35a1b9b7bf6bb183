"""Functions leave Python as SavedModels, C libraries and StableHLO; a loaded function that gets other arguments names the one that differs."""

import pathlib
import tempfile

from intaglio import tf


class Model(tf.Module):
    def __init__(self):
        self.w = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], name="x")])
    def __call__(self, x):
        return x * self.w


with tempfile.TemporaryDirectory() as folder:
    tf.saved_model.save(Model(), folder)
    loaded = tf.saved_model.load(folder)
    assert loaded(tf.constant([1.0, 3.0])).numpy().tolist() == [2.0, 6.0]
    assert pathlib.Path(folder, "saved_model.pb").exists()
    try:
        loaded(tf.constant([1]))
    except (TypeError, ValueError) as e:
        assert "x" in str(e) and "float32" in str(e) and "int32" in str(e), e
    else:
        raise AssertionError("no error")
