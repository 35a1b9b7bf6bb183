"""Python values to tensors, by TensorFlow's rules: int -> int32, float -> float32, no silent promotion.

Follows https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes, errors
from intaglio.base.dtypes import DType, as_dtype, from_numpy
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.op import raw
from intaglio.op.tensor import Tensor

Converter = Callable[..., Any]

# Types whose values become tensors in a way of their own, besides `__tf_tensor__`.
# (priority, type, function), highest priority first: tf.register_tensor_conversion_function.
_registered: list[tuple[int, Any, Converter]] = []
_make_constant: list[Callable[..., Tensor]] = []


def install_constant(make: Callable[..., Tensor]) -> None:
    """Names the function that makes a tensor of the present level from an array."""
    _make_constant[:] = [make]


def register(base_type: Any, function: Converter, priority: int = 100) -> None:
    """Lets `function(value, dtype, name, as_ref)` convert values of `base_type`."""
    _registered.append((priority, base_type, function))
    _registered.sort(key=lambda entry: entry[0])


def to_tensor(
    value: Any,
    dtype: DType | None = None,
    name: str | None = None,
    dtype_hint: DType | None = None,
) -> Tensor:
    """`value` as a tensor of the present level.

    Raises TypeError if it cannot become a tensor of `dtype`, ValueError for ragged lists.
    """
    if isinstance(value, Tensor):
        if dtype is not None and value.dtype is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if dtype is None and dtype_hint is not None:
        try:
            return to_tensor(value, dtype_hint, name)
        except (TypeError, ValueError):
            pass
    convert = getattr(type(value), "__tf_tensor__", None)
    if convert is not None:
        return convert(value, dtype, name)
    for _, kind, function in _registered:
        if isinstance(value, kind):
            made = function(value, dtype=dtype, name=name, as_ref=False)
            if made is not NotImplemented:
                return made
    if isinstance(value, (list, tuple)) and _has_tensors(value):
        return _packed(value, dtype, name)
    return _make_constant[0](to_array(value, dtype), name)


def holds_tensors(value: Any) -> bool:
    """True for a tensor, what converts itself to one, or a list with such a thing in it."""
    if isinstance(value, (list, tuple)):
        return _has_tensors(value)
    return isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")


def _has_tensors(value: Any) -> bool:
    for item in value:
        if isinstance(item, (list, tuple)):
            if _has_tensors(item):
                return True
        elif isinstance(item, Tensor) or hasattr(type(item), "__tf_tensor__"):
            return True
    return False


def _packed(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    if dtype is None:
        dtype = _first_dtype(value)
    parts = [
        _packed(item, dtype, None)
        if isinstance(item, (list, tuple)) and _has_tensors(item)
        else to_tensor(item, dtype)
        for item in value
    ]
    return raw.Pack(parts, axis=0, name=name or "packed")


def _first_dtype(value: Any) -> DType | None:
    for item in value:
        found = (
            _first_dtype(item)
            if isinstance(item, (list, tuple))
            else getattr(item, "dtype", None)
        )
        if isinstance(found, DType):
            return found
    return None


def dtype_of(value: Any) -> DType | None:
    """The dtype that a value carries (arrays, variables, ...), or None for plain Python values."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return None
    try:
        return as_dtype(dtype)
    except TypeError:
        return None


def invalid(message: str) -> Exception:
    """An InvalidArgumentError with this message."""
    return errors.invalid_argument(message)


def describe(value: Any) -> str:
    """A value for an error message, cut short."""
    text = repr(value)
    return f"{text[:200]}{'...' if len(text) > 200 else ''} of type {type(value).__name__!r}"


# -- arrays ------------------------------------------------------------------------


def to_array(value: Any, dtype: DType | None = None) -> np.ndarray:
    """A Python or NumPy value as the array of a tensor.

    Raises TypeError if a value does not fit `dtype`, ValueError for ragged lists or None.
    """
    kind = type(value)
    if kind is np.ndarray or isinstance(value, np.generic):
        return _from_numpy(value, dtype)
    if kind is int or kind is float or kind is bool:
        return _from_number(value, dtype)
    if isinstance(value, (str, bytes)):
        return _from_text(value, dtype)
    if isinstance(value, TensorShape):
        return _from_shape(value, dtype)
    if value is None:
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."
        )
    if isinstance(value, DType):
        return np.asarray(value.as_datatype_enum, np.int32)
    return _from_object(value, dtype)


