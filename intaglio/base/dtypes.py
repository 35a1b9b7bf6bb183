"""The element types of tensors, as TensorFlow names, numbers and orders them.

Follows https://www.tensorflow.org/api_docs/python/tf/dtypes/DType.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import ml_dtypes
import numpy as np

from intaglio.base.messages import Written


class _Marker:
    """A marker in place of the NumPy dtype, for dtypes whose values are not arrays."""

    __slots__ = ("name",)
    itemsize = 0
    kind = "O"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


RESOURCE_MARKER: Final = _Marker("resource")
VARIANT_MARKER: Final = _Marker("variant")


class DType(Written):
    """The type of a tensor's elements; one object for each type, compared by identity.

    `number` is TensorFlow's `DataType` enum value, `numpy` the NumPy dtype (or a
    marker for resources and variants, whose values are Python objects).
    """

    __slots__ = ("_name", "_number", "_numpy", "_repr")

    def __init__(self, name: str, number: int, numpy: Any) -> None:
        self._name = name
        self._number = number
        self._numpy = np.dtype(numpy) if isinstance(numpy, type) else numpy
        self._repr = f"tf.{name}"

    @property
    def name(self) -> str:
        """The name without `tf.`: `"float32"`."""
        return self._name

    @property
    def numpy(self) -> Any:
        """The NumPy dtype that holds the elements."""
        return self._numpy

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type: `numpy.float32`; `object` for strings.

        For quantised types it is TensorFlow's structured NumPy dtype with one field.
        """
        if isinstance(self._numpy, _Marker):
            return object
        if self._numpy.names is not None:
            return self._numpy
        return object if self._numpy.hasobject else self._numpy.type

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's `DataType` number."""
        return self._number

    @property
    def kernel_name(self) -> str:
        """The name in messages of kernels: `float`, `double`, `half`, ..."""
        return _KERNEL_NAMES.get(self._name, self._name)

    @property
    def base_dtype(self) -> DType:
        """The type itself: reference types of TensorFlow 1 do not exist here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part of a complex type, else the type itself."""
        return _REAL.get(self, self)

    @property
    def is_bool(self) -> bool:
        """True for bool."""
        return self is bool_

    @property
    def is_numeric(self) -> bool:
        """True for numbers: integers, floats, complex and quantised ones."""
        return self.is_integer or self.is_floating or self.is_complex or self.is_quantized

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers; not for quantised ones."""
        return self in INTEGRAL_SET

    @property
    def is_floating(self) -> bool:
        """True for real floats of any width."""
        return self in FLOATING_SET

    @property
    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self is complex64 or self is complex128

    @property
    def is_quantized(self) -> bool:
        """True for qint8, quint8, qint16, quint16 and qint32."""
        return self in QUANTIZED_SET

    @property
    def is_unsigned(self) -> bool:
        """True for unsigned integers."""
        return self in UNSIGNED

    @property
    def is_numpy_compatible(self) -> bool:
        """True if NumPy has a dtype for the elements: not for resources and variants."""
        return not isinstance(self._numpy, _Marker)

    @property
    def size(self) -> int:
        """Bytes an element takes; 0 for strings, resources and variants."""
        if isinstance(self._numpy, _Marker) or self._numpy.hasobject:
            return 0
        return self._numpy.itemsize

    @property
    def min(self) -> Any:
        """The smallest number of the type. Raises TypeError for non-numbers."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest number of the type. Raises TypeError for non-numbers."""
        return self._limit("max")

    def _limit(self, end: str) -> Any:
        if self.is_integer:
            return int(getattr(_range_of_integers(self._numpy), end))
        if self.is_floating:
            return getattr(_range_of_floats(self._numpy), end)
        kind = "quantized type" if self.is_quantized else "type"
        raise TypeError(f"Cannot find {end}imum value of {self} with {kind} {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """(0, the highest intensity): 1 for floats, the largest of integers.

        Raises ValueError for other types.
        """
        if self.name in ("float16", "float32", "float64"):
            return (0, 1)
        if self.name == "bool":
            return (0, True)
        if not (self.is_integer and self.is_numpy_compatible) or self.is_quantized:
            raise ValueError(f"{self} does not have defined limits.")
        return (0, self.max)

    def is_compatible_with(self, other: Any) -> bool:
        """True if `other` names the same type."""
        return self is as_dtype(other)

    def __repr__(self) -> str:
        return self._repr

    def __str__(self) -> str:
        return f"<dtype: '{self._name}'>"

    def __hash__(self) -> int:
        return self._number  # that of its number, which it is equal to: tables have such keys

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __int__(self) -> int:
        return self._number

    def __reduce__(self) -> Any:
        return as_dtype, (self._name,)

    # The trace-type protocol: a dtype is a literal.
    def __deepcopy__(self, memo: Any) -> DType:
        return self


# Properties are precomputed, as deriving them at each access is slow.
_range_of_integers = functools.cache(ml_dtypes.iinfo)
_range_of_floats = functools.cache(ml_dtypes.finfo)

float32 = DType("float32", 1, np.float32)
float64 = DType("float64", 2, np.float64)
int32 = DType("int32", 3, np.int32)
uint8 = DType("uint8", 4, np.uint8)
int16 = DType("int16", 5, np.int16)
int8 = DType("int8", 6, np.int8)
string = DType("string", 7, np.object_)
complex64 = DType("complex64", 8, np.complex64)
int64 = DType("int64", 9, np.int64)
bool_ = DType("bool", 10, np.bool_)
qint8 = DType("qint8", 11, np.dtype([("qint8", np.int8)]))
quint8 = DType("quint8", 12, np.dtype([("quint8", np.uint8)]))
qint32 = DType("qint32", 13, np.dtype([("qint32", np.int32)]))
bfloat16 = DType("bfloat16", 14, ml_dtypes.bfloat16)
qint16 = DType("qint16", 15, np.dtype([("qint16", np.int16)]))
quint16 = DType("quint16", 16, np.dtype([("quint16", np.uint16)]))
uint16 = DType("uint16", 17, np.uint16)
complex128 = DType("complex128", 18, np.complex128)
float16 = DType("float16", 19, np.float16)
resource = DType("resource", 20, RESOURCE_MARKER)
variant = DType("variant", 21, VARIANT_MARKER)
uint32 = DType("uint32", 22, np.uint32)
uint64 = DType("uint64", 23, np.uint64)
float8_e5m2 = DType("float8_e5m2", 24, ml_dtypes.float8_e5m2)
float8_e4m3fn = DType("float8_e4m3fn", 25, ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = DType("float8_e4m3fnuz", 26, ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = DType("float8_e4m3b11fnuz", 27, ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = DType("float8_e5m2fnuz", 28, ml_dtypes.float8_e5m2fnuz)
int4 = DType("int4", 29, ml_dtypes.int4)
uint4 = DType("uint4", 30, ml_dtypes.uint4)
int2 = DType("int2", 31, ml_dtypes.int2)
uint2 = DType("uint2", 32, ml_dtypes.uint2)
float4_e2m1fn = DType("float4_e2m1fn", 33, ml_dtypes.float4_e2m1fn)

HALF_TO_DOUBLE = (float16, float32, float64)
FLOATING = (bfloat16, float16, float32, float64)
COMPLEX = (complex64, complex128)
SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
INTEGRAL = SIGNED + UNSIGNED
REAL = FLOATING + INTEGRAL
NUMERIC = REAL + COMPLEX
DIFFERENTIABLE = FLOATING + COMPLEX
QUANTIZED = (qint8, quint8, qint16, quint16, qint32)
INDEX = (int32, int64)
ORDINARY = (*NUMERIC, bool_, string)
FLOAT8 = (float8_e5m2, float8_e4m3fn)
# Dtypes that are stored and passed on, without ops that compute in them.
NARROW_FLOATS = (float8_e4m3fnuz, float8_e4m3b11fnuz, float8_e5m2fnuz, float4_e2m1fn)
NARROW_INTEGERS = (int2, uint2)
ALL = (
    *ORDINARY,
    *QUANTIZED,
    *FLOAT8,
    int4,
    uint4,
    *NARROW_FLOATS,
    *NARROW_INTEGERS,
    resource,
    variant,
)
FLOATING_SET = frozenset(FLOATING + FLOAT8 + NARROW_FLOATS)
INTEGRAL_SET = frozenset((*INTEGRAL, int4, uint4, *NARROW_INTEGERS))
QUANTIZED_SET = frozenset(QUANTIZED)

_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_REAL = {complex64: float32, complex128: float64}
BY_NAME: Final[dict[str, DType]] = {d.name: d for d in ALL}
BY_NUMBER: Final[dict[int, DType]] = {d.as_datatype_enum: d for d in ALL}
BY_NUMPY: Final[dict[Any, DType]] = {d.numpy: d for d in ALL}
_ALIASES: Final[dict[Any, DType]] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "bool_": bool_,
    "str": string,
    "bytes": string,
    float: float32,
    int: int32,
    bool: bool_,
    complex: complex128,
    str: string,
    bytes: string,
    object: string,
}


def as_numbers(array: Any) -> Any:
    """An array of a quantised type as integers; other arrays unchanged."""
    return array if array.dtype.names is None else np.asarray(array).view(array.dtype[0])


def cast_array(array: Any, dtype: DType) -> Any:
    """The array as another type, as NumPy casts it: the real parts of complex numbers, no warning.

    NumPy's warning about lost imaginary parts is avoided, as warning filters are global and not thread-safe.
    """
    if array.dtype.kind == "c" and not (dtype.is_complex or dtype.is_bool):
        array = np.real(array)
    with np.errstate(all="ignore"):
        return array.astype(dtype.numpy)


def from_numpy(dtype: np.dtype[Any]) -> DType:
    """The DType of a NumPy dtype; fixed-width text counts as string.

    Raises TypeError if TensorFlow has no such type.
    """
    found = BY_NUMPY.get(dtype)
    if found is None:
        if dtype.kind in "SU":
            return string
        found = BY_NUMPY.get(dtype.newbyteorder("="))
    if found is None:
        raise TypeError(f"Cannot convert the NumPy dtype {dtype!r} to a TensorFlow DType.")
    return found


def as_dtype(type_value: Any) -> DType:
    """`type_value` as a DType: a DType, a name, an enum number, a NumPy or Python type.

    Raises TypeError for anything else, as `tf.as_dtype` does.

    >>> tf.as_dtype("int32"), tf.as_dtype(float)
    (tf.int32, tf.float32)
    """
    value = type_value
    if type(value) is DType:
        return value
    try:
        if type(value) is str:
            found = BY_NAME.get(value) or _ALIASES.get(value)
            if found is None and value.endswith("_ref"):
                found = BY_NAME.get(value.removesuffix("_ref"))
        elif type(value) is int:
            found = BY_NUMBER.get(value)
        else:
            found = _ALIASES.get(value)
    except TypeError:
        found = None
    if found is not None:
        return found
    # A NumPy type is a class; only its instances have a `dtype`.
    numpy: Any = value if isinstance(value, type) else getattr(value, "dtype", value)
    if numpy is None:  # NumPy reads it as float64
        raise TypeError("Cannot convert the argument `type_value`: None to a TensorFlow DType.")
    if type(numpy) is DType:
        return numpy
    try:
        return from_numpy(np.dtype(numpy))
    except TypeError:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType."
        ) from None
