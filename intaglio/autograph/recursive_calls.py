"""Recursive calls of Python functions, which become calls of a recursive graph.

The first such call with a tensor makes a traced function of the Python function; what calls
itself in it becomes a call of its graph.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from intaglio.base import nest
from intaglio.base.threads import Inherited
from intaglio.ir.graph import SymbolicTensor

Tracer = Callable[[FunctionType], Callable[..., Any]]


class _Calls(Inherited):
    def __init__(self) -> None:
        self.tracer: Tracer | None = None
        self.active: list[Any] = []
        # With the Python functions, whose cells' ids are the keys.
        self.functions: dict[Any, tuple[FunctionType, Callable[..., Any]]] = {}


_calls = _Calls()


def set_tracer(tracer: Tracer | None) -> Tracer | None:
    """Sets the function that makes traced functions of Python functions; None leaves recursion to Python.

    Returns the previous tracer.
    """
    before, _calls.tracer = _calls.tracer, tracer
    if tracer is None:
        _calls.functions.clear()
    return before


def enabled() -> bool:
    """True if converted code must execute calls by `call`."""
    return _calls.tracer is not None


def call(
    function: FunctionType,
    converted_function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    inside: bool,
) -> Any:
    """A call of a user's function, `converted_function` in converted form; with `inside` it becomes a call in the graph."""
    key = (function.__code__, tuple(map(id, function.__closure__ or ())))
    if inside and key in _calls.active and _has_tensors((args, kwargs)):
        found = _calls.functions.get(key)
        if found is None:
            assert _calls.tracer is not None
            found = _calls.functions[key] = (function, _calls.tracer(function))
        return found[1](*args, **kwargs)
    _calls.active.append(key)
    try:
        return converted_function(*args, **kwargs)
    finally:
        _calls.active.pop()


def _has_tensors(arguments: Any) -> bool:
    return any(isinstance(v, SymbolicTensor) for v in nest.flatten(arguments))
