"""Lists, dictionaries and NumPy arrays that a trace has read are noticed when they change in place."""

import numpy as np

import intaglio
from intaglio import tf

weights = [1.0, 2.0]
options = {"scale": 2.0, "step": 0}
table = np.array([1.0, 2.0], np.float32)


@tf.function
def f(x):
    for w in weights:
        x = x * w
    return x * options["scale"] + table


with intaglio.captures("retrace", check_arrays=True):
    x = tf.constant(1.0)
    assert f(x).numpy().tolist() == [5.0, 6.0]
    options["step"] += 1  # was not read
    assert f(x).numpy().tolist() == [5.0, 6.0]
    assert f.experimental_get_tracing_count() == 1
    weights.append(3.0)
    assert f(x).numpy().tolist() == [13.0, 14.0]
    options["scale"] = 1.0
    assert f(x).numpy().tolist() == [7.0, 8.0]
    table[0] = 0.0
    assert f(x).numpy().tolist() == [6.0, 8.0]
