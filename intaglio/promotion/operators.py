"""Operators of tensors, weak tensors and variables with promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import dtypes
from intaglio.base.composite import CompositeTensor
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice
from intaglio.promotion.lattice import Kind
from intaglio.promotion.operands import as_tensor, kind_of, promoted
from intaglio.promotion.weak_tensor import WeakTensor, strongly, weakly

Operator = Callable[[Any, Any], Any]

# What promotes, of Python's operators. `!=` and the others do not, as in TensorFlow.
PROMOTING = (
    "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__",
    "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__",
    "__rpow__", "__matmul__", "__rmatmul__", "__eq__",
)  # fmt: skip
_OTHERS = (
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__and__",
    "__rand__",
    "__or__",
    "__ror__",
    "__xor__",
    "__rxor__",
)
_OF_ONE = ("__neg__", "__abs__", "__invert__")


def stays(other: Any) -> bool:
    """True for an operand without promotion, or that has precedence."""
    if other is None or isinstance(other, (str, bytes)):
        return True
    if isinstance(other, CompositeTensor) and not hasattr(other, "__tf_tensor__"):
        return True
    return getattr(other, "__array_priority__", 0) > Tensor.__array_priority__


def promoting(name: str) -> Operator:
    """The operator of this name, which brings its operands to their common type first."""
    plain = PLAIN[name]
    reverse = name.startswith("__r")

    def operate(self: Any, other: Any) -> Any:
        if not lattice.is_on() or stays(other):
            return plain(strongly(self), other)
        if name in ("__mul__", "__rmul__") and self.dtype is dtypes.bool_:
            return plain(self, as_tensor(other, dtypes.bool_))  # as TensorFlow has it
        try:
            if reverse:
                (second, first), weak = promoted((other, self))
            else:
                (first, second), weak = promoted((self, other))
        except NotImplementedError:
            return plain(strongly(self), strongly(other))
        result = plain(first, second)
        return weakly(result) if weak else result

    operate.__name__ = name
    operate.__qualname__ = f"Tensor.{name}"
    return operate


def _as_tensors(name: str) -> Operator:
    """An operator that takes weak tensors as tensors."""

    def operate(self: Any, other: Any) -> Any:
        return getattr(Tensor, name)(strongly(self), strongly(other))

    operate.__name__ = name
    return operate


def _of_weak(name: str) -> Callable[[Any], Any]:
    def operate(self: Any) -> Any:
        return weakly(getattr(Tensor, name)(self.tensor))

    operate.__name__ = name
    return operate


def assigning(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A method of variables that converts a weak value to the variable's dtype."""

    def assign(self: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        own = Kind(self.dtype)
        try:
            kind = kind_of(value)
            wide = lattice.join(own, kind).dtype
        except NotImplementedError:
            return plain(self, value, *args, **kwargs)
        if wide is not own.dtype:
            raise TypeError(
                f"Variable dtype is immutable. Calling {plain.__name__} of Variable (with "
                f"dtype {own.dtype!s}) on {value} requires converting {value} to "
                f"{own.dtype!s}. This is disabled in the current promotion semantics. Please "
                f"convert {value} manually before calling {plain.__name__}: "
                f"tf.cast(value, tf.{own.dtype.name})."
            )
        if kind != own:
            value = as_tensor(value, own.dtype)
        return plain(self, value, *args, **kwargs)

    assign.__name__, assign.__qualname__ = plain.__name__, plain.__qualname__
    assign.__doc__ = plain.__doc__
    return assign


# Operators as they are without promotion: what those with promotion end in.
PLAIN: dict[str, Operator] = {name: getattr(Tensor, name) for name in PROMOTING}

for _name in PROMOTING:
    setattr(WeakTensor, _name, promoting(_name))
for _name in _OTHERS:
    setattr(WeakTensor, _name, _as_tensors(_name))
for _name in _OF_ONE:
    setattr(WeakTensor, _name, _of_weak(_name))
