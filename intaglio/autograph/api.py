"""`tf.autograph`: conversion of functions on request, and their exclusion from it.

Follows https://www.tensorflow.org/api_docs/python/tf/autograph.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from intaglio.autograph import calls, containers, conversion, regions, source, watches, whole_trace
from intaglio.autograph.loop_options import set_loop_options
from intaglio.autograph.verbosity import set_verbosity
from intaglio.base import origins
from intaglio.base.errors import ConversionError


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
        """All features except those passed, and except `ALL`, which stands for the rest."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple([f for f in cls if f is not cls.ALL and f not in left_out])


def plain(entity: Any) -> FunctionType:
    """The Python function behind a function, method, partial or traced function.

    Raises ConversionError, a ValueError, for anything else.
    """
    entity = getattr(entity, "python_function", entity)
    if isinstance(entity, functools.partial):
        entity = entity.func
    if isinstance(entity, MethodType):
        entity = entity.__func__
    if not isinstance(entity, FunctionType):
        raise ConversionError(
            f"converting {entity!r}: Cannot apply autograph to a function that doesn't "
            "expose a __code__ object: only Python functions and methods have source."
        )
    return entity


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of the converted function, as text, in TensorFlow's form.

    What runs has marks besides, `ag__.created(...)`, around the containers that it creates.

    Raises ConversionError, a ValueError, if `entity` is no Python function, or its source
    cannot be read.

    With `recursive` functions that it calls are converted as well. `experimental_optional_features`
    has no effect.
    """
    function = plain(entity)
    try:
        return conversion.code_text(function, recursive)
    except source.NoSourceError as e:
        raise ConversionError(f"converting {function!r}: {e}") from None


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Callable[..., Any]:
    """The converted function, to be called under a graph.

    What it calls is converted as well, unless `recursive` is False. Raises ConversionError,
    a ValueError, if `entity` is no Python function, or its source cannot be read.

    `experimental_optional_features` has no effect.
    """
    function = plain(entity)
    try:
        converted_function = conversion.convert(function, recursive=recursive)
    except source.NoSourceError as e:
        raise ConversionError(f"converting {function!r}: {e}") from None
    owner = getattr(entity, "__self__", None)
    return MethodType(converted_function, owner) if inspect.ismethod(entity) else converted_function


def do_not_convert(func: Any = None) -> Any:
    """Keeps a function from being converted; works as a decorator with and without call.

    >>> @tf.autograph.experimental.do_not_convert
    ... def plain(x):
    ...     return x + 1
    >>> int(tf.function(plain)(tf.constant(1)))
    2
    """
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def untouched(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    untouched.do_not_convert__ = True  # type: ignore[attr-defined]  # a mark of our own
    return untouched


def trace(*args: Any) -> None:
    """Prints the arguments while the function is traced.

    >>> tf.autograph.trace("a", 1)
    a 1
    """
    print(*args)


def for_tracing(function: Callable[..., Any], options: Any, requested: bool) -> Callable[..., Any]:
    """The converted function that is traced instead of a function with `autograph=True`.

    A function of a library is converted only if that is `requested`.
    """

    @functools.wraps(function)
    def converted(*args: Any, **kwargs: Any) -> Any:
        # Structures around this trace's tensors: copies of the caller's.
        structures = containers.inside((args, kwargs))

        def call() -> Any:
            watches.note_arguments((args, kwargs), structures)
            with origins.nearer():
                return calls.converted_call(function, args, kwargs, requested=requested)

        return whole_trace.traced(lambda: regions.to_the_end(call), structures)

    return converted


def stepped(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls the converted form of a function on values: each op is executed eagerly."""
    return calls.converted_call(function, args, kwargs, requested=True)


__all__ = [
    "Feature",
    "do_not_convert",
    "for_tracing",
    "plain",
    "set_loop_options",
    "set_verbosity",
    "stepped",
    "to_code",
    "to_graph",
    "trace",
]
