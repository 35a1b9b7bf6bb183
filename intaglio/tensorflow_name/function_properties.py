"""`tensorflow.python.util.function_utils`: the parameters and names of functions."""

from __future__ import annotations

import functools
import inspect
from typing import Any


def _signature(fn: Any) -> inspect.Signature:
    return inspect.signature(fn)


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of the parameters by position and keyword, those that `partial` has given left out."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    bound = set(fn.keywords) if isinstance(fn, functools.partial) else set()
    found = _signature(fn).parameters.values()
    return tuple(p.name for p in found if p.kind in kinds and p.name not in bound)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes any keyword. Raises TypeError for what cannot be called."""
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return any(p.kind is p.VAR_KEYWORD for p in _signature(fn).parameters.values())


def get_func_name(func: Any) -> str:
    """The name of a function, of what `partial` wraps, or of the class of an object."""
    while isinstance(func, functools.partial):
        func = func.func
    return getattr(func, "__name__", None) or str(type(func))


def get_func_code(func: Any) -> Any:
    """The code object of a function, or None."""
    while isinstance(func, functools.partial):
        func = func.func
    found = getattr(inspect.unwrap(func), "__code__", None)
    if found is None and callable(func):
        found = getattr(type(func).__call__, "__code__", None)
    return found
