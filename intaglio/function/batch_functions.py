"""One computation for the calls of several threads.

Follows https://www.tensorflow.org/api_docs/python/tf/nondifferentiable_batch_function.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.function.decorator import function
from intaglio.opdef import convert, raw
from intaglio.type_specs.type_spec import TensorSpec

_numbers = itertools.count()


def nondifferentiable_batch_function(
    num_batch_threads: int,
    max_batch_size: int,
    batch_timeout_micros: int,
    allowed_batch_sizes: Sequence[int] | None = None,
    max_enqueued_batches: int = 10,
    autograph: bool = True,
    enable_large_batch_splitting: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that computes the calls of several threads as one batch.

    The arguments, which are tensors with rows, are joined along the first axis; the function runs
    once for up to `max_batch_size` rows, or when `batch_timeout_micros` are over, in at most
    `num_batch_threads` threads; each call gets its rows of the results. A batch is padded to one
    of `allowed_batch_sizes`, which rise.

    Raises InvalidArgumentError for more rows than a batch may have and for sizes that do not rise,
    FailedPreconditionError for a result with another number of rows, UnavailableError while
    `max_enqueued_batches` wait; LookupError where a gradient is requested.

    `autograph` converts Python's statements as `tf.function` does; `enable_large_batch_splitting`
    divides calls larger than a batch.

    >>> @tf.nondifferentiable_batch_function(1, 8, batch_timeout_micros=100)
    ... def layer(x):
    ...     return 2 * x
    >>> print(layer(tf.constant([1, 2])).numpy())
    [2 4]
    """

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        traced = function(fn, autograph=autograph)
        number = next(_numbers)

        @functools.wraps(fn)
        def decorated(*args: Any) -> Any:
            tensors = [convert.to_tensor(a) for a in args]
            specs = [
                TensorSpec(None if t.dims is None else (None, *t.dims[1:]), t.dtype)
                for t in tensors
            ]
            concrete: Any = traced.get_concrete_function(*specs)

            outputs = raw.BatchFunction(
                tensors,
                concrete.captured_inputs,
                f=concrete.frozen,
                num_batch_threads=num_batch_threads,
                max_batch_size=max_batch_size,
                batch_timeout_micros=batch_timeout_micros,
                Tout=[t.dtype for t in concrete.frozen.outputs],
                max_enqueued_batches=max_enqueued_batches,
                allowed_batch_sizes=list(allowed_batch_sizes or ()),
                shared_name=f"batch_function_{number}_{concrete.frozen.name}",
                enable_large_batch_splitting=enable_large_batch_splitting,
            )
            return nest.pack_sequence_as(concrete.structured_outputs, outputs)

        return decorated

    return decorator


__all__ = ["nondifferentiable_batch_function"]
