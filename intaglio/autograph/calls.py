"""Calls in converted code: user functions are converted too, others are called unchanged."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from abc import ABCMeta
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from intaglio.autograph import (
    aliases,
    builtin_functions,
    containers,
    conversion,
    diagnosis,
    libraries,
    reads,
    recursive_calls,
    source,
    unconverted_reads,
    verbosity,
)
from intaglio.autograph.creation import RETURNED, creates, hands_on
from intaglio.autograph.dict_calls import of_dict, whole
from intaglio.autograph.function_scope import STD, FunctionScope
from intaglio.autograph.list_calls import of_list
from intaglio.autograph.provenance import note_holder
from intaglio.autograph.values import ld
from intaglio.autograph.watches import note_call, note_created, note_returned
from intaglio.base.log import logger
from intaglio.base.origins import PACKAGE, is_of_standard_library
from intaglio.type_specs.grown_list import GrownList

_warned: set[Any] = set()
OVERLOADS = {**builtin_functions.OVERLOADS, **diagnosis.OVERLOADS}


def converted_call(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    scope: FunctionScope | None = None,
    requested: bool = False,
) -> Any:
    """Calls `function`, converted if it is the user's Python code.

    A `requested` function, the one that is traced, is converted even if it is a library's.
    """
    verbosity.report(2, lambda: f"Converted call: {function!r} {args} {kwargs}")
    overload = OVERLOADS.get(function) if _hashable(function) else None
    if overload is not None:
        if aliases.any_known():
            args = tuple(map(whole, args))
        reads.called(function, args, kwargs or {})
        unconverted_reads.called_with(function, args)
        result = overload(*args, **kwargs or {})
        return _returned(result, function, args, kwargs)
    if type(function) in (type, ABCMeta):
        return _constructed(function, args, kwargs or {}, scope)
    if aliases.any_known():
        args = tuple([aliases.used(a) for a in args])
    if args and type(args[0]) is GrownList:
        function = of_list(function) or function
    target, args, kwargs = _unwrapped(function, args, kwargs or {}, requested)
    recursive = scope is None or scope.options.recursive
    note_call(target or _called_as_it_is(function), args, kwargs)
    function = of_dict(function) or function
    if target is None:
        return _as_it_is(function, args, kwargs, scope)
    converted_function = converted_form(target, STD.user_requested) if recursive else target
    if converted_function is target:
        unconverted_reads.called(target, args, kwargs)
        return _returned(target(*args, **kwargs), target, args, kwargs)
    if recursive_calls.enabled():
        return recursive_calls.call(target, converted_function, args, kwargs, scope is not None)
    return converted_function(*args, **kwargs)


def _called_as_it_is(function: Any) -> Any:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, containers.CONTAINERS):
        return function
    return getattr(function, "__func__", function)


def _as_it_is(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], scope: Any) -> Any:
    # One that was converted with the function around it may call itself as well.
    if (
        recursive_calls.enabled()
        and type(function) is FunctionType
        and hasattr(function, "autograph_artifact__")
    ):
        inside = scope is not None
        return recursive_calls.call(function, function, args, kwargs, inside)
    args = tuple(map(whole, args))
    taken = getattr(function, "__autograph_functions__", None)
    if taken:
        args, kwargs = _with_converted(taken, args, kwargs)
    reads.called(function, args, kwargs)
    unconverted_reads.called(function, args, kwargs)
    unconverted_reads.called_with(function, args)
    result = function(*args, **kwargs)
    if function is vars and args:
        note_holder(args[0], result)
    return _returned(result, function, args, kwargs)


def _returned(
    result: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    """The result of a call of code that is not converted."""
    if isinstance(result, (*RETURNED, tuple)):
        is_argument = any(result is a for a in args)
        new = not is_argument and creates(function, args, kwargs or {})
        if new or not hands_on(function):
            note_returned(result, new)
    return result


def _with_converted(
    taken: dict[str, int], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with the functions among them converted.

    `taken` has their positions: `tf.map_fn.__autograph_functions__` is `{"fn": 0}`.
    """
    positional, named = list(args), dict(kwargs)
    for name, index in taken.items():
        if name in named:
            named[name] = functools.partial(_called, named[name])
        elif index < len(positional):
            positional[index] = functools.partial(_called, positional[index])
    return tuple(positional), named


def _called(function: Any, *args: Any, **kwargs: Any) -> Any:
    return converted_call(function, args, kwargs)


# The names that are no properties to convert. A getter that calls `super` refers to its class: it is not kept.
_without_getter: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()


