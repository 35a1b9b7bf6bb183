"""Computations compiled as by `jit_compile=True`.

Follows https://www.tensorflow.org/api_docs/python/tf/xla/experimental.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

from intaglio.base import nest
from intaglio.function.decorator import function
from intaglio.opdef import convert, door, raw


def compile(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """What `computation(*inputs)` returns, compiled as by `tf.function(jit_compile=True)`.

    `inputs` is a list of what becomes tensors. The result is a list, also for a single
    tensor and for a tuple; other structures are kept. A computation without results gives
    an operation, None eagerly. Raises TypeError if `inputs` is no list, ValueError if one
    of several results is None.

    >>> def doubled(x):
    ...     return x + x
    >>> tf.xla.experimental.compile(doubled, [tf.constant(2)])[0].numpy()
    np.int32(4)
    """
    if inputs is not None and not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a list")
    tensors = nest.map_structure(convert.to_tensor, list(inputs or ()))
    results = function(computation, jit_compile=True)(*tensors)
    flat: list[Any] = nest.flatten(results)
    if results is None or not flat:
        return raw.NoOp()
    if any(value is None for value in flat):
        raise ValueError(
            "XLA computation function return values must all either be Operations or "
            'convertible to Tensors. Got error: "None values not supported."'
        )
    if isinstance(results, (list, tuple)):
        return list(results)
    return results if nest.is_nested(results) else [results]


@contextlib.contextmanager
def jit_scope(
    compile_ops: Any = True, separate_compiled_gradients: bool = False
) -> Generator[None]:
    """Marks the ops of a block for the compiler. Whole functions are compiled: nothing changes.

    Raises RuntimeError eagerly.

    `compile_ops` and `separate_compiled_gradients` have no effect.

    >>> @tf.function
    ... def f(x):
    ...     with tf.xla.experimental.jit_scope():
    ...         return x + 1
    >>> f(tf.constant(1)).numpy()
    np.int32(2)
    """
    if door.level().eager:
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled. "
            "Try use it inside tf.function."
        )
    yield


__all__ = ["compile", "jit_scope"]
