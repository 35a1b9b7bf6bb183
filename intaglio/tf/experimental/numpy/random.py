"""`tf.experimental.numpy.random`: random numbers under NumPy's names.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/random.
"""

from intaglio.numpy_api.random import (
    poisson,
    rand,
    randint,
    randn,
    random,
    seed,
    standard_normal,
    uniform,
)

__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]
