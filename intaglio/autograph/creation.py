"""Classifies calls by their callee: whether they create a new container or iterator.

Code that is not converted does not mark the objects that it creates. For classes, and for functions of
Python, NumPy and Intaglio, the callee determines whether the result is new.
"""

from __future__ import annotations

import collections
import copy
import inspect
from abc import ABCMeta
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from intaglio.autograph.containers import CONTAINERS
from intaglio.base.origins import PACKAGE

# Results of calls that code can change in place, or advance.
RETURNED = (*CONTAINERS, Iterator)
_BUILT_IN = (
    list,
    dict,
    set,
    frozenset,
    tuple,
    str,
    bytes,
    bytearray,
    range,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
    np.ndarray,
)
# Functions that return a new container, whatever their arguments are.
_CREATING = (
    sorted,
    np.arange,
    np.array,
    np.empty,
    np.empty_like,
    np.eye,
    np.full,
    np.full_like,
    np.linspace,
    np.ones,
    np.ones_like,
    np.zeros,
    np.zeros_like,
)
# Those that do for arguments of built-in types.
_COPYING = (iter, reversed, copy.copy, copy.deepcopy, np.copy)
# Methods of built-in types that return a new container.
_METHODS = frozenset(
    {
        "__add__",
        "__mul__",
        "__or__",
        "copy",
        "difference",
        "fromkeys",
        "intersection",
        "rsplit",
        "split",
        "splitlines",
        "symmetric_difference",
        "tolist",
        "union",
    }
)


def creates(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if a call returns a new object, as far as the callee determines that."""
    if isinstance(function, type):
        return _is_plain(function)
    if any(function is f for f in _CREATING):
        return "copy" not in kwargs  # numpy.array(x, copy=False) may be `x`
    if any(function is f for f in _COPYING):
        return bool(args) and type(args[0]) in _BUILT_IN
    if isinstance(function, BuiltinFunctionType):
        owner = function.__self__
        kind = owner if isinstance(owner, type) else type(owner)
        return kind in _BUILT_IN and function.__name__ in _METHODS
    if isinstance(function, (FunctionType, MethodType)):
        return _is_generator(function) or (
            _is_ours(function) and not _takes_functions(args, kwargs)
        )
    return False


def hands_on(function: Any) -> bool:
    """True if a call returns an existing object, such as an item or an attribute."""
    if not isinstance(function, BuiltinFunctionType) or function in (iter, next):
        return False
    owner = getattr(function, "__self__", None)
    return isinstance(owner, CONTAINERS) or function.__module__ == "builtins"


def _is_plain(kind: type) -> bool:
    """True for a class whose calls return a new object: it has no Python `__new__` that may not."""
    new = kind.__new__
    return isinstance(new, BuiltinFunctionType) and type(kind) in (type, ABCMeta)


def _is_generator(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and bool(inspect.CO_GENERATOR & code.co_flags)


def _is_ours(function: Any) -> bool:
    """True for a function of Intaglio. The wrapper of another function is as this one."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGE)


def _takes_functions(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if a function is among the arguments, whose results may be returned."""
    return any(map(callable, (*args, *kwargs.values())))


__all__ = ["RETURNED", "creates", "hands_on"]
