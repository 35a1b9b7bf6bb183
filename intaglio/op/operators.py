"""What Python's operators mean on tensors; the named functions of `tf.math` call the same.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor and
https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import dtypes
from intaglio.op import convert, door, raw
from intaglio.op.tensor import Tensor, install_operator

# special method -> (op type, slow path): the operators with a fast eager path
FAST: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {}


def pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Both operands as tensors; a Python value takes the other's dtype if it fits."""
    if not isinstance(x, Tensor):
        x = convert.to_tensor(
            x, dtype_hint=y.dtype if isinstance(y, Tensor) else convert.dtype_of(y)
        )
    if not isinstance(y, Tensor):
        y = convert.to_tensor(y, dtype_hint=x.dtype)
    return x, y


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y; strings are joined."""
    x, y = pair(x, y)
    if x.dtype is dtypes.string:
        return raw.Add(x, y, name=name or "add")
    return raw.AddV2(x, y, name=name or "add")


def subtract(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x - y."""
    return raw.Sub(*pair(x, y), name=name or "sub")


def multiply(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x * y."""
    return raw.Mul(*pair(x, y), name=name or "mul")


def out_of_scope(tensor: Any) -> str:
    """TensorFlow's message for a symbolic tensor used outside its graph."""
    return (
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
        "TensorFlow collections to access it.\nPlease see https://www.tensorflow.org/guide/"
        "function#all_outputs_of_a_tffunction_must_be_return_values for more information."
    )


def _binary(
    special: str, function: Callable[..., Any], op_name: str | None = None
) -> None:
    def forward(self: Any, other: Any) -> Any:
        if _defers(other):
            return NotImplemented
        return function(self, other)

    def backward(self: Any, other: Any) -> Any:
        return function(other, self)

    forward.__name__, backward.__name__ = f"__{special}__", f"__r{special}__"
    install_operator(forward.__name__, forward)
    install_operator(backward.__name__, backward)
    if op_name is not None:
        FAST[forward.__name__] = (op_name, forward)


def _defers(other: Any) -> bool:
    """True if the other operand wants to do it: a higher `__array_priority__`."""
    return getattr(other, "__array_priority__", 0) > Tensor.__array_priority__


_binary("add", add, "AddV2")
_binary("sub", subtract, "Sub")
_binary("mul", multiply, "Mul")

__all__ = ["FAST", "add", "door", "multiply", "pair", "raw", "subtract"]