def _from_numpy(value: Any, dtype: DType | None) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind in "OSU":
        if dtype is not None and dtype is not dtypes.string:
            raise TypeError(
                f"Cannot convert {describe(value)} to EagerTensor of dtype {dtype.name}"
            )
        return _text_array(array)
    own = from_numpy(array.dtype)
    if dtype is None or own is dtype:
        native = own.numpy
        return np.array(
            array, dtype=native, copy=None if isinstance(value, np.generic) else True
        )
    if not _castable(own, dtype):
        raise TypeError(
            f"Cannot convert {describe(value)} to EagerTensor of dtype {dtype.name}"
        )
    return array.astype(dtype.numpy)


def _castable(own: DType, wanted: DType) -> bool:
    """Whether an array may become a tensor of another dtype: never losing its kind."""
    if wanted is dtypes.string or own is dtypes.string:
        return False
    if own.is_bool or wanted.is_bool:
        return own is wanted
    if own.is_complex:
        return wanted.is_complex
    if own.is_floating:
        return wanted.is_floating or wanted.is_complex
    return True


def _from_number(value: Any, dtype: DType | None) -> np.ndarray:
    if dtype is None:
        if type(value) is bool:
            return np.asarray(value)
        if type(value) is float:
            return np.asarray(value, np.float32)
        if -0x80000000 <= value <= 0x7FFFFFFF:
            return np.asarray(value, np.int32)
        if -(1 << 63) <= value < 1 << 63:
            return np.asarray(value, np.int64)
        raise ValueError(
            f"Can't convert Python sequence with out-of-range integer to Tensor: {value}"
        )
    _check_element(value, dtype)
    return np.asarray(value, dtype.numpy)


def _check_element(value: Any, dtype: DType) -> None:
    """Raises TypeError unless the Python value may be an element of `dtype`."""
    if isinstance(value, (bool, np.bool_)):
        fits = dtype.is_bool
    elif isinstance(value, (int, np.integer)):
        if dtype.is_integer and not dtype.min <= value <= dtype.max:
            raise TypeError(
                f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}: it is out of range"
            )
        fits = dtype.is_numeric and not dtype.is_quantized
    elif isinstance(value, (float, np.floating)):
        fits = dtype.is_floating or dtype.is_complex
    elif isinstance(value, complex):
        fits = dtype.is_complex
    elif isinstance(value, (str, bytes)):
        fits = dtype is dtypes.string
    else:
        fits = True
    if not fits:
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}"
        )


def _from_text(value: Any, dtype: DType | None) -> np.ndarray:
    if dtype is not None and dtype is not dtypes.string:
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}"
        )
    array = np.empty((), object)
    array[()] = value.encode() if isinstance(value, str) else value
    return array


def _text_array(array: np.ndarray) -> np.ndarray:
    result = np.empty(array.shape, object)
    flat = result.reshape(-1)
    for i, item in enumerate(array.reshape(-1).tolist()):
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            raise ValueError(
                f"Failed to convert a NumPy array to a Tensor (Unsupported object type {type(item).__name__})."
            )
        flat[i] = item
    return result


def _from_shape(value: TensorShape, dtype: DType | None) -> np.ndarray:
    if not value.is_fully_defined():
        raise ValueError(
            f"Cannot convert a partially known TensorShape {value} to a Tensor."
        )
    return np.asarray(value.as_list(), (dtype or dtypes.int32).numpy)


