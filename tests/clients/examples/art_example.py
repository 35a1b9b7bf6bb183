"""adversarial-robustness-toolbox: a fast gradient attack on a classifier."""

import numpy as np
import tensorflow as tf
from art.attacks.evasion import FastGradientMethod
from art.estimators.classification import TensorFlowV2Classifier

weights = tf.reshape(tf.sin(tf.range(12.0)), [4, 3])
classifier = TensorFlowV2Classifier(
    model=lambda x, training=False: tf.matmul(x, weights),
    nb_classes=3,
    input_shape=(4,),
    loss_object=tf.keras.losses.CategoricalCrossentropy(from_logits=True),
    clip_values=(0, 1),
)
x = np.linspace(0.2, 0.8, 20, dtype="float32").reshape(5, 4)
print("predict", np.round(classifier.predict(x), 4).tolist())
print("attack", np.round(FastGradientMethod(classifier, eps=0.1).generate(x), 4).tolist())
