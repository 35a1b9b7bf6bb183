"""`tf.experimental.numpy`: NumPy's functions on tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy.
"""

from intaglio import numpy_api
from intaglio.numpy_api import *
from intaglio.tf.experimental.numpy import random

__all__: list[str] = [*numpy_api.__all__, "random"]
