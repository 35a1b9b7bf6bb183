"""The dtypes of results, and values as tensors of them: the base of the whole namespace.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/result_type. Tensors and
arrays count by their types, Python numbers only by their kind (NumPy's NEP 50), also in lists.

With automatic promotion (the modes "all" and "safe") types are joined in its lattice instead.
Functions of two operands, such as `tnp.add`, keep NumPy's rule there too: theirs is
`operand_dtype`, that of all others `common_dtype`. So TensorFlow has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType, as_dtype, cast_array
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice
from intaglio.promotion.operands import as_array, kind_of, kind_of_type

# The NumPy dtype of a Python number in promotion, by its type.
_KINDS: dict[type, Any] = {bool: False, int: 0, float: 0.0, complex: 0j}
_NARROW: dict[type, Any] = {float: np.dtype(np.float32), complex: np.dtype(np.complex64)}
_LARGEST = np.iinfo(np.int64).max


class Options:
    """How types are promoted, for all threads: set by `experimental_enable_numpy_behavior`."""

    prefer_float32: bool = False


def default_float() -> DType:
    """The type of floating-point results that nothing else decides."""
    return dtypes.float32 if lattice.is_on() else dtypes.float64


def default_integer(unsigned: bool = False) -> DType:
    """The type of integers that nothing else decides."""
    if unsigned:
        return dtypes.uint32 if lattice.is_on() else dtypes.uint64
    return dtypes.int32 if lattice.is_on() else dtypes.int64


# -- types ---------------------------------------------------------------------------


def _add_kinds(value: Any, found: dict[Any, None]) -> None:
    """Adds to `found` the dtype that `value` contributes to a result's dtype."""
    kind = type(value)
    if kind in _KINDS:
        narrow = _NARROW.get(kind) if Options.prefer_float32 else None
        if kind is int and value > _LARGEST:
            narrow = np.dtype(np.uint64)
        found[narrow if narrow is not None else kind] = None
    elif isinstance(value, (list, tuple)):
        items: Any = value
        for item in items:
            _add_kinds(item, found)
    elif isinstance(value, (str, bytes)):
        found[np.dtype(np.bytes_)] = None
    else:
        own = getattr(value, "dtype", None)
        if own is None:
            own = np.asarray(value).dtype
        found[own.numpy if isinstance(own, DType) else np.dtype(own)] = None


def common_dtype(*values: Any) -> DType:
    """The type of a result of all these values (never names of types, unlike `result_type`)."""
    if lattice.is_on():
        return lattice.join_all(map(kind_of, values)).dtype
    return operand_dtype(*values)


def operand_dtype(*values: Any) -> DType:
    """The same by NumPy's rule, whatever the mode, unless there is a list among them."""
    if lattice.is_on() and any([isinstance(v, (list, tuple)) for v in values]):
        return common_dtype(*values)
    found: dict[Any, None] = {}
    for value in values:
        _add_kinds(value, found)
    return _joined(found)


def _joined(found: dict[Any, None]) -> DType:
    if not found:
        return dtypes.float64
    if found.keys() == {float, dtypes.bfloat16.numpy}:
        return dtypes.float64  # which NumPy 1 does not know
    parts = [_KINDS[f] if isinstance(f, type) else f for f in found]
    dtype = np.result_type(*parts)
    return dtypes.string if dtype.kind in "OSU" else as_dtype(dtype)


def dtype_of(dtype: Any) -> DType:
    """A type argument: a DType, a NumPy or Python type (`float` is float64) or a name."""
    if isinstance(dtype, DType):
        return dtype
    if dtype in _KINDS and not lattice.is_on():
        return as_dtype(np.dtype(dtype))  # TensorFlow's own reading of float is float32
    return as_dtype(dtype)


def _numpy_type(type_: Any) -> np.dtype[Any]:
    """A type argument as NumPy's dtype."""
    if isinstance(type_, DType):
        return type_.numpy
    own = None if isinstance(type_, type) else getattr(type_, "dtype", None)
    return _numpy_type(own) if own is not None else np.dtype(type_)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type that an operation on these arrays, numbers and types gives.

    Raises numpy.exceptions.DTypePromotionError for types without a common one, with automatic
    promotion NotImplementedError, and TypeError for what its mode does not allow.

    >>> tnp.result_type(np.int32, np.float32), tnp.result_type(tf.constant([1.]), 2)
    (tf.float64, tf.float32)
    """
    if lattice.is_on():
        kinds = map(kind_of_type, arrays_and_dtypes)
        return lattice.join_all(kinds).dtype
    found: dict[Any, None] = {}
    for value in arrays_and_dtypes:
        if value is None or isinstance(value, (str, type, DType, np.dtype)):
            found[_numpy_type(value)] = None
        else:
            _add_kinds(value, found)
    return _joined(found)


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest type that both can be cast to without loss, as NumPy's dtype.

    >>> tnp.promote_types(tf.int8, np.uint8)
    dtype('int16')
    """
    return np.promote_types(_numpy_type(type1), _numpy_type(type2))


