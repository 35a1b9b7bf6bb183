"""Dropout of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/dropout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int32
from intaglio.composite_ops.random import stateful, stateless
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

Sampler = Callable[[Any, Any], Tensor]


@dispatchable
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Sets elements to 0 with probability `rate`, scales the others by 1 / (1 - rate).

    `noise_shape` is the shape of the random choices, which broadcasts to `x`. Raises
    ValueError for a rate outside [0, 1) and for anything but floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/dropout

    >>> print(tf.nn.dropout(tf.ones([4]), rate=0.0).numpy())
    [1. 1. 1. 1.]
    """

    def sample(shape: Any, dtype: Any) -> Tensor:
        return stateful.uniform(shape, seed=seed, dtype=dtype)

    return _dropped(x, rate, noise_shape, sample, name or "dropout")


@dispatchable
def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: str = "auto_select",
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` whose choices follow from `seed`, two integers, alone.

    `rng_alg` is the generator: "philox", "threefry" or "auto_select".

    https://www.tensorflow.org/api_docs/python/tf/nn/experimental/stateless_dropout

    >>> tf.reduce_all(
    ...     tf.nn.experimental.stateless_dropout(tf.ones([9]), 0.5, [1, 2])
    ...     == tf.nn.experimental.stateless_dropout(tf.ones([9]), 0.5, [1, 2])
    ... ).numpy().item()
    True
    """

    def sample(shape: Any, dtype: Any) -> Tensor:
        return stateless.stateless_uniform(shape, seed=seed, dtype=dtype, alg=rng_alg)

    return _dropped(x, rate, noise_shape, sample, name or "stateless_dropout")


@dispatchable
def general_dropout(
    x: Any,
    rate: Any,
    uniform_sampler: Callable[..., Any],
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`dropout` with choices from `uniform_sampler(shape=, dtype=)`, numbers in [0, 1).

    https://www.tensorflow.org/api_docs/python/tf/nn/experimental/general_dropout

    >>> print(
    ...     tf.nn.experimental.general_dropout(
    ...         tf.ones([3]), 0.5, lambda shape, dtype: tf.constant([0.1, 0.6, 0.9])
    ...     ).numpy()
    ... )
    [0. 2. 2.]
    """

    def sample(shape: Any, dtype: Any) -> Tensor:
        return convert.to_tensor(uniform_sampler(shape=shape, dtype=dtype))

    return _dropped(x, rate, noise_shape, sample, name or "general_dropout")


def _dropped(x: Any, rate: Any, noise_shape: Any, sample: Sampler, name: str) -> Tensor:
    with door.level().scoped(name):
        x = convert.to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "`x.dtype` must be a floating point tensor as `x` will be scaled. "
                f"Received: x_dtype={x.dtype}"
            )
        numeric = isinstance(rate, (int, float, np.number))
        if numeric and not 0 <= rate < 1:
            raise ValueError(
                "`rate` must be a scalar tensor or a float in the range [0, 1). "
                f"Received: rate={rate}"
            )
        if numeric and rate == 0:
            return x
        if numeric:
            scale: Any = np.asarray(1 / (1 - rate), x.dtype.numpy)
            rate = np.asarray(rate, x.dtype.numpy)
        else:
            rate = convert.to_tensor(rate)
            if rate.dtype is not x.dtype:
                rate = raw.Cast(rate, DstT=x.dtype)
            one = np.asarray(1, x.dtype.numpy)
            scale = raw.RealDiv(one, raw.Sub(one, rate))
        scaled = raw.Mul(x, scale, name="Mul")
        noise = sample(_noise_shape(x, noise_shape), x.dtype)
        kept = raw.GreaterEqual(noise, rate, name="GreaterEqual")
        return raw.SelectV2(kept, scaled, np.asarray(0, x.dtype.numpy), name="SelectV2")


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the choices; None entries are taken from `x`."""
    if noise_shape is None:
        if shapes.known(x.dims):
            return np.asarray(x.dims, np.int32)
        return raw.Shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    entries = list(noise_shape)
    dims = x.dims
    if dims is not None and len(dims) == len(entries):
        entries = [d if e is None else e for e, d in zip(entries, dims, strict=True)]
    if not any(e is None or isinstance(e, Tensor) for e in entries):
        return np.asarray(entries, np.int32)
    whole = raw.Shape(x)
    parts = [
        raw.StridedSlice(whole, [i], [i + 1], [1], shrink_axis_mask=1) if e is None else e
        for i, e in enumerate(entries)
    ]
    return convert.to_tensor(parts, int32)