def attr(owner: Any, name: str, used: bool = True) -> Any:
    """`owner.name`; a property of a user's class is converted as a method is.

    `used` is False where the caller ignores the result.
    """
    kind = type(owner)
    absent = _without_getter.get(kind)
    if absent is None:
        absent = _without_getter.setdefault(kind, set())
    getter = None if name in absent else _getter(kind, name)
    if getter is None:
        absent.add(name)
        value = _found(owner, name)
        if name == "__dict__":
            note_holder(owner, value)
        (reads.attribute if used else reads.tested)(owner, name, value)
        return ld(value) if used else value
    return converted_call(getter, (owner,), None)


def _getter(kind: type, name: str) -> FunctionType | None:
    """The function of a property that is to be converted."""
    found = inspect.getattr_static(kind, name, None)
    getter = found.fget if type(found) is property else None
    return getter if type(getter) is FunctionType and is_convertible(getter) else None


def method(owner: Any, name: str) -> Any:
    """`owner.name`, for a call."""
    value = _found(owner, name)
    reads.attribute(owner, name, value)
    return value


def _found(owner: Any, name: str) -> Any:
    """`owner.name`, including attributes that the owner's class computes."""
    try:
        value = getattr(owner, name)
    except AttributeError:
        reads.absent(owner, name, True)
        raise
    if isinstance(owner, dict) and name in owner and owner[name] is value:
        reads.item(owner, name, value)  # a dictionary with attributes
    unconverted_reads.computed(owner, name)
    return value


def _constructed(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any], scope: Any) -> Any:
    """A new object of a class; a user's `__init__` is converted as functions are."""
    start: Any = kind.__init__  # type: ignore[misc]  # the class's own
    if (
        kind.__new__ is not object.__new__
        or type(start) is not FunctionType
        or start.__code__.co_filename == "<string>"  # written by a class decorator
        or not is_convertible(start)
        or not (scope is None or scope.options.recursive)
    ):
        reads.called(kind, args, kwargs)
        result = kind(*args, **kwargs)
        note_returned(result, creates(kind, args, kwargs))
        return result
    instance = object.__new__(kind)
    note_created(instance)
    converted_form(start)(instance, *args, **kwargs)
    return instance


def _hashable(function: Any) -> bool:
    return isinstance(function, (BuiltinFunctionType, type))


def _unwrapped(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], requested: bool
) -> tuple[FunctionType | None, tuple[Any, ...], dict[str, Any]]:
    """The plain function behind a callable with its full arguments, or None to call it as it is."""
    kind = type(function)
    if kind is FunctionType:
        return (function if is_convertible(function, requested) else None), args, kwargs
    if kind is MethodType:
        inner = function.__func__
        if type(inner) is FunctionType and is_convertible(inner, requested):
            return inner, (function.__self__, *args), kwargs
        return None, args, kwargs
    if kind is functools.partial:
        full, named = (*function.args, *args), {**function.keywords, **kwargs}
        target, full, named = _unwrapped(function.func, full, named, requested)
        return (target, full, named) if target is not None else (None, args, kwargs)
    if isinstance(function, type):
        return None, args, kwargs
    call = getattr(kind, "__call__", None)  # noqa: B004  the class's own
    if type(call) is FunctionType and is_convertible(call, requested):
        return call, (function, *args), kwargs
    return None, args, kwargs


def is_convertible(function: FunctionType, requested: bool = False) -> bool:
    """True for Python functions to convert that are not converted yet: the user's, or requested."""
    code = function.__code__
    marks = function.__dict__
    if "do_not_convert__" in marks:
        return False
    if "autograph_artifact__" in marks and "ag__" in code.co_freevars:
        return False  # functools.wraps gives the mark to functions that are none
    if inspect.CO_GENERATOR & code.co_flags or inspect.CO_COROUTINE & code.co_flags:
        return False
    name = code.co_filename
    if name.startswith((PACKAGE, "<intaglio", "<frozen", "<__array_function__")):
        return False
    if libraries.is_library(function) and not requested:
        return False
    module = (function.__module__ or "").partition(".")[0]
    return not (is_of_standard_library(name) and module in sys.stdlib_module_names)


def converted_form(function: FunctionType, user_requested: bool = True) -> Callable[..., Any]:
    """The converted function, or the function itself, with a warning, if it cannot be converted."""
    try:
        return conversion.convert(function, user_requested)
    except source.NoSourceError as e:
        _warn(function, e)
        return function


def _warn(function: FunctionType, reason: Exception) -> None:
    if function.__code__ in _warned or inspect.CO_GENERATOR & function.__code__.co_flags:
        return
    _warned.add(function.__code__)
    logger().warning(
        "AutoGraph could not transform %r and will run it as-is.\nCause: %s\nTo silence this warning, "
        "decorate the function with @tf.autograph.experimental.do_not_convert",
        function,
        reason,
    )
