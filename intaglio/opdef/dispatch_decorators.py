"""The decorators that register implementations of public functions for a program's own types.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_api and the
pages of its siblings. A call is dispatched if an argument is a composite value (an extension
type, a ragged tensor) and the arguments match the type annotations: classes, unions of
classes, and lists of either.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from intaglio.opdef import dispatch
from intaglio.opdef.elementwise_names import ASSERTIONS, BINARY, UNARY

F = TypeVar("F", bound=Callable[..., Any])

# The handlers of elementwise functions, by kind of function and types.
_registered: dict[tuple[Any, ...], Any] = {}


def dispatch_for_api(api: Any, *signatures: dict[Any, Any]) -> Callable[[F], F]:
    """Decorates a function that takes calls of `api` whose arguments match a signature.

    A signature maps parameters, or their positions, to their types. Without
    any, the decorated function's annotations are one. The decorated function has the
    parameters of `api`; it may leave out `name`. Raises ValueError if it has others, or if
    `api` cannot be dispatched.

    https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_api

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.abs)
    ... def masked_abs(x: Masked):
    ...     return Masked(tf.abs(x.values))
    >>> tf.abs(Masked([-1])).values
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([1], dtype=int32)>
    """
    entry = dispatch.entry_of(api)
    if entry is None or not _is_public(api):
        raise ValueError(f"{api} does not support dispatch.")

    def decorate(target: F) -> F:
        _check_parameters(entry, target)
        wanted = signatures or (_annotations(entry, target),)
        dispatch.register(api, target, [_positions(entry, s) for s in wanted])
        return target

    return decorate


def _is_public(api: Any) -> bool:
    return (getattr(api, "__module__", None) or "").startswith("intaglio.")


def _check_parameters(entry: dispatch.Entry, target: Any) -> None:
    """The target has the parameters of the function, with or without its last, `name`."""
    names = list(inspect.signature(target).parameters)
    own = list(entry.names)
    if names not in (own, [n for n in own if n != "name"]):
        text = str(inspect.signature(target))
        others = ", ".join(
            n if p.default is p.empty else f"{n}={p.default!r}"
            for n, p in entry.signature.parameters.items()
        )
        if "name" not in names and "name" in own:
            text = f"{text[:-1]}, name=None)"
        raise ValueError(
            f"Dispatch function's signature {text} does not match API's signature ({others})."
        )


def _annotations(entry: dispatch.Entry, target: Any) -> dict[str, Any]:
    found = typing.get_type_hints(target)
    annotations = {n: found[n] for n in inspect.signature(target).parameters if n in found}
    if not annotations:
        raise ValueError(
            "The dispatch_for_api decorator must be called with at least one signature, "
            "or applied to a function that has type annotations on its parameters."
        )
    return annotations


def _positions(entry: dispatch.Entry, signature: dict[Any, Any]) -> dispatch.Signature:
    found: list[tuple[int, dispatch.Annotation]] = []
    for key, hint in signature.items():
        if isinstance(key, int):
            index = key
        elif key in entry.names:
            index = entry.names.index(key)
        else:
            raise ValueError(f"signature includes annotation for unknown parameter {key!r}.")
        wanted = dispatch.annotation(hint)
        if wanted is None:
            raise ValueError(f"Type annotation {hint} is not currently supported by dispatch.")
        found.append((index, wanted))
    return tuple(found)


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[F], F]:
    """Decorates `handler(api_func, x)`, which takes all unary elementwise functions of `x_type`.

    `api_func` is the function with all its other arguments. Raises ValueError if there is a
    handler for the type.

    https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_unary_elementwise_apis

    >>> class Cell(tf.experimental.ExtensionType):
    ...     value: tf.Tensor
    >>> @tf.experimental.dispatch_for_unary_elementwise_apis(Cell)
    ... def handler(api_func, x):
    ...     return Cell(api_func(x.value))
    >>> tf.negative(Cell(2)).value
    <tf.Tensor: shape=(), dtype=int32, numpy=-2>
    """
    return _elementwise(UNARY, "unary elementwise", (x_type,))


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[F], F]:
    """Decorates `handler(api_func, x, y)`, which takes all binary elementwise functions.

    https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_binary_elementwise_apis

    >>> class Pair(tf.experimental.ExtensionType):
    ...     value: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_apis(Pair, Pair)
    ... def handler(api_func, x, y):
    ...     return Pair(api_func(x.value, y.value))
    >>> tf.add(Pair(2), Pair(3)).value
    <tf.Tensor: shape=(), dtype=int32, numpy=5>
    """
    return _elementwise(BINARY, "binary elementwise", (x_type, y_type))


def dispatch_for_binary_elementwise_assert_apis(x_type: Any, y_type: Any) -> Callable[[F], F]:
    """Decorates `handler(assert_func, x, y)`, which takes all elementwise assertions on two.

    https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_binary_elementwise_assert_apis

    >>> class Box(tf.experimental.ExtensionType):
    ...     value: tf.Tensor
    >>> @tf.experimental.dispatch_for_binary_elementwise_assert_apis(Box, Box)
    ... def handler(assert_func, x, y):
    ...     return assert_func(x.value, y.value)
    >>> tf.debugging.assert_equal(Box(1), Box(1))
    """
    return _elementwise(ASSERTIONS, "binary elementwise assert", (x_type, y_type))


def _elementwise(names: tuple[str, ...], kind: str, hints: tuple[Any, ...]) -> Callable[[F], F]:
    def decorate(handler: F) -> F:
        key = (kind, *hints)
        if key in _registered:
            shown = hints[0] if len(hints) == 1 else " ".join(map(str, hints))
            raise ValueError(
                f"A {kind} dispatch handler ({_registered[key]}) has already been "
                f"registered for {shown}."
            )
        wanted = [dispatch.annotation(hint) for hint in hints]
        combination = tuple([w for w in wanted if w is not None])
        if len(combination) != len(hints):
            raise ValueError(f"Type annotations {hints} are not supported by dispatch.")
        dispatch.handle_elementwise(names, handler, [combination])
        _registered[key] = handler
        return handler

    return decorate


def unregister_dispatch_for(dispatch_target: Any) -> None:
    """Removes the registrations of a `dispatch_for_` decorator. Raises ValueError if there are none.

    https://www.tensorflow.org/api_docs/python/tf/experimental/unregister_dispatch_for

    >>> class Cup(tf.experimental.ExtensionType):
    ...     value: tf.Tensor
    >>> @tf.experimental.dispatch_for_api(tf.abs)
    ... def cup_abs(x: Cup):
    ...     return x
    >>> tf.experimental.unregister_dispatch_for(cup_abs)
    """
    dispatch.withdraw(dispatch_target)
    for key in [k for k, handler in _registered.items() if handler is dispatch_target]:
        del _registered[key]


__all__ = [
    "dispatch_for_api",
    "dispatch_for_binary_elementwise_apis",
    "dispatch_for_binary_elementwise_assert_apis",
    "dispatch_for_unary_elementwise_apis",
    "unregister_dispatch_for",
]
