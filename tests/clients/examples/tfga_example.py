"""tfga: geometric algebra: products, rotations by exponentials, layers of multivectors."""

import numpy as np
import tensorflow as tf
from tfga import GeometricAlgebra
from tfga.layers import GeometricProductDense, GeometricSandwichProductDense

algebra = GeometricAlgebra([1, 1, 1])
x = algebra.from_tensor_with_kind(tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]), "vector")
y = algebra.from_tensor_with_kind(tf.constant([[0.0, 1.0, -1.0], [2.0, 1.0, 0.0]]), "vector")
for name in ("geom_prod", "ext_prod", "inner_prod", "reg_prod"):
    print(name, np.round(getattr(algebra, name)(x, y), 4).tolist())
print("reversed", algebra.reversion(algebra.geom_prod(x, y)).numpy().tolist())
print("inverse", np.round(algebra.geom_prod(x, algebra.simple_inverse(x)), 4).tolist())
rotor = algebra.exp(-0.25 * np.pi * algebra.e01)
turned = algebra.geom_prod(algebra.geom_prod(rotor, algebra.e0), algebra.reversion(rotor))
print("turned", np.round(turned, 4).tolist())
numbers = np.random.RandomState(0)
for kind in (GeometricProductDense, GeometricSandwichProductDense):
    layer = kind(
        algebra,
        2,
        blade_indices_kernel=algebra.get_kind_blade_indices("even"),
        blade_indices_bias=algebra.get_kind_blade_indices("vector"),
    )
    layer(tf.zeros([1, 2, 8]))
    layer.set_weights([numbers.randn(*w.shape) for w in layer.get_weights()])
    with tf.GradientTape() as tape:
        out = layer(tf.stack([x, y])[None, 0])
        loss = tf.reduce_sum(out**2)
    slopes = tape.gradient(loss, layer.trainable_variables)
    print(kind.__name__, np.round(out, 3).tolist())
    print("slopes", [round(float(tf.norm(s)), 2) for s in slopes])
