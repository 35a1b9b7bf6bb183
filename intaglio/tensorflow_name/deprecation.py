"""`tensorflow.python.util.deprecation`: decorators by which libraries announce what will go.

A warning is logged once for each place that calls, as TensorFlow does.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Generator
from typing import Any

from intaglio.base.log import logger

_said: set[tuple[Any, ...]] = set()
_silent = [0]


def _warn(once: bool, key: Any, text: str) -> None:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the caller of the decorated function
    place = (frame.f_code.co_filename, frame.f_lineno)
    if _silent[0] or (once and (key, *place) in _said):
        return
    _said.add((key, *place))
    logger().warning("From %s:%d: %s", *place, text)


def _when(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


@contextlib.contextmanager
def silence() -> Generator[None]:
    """In the block nothing is announced."""
    _silent[0] += 1
    try:
        yield
    finally:
        _silent[0] -= 1


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator for functions and classes that will be removed after `date` (YYYY-MM-DD)."""

    def decorate(function: Any) -> Any:
        if isinstance(function, type):
            return _deprecated_class(function, date, instructions, warn_once)
        inner: Any = function

        @functools.wraps(inner)
        def announced(*args: Any, **kwargs: Any) -> Any:
            text = (
                f"{inner.__name__} (from {inner.__module__}) is deprecated and will be removed "
                f"{_when(date)}.\nInstructions for updating:\n{instructions}"
            )
            _warn(warn_once, inner, text)
            return inner(*args, **kwargs)

        return announced

    return decorate


def _deprecated_class(cls: Any, date: str | None, instructions: str, once: bool) -> Any:
    original = cls.__init__

    @functools.wraps(original)
    def announced(self: Any, *args: Any, **kwargs: Any) -> None:
        text = (
            f"{cls.__name__}.__init__ (from {cls.__module__}) is deprecated and will be removed "
            f"{_when(date)}.\nInstructions for updating:\n{instructions}"
        )
        _warn(once, cls, text)
        original(self, *args, **kwargs)

    cls.__init__ = announced
    return cls


def _named(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        return inspect.signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:  # the call itself will say so
        return kwargs


def deprecated_args(
    date: str | None, instructions: str, *names: Any, **options: Any
) -> Callable[[Any], Any]:
    """A decorator for a function some of whose parameters will be removed.

    A name may be a pair with a value that is not announced. `warn_once` is an option.
    """
    once = options.get("warn_once", True)
    pairs = [(n, ()) if isinstance(n, str) else (n[0], tuple(n[1:])) for n in names]

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def announced(*args: Any, **kwargs: Any) -> Any:
            arguments = _named(function, args, kwargs)
            for name, fine in pairs:
                if name in arguments and not any(arguments[name] is v for v in fine):
                    text = (
                        f"calling {function.__name__} (from {function.__module__}) with {name} is "
                        f"deprecated and will be removed {_when(date)}.\n"
                        f"Instructions for updating:\n{instructions}"
                    )
                    _warn(once, (function, name), text)
            return function(*args, **kwargs)

        return announced

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **values: Any
) -> Callable[[Any], Any]:
    """A decorator for a function to which some values may not be arguments for long."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def announced(*args: Any, **kwargs: Any) -> Any:
            arguments = _named(function, args, kwargs)
            for name, value in values.items():
                if name in arguments and arguments[name] is value:
                    text = (
                        f"calling {function.__name__} (from {function.__module__}) with "
                        f"{name}={value} is deprecated and will be removed {_when(date)}.\n"
                        f"Instructions for updating:\n{instructions}"
                    )
                    _warn(warn_once, (function, name), text)
            return function(*args, **kwargs)

        return announced

    return decorate


def deprecated_alias(
    deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
) -> Any:
    """A function or class under an old name: calls announce the new one."""
    if isinstance(func_or_class, type):
        inner: Any = func_or_class

        def announced_init(self: Any, *args: Any, **kwargs: Any) -> None:
            _warn(warn_once, deprecated_name, f"{deprecated_name} is deprecated. Use {name}.")
            inner.__init__(self, *args, **kwargs)

        return type(inner.__name__, (inner,), {"__init__": announced_init})

    @functools.wraps(func_or_class)
    def announced(*args: Any, **kwargs: Any) -> Any:
        text = f"The name {deprecated_name} is deprecated. Please use {name} instead.\n"
        _warn(warn_once, deprecated_name, text)
        return func_or_class(*args, **kwargs)

    return announced


def deprecated_endpoints(*_: str) -> Callable[[Any], Any]:
    """A decorator that names old places of a symbol. The function is returned as it is."""
    return lambda function: function


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of a renamed parameter. Raises ValueError if both names were arguments."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(
            f"Cannot specify both '{old_name}' and '{new_name}'. Use '{new_name}' only."
        )
    return old_value
