"""Methods as traced functions, which refer to their object weakly so that it can be collected."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from intaglio.function.conversion import converted_for_graphs
from intaglio.function.signature import Signature


def has_self(function: Callable[..., Any], bound: bool) -> bool:
    """True for an unbound method, whose signature is read once it is bound."""
    code = getattr(function, "__code__", None)
    if bound or code is None or not code.co_argcount:
        return False
    if isinstance(function, types.MethodType):
        return False
    return code.co_varnames[0] in ("self", "cls") and "." in function.__qualname__


def itself(instance: Any) -> Any:
    """Returns the object: replaces a weak reference where the type does not support one."""
    return instance


def bound_method(function: Callable[..., Any], ref: Callable[[], Any]) -> Callable[..., Any]:
    """The function bound to an object that it holds weakly."""

    def bound(*args: Any, **kwargs: Any) -> Any:
        instance = ref()
        if instance is None:
            raise ReferenceError(
                f"the object whose method {function.__qualname__} was to be traced is gone"
            )
        return function(instance, *args, **kwargs)

    functools.update_wrapper(bound, function)
    del bound.__dict__["__wrapped__"]  # inspect would look through it
    bound.__signature__ = Signature.of(function, bound=True).as_inspect()
    bound.__wrapped_method__ = function  # type: ignore[attr-defined]  # functions may have attributes
    bound.__weak_owner__ = ref  # type: ignore[attr-defined]  # functions may have attributes
    return bound


def converted(function: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """The converted function for `autograph=True`; of a bound method, the method itself is converted."""
    method = getattr(function, "__wrapped_method__", None)
    if method is None:
        return converted_for_graphs(function, options)
    owner: Callable[[], Any] = function.__weak_owner__  # type: ignore[attr-defined]  # functions may have attributes
    return bound_method(converted_for_graphs(method, options), owner)
