"""Functions with custom gradients, with recomputed forward passes, or with stopped gradients.

Follows https://www.tensorflow.org/api_docs/python/tf/custom_gradient.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any

from intaglio.autodiff.gradient_tape import GradientTape
from intaglio.autodiff.plan import filled_like, light, spec_from
from intaglio.autodiff.registered import ATTRIBUTE, named
from intaglio.autodiff.tape import Tape
from intaglio.base import nest
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable, without_global_dispatch
from intaglio.opdef.keys import key
from intaglio.opdef.tensor import Tensor

_numbers = itertools.count()


@without_global_dispatch
@dispatchable
def custom_gradient(f: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Gives `f` the gradient that it returns besides its result: `f(*x) -> (y, grad_fn)`.

    `grad_fn(*dy)` returns a gradient for each input; if `f` reads variables, it takes
    `variables=` and returns a list of their gradients too. Raises TypeError if it does not
    take them, ValueError for a wrong number of gradients or for keyword arguments in a graph.

    >>> @tf.custom_gradient
    ... def doubled(x):
    ...     return x, lambda upstream: 2 * upstream
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = doubled(x)
    >>> print(tape.gradient(y, x).numpy())
    2.0
    """
    if f is None:
        return custom_gradient

    return _WithGradient(f)


class _WithGradient:
    """A function with its custom gradient. As a method, it is the gradient of the bound method's arguments."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._function = f
        functools.update_wrapper(self, f)
        self.__original_wrapped__ = f

    def __get__(self, instance: Any, owner: Any = None) -> _WithGradient:
        return _WithGradient(self._function.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], type):  # from Python 3.13 on classmethod does not bind it
            return _WithGradient(MethodType(self._function, args[0]))(*args[1:], **kwargs)
        level = door.level()
        if level.eager:
            return _eagerly(level, self._function, args, kwargs)
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
            )
        return _in_graph(self._function, args)


class _Used:
    """A watcher that notes which variables are read, and nothing else."""

    def __init__(self) -> None:
        self.variables: dict[int, Any] = {}

    def watch_variable(self, variable: Any) -> None:
        if variable.trainable:
            self.variables.setdefault(id(variable), variable)

    def record(self, op: Any, attrs: Any, inputs: Any, outputs: Any) -> None:
        """Does nothing: ops are not noted."""

    def record_function(self, inputs: Any, outputs: Any, backward: Any) -> None:
        """Does nothing: gradient functions are not noted."""

    def depends(self, inputs: Any) -> bool:
        """Calls do not matter."""
        return False

    def extended(self, node: Any) -> None:
        """Calls do not matter."""


def _called(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any], list[Any]]:
    """The result of `f`, its gradient function, and the variables that it read besides its arguments."""
    used = _Used()
    level = door.watch(used)
    try:
        result, grad_fn = f(*args, **kwargs)
    finally:
        door.unwatch(used, level)
    for variable in used.variables.values():  # the tapes were hidden while `f` read it
        for watcher in level.watchers:
            watcher.watch_variable(variable)
    arguments = [*args, *kwargs.values()]
    _watch_arguments(level, arguments)
    if not level.eager:  # there arguments that act as variables count as these: by handle
        arguments = [getattr(a, "handle", a) for a in arguments]
    variables = [
        v
        for v in used.variables.values()
        if all(a is not v and a is not v.handle for a in arguments)
    ]
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', "
            f"since function uses variables: {variables}"
        )
    return result, grad_fn, variables


def _watch_arguments(level: Any, arguments: Sequence[Any]) -> None:
    """Notifies tapes of trainable variables among the arguments, even if `f` does not read them."""
    for argument in arguments:
        if hasattr(argument, "accessed"):
            argument.accessed()
        elif hasattr(argument, "handle") and getattr(argument, "trainable", False):
            for watcher in level.watchers:
                if isinstance(watcher, Tape) and watcher.watch_variables:
                    watcher.watched.add(key(argument.handle))


def _takes_variables(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def _gradients(
    grad_fn: Callable[..., Any], variables: Sequence[Any], grads: Sequence[Any], count: int
) -> list[Any]:
    """The results of the gradient function: gradients of the inputs, then of the variables."""
    of_variables: list[Any] = []
    if variables:
        of_inputs, of_variables = grad_fn(*grads, variables=list(variables))
        if len(of_variables) != len(variables):
            raise ValueError(
                "Must return gradient for each variable from @custom_gradient grad_fn."
            )
    else:
        of_inputs = grad_fn(*grads)
    flat = nest.flatten(of_inputs)
    if len(flat) != count:
        raise ValueError(
            f"custom_gradient function expected to return {count} gradients, but returned {len(flat)} instead."
        )
    return [*flat, *of_variables]


def _eagerly(level: Any, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    result, grad_fn, variables = _called(f, args, kwargs)
    with door.unwatched():
        outputs = [raw.Identity(convert.to_tensor(y)) for y in nest.flatten(result)]
    flat = nest.flatten(args)
    inputs = [_recorded(x) for x in flat] + [v.handle for v in variables]
    like = [light(y) for y in outputs]

    def backward(grads: Sequence[Any]) -> list[Any]:
        output_gradients = [
            filled_like(spec_from(k), 0) if g is None else g
            for g, k in zip(grads, like, strict=True)
        ]
        return _gradients(grad_fn, variables, output_gradients, len(flat))

    for watcher in level.watchers:
        record = getattr(watcher, "record_function", None)
        if record is not None:
            record(inputs, outputs, backward)
    return nest.pack_sequence_as(result, outputs)


def _recorded(value: Any) -> Any:
    """The tensor by which a tape identifies an argument: a variable's handle, a tensor, or None."""
    return getattr(value, "handle", value)


