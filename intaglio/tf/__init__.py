"""The documented TensorFlow API. `from intaglio import tf`."""

import intaglio.graphdef  # graphs as protocol buffers
import intaglio.ops  # the catalogue
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.log import logger as get_logger
from intaglio.base.shapes import TensorShape
from intaglio.ir.graph import Node as Operation
from intaglio.op import raw as raw_ops
from intaglio.op.tensor import Tensor
from intaglio.tf import (
    arranging,
    arrays,
    autodiff,
    config,
    debugging,
    dtypes,
    errors,
    experimental,
    indexing,
    linalg,
    nest,
    nn,
    ordering,
    random,
    strings,
    sysconfig,
    tracing,
    types,
    version,
)
from intaglio.tf.arranging import *
from intaglio.tf.arrays import *
from intaglio.tf.debugging import Assert
from intaglio.tf.dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from intaglio.tf.gradients import *
from intaglio.tf.gradients import __all__ as _gradient_names
from intaglio.tf.indexing import *
from intaglio.tf.linalg import einsum, matmul, norm, tensordot
from intaglio.tf.ordering import *
from intaglio.tf.printing import print
from intaglio.tf.strings import as_string
from intaglio.tf.tracing import *
from intaglio.tf.variables import *
from intaglio.tf.variables import __all__ as _variable_names
from intaglio.trace.graph import Graph

__version__ = "2.21.0"

__all__ = [
    "Assert",
    "DType",
    "Graph",
    "Operation",
    "Tensor",
    "TensorShape",
    "as_dtype",
    "autodiff",
    "as_string",
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "config",
    "debugging",
    "double",
    "dtypes",
    "errors",
    "experimental",
    "float16",
    "float32",
    "float64",
    "get_logger",
    "half",
    "int16",
    "int32",
    "int64",
    "int8",
    "nest",
    "print",
    "nn",
    "matmul",
    "tensordot",
    "norm",
    "einsum",
    "linalg",
    "qint16",
    "qint32",
    "qint8",
    "quint16",
    "quint8",
    "random",
    "raw_ops",
    "resource",
    "string",
    "strings",
    "sysconfig",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "variant",
    "version",
]
__all__ += arranging.__all__
__all__ += arrays.__all__
__all__ += indexing.__all__
__all__ += ordering.__all__
__all__ += tracing.__all__
__all__ += _gradient_names
__all__ += _variable_names
