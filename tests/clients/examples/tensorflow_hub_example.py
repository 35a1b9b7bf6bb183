"""tensorflow_hub: a SavedModel from a folder as a layer of a model."""

import tempfile

import tensorflow as tf
import tensorflow_hub as hub


class Doubled(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
    def __call__(self, x):
        return self.scale * x


folder = tempfile.mkdtemp()
tf.saved_model.save(Doubled(), folder)
print("resolved", hub.resolve(folder) == folder)
loaded = hub.load(folder)
print("loaded", loaded(tf.ones([2, 3])).numpy().tolist())
layer = hub.KerasLayer(folder, trainable=False)
print("layer", layer(tf.constant([[1.0, 2.0, 3.0]])).numpy().tolist())
