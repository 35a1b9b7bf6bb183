"""Calls of Python functions from graphs.

A call's `token` names the function; the string carries the function with it, so that a
graph keeps its functions alive and nothing else does.
"""

from __future__ import annotations

import itertools
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import from_numpy
from intaglio.base.errors import OpError
from intaglio.opdef import convert, door, raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.hooks import HOOKS

_numbers = itertools.count()
_tokens: weakref.WeakValueDictionary[str, Token] = weakref.WeakValueDictionary()

# The status of a Python exception; UNKNOWN for all others.
STATUS: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (TypeError, errors.InvalidArgumentError),
    (ValueError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
)


class Token(str):
    """The name of a Python function in a graph, and the function.

    `recorded`: the calls are differentiated and recorded on tapes,
    the last of each thread in `tapes`.
    """

    function: Callable[..., Any]
    recorded: bool
    tapes: threading.local

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Token:
        """A new name for the function."""
        token = cls(f"pyfunc_{next(_numbers)}")
        token.function = function
        token.recorded = False
        token.tapes = threading.local()
        _tokens[str(token)] = token
        return token


def function_of(token: str) -> Token:
    """The token with its function. Raises InvalidArgumentError if the function is gone."""
    found = token if isinstance(token, Token) else _tokens.get(token)
    if found is None:
        raise errors.invalid_argument(
            f"callback {token} is not found: the graph that it belongs to was made in "
            "another process, or is gone"
        )
    return found


def translated(error: Exception) -> OpError:
    """The TensorFlow error for an exception of a Python function, with its traceback."""
    kind = next((k for base, k in STATUS if isinstance(error, base)), None)
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    text = f"{type(error).__name__}: {error}\n{''.join(lines)}\n"
    wrapped = (kind or errors.UnknownError)(None, None, text)
    wrapped.__cause__ = error
    return wrapped


def as_list(result: Any) -> list[Any]:
    """The results of a function as a list of values."""
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def outputs_of(result: Any, types: Sequence[Any], token: str) -> list[Any]:
    """The results of a function as tensors of the declared types."""
    values = as_list(result)
    tensors = [convert.to_tensor(v, d) for v, d in zip(values, types, strict=False)]
    if len(tensors) != len(types):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{token} returns {len(tensors)} values, but expects to see {len(types)} values.",
        )
    return tensors


@op
class EagerPyFunc(Op):
    """output = function(input), where the function receives eager tensors."""

    signature = "input: *Tin; token: str, Tout: list(type), is_async: bool = False -> output: *Tout"
    stateful = True
    reaches_outside = "python"

    def infer(self, Tout) -> Any:
        return [[Spec(dtype, None) for dtype in Tout]]

    def kernel(self, input, token, Tout, wrap) -> Any:
        named = function_of(token)
        tensors = [wrap(array) for array in input]
        try:
            with door.eagerly():
                if named.recorded:
                    outputs = HOOKS.record_python_call(named, tensors, Tout)
                else:
                    outputs = outputs_of(named.function(*tensors), Tout, token)
        except errors.InvalidArgumentError as e:
            if f"{token} returns" in e.message:
                raise
            raise translated(e) from e
        except Exception as e:
            raise translated(e) from e
        return [tensor._array for tensor in outputs]

    def gradient(self, doutput, input, token, Tin, Tout) -> Any:
        named = function_of(token)
        named.recorded = True

        def backward(*tensors: Any) -> Any:
            return HOOKS.replay_python_call(named, tensors[: len(Tin)], Tout, tensors[len(Tin) :])

        back = Token.of(backward)
        return [raw.EagerPyFunc([*input, *doutput], token=back, Tout=list(Tin))]


class _NumpyCall(Op):
    """output = function(input), where the function receives arrays."""

    signature = "input: *Tin; token: str, Tout: list(type) -> output: *Tout"
    differentiable = False
    reaches_outside = "python"

    def infer(self, Tout) -> Any:
        return [[Spec(dtype, None) for dtype in Tout]]

    def kernel(self, input, token, Tout) -> Any:
        named = function_of(token)
        try:
            # Copies; a scalar as NumPy's own, and a string as bytes.
            arrays = [np.array(array)[()] for array in input]
            values = as_list(named.function(*arrays))
        except Exception as e:
            raise translated(e) from e
        if len(values) != len(Tout):
            raise errors.invalid_argument(
                f"{token} returns {len(values)} values, but expects to see {len(Tout)} values."
            )
        return [self._checked(i, v, d) for i, (v, d) in enumerate(zip(values, Tout, strict=True))]

    def _checked(self, index: int, value: Any, wanted: Any) -> Any:
        array = np.asarray(value)
        if array.dtype.kind in "OSU":
            array = convert.to_array(array)
        own = from_numpy(array.dtype)
        if own is not wanted:
            names = {"float32": "float", "float64": "double", "float16": "half"}
            raise errors.invalid_argument(
                f"{index}-th value returned by the function is "
                f"{names.get(own.name, own.name)}, but expects "
                f"{names.get(wanted.name, wanted.name)}"
            )
        return array


@op
class PyFunc(_NumpyCall):
    """A call that has effects, or whose answers change."""

    stateful = True


@op
class PyFuncStateless(_NumpyCall):
    """A call that may be shared or left out."""
