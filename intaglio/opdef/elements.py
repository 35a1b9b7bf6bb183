"""Python and NumPy values as arrays, by TensorFlow's conversion rules.

Follows https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor. The first element
of a list determines its dtype; the others must be convertible to it.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dimension import Dimension
from intaglio.base.dtypes import DType, from_numpy
from intaglio.base.memory import MIN_ALIGNED_BYTES, copied
from intaglio.base.shapes import TensorShape

_INT32 = dtypes.int32.numpy
_FLOAT32 = dtypes.float32.numpy
_TEXT = (str, bytes)
# The dtypes that bools convert to: those that TensorFlow reads Python numbers into.
_FROM_BOOL = frozenset(
    (dtypes.bool_, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)
)
_OUT_OF_RANGE = "Can't convert Python sequence with out-of-range integer to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_MIXED = "Can't convert Python sequence with mixed types to Tensor."


def to_array(value: Any, dtype: DType | None = None, graph: bool = False) -> Any:
    """A Python or NumPy value as the array of a tensor.

    With `graph`, errors are worded as TensorFlow words them while it builds graphs. Raises
    TypeError if a value does not fit `dtype`, ValueError for ragged lists and None.
    """
    kind = type(value)
    if kind is float:
        if dtype is None or dtype is dtypes.float32:
            return _single(value, dtype, graph)
    elif kind is int:
        small = -0x80000000 <= value <= 0x7FFFFFFF
        if small and (dtype is None or dtype is dtypes.int32):
            return np.array(value, _INT32)
    elif kind is bool:
        if dtype is None or dtype is dtypes.bool_:
            return np.array(value)
    elif kind is np.ndarray:
        return _from_numpy(value, dtype)
    elif isinstance(value, _TEXT):
        return _from_text(value, dtype, graph)
    elif kind is list or kind is tuple:
        if dtype is None or dtype is dtypes.int32:
            array = short_integers(value)
            if array is not None:
                return array
        return _from_sequence(_sizes(value) if Dimension.exists else value, dtype, graph)
    elif isinstance(value, np.generic):
        return _from_numpy(np.asarray(value), dtype)
    elif isinstance(value, TensorShape):
        return _from_shape(value, dtype)
    elif isinstance(value, Dimension):
        return _from_dimension(value, dtype)
    elif not isinstance(value, (int, float, complex)):
        return _from_object(value, dtype, graph)
    return _fitted(_scalar(value), value, value, dtype, graph)


def _sizes(value: Any) -> Any:
    """A nested list with numbers in place of TensorFlow 1's `Dimension` objects of known size."""
    if isinstance(value, (list, tuple)):
        items: Any = value
        return [_sizes(v) for v in items]
    return value.value if isinstance(value, Dimension) and value.value is not None else value


def _known_size(dimension: Dimension) -> int:
    if dimension.value is None:
        raise ValueError(f"Cannot convert unknown Dimension {dimension} to a Tensor.")
    return dimension.value


def _from_dimension(value: Dimension, dtype: DType | None) -> Any:
    size = _known_size(value)
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert Dimension {value} to dtype {dtype!r}. Allowed dtypes are tf.int32 and "
            "tf.int64."
        )
    return np.array(size, np.int64 if dtype is dtypes.int64 else _INT32)


def _single(value: float, dtype: DType | None, graph: bool) -> Any:
    array = np.array(value, _FLOAT32)
    if dtype is None and not graph and abs(value) > 3.4028235677973366e38:
        _check_range(np.asarray(value))
    return array


def short_integers(value: Any) -> Any:
    """The array of a short list of small integers, such as axes and shapes; None for any other list."""
    if not 0 < len(value) <= 8:
        return None
    for item in value:
        if type(item) is not int or not -0x80000000 <= item <= 0x7FFFFFFF:
            return None
    return np.array(value, _INT32)


def short_floats(value: Any, dtype: Any, limit: float) -> Any:
    """The array of a short list of floats below a limit; None for any other list."""
    if not 0 < len(value) <= 8:
        return None
    for item in value:
        if type(item) is not float or not -limit < item < limit:
            return None
    return np.array(value, dtype)


def short_rows(value: Any) -> Any:
    """The matrix of a short list of such lists, such as paddings; None for any other list."""
    if not 0 < len(value) <= 8:
        return None
    length = 0
    for row in value:
        kind = type(row)
        if (kind is not list and kind is not tuple) or not 0 < len(row) <= 8:
            return None
        length = length or len(row)
        if len(row) != length:
            return None
        for item in row:
            if type(item) is not int or not -0x80000000 <= item <= 0x7FFFFFFF:
                return None
    return np.array(value, _INT32)


def _check_range(array: Any) -> None:
    if np.any(np.isinf(array.astype(np.float32)) & np.isfinite(array)):
        raise ValueError(
            "Can't convert Python sequence with a value out of range for a double-precision float."
        )


