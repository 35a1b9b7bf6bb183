"""`tf.experimental.numpy.random`: random numbers under NumPy's names.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy/random. The numbers are
those of `tf.random` for the same seed; floating-point ones are float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.random import distributions, stateful
from intaglio.numpy_api.promotion import as_tensor, default_float, dtype_of
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor


def seed(s: Any) -> None:
    """Sets the global seed, as `tf.random.set_seed`.

    >>> tnp.random.seed(42)
    """
    try:
        s = int(s)
    except TypeError as e:
        raise ValueError(
            f"Argument `s` got an invalid value {s}. Only integers are supported."
        ) from e
    stateful.set_seed(s)


def _size(size: Any) -> Any:
    """A size argument as a shape; None is a single number."""
    if size is None:
        return ()
    if isinstance(size, (int, np.integer)):
        return (int(size),)
    return size


def rand(*size: Any) -> Tensor:
    """Numbers in [0, 1) in a shape given by its lengths.

    >>> tnp.random.rand(2, 3).shape
    TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


def random(size: Any = None) -> Tensor:
    """Numbers in [0, 1).

    `size` is the shape of the result; None is a single number.

    >>> tnp.random.random((2,)).dtype
    tf.float64
    """
    return uniform(0.0, 1.0, size)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers in [low, high), which broadcast; without `size`, one for each pair.

    >>> tnp.random.uniform([0, 10], [1, 20]).shape
    TensorShape([2])
    """
    first, last = as_tensor(low, default_float()), as_tensor(high, default_float())
    if size is None:
        size = raw.BroadcastArgs(raw.Shape(first), raw.Shape(last))
    return stateful.uniform(_size(size), first, last, default_float())


def randn(*args: Any) -> Tensor:
    """Numbers of the normal distribution in a shape given by its lengths.

    >>> tnp.random.randn(2, 3).shape
    TensorShape([2, 3])
    """
    return standard_normal(args)


def standard_normal(size: Any = None) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1.

    `size` is the shape of the result; None is a single number.

    >>> tnp.random.standard_normal((2, 2)).dtype
    tf.float64
    """
    return stateful.normal(_size(size), dtype=default_float())


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Numbers of Poisson distributions with mean `lam`: shape `size + lam.shape`, int64.

    >>> tnp.random.poisson([3., 4.], size=(5,)).shape
    TensorShape([5, 2])
    """
    means = as_tensor(lam, default_float())
    shape = convert.to_tensor(_size(size), dtypes.int32)
    return distributions.poisson(shape, means, dtype=dtypes.int64)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Tensor:
    """Integers from `low` (0) on that are less than `high`, as int32 or int64.

    Raises ValueError for other types, InvalidArgumentError if there is none.

    >>> tnp.random.randint(5, size=(3,)).dtype
    tf.int64
    """
    wanted = dtype_of(dtype)
    if wanted not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Argument `dtype` got an invalid value {dtype}. Only those convertible to "
            f"({np.int32}, {np.int64}) are supported."
        )
    low = int(low)
    if high is None:
        low, high = 0, low
    return stateful.uniform(_size(size), low, int(high), wanted)


__all__ = ["poisson", "rand", "randint", "randn", "random", "seed", "standard_normal", "uniform"]
