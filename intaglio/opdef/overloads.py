"""Operators of tensors that libraries' classes copy, as Keras 2 does for its symbolic tensors.

A class uses `Tensor.__sub__` as its own method, and its library registers a handler for calls of public
functions with such objects (`dispatch.register_everywhere`). So an operator that rejects its operands is
offered to the library as a call of the public function that is equal to it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.opdef import convert, dispatch
from intaglio.opdef.tensor import Tensor, install_operator

# Types whose operators do not support tensors.
PLAIN_OPERANDS = (bool, int, float, complex, str, bytes, list, tuple, np.ndarray, np.generic)
# The functions behind the operators.
FUNCTIONS = {
    "__abs__": "math.abs",
    "__add__": "__operators__.add",
    "__and__": "math.logical_and",
    "__div__": "math.divide",
    "__eq__": "__operators__.eq",
    "__floordiv__": "math.floordiv",
    "__ge__": "math.greater_equal",
    "__getitem__": "__operators__.getitem",
    "__gt__": "math.greater",
    "__invert__": "math.logical_not",
    "__le__": "math.less_equal",
    "__lt__": "math.less",
    "__matmul__": "linalg.matmul",
    "__mod__": "math.floormod",
    "__mul__": "math.multiply",
    "__ne__": "__operators__.ne",
    "__neg__": "math.negative",
    "__or__": "math.logical_or",
    "__pow__": "math.pow",
    "__sub__": "math.subtract",
    "__truediv__": "math.truediv",
    "__xor__": "math.logical_xor",
}


def function_behind(special: str) -> tuple[Any, bool]:
    """The public function of a special method, and whether its operands are exchanged."""
    if special in FUNCTIONS:
        return dispatch.public(FUNCTIONS[special]), False
    return dispatch.public(FUNCTIONS[f"__{special[3:]}"]), True


def install_overloadable(special: str, operate: Callable[..., Any]) -> Callable[..., Any]:
    """Installs an operator of `Tensor` whose rejected calls are offered to libraries. Returns it."""
    method = overloadable(special, operate, Tensor.__name__)
    install_operator(special, method)
    return method


def overloadable(special: str, operate: Callable[..., Any], owner: str) -> Callable[..., Any]:
    """An operator of a class whose rejected calls are offered to libraries."""

    @functools.wraps(operate)
    def method(self: Any, *others: Any) -> Any:
        try:
            return operate(self, *others)
        except (TypeError, ValueError, AttributeError):
            answer = _taken_over(special, (self, *others))
            if answer is dispatch.NOT_SUPPORTED:
                raise
            return answer

    method.__name__, method.__qualname__ = special, f"{owner}.{special}"
    return method


def _taken_over(special: str, operands: tuple[Any, ...]) -> Any:
    if not dispatch.EVERYWHERE:
        return dispatch.NOT_SUPPORTED
    function, swapped = function_behind(special)
    if swapped:
        operand, other = operands
        # A number on the left takes the type of the other operand, as it does with a tensor.
        plain = isinstance(other, PLAIN_OPERANDS) and hasattr(operand, "dtype")
        arguments = (convert.to_tensor(other, operand.dtype) if plain else other, operand)
    else:
        arguments = operands
    return dispatch.ask_everywhere(function, arguments, {})
