"""`tensorflow.python.util.deprecation`: decorators by which libraries announce what will go.

A warning is logged once for each line that calls, as TensorFlow does.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from intaglio.base.log import logger


class _Warnings:
    """What has been logged, by the subject and the line that called; and how many blocks are silent."""

    def __init__(self) -> None:
        self.logged: set[tuple[Any, ...]] = set()
        self.silent_blocks = 0


_warnings = _Warnings()


def _warn(once: bool, key: Any, text: str, frames: int = 2) -> None:
    """Logs a text in the name of the line `frames` up; with `once`, a single time for this key and line."""
    frame = sys._getframe(frames)  # pyright: ignore[reportPrivateUsage]  # the caller of the decorated function
    line = (frame.f_code.co_filename, frame.f_lineno)
    if _warnings.silent_blocks or (once and (key, *line) in _warnings.logged):
        return
    _warnings.logged.add((key, *line))
    logger().warning("From %s:%d: %s", *line, text)


class _Notice(NamedTuple):
    """What a decorator announces: from when on something is gone, and what to write instead."""

    date: str | None
    instructions: str
    once: bool

    def log(self, key: Any, subject: str) -> None:
        """Logs that `subject` is deprecated, in the name of the caller of the decorated function."""
        when = "in a future version" if self.date is None else f"after {self.date}"
        text = f"{subject} is deprecated and will be removed {when}.\nInstructions for updating:\n{self.instructions}"
        _warn(self.once, key, text, frames=3)


@contextlib.contextmanager
def silence() -> Generator[None]:
    """In the block nothing is announced."""
    _warnings.silent_blocks += 1
    try:
        yield
    finally:
        _warnings.silent_blocks -= 1


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Callable[[Any], Any]:
    """A decorator for functions and classes that will be removed after `date` (YYYY-MM-DD)."""

    notice = _Notice(date, instructions, warn_once)

    def decorate(function: Any) -> Any:
        if isinstance(function, type):
            return _deprecated_class(function, notice)
        inner: Any = function

        @functools.wraps(inner)
        def announced(*args: Any, **kwargs: Any) -> Any:
            notice.log(inner, f"{inner.__name__} (from {inner.__module__})")
            return inner(*args, **kwargs)

        return announced

    return decorate


def _deprecated_class(cls: Any, notice: _Notice) -> Any:
    original = cls.__init__

    @functools.wraps(original)
    def announced(self: Any, *args: Any, **kwargs: Any) -> None:
        notice.log(cls, f"{cls.__name__}.__init__ (from {cls.__module__})")
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
    notice = _Notice(date, instructions, options.get("warn_once", True))
    pairs = [(n, ()) if isinstance(n, str) else (n[0], tuple(n[1:])) for n in names]

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def announced(*args: Any, **kwargs: Any) -> Any:
            arguments = _named(function, args, kwargs)
            for name, fine in pairs:
                if name in arguments and not any(arguments[name] is v for v in fine):
                    subject = (
                        f"calling {function.__name__} (from {function.__module__}) with {name}"
                    )
                    notice.log((function, name), subject)
            return function(*args, **kwargs)

        return announced

    return decorate


def deprecated_arg_values(
    date: str | None, instructions: str, warn_once: bool = True, **values: Any
) -> Callable[[Any], Any]:
    """A decorator for a function to which some values may not be arguments for long."""
    notice = _Notice(date, instructions, warn_once)

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def announced(*args: Any, **kwargs: Any) -> Any:
            arguments = _named(function, args, kwargs)
            for name, value in values.items():
                if name in arguments and arguments[name] is value:
                    called = f"{function.__name__} (from {function.__module__})"
                    notice.log((function, name), f"calling {called} with {name}={value}")
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
