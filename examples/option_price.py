"""The price of an option by simulation, with its sensitivity: random numbers and gradients in one graph."""

import math

from intaglio import tf


@tf.function(jit_compile=True)
def price(spot, strike, volatility, seed):
    paths = tf.random.stateless_normal([200_000], seed, dtype=tf.float64)
    final = spot * tf.exp(-0.5 * volatility**2 + volatility * paths)
    return tf.reduce_mean(tf.maximum(final - strike, 0.0))


spot, strike, volatility = (tf.constant(v, tf.float64) for v in (100.0, 105.0, 0.2))
with tf.GradientTape() as tape:
    tape.watch(spot)
    value = price(spot, strike, volatility, tf.constant([1, 2]))
delta = tape.gradient(value, spot)
d1 = (math.log(100 / 105) + 0.02) / 0.2
exact = [0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d1 - 0.2)]
print(f"price {float(value):.2f} ({100 * exact[0] - 105 * exact[1]:.2f} in closed form)")
print(f"delta {float(delta):.3f} ({exact[0]:.3f})")
