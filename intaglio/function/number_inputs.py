"""Python numbers that a trace takes as inputs: `generalise("numbers")`.

A number among the arguments is usually part of the trace: each has one of its own. As an input it is a scalar of the
graph, and the traced function gets a `NumberInput`, which is converted to the dtype of what it meets as a Python number is.
What needs to know its value (`if n > 3`, `range(n)`, `f"{n}"`) raises `ValueNeeded`, and is remembered: the
function is traced again with the number as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from intaglio.base import origins
from intaglio.base.dtypes import DType, float32, float64, int32, int64
from intaglio.base.origins import Frame
from intaglio.opdef import raw
from intaglio.runtime.eager import from_array
from intaglio.type_specs.trace_type import PlaceholderContext, TraceType
from intaglio.type_specs.type_spec import TensorSpec

# Integers are inputs if their absolute value is below MAX_INT. Arithmetic on them is converted to int32, the
# default dtype of Python integers, as long as its bound stays below MAX_INT32.
MAX_INT = 1 << 24
MAX_INT32 = 1 << 31
# Bound below which arithmetic on int64 inputs stays exact.
MAX_EXACT = 1 << 62


class ValueNeeded(TypeError):
    """The traced code needs the value of a number that is an input of the graph."""


class Needs:
    """The numbers whose values a trace needs: the user's line, by the path of the argument."""

    def __init__(self) -> None:
        self.lines: dict[str, Frame | None] = {}


class Number(TraceType):
    """Any int, or any float, among the arguments. `path` and `needs` are of the trace that is being made."""

    __slots__ = ("kind", "needs", "path")

    def __init__(self, kind: type, path: str, needs: Needs) -> None:
        self.kind, self.path, self.needs = kind, path, needs

    @property
    def dtype(self) -> DType:
        """The dtype of the graph's input."""
        return float64 if self.kind is float else int64

    def admits(self, value: Any) -> bool:
        """Whether a trace for this type serves a Python value."""
        return type(value) is self.kind and (self.kind is float or abs(value) < MAX_INT)

    def is_subtype_of(self, other: TraceType) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Any) -> TraceType | None:
        return (
            self
            if all(self == o or self.admits(getattr(o, "value", None)) for o in others)
            else None
        )

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        if not isinstance(placeholder_context, PlaceholderContext):
            return NotImplemented
        tensor = placeholder_context.placeholder(TensorSpec((), self.dtype))
        return NumberInput(tensor, self, MAX_INT if self.kind is int else 0)

    def to_tensors(self, value: Any) -> list[Any]:
        if type(value) is NumberInput:
            return [value.tensor]
        return [from_array(np.asarray(value, self.dtype.numpy))]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return next(tensors)

    def flatten(self) -> list[TraceType]:
        return [TensorSpec((), self.dtype)]

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        if type(value) is NumberInput or self.admits(value):
            return value
        raise ValueError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.kind is other.kind

    def __hash__(self) -> int:
        return hash((Number, self.kind))

    def __repr__(self) -> str:
        return f"any {self.kind.__name__}"


class NumberInput:
    """A Python number in a trace that is a scalar input of the graph, or computed from such.

    Integers have a `bound` that they stay below in absolute value.
    """

    __slots__ = ("bound", "number", "tensor")
    __array_priority__ = -1  # a tensor's operators come first

    def __init__(self, tensor: Any, number: Number, bound: int) -> None:
        self.tensor, self.number, self.bound = tensor, number, bound

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]  # what isinstance asks
        """The number's type, so that `isinstance(rate, float)` holds as without generalisation."""
        return self.number.kind

    def need(self) -> NoReturn:
        """Notes that the value is needed on this line. Raises ValueNeeded."""
        frames = origins.frames(origins.capture(2, 1))
        where = frames[0] if frames else None
        self.number.needs.lines.setdefault(self.number.path, where)
        raise ValueNeeded(f"the value of {self.number.path} is needed")

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The trace type of the number, for a nested traced function that takes it."""
        if self.bound > MAX_INT:
            self.need()
        return self.number

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        if self.number.kind is float:
            wanted = float32 if dtype is None else dtype
            if not (wanted.is_floating or wanted.is_complex):
                self.need()  # which raises as the number itself does
        else:
            wanted = int32 if dtype is None else dtype
            if wanted not in (int32, int64) and not (wanted.is_floating or wanted.is_complex):
                self.need()
            if wanted is int32 and self.bound >= MAX_INT32:
                self.need()
        if wanted is self.number.dtype:
            return self.tensor
        return raw.Cast(self.tensor, DstT=wanted)

    def _with(
        self, other: Any, op: Callable[[Any, Any], Any], bound: Callable[[int, int], int]
    ) -> Any:
        """The result of arithmetic with another number; NotImplemented for others, such as tensors."""
        if type(other) is NumberInput:
            if other.number.kind is not self.number.kind:
                self.need()
            limit = bound(self.bound, other.bound)
            number, operand = self.number, other.tensor
        elif type(other) is self.number.kind or (type(other) is int and self.number.kind is float):
            limit, number = (
                bound(self.bound, abs(other) if self.number.kind is int else 0),
                self.number,
            )
            if limit >= MAX_EXACT:
                self.need()
            operand = number.dtype.numpy.type(other)
        elif type(other) in (int, float, bool, complex):
            self.need()
        else:
            return NotImplemented
        if number.kind is int and limit >= MAX_EXACT:
            self.need()
        return NumberInput(op(self.tensor, operand), number, limit)

    def __add__(self, other: Any) -> Any:
        return self._with(other, raw.AddV2, lambda a, b: a + b)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._with(other, raw.Mul, lambda a, b: a * b)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, raw.Sub, lambda a, b: a + b)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, lambda x, y: raw.Sub(y, x), lambda a, b: a + b)

    def __truediv__(self, other: Any) -> Any:
        if self.number.kind is float and type(other) in (int, float) and other != 0:
            return self._with(other, raw.RealDiv, lambda a, b: 0)
        return self._by_value(other)

    def __neg__(self) -> Any:
        return NumberInput(raw.Neg(self.tensor), self.number, self.bound)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return NumberInput(raw.Abs(self.tensor), self.number, self.bound)

    def _by_value(self, other: Any) -> Any:
        """A method that a tensor operand handles; with any other operand it needs the value."""
        if type(other) in (int, float, bool, complex, NumberInput):
            self.need()
        return NotImplemented

    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = (
        _by_value
    )

    def _need(self, *args: Any) -> Any:
        self.need()

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __hash__ = _need
    __str__ = __repr__ = __format__ = __round__ = __trunc__ = __floor__ = __ceil__ = _need
    __array__ = __divmod__ = __rdivmod__ = __reduce__ = _need

    def _compared(self, other: Any) -> Any:
        """A comparison: a tensor if the other side is one; else the value is needed."""
        return NotImplemented if hasattr(type(other), "dtype") else self.need()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared  # type: ignore[assignment]  # they return no bool

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols that a number does not have either
            raise AttributeError(name)
        self.need()
