"""A method of an object that nothing else holds runs, and its traces go with the object."""

import gc
import weakref

from intaglio import tf


class Layer:
    def __init__(self, scale):
        self.scale = tf.Variable(scale)

    @tf.function
    def scaled(self, x):
        return x * self.scale


x = tf.constant(3.0)
assert float(Layer(2.0).scaled(x)) == 6.0
assert [float(f(x)) for f in [Layer(float(n)).scaled for n in range(3)]] == [0.0, 3.0, 6.0]

layer = Layer(2.0)
gone = weakref.ref(layer)
layer.scaled(x)
del layer
gc.collect()
assert gone() is None
