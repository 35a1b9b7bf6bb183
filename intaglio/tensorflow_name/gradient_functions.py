"""`tensorflow.python.eager.backprop`: functions that return gradients, from before there were tapes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autodiff.gradient_tape import GradientTape
from intaglio.base import nest
from intaglio.opdef import convert


def implicit_val_and_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that returns `f`'s result and a list of (gradient, variable), of the variables that it reads.

    The function raises ValueError where `f` returns None or reads no trainable variable.
    """

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        with GradientTape() as tape:
            result = f(*args, **kwargs)
        if result is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a value from "
                f"{f.__name__}?"
            )
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        return result, list(zip(tape.gradient(result, variables), variables, strict=True))

    return called


def implicit_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function that returns a list of (gradient, variable); see `implicit_val_and_grad`."""
    both = implicit_val_and_grad(f)

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return called


def val_and_grad_function(
    f: Callable[..., Any], params: Sequence[int | str] | None = None
) -> Callable[..., Any]:
    """The function that returns `f`'s result and its gradients by the parameters `params`, or all.

    Parameters are numbers or names. The function takes `dy`, the gradient of the result, too.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        dy = kwargs.pop("dy", None)
        result, backward = make_vjp(f, params)(*args, **kwargs)
        return result, backward(dy)

    return called


def gradients_function(
    f: Callable[..., Any], params: Sequence[int | str] | None = None
) -> Callable[..., Any]:
    """The function that returns `f`'s gradients; see `val_and_grad_function`."""
    both = val_and_grad_function(f, params)

    def called(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return called


def make_vjp(
    f: Callable[..., Any], params: Sequence[int | str] | None = None, persistent: bool = True
) -> Callable[..., Any]:
    """The function that returns `f`'s result and a function from its gradient to those of the parameters.

    It raises ValueError where `f` returns None.
    """

    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                f"The gradient can be taken only with respect to positional arguments, not {sorted(kwargs)}."
            )
        positions = _positions(f, params, len(args))
        values = [nest.map_structure(convert.to_tensor, a) for a in args]
        wanted = [values[i] for i in positions]
        with GradientTape(persistent=persistent) as tape:
            tape.watch(wanted)
            result = f(*values)
        if result is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a value from "
                f"{getattr(f, '__name__', f)}?"
            )

        def backward(dy: Any = None) -> Any:
            return tape.gradient(result, wanted, output_gradients=dy)

        return result, backward

    return called


def _positions(f: Any, params: Sequence[int | str] | None, count: int) -> list[int]:
    if params is None:
        return list(range(count))
    names = list(inspect.signature(f).parameters)
    return [p if isinstance(p, int) else names.index(p) for p in params]
