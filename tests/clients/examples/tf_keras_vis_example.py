"""Which pixels matter to a small network: class activation maps and saliency."""

import numpy as np
import tensorflow as tf
from tf_keras_vis.gradcam import Gradcam
from tf_keras_vis.gradcam_plus_plus import GradcamPlusPlus
from tf_keras_vis.saliency import Saliency
from tf_keras_vis.utils.scores import CategoricalScore

inputs = tf.keras.Input((8, 8, 3))
hidden = tf.keras.layers.Conv2D(4, 3, activation="relu")(inputs)
hidden = tf.keras.layers.GlobalAveragePooling2D()(hidden)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(3, activation="softmax")(hidden))
random = np.random.RandomState(0)
model.set_weights([random.randn(*w.shape) for w in model.get_weights()])
images = random.rand(2, 8, 8, 3).astype("float32")
score = CategoricalScore([0, 1])
for kind in (Gradcam, GradcamPlusPlus):
    print(kind.__name__, round(float(kind(model)(score, images, penultimate_layer=-1).sum()), 3))
print("Saliency", round(float(Saliency(model)(score, images).sum()), 3))
