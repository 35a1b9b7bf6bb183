"""cleverhans: gradient attacks on a classifier."""

import numpy as np
import tensorflow as tf
from cleverhans.tf2.attacks.basic_iterative_method import basic_iterative_method
from cleverhans.tf2.attacks.fast_gradient_method import fast_gradient_method
from cleverhans.tf2.attacks.momentum_iterative_method import momentum_iterative_method
from cleverhans.tf2.attacks.projected_gradient_descent import projected_gradient_descent
from cleverhans.tf2.attacks.spsa import spsa

numbers = np.random.RandomState(0)
first = tf.constant(numbers.randn(6, 8), tf.float32)
second = tf.constant(numbers.randn(8, 3), tf.float32)
x = tf.constant(numbers.rand(4, 6), tf.float32)


def logits(images):
    """A network of two layers."""
    return tf.matmul(tf.nn.relu(tf.matmul(images, first)), second)


print("clean", np.round(logits(x), 3).tolist())
for norm in (np.inf, 2):
    found = fast_gradient_method(logits, x, 0.1, norm, clip_min=0.0, clip_max=1.0)
    print("fgm", norm, np.round(found, 4).tolist())
    found = projected_gradient_descent(logits, x, 0.1, 0.03, 5, norm, rand_init=False)
    print("pgd", norm, np.round(found, 4).tolist())
found = basic_iterative_method(logits, x, 0.1, 0.03, 5, np.inf)
print("bim", np.round(found, 4).tolist())
found = momentum_iterative_method(logits, x, 0.1, 0.03, 5, np.inf)
print("momentum", np.round(found, 4).tolist())
found = spsa(logits, x[:1], y=np.array([0]), eps=0.1, nb_iter=2, clip_min=0, clip_max=1)
print("spsa", bool(tf.reduce_max(tf.abs(found - x[:1])) <= 0.1 + 1e-6))