def _scalar(value: Any) -> Any:
    if isinstance(value, bool):
        return np.array(bool(value))
    if isinstance(value, int):
        try:
            return np.array(int(value), np.int64)
        except OverflowError:
            return np.array(int(value), object)
    return np.array(float(value) if isinstance(value, float) else complex(value))


def refused(value: Any, leaf: Any, dtype: DType, graph: bool) -> Exception:
    """TensorFlow's error for a value that does not fit a dtype."""
    if graph:
        return TypeError(f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'.")
    name = dtype.kernel_name
    if isinstance(value, (int, float)) and dtype.is_floating:
        name = dtype.name
    text = repr(value)
    text = f"{text[:300]}..." if len(text) > 300 else text
    return TypeError(f"Cannot convert {text} to EagerTensor of dtype {name}")


def unsupported(value: Any, dtype: DType | None = None, graph: bool = False) -> Exception:
    """TensorFlow's error for a value of a type that does not convert to a tensor."""
    if value is None:
        if graph:
            return ValueError("None values not supported.")
    elif graph:
        if dtype is not None:
            return refused(value, value, dtype, graph)
        return TypeError(
            f"Failed to convert elements of {value} to Tensor. Consider casting elements to"
            " a supported type. See https://www.tensorflow.org/api_docs/python/tf/dtypes"
            " for supported TF dtypes."
        )
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to"
        " a Tensor."
    )


# -- the dtypes of numbers ---------------------------------------------------------------


def _fitted(array: Any, value: Any, first: Any, dtype: DType | None, graph: bool) -> Any:
    """An array of Python numbers in the requested dtype, or in the default one of their type.

    `first` is the first element of `value`; NumPy's numbers bring their own precision.
    """
    kind = array.dtype.kind
    if kind in "Ou":
        array, kind = _large(array, dtype)
    if dtype is None:
        return _by_default(array, kind, first, graph)
    if kind == "b":
        fits = dtype in _FROM_BOOL or (graph and dtype.is_numeric)
    elif kind == "i":
        fits = dtype.is_numeric and not (graph and dtype.is_quantized)
    elif kind == "f":
        fits = dtype.is_floating or dtype.is_complex
    else:
        fits = dtype.is_complex
    if not fits or (dtype.is_quantized and kind != "i"):
        raise refused(value, _misfit(value, dtype), dtype, graph)
    return array.astype(dtype.numpy)


def _large(array: Any, dtype: DType | None) -> tuple[Any, str]:
    """The array of integers that NumPy stores as uint64 or objects, because they are large."""
    unsigned = array.dtype.kind == "u"
    if unsigned and (array.dtype.itemsize < 8 or not np.any(array >> np.uint64(63))):
        return array.astype(np.int64), "i"
    if dtype is dtypes.uint64 and all(0 <= v < 1 << 64 for v in array.reshape(-1)):
        return array.astype(np.uint64), "i"
    if dtype is not None and dtype.is_floating and dtype is not dtypes.bfloat16:
        return array.astype(np.float64), "f"
    raise ValueError(_OUT_OF_RANGE)


def _by_default(array: Any, kind: str, first: Any, graph: bool) -> Any:
    if kind == "i":
        narrow = array.astype(_INT32)
        return narrow if (narrow == array).all() else array.astype(np.int64)
    if kind == "f":
        own = getattr(first, "dtype", None)
        if own is not None and own.kind == "f":
            return array.astype(own)
        if not graph:
            _check_range(array)
        return array.astype(_FLOAT32)
    return array


def _misfit(value: Any, dtype: DType) -> Any:
    """The first element that is not convertible to `dtype`."""
    if not isinstance(value, (list, tuple)):
        return value
    for item in _leaves(value):
        try:
            to_array(item, dtype)
        except (TypeError, ValueError):
            return item
    return value


def _leaves(value: Any) -> Any:
    for item in value:
        if isinstance(item, (list, tuple)):
            yield from _leaves(item)
        else:
            yield item


# -- lists -------------------------------------------------------------------------------


def _from_sequence(value: Any, dtype: DType | None, graph: bool) -> Any:
    first, dims = _first(value)
    if first is _NOTHING:
        return np.empty(dims, (dtype or dtypes.float32).numpy)
    if first is None:
        raise unsupported(None, dtype, graph)
    if isinstance(first, _TEXT):
        return _from_texts(value, dims, dtype, graph)
    array = _stacked(value, first, dtype, graph)
    kind = array.dtype.kind
    if kind == "b" or isinstance(first, (bool, np.bool_)):
        if isinstance(first, np.bool_) and dtype is not None and not dtype.is_bool:
            raise refused(value, first, dtype, graph)
        if kind != "b" and dtype not in _FROM_BOOL - {dtypes.bool_} and not graph:
            raise ValueError(_MIXED)
    elif kind == "c" and not graph and np.asarray(first).dtype.kind != "c":
        raise ValueError(_MIXED)
    elif kind == "V":  # bfloat16 and the like
        return array if dtype is None else array.astype(dtype.numpy)
    return _fitted(array, value, first, dtype, graph)


_NOTHING: Any = object()


