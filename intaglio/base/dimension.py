"""`tf.compat.v1.Dimension`: a size that may be unknown, the entry of a shape in TensorFlow 1.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/Dimension.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def _size(value: Any) -> int | None:
    if value is None or isinstance(value, Dimension):
        return value if value is None else value.value
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got "
            f"value {value!r} with type {type(value)!r}"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def _arithmetic(function: Callable[[Any, Any], Any], reflected: bool = False) -> Any:
    """An operator that gives a Dimension: an unknown one if an operand is unknown."""

    def apply(self: Dimension, other: Any) -> Any:
        try:
            own, others = self.value, _size(other)
        except TypeError:
            return NotImplemented
        if own is None or others is None:
            return Dimension(None)
        return Dimension(function(others, own) if reflected else function(own, others))

    return apply


def _comparison(function: Callable[[Any, Any], bool]) -> Any:
    """An operator that gives True or False, or None if an operand is unknown."""

    def compare(self: Dimension, other: Any) -> Any:
        own, others = self.value, _size(other)
        return None if own is None or others is None else function(own, others)

    return compare


class Dimension:
    """One size of a shape: a number, or None if it is unknown.

    Raises TypeError for a value that is no integer, ValueError for a negative one.
    """

    __slots__ = ("_value",)
    __hash__ = None  # type: ignore[assignment]  # unknown sizes equal nothing
    # Whether one was ever created: lists of numbers are not searched for them before.
    exists = False

    def __init__(self, value: Any) -> None:
        self._value = _size(value)
        Dimension.exists = True

    @property
    def value(self) -> int | None:
        """The size, None if it is unknown."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # int() refuses None

    __index__ = __int__

    def __reduce__(self) -> Any:
        return Dimension, (self._value,)

    def __eq__(self, other: object) -> Any:
        try:
            others = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or others is None:
            return None
        return self._value == others

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return equal if equal is None else not equal

    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __add__ = _arithmetic(operator.add)
    __radd__ = _arithmetic(operator.add, True)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, True)
    __mul__ = _arithmetic(operator.mul)
    __rmul__ = _arithmetic(operator.mul, True)
    __floordiv__ = _arithmetic(operator.floordiv)
    __rfloordiv__ = _arithmetic(operator.floordiv, True)
    __mod__ = _arithmetic(operator.mod)
    __rmod__ = _arithmetic(operator.mod, True)

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(
            "unsupported operand type(s) for /: 'Dimension' and "
            f"{type(other).__name__!r}, please use // instead"
        )

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: {type(other).__name__!r} and "
            "'Dimension', please use // instead"
        )

    def is_compatible_with(self, other: Any) -> bool:
        """True if both could be the same size."""
        others = _size(other)
        return self._value is None or others is None or self._value == others

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless both could be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The size, if one of both knows it. Raises ValueError if they differ."""
        self.assert_is_compatible_with(other)
        return Dimension(_size(other) if self._value is None else self._value)
