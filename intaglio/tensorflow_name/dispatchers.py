"""`tf.__internal__.dispatch`: functions of libraries that other types may take over."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from intaglio.base import nest
from intaglio.opdef import dispatch

# Of functions decorated here: what is asked when one refuses its arguments.
_HANDLERS: dict[Any, list[OpDispatcher]] = {}
_PLAIN = (int, float, str, bytes, type(None))


class OpDispatcher:
    """Takes calls of one function: `handle(args, kwargs)` returns NOT_SUPPORTED or a result."""

    NOT_SUPPORTED = dispatch.NOT_SUPPORTED

    def handle(self, args: Any, kwargs: Any) -> Any:
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Any) -> None:
        """Asks this object about calls of `op`, a public function or one that is decorated.

        Class methods ask if they are decorated with `dispatchable_method`; other functions never ask.
        """
        if op in _HANDLERS:
            _HANDLERS[op].append(self)
        of_method = dispatch.handlers_of(op)
        if of_method is not None:
            of_method.append(self.handle)
        if dispatch.entry_of(op) is None:
            return

        def handle(function: Any, args: Any, kwargs: Any) -> Any:
            return self.handle(args, kwargs) if function is op else self.NOT_SUPPORTED

        # What is for one function is asked before what is for all.
        dispatch.register_everywhere(handle, first=True)


class GlobalOpDispatcher:
    """Takes calls of all functions: `handle(op, args, kwargs)`."""

    NOT_SUPPORTED = dispatch.NOT_SUPPORTED

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self) -> None:
        """Asks this object about calls of all public functions from now on."""
        dispatch.register_everywhere(self.handle)


class _TypeDispatcher(OpDispatcher):
    def __init__(self, function: Any, kinds: tuple[type, ...]) -> None:
        self._function = function
        self._kinds = kinds

    def handle(self, args: Any, kwargs: Any) -> Any:
        leaves = [*args, *kwargs.values()]
        flat = [x for v in leaves for x in (v if isinstance(v, (list, tuple)) else (v,))]
        if any(isinstance(x, self._kinds) for x in flat):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def add_dispatch_support(target: Any = None, iterable_parameters: Any = None) -> Any:
    """A decorator for functions that handlers may take calls of which they refuse.

    Handlers are asked when the function raises TypeError or ValueError.
    """
    if target is None:
        return functools.partial(add_dispatch_support, iterable_parameters=iterable_parameters)

    @functools.wraps(target)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = _answer(called, args, kwargs)
            if result is dispatch.NOT_SUPPORTED:
                raise
            return result

    _HANDLERS[called] = []
    return called


def _answer(called: Any, args: Any, kwargs: Any) -> Any:
    for handler in _HANDLERS[called]:
        result = handler.handle(args, kwargs)
        if result is not dispatch.NOT_SUPPORTED:
            return result
    if any(not isinstance(x, _PLAIN) for x in nest.flatten([args, kwargs])):
        return dispatch.ask_everywhere(called, args, kwargs)
    return dispatch.NOT_SUPPORTED


def dispatch_for_types(op: Any, *types: type) -> Callable[[Any], Any]:
    """A decorator for the function that takes calls of `op` with arguments of these types."""

    def decorate(function: Any) -> Any:
        _TypeDispatcher(function, types).register(op)
        return function

    return decorate
