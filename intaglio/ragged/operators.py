"""Python's operators on ragged tensors, applied to the values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from intaglio.opdef import operators, overloads, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.core import Ragged

Binary = Callable[[Callable[[Any, Any], Any], Any, Any], Any]


def _power(x: Any, y: Any) -> Any:
    return operators.power(*operators.pair(x, y))


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operators.add,
    "sub": lambda x, y: raw.Sub(*operators.in_order(x, y)),
    "mul": lambda x, y: operators._times(*operators.pair(x, y), "mul"),
    "truediv": operators.truediv,
    "floordiv": lambda x, y: raw.FloorDiv(*operators.pair(x, y)),
    "mod": lambda x, y: raw.FloorMod(*operators.pair(x, y)),
    "pow": _power,
    "and": lambda x, y: raw.LogicalAnd(x, y),
    "or": lambda x, y: raw.LogicalOr(x, y),
    "xor": lambda x, y: operators.logical_xor(x, y),
}
_COMPARISONS = {"lt": raw.Less, "le": raw.LessEqual, "gt": raw.Greater, "ge": raw.GreaterEqual}


def install(cls: Any, binary: Binary, unary: Callable[..., Any]) -> None:
    """Gives the class its operators."""

    def put(name: str, method: Any) -> None:
        if name.strip("_") == "hash":
            setattr(cls, name, method)
        else:
            setattr(cls, name, overloads.overloadable(name, method, cls.__name__))

    for name, function in _ARITHMETIC.items():
        put(f"__{name}__", lambda x, y, f=function: binary(f, x, y))
        put(f"__r{name}__", lambda x, y, f=function: binary(f, y, x))
    for name, function in _COMPARISONS.items():
        put(f"__{name}__", lambda x, y, f=function: binary(f, x, y))
    put("__neg__", lambda x: unary(raw.Neg, x))
    put("__abs__", lambda x: unary(operator.abs, x))
    put("__invert__", lambda x: unary(raw.LogicalNot, x))
    put("__eq__", lambda x, y: _equality(binary, raw.Equal, x, y, False))
    put("__ne__", lambda x, y: _equality(binary, raw.NotEqual, x, y, True))
    put("__hash__", _no_hash)


def _no_hash(x: Any) -> int:
    raise TypeError("RaggedTensor is unhashable.")


def _equality(binary: Binary, function: Any, x: Any, y: Any, unlike: bool) -> Any:
    """Element by element; what cannot be compared is not equal."""
    if y is None:
        return unlike
    if not isinstance(y, (Ragged, Tensor)):
        try:
            return binary(function, x, y)
        except (TypeError, ValueError):
            return unlike
    return binary(function, x, y)