def _in_graph(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    # Tensors are passed unchanged: `f` may watch an argument.
    arguments = nest.map_structure(
        lambda x: x if hasattr(x, "handle") else convert.to_tensor(x), list(args)
    )
    result, grad_fn, variables = _called(f, arguments, {})
    outputs: list[Tensor] = [convert.to_tensor(y) for y in nest.flatten(result)]
    flat = nest.flatten(arguments)
    # The values of variables, not their handles: what is saved has no node of another variable's handle.
    inputs = [convert.to_tensor(x) for x in (*flat, *variables)]
    n = len(outputs)

    def backward(op: Any, *grads: Any) -> list[Any]:
        found = _gradients(grad_fn, variables, grads[:n], len(flat))
        return [None] * n + found

    tensors = [*outputs, *inputs]
    attrs = {
        "T": tuple([t.dtype for t in tensors]),
        ATTRIBUTE: named(f"CustomGradient-{next(_numbers)}", backward),
    }
    identities = door.carry_out(raw.IdentityN, tensors, attrs, None)
    return nest.pack_sequence_as(result, list(identities[:n]))


@contextmanager
def _untaped() -> Generator[None]:
    """Hides the ops of the block from the tapes of this level, but not from other watchers."""
    level = door.level()
    hidden = [w for w in level.watchers if isinstance(w, Tape)]
    level.watchers = [w for w in level.watchers if not isinstance(w, Tape)]
    try:
        yield
    finally:
        level.watchers = [*hidden, *level.watchers]


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets the gradient of `f` recompute `f` instead of keeping its intermediate values.

    Follows https://www.tensorflow.org/api_docs/python/tf/recompute_grad.

    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.recompute_grad(lambda v: v * v)(x)
    >>> print(tape.gradient(y, x).numpy())
    6.0
    """

    @custom_gradient
    def inner(*args: Any, **kwargs: Any) -> Any:
        with _untaped():
            result = f(*args, **kwargs)

        def grad(*dresult: Any, variables: Any = None) -> Any:
            again = nest.map_structure(lambda x: raw.Identity(convert.to_tensor(x)), list(args))
            with GradientTape() as tape:
                tape.watch(again)
                if variables is not None:
                    tape.watch(variables)
                outputs = f(*again, **kwargs)
            sources = [again, list(variables or ())]
            found, of_variables = tape.gradient(outputs, sources, output_gradients=list(dresult))
            return (found, of_variables) if variables is not None else found

        return result, grad

    return functools.wraps(f)(inner)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Lets gradients pass through `f` as if it were the identity.

    Follows https://www.tensorflow.org/api_docs/python/tf/grad_pass_through.

    >>> x = tf.constant(1.4)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> print(tape.gradient(y, x).numpy())
    1.0
    """

    @custom_gradient
    def inner(*args: Any, **kwargs: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            if variables is not None:
                return grads, [None] * len(variables)
            return grads

        return f(*args, **kwargs), grad

    return functools.wraps(f)(inner)
