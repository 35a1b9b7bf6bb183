"""Python's operators and conversions on variables, applied to their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from intaglio.opdef.levels import leave_out_package
from intaglio.opdef.tensor import Tensor


class Operators:
    """The special methods of `tf.Variable` that operate on its current value."""

    if TYPE_CHECKING:

        def _of_one(self) -> Tensor: ...
        def _of_two(self, other: Any) -> Tensor: ...

        __neg__ = __abs__ = __invert__ = _of_one
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _of_two
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _of_two
        __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _of_two
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _of_two
        __lt__ = __le__ = __gt__ = __ge__ = _of_two

        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]  # elementwise
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]  # elementwise

    def value(self) -> Tensor:
        """The current value."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """The current value as a new tensor."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.read_value())

    def __bool__(self) -> bool:
        return bool(self.value())

    __nonzero__ = __bool__

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __complex__(self) -> complex:
        return complex(self.value())

    @classmethod
    def _OverloadAllOperators(cls) -> None:  # TensorFlow's name
        """Does nothing: libraries call it for their variable classes, which inherit the operators."""

    def _is_of_plain_graph(self) -> bool:
        """True if the variable belongs to a plain graph, where variables compare by identity."""
        return False

    def __hash__(self) -> int:
        if self._is_of_plain_graph():
            return id(self)
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    def __iadd__(self, other: Any) -> Any:
        raise _augmented("+=", "assign_add", "+")

    def __isub__(self, other: Any) -> Any:
        raise _augmented("-=", "assign_sub", "-")

    def __imul__(self, other: Any) -> Any:
        raise _augmented("*=", "assign", "*", " * value")

    def __idiv__(self, other: Any) -> Any:
        raise _augmented("/=", "assign", "/", " / value")

    __itruediv__ = __idiv__

    def __irealdiv__(self, other: Any) -> Any:
        raise _augmented("/=", "assign", "/", " / value")

    def __ipow__(self, other: Any) -> Any:
        raise _augmented("**=", "assign", "**", " ** value")


def _augmented(symbol: str, method: str, plain: str, rest: str = "") -> RuntimeError:
    inner = f"variable{rest}" if rest else "value"
    return RuntimeError(
        f"`variable {symbol} value` with `tf.Variable`s is not supported. Use `variable.{method}({inner})` to modify "
        f"the variable, or `out = variable {plain} value` if you need to get a new output Tensor."
    )


# -- operators: those of tensors, on the current value -----------------------------------

OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "div", "rdiv", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "lt", "le", "gt", "ge", "eq", "ne",
    "and", "rand", "or", "ror", "xor", "rxor", "invert", "neg", "abs",
)  # fmt: skip


def _operator(special: str) -> Callable[..., Any]:
    def operate(self: Operators, *other: Any) -> Any:
        try:
            return getattr(self.value(), special)(*other)
        except Exception as e:
            leave_out_package(e)
            raise

    operate.__name__ = special
    return operate


def _comparison(special: str, same: bool) -> Callable[..., Any]:
    values = _operator(special)

    def compare(self: Operators, other: Any) -> Any:
        if self._is_of_plain_graph():
            return (self is other) is same
        return values(self, other)

    compare.__name__ = special
    return compare


for _name in OPERATORS:
    if hasattr(Tensor, f"__{_name}__"):
        setattr(Operators, f"__{_name}__", _operator(f"__{_name}__"))
Operators.__eq__ = _comparison("__eq__", True)
Operators.__ne__ = _comparison("__ne__", False)
