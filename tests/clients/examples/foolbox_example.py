"""foolbox: a gradient attack on a model."""

import foolbox
import numpy as np
import tensorflow as tf

weights = tf.reshape(tf.sin(tf.range(12.0)), [4, 3])
model = foolbox.TensorFlowModel(lambda x: tf.matmul(x, weights), bounds=(0, 1))
images = tf.constant(np.linspace(0.2, 0.8, 20).reshape(5, 4), tf.float32)
labels = tf.argmax(model(images), 1)
print("accuracy", float(foolbox.accuracy(model, images, labels)))
for attack in (
    foolbox.attacks.LinfFastGradientAttack(),
    foolbox.attacks.L2ProjectedGradientDescentAttack(steps=3, random_start=False),
):
    raw, clipped, success = attack(model, images, labels, epsilons=[0.1, 0.3])
    print(type(attack).__name__, np.round(clipped[0], 4).tolist(), np.asarray(success[1]).tolist())
