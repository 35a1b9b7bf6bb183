"""Python values to tensors, by TensorFlow's rules: int -> int32, float -> float32, no silent promotion.

Follows https://www.tensorflow.org/api_docs/python/tf/convert_to_tensor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import as_dims
from intaglio.opdef import elements, raw
from intaglio.opdef.levels import level
from intaglio.opdef.tensor import Tensor

Converter = Callable[..., Any]

# Types with a registered conversion to tensors, besides `__tf_tensor__`.
# (priority, type, function), the least priority first: tf.register_tensor_conversion_function.
_registered: list[tuple[int, Any, Converter]] = []

# Elements of lists that are certainly no tensors.
_PLAIN = frozenset((int, float, bool, str, bytes, complex, type(None)))


# Types that are converted without looking for a registered conversion.
_BUILT_IN = (int, float, np.generic, np.ndarray)


_DEFAULT = 100


def register(base_type: Any, conversion_func: Converter, priority: int = _DEFAULT) -> None:
    """Registers `conversion_func(value, dtype, name, as_ref)` for values of `base_type`.

    A class that inherits `__tf_tensor__`, as those derived from `tf.Variable` do, is
    converted by the function instead. Raises TypeError for arguments of other kinds.
    """
    bases: tuple[Any, ...] = base_type if isinstance(base_type, tuple) else (base_type,)
    if not bases or not all([isinstance(base, type) for base in bases]):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    if any([issubclass(base, _BUILT_IN) for base in bases]):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and "
            "arrays: give the values a class of their own."
        )
    for base in bases:
        own: Any = getattr(base, "__tf_tensor__", None)
        if own is not None and "__tf_tensor__" not in vars(base):
            _prefer(base, conversion_func, own)
    _registered.append((priority, base_type, conversion_func))
    _registered.sort(key=lambda entry: entry[0])


def _checked(
    converted: Any, value: Any, dtype: DType | None, function: Converter, composite: bool = False
) -> Any:
    """The result of a registered function: a tensor, or a composite value where that is accepted.

    Raises RuntimeError if it is neither, or not of the wanted dtype.
    """
    who = f"Conversion function {function!r} for type {type(value)}"
    if not isinstance(converted, Tensor) and not (
        composite and isinstance(converted, CompositeTensor)
    ):
        if not hasattr(type(converted), "__tf_tensor__"):
            raise RuntimeError(f"{who} returned non-Tensor: {converted!r}")
        converted = to_tensor(converted)
    actual: Any = getattr(converted, "dtype", dtype)
    if dtype is not None and actual is not dtype:
        raise RuntimeError(
            f"{who} returned incompatible dtype: requested = {dtype.name}, actual = {actual.name}"
        )
    return converted


def _prefer(base_type: Any, function: Converter, inherited: Converter) -> None:
    """Registers `function` for a class; if it declines, values are converted as the class inherits it."""

    def converted(self: Any, dtype: DType | None = None, name: str | None = None) -> Any:
        result = function(self, dtype=dtype, name=name, as_ref=False)
        if result is NotImplemented:
            return inherited(self, dtype, name)
        return _checked(result, self, dtype, function)

    base_type.__tf_tensor__ = converted


def to_tensor(
    value: Any, dtype: DType | None = None, name: str | None = None, dtype_hint: DType | None = None
) -> Tensor:
    """`value` as a tensor of the current level.

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
    kind = type(value)
    if kind not in _PLAIN and kind is not np.ndarray:
        converted = _by_protocol(value, kind, dtype, name)
        if converted is not None:
            return converted
    here = level()
    return here.constant(elements.to_array(value, dtype, not here.eager), name)


def _by_protocol(value: Any, kind: type, dtype: DType | None, name: str | None) -> Tensor | None:
    """Converts a value with `__tf_tensor__`, with a registered function, or that contains tensors."""
    convert = getattr(kind, "__tf_tensor__", None)
    if convert is not None:
        return convert(value, dtype, name)
    found = _by_function(value, kind, dtype, name)
    if found is not None:
        return _checked(found[0], value, dtype, found[1])
    if isinstance(value, (list, tuple)) and _has_tensors(value):
        return _packed(value, dtype, name)
    return None


def _by_function(
    value: Any, kind: type, dtype: DType | None, name: str | None
) -> tuple[Any, Converter] | None:
    """What the first registered function that accepts the value returns, and the function; None without one."""
    for priority, registered, function in _registered:
        if priority >= _DEFAULT and kind in (list, tuple):
            break  # their own conversion was there first
        if isinstance(value, registered):
            converted = function(value, dtype=dtype, name=name, as_ref=False)
            if converted is not NotImplemented:
                return converted, function
    return None


def to_tensor_or_composite(value: Any, dtype: DType | None = None, name: str | None = None) -> Any:
    """A composite value as it is, or one that a registered function makes of `value`; else a tensor."""
    if isinstance(value, CompositeTensor):
        return value
    if not hasattr(type(value), "__tf_tensor__"):
        found = _by_function(value, type(value), dtype, name)
        if found is not None:
            return _checked(found[0], value, dtype, found[1], composite=True)
    return to_tensor(value, dtype, name)


