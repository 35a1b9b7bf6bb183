"""Random functions with state that advances from call to call: `tf.random.uniform` and others.

Follows https://www.tensorflow.org/api_docs/python/tf/random.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, float32, int32, int64
from intaglio.composite_ops.random.sampling import (
    STATEFUL,
    check_dtype,
    shape_tensor,
    shifted,
    stretched,
)
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import random_state


def set_seed(seed: int | None) -> None:
    """Sets the global seed, and starts every stream of random numbers again.

    In a `tf.Graph` or a function being traced it is that graph's seed. Without it and
    without seeds of their own, random ops draw differently in each run of the program.

    >>> tf.random.set_seed(1234)
    >>> print(tf.random.uniform([2]).numpy())
    [0.5380393  0.36461866]
    """
    random_state.set_seed(seed)


def _seeds(seed: int | None) -> dict[str, Any]:
    first, second = random_state.op_seeds(seed)
    return {"seed": first, "seed2": second}


@dispatchable
def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Numbers in [minval, maxval): float16, bfloat16, float32, float64, int32 or int64.

    `minval` and `maxval` broadcast for floats and are scalars for integers. Raises ValueError
    for other dtypes and integers without `maxval`, InvalidArgumentError for an empty range.

    >>> tf.random.uniform([2, 3], maxval=10, dtype=tf.int32).shape
    TensorShape([2, 3])
    """
    kind = as_dtype(dtype)
    check_dtype(kind, STATEFUL)
    if maxval is None:
        if kind.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
        maxval = 1
    with door.level().scoped(name or "random_uniform") as scope:
        dims = shape_tensor(shape)
        if kind.is_integer:
            low, high = to_tensor(minval, kind, "min"), to_tensor(maxval, kind, "max")
            return raw.RandomUniformInt(dims, low, high, **_seeds(seed), name=scope)

        def draw() -> Tensor:
            return raw.RandomUniform(dims, dtype=kind, **_seeds(seed))

        return stretched(draw, minval, maxval, kind, scope)


@dispatchable
def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normals with this mean and standard deviation, which broadcast with `shape`.

    Raises InvalidArgumentError for a negative dimension, TypeError for other dtypes than
    float16, bfloat16, float32 and float64.

    `stddev` is the standard deviation.

    >>> tf.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    kind = as_dtype(dtype)

    def draw(dims: Tensor) -> Tensor:
        return raw.RandomStandardNormal(dims, dtype=kind, **_seeds(seed))

    return shifted(name or "random_normal", shape, mean, stddev, kind, draw)


@dispatchable
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normals, drawn again while more than two standard deviations off the mean.

    `stddev` is the standard deviation.

    >>> float(tf.reduce_max(tf.abs(tf.random.truncated_normal([100])))) <= 2.0
    True
    """
    kind = as_dtype(dtype)

    def draw(dims: Tensor) -> Tensor:
        return raw.TruncatedNormal(dims, dtype=kind, **_seeds(seed))

    return shifted(name or "truncated_normal", shape, mean, stddev, kind, draw)


@dispatchable
def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The value with its first dimension in random order; any dtype and shape.

    >>> sorted(tf.random.shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    return raw.RandomShuffle(value, **_seeds(seed), name=name)


@dispatchable
def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Draws from categorical distributions: `logits` [batch, classes] -> [batch, num_samples].

    `dtype` is int64 or int32. Raises ValueError for another one, InvalidArgumentError
    unless `logits` is a matrix.

    >>> print(tf.random.categorical(tf.math.log([[0.0, 1.0]]), 3).numpy())
    [[1 1 1]]
    """
    kind = as_dtype(dtype or int64)
    check_dtype(kind, (int32, int64))
    with door.level().scoped(name or "categorical"):
        rows = to_tensor(logits, None, "logits")
        return raw.Multinomial(rows, num_samples, output_dtype=kind, **_seeds(seed))
