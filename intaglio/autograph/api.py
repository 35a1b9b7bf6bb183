"""`tf.autograph`: conversion on request, and keeping functions from it.

Follows https://www.tensorflow.org/api_docs/python/tf/autograph.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from intaglio.autograph import calls, conversion, operators, source

conversion.install_operators(operators)

_verbosity = [0]


class Feature(enum.Enum):
    """Optional features of the conversion."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All features except those given."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple([f for f in cls if f not in left_out])


def plain(entity: Any) -> FunctionType:
    """The Python function behind a function, method or traced function.

    Raises ValueError for anything else, and for functions whose source cannot be read.
    """
    entity = getattr(entity, "python_function", entity)
    if isinstance(entity, functools.partial):
        entity = entity.func
    if isinstance(entity, MethodType):
        entity = entity.__func__
    if not isinstance(entity, FunctionType):
        raise ValueError(
            f"Cannot convert {entity!r}: only functions and methods have code to convert."
        )
    return entity


def to_code(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The source of the converted function, as text.

    Raises ValueError if `entity` is no Python function, or its source cannot be read.
    """
    function = plain(entity)
    try:
        return conversion.code_text(function)
    except source.NoSourceError as e:
        raise ValueError(f"Cannot convert {function!r}: {e}") from None


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """The converted function, to be called under a graph."""
    function = plain(entity)
    try:
        twin = conversion.convert(function)
    except source.NoSourceError as e:
        raise ValueError(f"Cannot convert {function!r}: {e}") from None
    owner = getattr(entity, "__self__", None)
    return MethodType(twin, owner) if inspect.ismethod(entity) else twin


def do_not_convert(func: Any = None) -> Any:
    """Keeps a function from being converted; works as a decorator with and without call."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def untouched(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    untouched.do_not_convert__ = True  # type: ignore[attr-defined]
    return untouched


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """How much is logged about conversion: 0 nothing but problems."""
    _verbosity[0] = level


def trace(*args: Any) -> None:
    """Prints the arguments while the function is traced."""
    print(*args)


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: Any = None,
    shape_invariants: Any = None,
) -> None:
    """Options of the loop whose first statement this is; read by the conversion, does nothing by itself."""


def for_tracing(function: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """What is traced in the place of a function with `autograph=True`."""

    @functools.wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
        return calls.converted_call(function, args, kwargs)

    return converted
