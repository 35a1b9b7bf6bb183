"""`tf.py_function` and `tf.numpy_function`: Python in the middle of a graph.

Follows https://www.tensorflow.org/api_docs/python/tf/py_function and
https://www.tensorflow.org/api_docs/python/tf/numpy_function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype
from intaglio.base.errors import InvalidArgumentError
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.python_call import Token, as_list, outputs_of, translated


def _checked(name: str, func: Any, inp: Any, Tout: Any) -> Any:
    """A decorator if there is no function yet. Raises TypeError for missing arguments."""
    if Tout is None:
        raise TypeError(
            f"Missing required argument: 'Tout'\n  If using tf.{name} as a decorator, "
            "set `Tout`\n  **by name** above the function:\n  "
            f"`@tf.{name}(Tout=tout)`"
        )
    if func is not None and inp is None:
        raise TypeError(
            "Missing argument `inp`:\n  You must set the `inp` argument (the list of "
            "arguments to the\n  function), unless you use `tf."
            f"{name}` as a decorator(`func=None`)."
        )


def _types(Tout: Any) -> tuple[list[Any], bool]:
    many = isinstance(Tout, (list, tuple))
    specs = list(Tout) if many else [Tout]
    return [as_dtype(s) for s in specs], many


def _declared(outputs: Any, many: bool) -> Any:
    """The outputs in the form of `Tout`: one, or a list."""
    return outputs if many or not isinstance(outputs, list) else outputs[0]


@dispatchable
def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `func` with eager tensors whenever the program reaches it, graphs included.

    `Tout` is the dtype (or spec) of what it returns, or a list of them. Gradients flow
    through the call. An exception of `func` becomes the error of its status:
    InvalidArgumentError for ValueError and TypeError, UnknownError for most. Without
    `func`, a decorator.

    `inp` are the arguments of the calls, a list of tensors.

    >>> print(tf.py_function(lambda x: x * 2, [tf.constant([1, 2])], tf.int32).numpy())
    [2 4]
    """
    _checked("py_function", func, inp, Tout)
    if func is None:
        return _decorator(py_function, Tout, name)
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    types, many = _types(Tout)
    if door.level().eager:
        return _declared(_now(func, inp, types), many)
    outputs = raw.EagerPyFunc(list(inp or ()), token=Token.of(func), Tout=types, name=name)
    return _declared(outputs, many)


def _now(func: Callable[..., Any], inp: Any, types: list[Any]) -> list[Tensor]:
    """The eager call; tapes watch the ops of the function itself."""
    tensors = [convert.to_tensor(value) for value in inp]
    token = Token.of(func)
    try:
        return outputs_of(func(*tensors), types, token)
    except Exception as e:
        error = (
            e
            if isinstance(e, InvalidArgumentError) and f"{token} returns" in e.message
            else translated(e)
        )
        error._message += " [Op:EagerPyFunc] name: "
        raise error from e


@dispatchable
def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls `func` with NumPy arrays whenever the program reaches it, graphs included.

    No gradient flows through the call. `stateful=False` declares that equal inputs give equal
    answers without effects. In a graph the returned arrays must have the dtypes of `Tout`.
    Without `func`, a decorator.

    `inp` are the arguments of the calls, a list of tensors.

    >>> print(tf.numpy_function(lambda x: x + 1, [tf.constant([1, 2])], tf.int32).numpy())
    [2 3]
    """
    _checked("numpy_function", func, inp, Tout)
    if func is None:
        return _decorator(functools.partial(numpy_function, stateful=stateful), Tout, name)
    if door.level().eager:
        # Python numbers arrive with NumPy's default dtypes, not with TensorFlow's.
        arrays = [np.array(v) for v in inp or ()]
        results = [convert.to_tensor(v) for v in as_list(func(*arrays))]
        return results[0] if len(results) == 1 else results or None
    if not callable(func):
        raise ValueError(
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    types, many = _types(Tout)
    op = raw.PyFunc if stateful else raw.PyFuncStateless
    outputs = op(list(inp or ()), token=Token.of(func), Tout=types, name=name or op.name)
    return _declared(outputs, many)


def _decorator(call: Callable[..., Any], Tout: Any, name: str | None) -> Any:
    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any) -> Any:
            return call(func, list(args), Tout, name=name)

        return wrapped

    return decorate


__all__ = ["numpy_function", "py_function"]
