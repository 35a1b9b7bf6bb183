"""`tensorflow.python.util.tf_inspect` and `tf_decorator`: functions behind their decorators."""

from __future__ import annotations

import functools
import inspect as _inspect
import sys
import types
from collections.abc import Sequence
from inspect import (
    FullArgSpec,
    Parameter,
    getdoc,
    getfile,
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    getsource,
    getsourcefile,
    getsourcelines,
    isabstract,
    isbuiltin,
    isclass,
    isframe,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    signature,
    stack,
)
from typing import Any, NamedTuple


class ArgSpec(NamedTuple):
    """What Python 2 knew of a function's parameters."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getfullargspec(obj: Any) -> FullArgSpec:
    """The parameters of a function, class or callable, behind its decorators.

    Annotations are those that the callable evaluates; TensorFlow's own functions have none.
    """
    decorators, target = unwrap(obj)
    stated = next((d.decorator_argspec for d in decorators if d.decorator_argspec), None)
    if stated is not None:
        return _full(stated)
    if isinstance(target, type) or callable(target):
        try:
            spec = _inspect.getfullargspec(target)
        except TypeError:
            spec = _inspect.getfullargspec(target.__call__)
    else:
        spec = _inspect.getfullargspec(target)
    home = getattr(target, "__module__", None) or ""
    return spec._replace(annotations={}) if home.startswith("intaglio.") else spec


def getargspec(obj: Any) -> ArgSpec:
    """The parameters of a function, keyword-only ones last. Raises ValueError if these have no default."""
    spec = getfullargspec(obj)
    if spec.kwonlyargs and set(spec.kwonlyargs) - set(spec.kwonlydefaults or {}):
        raise ValueError("Function has keyword-only parameters: use getfullargspec()")
    named = spec.kwonlydefaults or {}
    defaults = (*(spec.defaults or ()), *(named[name] for name in spec.kwonlyargs))
    return ArgSpec(spec.args + spec.kwonlyargs, spec.varargs, spec.varkw, defaults or None)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Parameter -> the value that a call `func(*positional, **named)` gives it.

    Named arguments stand under their own names, those for `**kwargs` too; positional ones for `*args` are left
    out, and so are parameters without a value.
    """
    function, *positional = func_and_positional
    spec = getfullargspec(function)
    if isinstance(function, types.MethodType):
        positional = [function.__self__, *positional]
    remaining = [name for name in spec.args if name not in named]
    found = {**named, **dict(zip(remaining, positional, strict=False))}
    defaults = spec.defaults or ()
    late = zip(spec.args[len(spec.args) - len(defaults) :], defaults, strict=True)
    return {**dict(late), **(spec.kwonlydefaults or {}), **found}


class TFDecorator:
    """What `make_decorator` knows of one decorator."""

    def __init__(self, name: str, target: Any, doc: str, argspec: Any) -> None:
        self.decorated_target = target
        self.decorator_name = name
        self.decorator_doc = doc
        self.decorator_argspec = argspec


def unwrap(maybe_decorated: Any) -> tuple[list[TFDecorator], Any]:
    """(decorators of `make_decorator`, the outermost first; the function behind them all).

    A decorator of other libraries that uses `functools.wraps` is a function of its own parameters, though
    `__wrapped__` leads on: TensorFlow's functions are seen through, and what was made by `make_decorator`.
    """
    decorators: list[TFDecorator] = []
    target = maybe_decorated
    while not isinstance(target, type):
        inner = getattr(target, "__wrapped__", None)
        if inner is None or inner is target or not _is_seen_through(target):
            break
        decorator = getattr(target, "_tf_decorator", None)
        if isinstance(decorator, TFDecorator) and decorator.decorated_target is inner:
            decorators.append(decorator)
        target = inner
    return decorators, target


def _is_seen_through(target: Any) -> bool:
    if hasattr(target, "_tf_decorator") or not isinstance(target, types.FunctionType):
        return True
    return target.__globals__.get("__name__", "").partition(".")[0] == "intaglio"


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """`decorator_func` with the name and documentation of `target`, and its parameters or those of the argspec.

    An argspec has the parameter `self` of a method, which calls do not give.
    """
    functools.update_wrapper(decorator_func, target)
    if decorator_doc:
        decorator_func.__doc__ = decorator_doc
    # Not `inspect.stack`, which reads the files of all frames.
    name = decorator_name or sys._getframe(1).f_code.co_name
    decorator_func.__wrapped__ = target
    decorator_func._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    if decorator_argspec is not None:
        spec = _full(decorator_argspec)
        bound = spec.args[:1] if isinstance(_innermost(target), types.MethodType) else []
        decorator_func.__signature__ = _as_signature(spec, without=bound)
    return decorator_func


def _innermost(target: Any) -> Any:
    """The first bound method of a chain of decorators, or the function that they decorate."""
    while not isinstance(target, types.MethodType):
        inner = getattr(target, "__wrapped__", None)
        if inner is None or inner is target:
            break
        target = inner
    return target


def _full(spec: Any) -> FullArgSpec:
    """An argspec of either kind as a full one."""
    if isinstance(spec, FullArgSpec):
        return spec
    return FullArgSpec(spec.args, spec.varargs, spec.keywords, spec.defaults, [], None, {})


def _as_signature(spec: FullArgSpec, without: Sequence[str]) -> _inspect.Signature:
    """The signature of an argspec, some parameters left out."""
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False))
    defaults |= spec.kwonlydefaults or {}
    kinds = [(name, Parameter.POSITIONAL_OR_KEYWORD) for name in spec.args if name not in without]
    kinds += [(spec.varargs, Parameter.VAR_POSITIONAL)] if spec.varargs else []
    kinds += [(name, Parameter.KEYWORD_ONLY) for name in spec.kwonlyargs]
    kinds += [(spec.varkw, Parameter.VAR_KEYWORD)] if spec.varkw else []
    return _inspect.Signature(
        [Parameter(n, kind, default=defaults.get(n, Parameter.empty)) for n, kind in kinds]
    )


__all__ = [
    "ArgSpec",
    "FullArgSpec",
    "Parameter",
    "TFDecorator",
    "_inspect",
    "getargspec",
    "getcallargs",
    "getdoc",
    "getfile",
    "getframeinfo",
    "getfullargspec",
    "getmembers",
    "getmodule",
    "getmro",
    "getsource",
    "getsourcefile",
    "getsourcelines",
    "isabstract",
    "isbuiltin",
    "isclass",
    "isframe",
    "isfunction",
    "isgenerator",
    "isgeneratorfunction",
    "ismethod",
    "ismodule",
    "isroutine",
    "make_decorator",
    "signature",
    "stack",
    "unwrap",
]