def read(args: Sequence[Any]) -> list[Any] | None:
    """The arguments, with those that have `__tf_tensor__`, such as variables, converted to tensors.

    None if there are none. Raises the errors of the conversions.
    """
    found: list[Any] | None = None
    for n, value in enumerate(args):
        if isinstance(value, Tensor) or type(value) in _PLAIN:
            continue
        own = getattr(type(value), "__tf_tensor__", None)
        if own is not None:
            found = found or list(args)
            found[n] = own(value, None, None)
    return found


class _Promotion:
    """The rule of automatic promotion for Python numbers; None while it is off."""

    rule: Callable[[Any, Any], Any] | None = None


_promotion = _Promotion()


def promote_outcomes(rule: Callable[[Any, Any], Any] | None) -> None:
    """Sets the rule that `outcome` applies; None switches it off."""
    _promotion.rule = rule


def outcome(value: Any, beside: Any = None) -> Any:
    """Converts a result of a branch or traced function; `beside` is the result of the other branch.

    It returns the value itself, except that automatic promotion converts Python numbers to weak tensors.
    """
    rule = _promotion.rule
    return value if rule is None else rule(value, beside)


def to_array(value: Any, dtype: DType | None = None) -> Any:
    """A Python or NumPy value as the array of a tensor.

    Raises TypeError if it does not fit `dtype`, ValueError for ragged lists and None.
    """
    return elements.to_array(value, dtype, not level().eager)


def holds_tensors(value: Any) -> bool:
    """True for a tensor, a value with `__tf_tensor__`, or a list that contains such a value."""
    if isinstance(value, (list, tuple)):
        return _has_tensors(value)
    return isinstance(value, Tensor) or hasattr(type(value), "__tf_tensor__")


def _has_tensors(value: Any) -> bool:
    for item in value:
        if type(item) in _PLAIN:
            continue
        if isinstance(item, (list, tuple)):
            if _has_tensors(item):
                return True
        elif isinstance(item, Tensor) or hasattr(type(item), "__tf_tensor__"):
            return True
    return False


def _packed(value: Any, dtype: DType | None, name: str | None) -> Tensor:
    wanted = dtype or _first_dtype(value)
    parts: list[Tensor] = []
    for item in value:
        if isinstance(item, (list, tuple)) and _has_tensors(item):
            parts.append(_packed(item, wanted, None))
            continue
        if dtype is not None and isinstance(item, Tensor) and item.dtype is not dtype:
            item = raw.Cast(item, DstT=dtype)
        parts.append(to_tensor(item, None if isinstance(item, Tensor) else wanted))
    return raw.Pack(parts, axis=0, name=name or "packed")


def _first_dtype(value: Any) -> DType | None:
    for item in value:
        found = (
            _first_dtype(item) if isinstance(item, (list, tuple)) else getattr(item, "dtype", None)
        )
        if isinstance(found, DType):
            return found
    return None


def dtype_of(value: Any) -> DType | None:
    """The dtype that a value carries (arrays, variables, ...), or None for plain Python values.

    Composite values that never become a tensor, such as TensorArrays, have none.
    """
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return None
    if isinstance(value, CompositeTensor) and not hasattr(value, "__tf_tensor__"):
        return None
    try:
        return as_dtype(dtype)
    except TypeError:
        return None


def invalid(message: str) -> Exception:
    """An InvalidArgumentError with this message."""
    return errors.invalid_argument(message)


def describe(value: Any) -> str:
    """A value as text for an error message, truncated."""
    text = repr(value)
    return f"{text[:200]}{'...' if len(text) > 200 else ''} of type {type(value).__name__!r}"


# -- attributes --------------------------------------------------------------------


def attribute(value: Any, kind: str, name: str = "") -> Any:
    """The value of attribute `name` in the form that nodes store: hashable where possible."""
    if kind == "type":
        return None if value is None else as_dtype(value)
    if kind == "list(type)":
        return tuple([as_dtype(v) for v in value])
    if kind == "shape":
        return as_dims(value)
    if kind == "list(shape)":
        return tuple([as_dims(v) for v in value])
    if kind == "int":
        try:
            return operator.index(value)
        except AttributeError:  # a tensor of something else
            raise _not_of_kind(value, kind, name) from None
    if kind == "bool":
        return bool(value)
    text = isinstance(value, (str, bytes))
    if kind == "float":
        if text:
            raise _not_of_kind(value, kind, name)
        return float(np.float32(value))  # kept as float32, as in a GraphDef
    if kind == "str":
        if isinstance(value, bytes):
            return value.decode("utf-8", "surrogateescape")
        if not text and value is not None:
            raise _not_of_kind(value, "string", name)
    if kind == "func":
        return _graph(value, name)
    if kind.startswith("list(") and value is not None:
        if text:
            raise _not_of_kind(value, "list", name)
        return tuple([_graph(v, name) for v in value] if kind == "list(func)" else value)
    return value


def _graph(value: Any, name: str) -> Any:
    """The graph that an op runs: of a concrete function the one that it runs itself, captures last."""
    graph = getattr(value, "frozen", value)
    if graph is not None and not hasattr(graph, "outputs"):
        raise TypeError(f"Don't know how to convert {value!r} to a func for argument {name}")
    return graph


def _not_of_kind(value: Any, kind: str, name: str) -> TypeError:
    return TypeError(f"Expected {kind} for argument {name!r} not {value!r}.")
