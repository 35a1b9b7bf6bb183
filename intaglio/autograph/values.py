"""Undefined names, and the functions by which converted code reads names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from intaglio.autograph.aliases import any_known, used
from intaglio.autograph.optional import Maybe
from intaglio.opdef import raw


class Undefined:
    """The value of an unassigned name: any use raises UnboundLocalError.

    With `why` it is the value of a poisoned name: any use raises TypeError.
    """

    __slots__ = ("deleted", "symbol_name", "why")

    def __init__(self, symbol_name: str, why: str = "", deleted: bool = False) -> None:
        self.symbol_name = symbol_name
        self.why = why
        self.deleted = deleted  # by a `del` statement

    def read(self) -> NoReturn:
        """Raises UnboundLocalError, as Python does for an unassigned name."""
        if self.why:
            raise TypeError(self.why)
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return self.symbol_name

    def __getattribute__(self, name: str) -> Any:
        if name in ("symbol_name", "why", "read", "deleted", "__class__", "__repr__", "__slots__"):
            return object.__getattribute__(self, name)
        return self.read()

    def _operated(self, *others: Any) -> NoReturn:
        self.read()

    # Python looks operators up in the class, past `__getattribute__`.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _operated
    __rmatmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _operated
    __mod__ = __rmod__ = __pow__ = __rpow__ = __and__ = __rand__ = __or__ = __ror__ = _operated
    __xor__ = __rxor__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _operated
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pos__ = __abs__ = __invert__ = _operated
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __setitem__ = _operated
    __call__ = __int__ = __float__ = __index__ = _operated


class UndefinedReturnValue:
    """The result of a function that has not returned; becomes None at its end."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(no return value)"


def deletion(value: Any) -> str:
    """The addition to a message for a name that a `del` statement has unbound."""
    if type(value) is not Undefined or not value.deleted:
        return ""
    name = value.symbol_name
    return (
        f": `del {name}` takes its value away there, and a graph has one in any case. Leave the name alone, or set "
        "it to None before the block, and None again in the place of the `del`."
    )


def ld(value: Any) -> Any:
    """A name's value. Raises UnboundLocalError if it has none; a graph checks when it runs."""
    kind = type(value)
    if kind is Undefined or kind is Maybe:
        return value.read()
    return used(value) if any_known() else value


def is_none(value: Any) -> Any:
    """`value is None`; of a Maybe, whether it is there when the graph runs."""
    kind = type(value)
    if kind is Maybe and value.present is not None:
        return raw.LogicalNot(value.present)
    if kind is Undefined:
        value.read()
    return value is None


def ldu(load: Callable[[], Any], name: str) -> Any:
    """The value of an attribute or item, or Undefined if it is not there yet."""
    try:
        return load()
    except (UnboundLocalError, AttributeError, KeyError, IndexError, NameError):
        return Undefined(name)
