"""`tf.experimental.numpy`: NumPy's functions on tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy and
https://www.tensorflow.org/guide/tf_numpy. Arguments may be tensors, arrays, numbers and lists of
them. Unlike in the rest of `tf`, types are promoted: see `promotion.py`. In the examples
`tnp` is `tf.experimental.numpy`.
"""

import numpy as np

from intaglio.numpy_api import (
    arithmetic,
    creation,
    functions,
    indexing,
    joining,
    linear_algebra,
    logic,
    np_config,
    ordering,
    promotion,
    reductions,
    shaping,
)
from intaglio.numpy_api.arithmetic import *
from intaglio.numpy_api.creation import *
from intaglio.numpy_api.functions import *
from intaglio.numpy_api.indexing import *
from intaglio.numpy_api.joining import *
from intaglio.numpy_api.linear_algebra import *
from intaglio.numpy_api.logic import *
from intaglio.numpy_api.np_config import *
from intaglio.numpy_api.ordering import *
from intaglio.numpy_api.promotion import *
from intaglio.numpy_api.reductions import *
from intaglio.numpy_api.shaping import *
from intaglio.opdef.tensor import Tensor as ndarray

# Types, by NumPy's names.
bool_ = np.bool_
complex128 = complex_ = np.complex128
complex64 = np.complex64
float16 = np.float16
float32 = np.float32
float64 = float_ = np.float64
inexact = np.inexact
int16 = np.int16
int32 = np.int32
int64 = int_ = np.int64
int8 = np.int8
object_ = np.object_
string_ = np.bytes_
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
uint8 = np.uint8
unicode_ = np.str_

# Constants.
e = np.e
inf = np.inf
newaxis = None
pi = np.pi

__all__ = [
    "bool_", "complex128", "complex64", "complex_", "e", "float16", "float32", "float64",
    "float_", "inexact", "inf", "int16", "int32", "int64", "int8", "int_", "ndarray",
    "newaxis", "object_", "pi", "string_", "uint16", "uint32", "uint64", "uint8",
    "unicode_",
]  # fmt: skip
__all__ += arithmetic.__all__
__all__ += creation.__all__
__all__ += functions.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += linear_algebra.__all__
__all__ += logic.__all__
__all__ += np_config.__all__
__all__ += ordering.__all__
__all__ += promotion.__all__
__all__ += reductions.__all__
__all__ += shaping.__all__