def _first(value: Any) -> tuple[Any, tuple[int, ...]]:
    """The first element of nested lists, and their shape."""
    dims: list[int] = []
    while isinstance(value, (list, tuple)):
        dims.append(len(value))
        if not value:
            return _NOTHING, tuple(dims)
        value = value[0]
    return value, tuple(dims)


def _stacked(value: Any, first: Any, dtype: DType | None, graph: bool) -> Any:
    """Nested lists of numbers as one array."""
    try:
        array = np.array(value)
    except ValueError:
        raise ValueError(_MIXED if _scalar_first(value) else _RAGGED) from None
    if array.dtype.kind in "SU":
        raise ValueError(_MIXED)
    if array.dtype == np.float64 and type(first) is int and _integers_of_both_kinds(array, value):
        return np.array(value, object)
    if array.dtype != object:
        return array
    for item in _leaves(value):
        if isinstance(item, (list, tuple)) or not isinstance(
            item, (int, float, complex, np.generic, np.ndarray)
        ):
            if item is first:
                raise unsupported(item, dtype, graph)
            raise ValueError(_MIXED)
    return array  # integers too large for 64 bits


def _integers_of_both_kinds(array: Any, value: Any) -> bool:
    """True for integers that NumPy converts to floats, as some need int64 and others uint64."""
    return (
        bool(array.size) and array.max() >= 2.0**63 and all(type(v) is int for v in _leaves(value))
    )


def _scalar_first(value: Any) -> bool:
    """True if some list has a list after a number."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    nested = [isinstance(v, (list, tuple, np.ndarray)) for v in value]
    if any(nested) and not nested[0]:
        return True
    return any(_scalar_first(v) for v in value)


def _from_texts(value: Any, dims: tuple[int, ...], dtype: DType | None, graph: bool) -> Any:
    flat: list[Any] = []
    _flatten(value, dims, flat)
    for item in flat:
        if not isinstance(item, _TEXT):
            raise ValueError(_MIXED)
    if dtype is not None and dtype is not dtypes.string:
        raise refused(value, flat[0], dtype, graph)
    array = np.empty(len(flat), object)
    array[:] = [v.encode() if isinstance(v, str) else bytes(v) for v in flat]
    return array.reshape(dims)


def _flatten(value: Any, dims: tuple[int, ...], flat: list[Any]) -> None:
    """The elements of nested lists of a shape. Raises ValueError if they are ragged."""
    if len(value) != dims[0]:
        raise ValueError(_RAGGED)
    if len(dims) == 1:
        for item in value:
            if isinstance(item, (list, tuple)):
                raise ValueError(_MIXED)
        flat.extend(value)
        return
    for item in value:
        if not isinstance(item, (list, tuple)):
            raise ValueError(_RAGGED)
        _flatten(item, dims[1:], flat)


# -- everything else ---------------------------------------------------------------------


def _from_numpy(array: Any, dtype: DType | None) -> Any:
    """A copy of a NumPy array, cast unchecked if another dtype is requested."""
    if dtype is dtypes.string or (dtype is None and array.dtype.kind in "OSU"):
        return _text_array(array)
    if dtype is None:
        try:
            kind = from_numpy(array.dtype).numpy
        except TypeError:
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported numpy type:"
                f" {array.dtype})."
            ) from None
        if array.nbytes < MIN_ALIGNED_BYTES:
            return np.array(array, kind, order="C")
        return copied(array, kind)
    if array.dtype.kind == "c" and not dtype.is_complex and not dtype.is_bool:
        array = array.real
    return copied(array, dtype.numpy)


def _text_array(array: Any) -> Any:
    result = np.empty(array.shape, object)
    flat = result.reshape(-1)
    for i, item in enumerate(array.reshape(-1).tolist()):
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type"
                f" {type(item).__name__})."
            )
        flat[i] = item
    return result


def _from_text(value: Any, dtype: DType | None, graph: bool) -> Any:
    if dtype is not None and dtype is not dtypes.string:
        raise refused(value, value, dtype, graph)
    array = np.empty((), object)
    array[()] = value.encode() if isinstance(value, str) else bytes(value)
    return array


def _from_shape(value: TensorShape, dtype: DType | None) -> Any:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(
            f"Cannot convert TensorShape {value} to dtype {dtype}. Allowed dtypes are"
            " tf.int32 and tf.int64."
        )
    return np.asarray(value.as_list(), (dtype or dtypes.int32).numpy)


def _from_object(value: Any, dtype: DType | None, graph: bool) -> Any:
    if isinstance(value, (list, tuple, range, bytearray)):
        return _from_sequence(list(value), dtype, graph)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, type) or value is None or isinstance(value, (dict, DType)):
        raise unsupported(value, dtype, graph)
    if hasattr(value, "__len__") and hasattr(value, "__getitem__"):
        return _from_sequence(list(value), dtype, graph)
    try:
        number = operator.index(value)
    except TypeError:
        raise unsupported(value, dtype, graph) from None
    return to_array(number, dtype, graph)
