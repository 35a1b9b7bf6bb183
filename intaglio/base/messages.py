"""Dtypes, shapes and specs as protocol buffers, through hooks to the layer with the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

from intaglio.base.hooks import HOOKS


class Form(NamedTuple):
    """The message form of a class: functions that write and read its values."""

    message: Callable[[], Any]
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


class Written:
    """A base class of values with a protocol buffer form: `experimental_as_proto` and its inverse."""

    __slots__ = ()

    @classmethod
    def _form(cls) -> Form:
        known = HOOKS.message_forms
        return known[next(k.__name__ for k in cls.__mro__ if k.__name__ in known)]

    def experimental_as_proto(self) -> Any:
        """The value as a message."""
        return self._form().write(self)

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> Self:
        """The value that a message of this kind holds."""
        return cls._form().read(proto)

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The class of the messages."""
        return cls._form().message()
