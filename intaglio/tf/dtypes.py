"""`tf.dtypes`: the element types.

Follows https://www.tensorflow.org/api_docs/python/tf/dtypes.
"""

from intaglio.base.dtypes import (
    QUANTIZED,
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
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
from intaglio.base.dtypes import bool_ as bool
from intaglio.composite_ops.math.casting import cast, complex, saturate_cast
from intaglio.tf import narrow_dtypes as experimental

half = float16
double = float64
QUANTIZED_DTYPES = frozenset(QUANTIZED)

__all__ = [
    "QUANTIZED_DTYPES",
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "experimental",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "qint8",
    "qint16",
    "qint32",
    "quint8",
    "quint16",
    "resource",
    "saturate_cast",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]
