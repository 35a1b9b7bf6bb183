"""`tf.experimental.numpy`: NumPy's functions on tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy.
"""

from intaglio import numpy_api
from intaglio.numpy_api import *
from intaglio.tf.experimental.numpy import random

__all__ = ["random"]
__all__ += numpy_api.__all__