def finfo(dtype: Any) -> Any:
    """Limits of a floating-point type. Raises ValueError for other types.

    >>> tnp.finfo(tf.float32).eps
    np.float32(1.1920929e-07)
    """
    return np.finfo(_numpy_type(dtype))


def iinfo(dtype: Any) -> Any:
    """Limits of an integer type. Raises ValueError for other types.

    >>> tnp.iinfo(tf.int8).max
    127
    """
    return np.iinfo(_numpy_type(dtype))


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a type is of a kind: `tnp.inexact`, or another type.

    >>> tnp.issubdtype(tf.float32, tnp.inexact)
    True
    """
    first, second = (a.as_numpy_dtype if isinstance(a, DType) else a for a in (arg1, arg2))
    return bool(np.issubdtype(first, second))


# -- values --------------------------------------------------------------------------


def as_tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """`value` as a tensor; Python numbers in the default types, lists by their elements.

    With `dtype`, as a tensor of that type, cast if need be. Raises ValueError for None and for
    lists that are no rectangles.
    """
    if isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__"):
        x = convert.to_tensor(value)
    elif isinstance(value, (list, tuple)) and convert.holds_tensors(value):
        return _packed(value, dtype or common_dtype(value))
    else:
        x = _from_values(value, dtype)
    return x if dtype is None or x.dtype is dtype else raw.Cast(x, DstT=dtype)


def _packed(value: Any, dtype: DType) -> Tensor:
    """A list with tensors in it."""
    if not isinstance(value, (list, tuple)):
        return as_tensor(value, dtype)
    items: Any = value
    return raw.Pack([_packed(item, dtype) for item in items], axis=0)


def _from_values(value: Any, dtype: DType | None) -> Tensor:
    """What holds no tensor: Python values, arrays. Numbers come in `dtype` already."""
    if value is None or isinstance(value, dict):
        return convert.to_tensor(value)  # which raises the right error
    try:
        array = np.asarray(value)
        if lattice.is_on() and array.dtype.kind not in "SUO":
            array = as_array(value, _own_dtype(value))
    except ValueError:  # ragged
        return convert.to_tensor(value)
    if array.dtype.kind in "SUO":
        return convert.to_tensor(value)
    wanted = dtype or _own_dtype(value)
    if array.dtype != wanted.numpy and wanted.numpy.kind not in "SUO":
        array = cast_array(array, wanted)
    return convert.to_tensor(array)


def _own_dtype(value: Any) -> DType:
    """The type that a value has by itself."""
    try:
        return common_dtype(value)
    except NotImplementedError:  # an object that NumPy makes an array of
        return as_dtype(np.asarray(value).dtype)


def promoted(*values: Any) -> list[Tensor]:
    """All values as tensors of their common type."""
    dtype = common_dtype(*values)
    return [as_tensor(value, dtype) for value in values]


def operands(*values: Any) -> list[Tensor]:
    """The operands of a function of two, as tensors of the type that NumPy would give them."""
    dtype = operand_dtype(*values)
    return [as_tensor(value, dtype) for value in values]


def is_inexact(dtype: DType) -> bool:
    """True for floating-point and complex types that NumPy itself has: not bfloat16."""
    return (dtype.is_floating and dtype is not dtypes.bfloat16) or dtype.is_complex


def inexact(value: Any) -> Tensor:
    """`value` as a tensor of floating-point or complex numbers; others in the default type."""
    x = as_tensor(value)
    return x if is_inexact(x.dtype) else raw.Cast(x, DstT=default_float())


def both_inexact(x1: Any, x2: Any) -> list[Tensor]:
    """Two operands as tensors of their common type, the default one if that is not inexact."""
    dtype = operand_dtype(x1, x2)
    if not is_inexact(dtype):
        dtype = default_float()
    return [as_tensor(x1, dtype), as_tensor(x2, dtype)]


def number(value: float, like: Tensor) -> Tensor:
    """A scalar of the type of `like`."""
    return convert.to_tensor(np.array(value, like.dtype.numpy))


def truth(value: Any) -> Tensor:
    """`value` as a tensor of truth values: numbers are true if they are not 0."""
    return as_tensor(value, dtypes.bool_)


def elementwise(
    operate: Callable[[Tensor, Tensor], Any],
    x1: Any,
    x2: Any,
    of_truth: Callable[[Tensor, Tensor], Any] | None = None,
) -> Any:
    """`operate` on both in their common type; of truth values, `of_truth` if there is one."""
    a, b = operands(x1, x2)
    if of_truth is not None and a.dtype is dtypes.bool_:
        return of_truth(a, b)
    return operate(a, b)


__all__ = ["finfo", "iinfo", "issubdtype", "promote_types", "result_type"]