def _from_object(value: Any, dtype: DType | None) -> np.ndarray:
    if isinstance(value, (list, tuple, range)):
        return _from_sequence(value, dtype)
    if isinstance(value, complex):
        if dtype is not None:
            _check_element(value, dtype)
        return np.asarray(value, (dtype or dtypes.complex128).numpy)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, (float, int)):  # subclasses, enums
        return _from_number(
            float(value) if isinstance(value, float) else int(value), dtype
        )
    if (
        hasattr(value, "__len__")
        and hasattr(value, "__getitem__")
        and not isinstance(value, dict)
    ):
        return _from_sequence(list(value), dtype)
    try:
        return _from_number(operator.index(value), dtype)
    except TypeError:
        pass
    raise ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)!r}) to a Tensor."
    )


def _from_sequence(value: Any, dtype: DType | None) -> np.ndarray:
    kinds: set[type] = set()
    _leaf_types(value, kinds)
    if kinds & {str, bytes}:
        if len(kinds - {str, bytes, np.str_, np.bytes_}):
            raise ValueError(
                "Can't convert Python sequence with mixed types to Tensor."
            )
        if dtype is not None and dtype is not dtypes.string:
            raise TypeError(
                f"Cannot convert {describe(value)} to EagerTensor of dtype {dtype.name}"
            )
        return _text_array(_rectangular(value, object))
    if dtype is not None:
        if dtype is dtypes.string and kinds:
            raise TypeError(
                f"Cannot convert {describe(value)} to EagerTensor of dtype string"
            )
        _check_leaves(value, dtype)
        return _rectangular(value, dtype.numpy)
    if kinds == {int}:
        array = _rectangular(value, None)
        if array.dtype.kind != "i":
            raise ValueError(
                f"Can't convert Python sequence with out-of-range integer to Tensor: {describe(value)}"
            )
        narrow = array.astype(np.int32)
        return narrow if (narrow == array).all() else array
    return _mixed_sequence(value, kinds)


def _mixed_sequence(value: Any, kinds: set[type]) -> np.ndarray:
    if bool in kinds and len(kinds) > 1:
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if float in kinds and not kinds - {float, int}:
        return _rectangular(value, np.float32)
    if not kinds:
        return _rectangular(value, np.float32)
    array = _rectangular(value, None)
    if array.dtype == object:
        bad = next(iter(kinds - {int, float, bool, complex}), type(None))
        raise ValueError(
            f"Can't convert non-rectangular Python sequence or element of type {bad.__name__} to Tensor."
        )
    return np.ascontiguousarray(array, from_numpy(array.dtype).numpy).reshape(
        array.shape
    )


def _leaf_types(value: Any, kinds: set[type]) -> None:
    for item in value:
        if isinstance(item, (list, tuple, range)):
            _leaf_types(item, kinds)
        else:
            kinds.add(type(item))


def _check_leaves(value: Any, dtype: DType) -> None:
    for item in value:
        if isinstance(item, (list, tuple, range)):
            _check_leaves(item, dtype)
        else:
            _check_element(item, dtype)


def _rectangular(value: Any, dtype: Any) -> np.ndarray:
    try:
        array = np.array(value, dtype)
    except (ValueError, TypeError) as e:
        if "inhomogeneous" in str(e) or "sequence" in str(e):
            raise ValueError(
                "Can't convert non-rectangular Python sequence to Tensor."
            ) from None
        raise
    except OverflowError:
        raise TypeError(
            f"Cannot convert {describe(value)} to EagerTensor of dtype {dtype}"
        ) from None
    if (
        dtype is object
        and array.size
        and isinstance(array.reshape(-1)[0], (list, tuple))
    ):
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    return array


# -- attributes --------------------------------------------------------------------


def attribute(value: Any, kind: str) -> Any:
    """An attribute's value in its kept form: hashable where it can be."""
    if kind == "type":
        return None if value is None else as_dtype(value)
    if kind == "list(type)":
        return tuple([as_dtype(v) for v in value])
    if kind == "shape":
        return as_dims(value)
    if kind == "list(shape)":
        return tuple([as_dims(v) for v in value])
    if kind == "int":
        return operator.index(value)
    if kind == "bool":
        return bool(value)
    if kind == "float":
        return float(np.float32(value))  # kept as float32, as in a GraphDef
    if kind == "str" and isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if kind.startswith("list(") and value is not None:
        return tuple(value)
    return value
