"""Initialisers: `tf.constant_initializer` and others, functions from a shape to a tensor.

Follows https://www.tensorflow.org/api_docs/python/tf/random_normal_initializer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, float32
from intaglio.composite_ops.array.creation import constant, ones, zeros
from intaglio.composite_ops.random.stateful import normal, uniform
from intaglio.composite_ops.random.stateless import stateless_normal, stateless_uniform
from intaglio.opdef.tensor import Tensor

PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """A function from a shape and a dtype to a tensor, with a configuration."""

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """A tensor of the shape. Raises ValueError for a dtype that does not suit."""
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes")

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initialiser of a configuration."""
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


def _partition(kwargs: dict[str, Any], shape: Any) -> Any:
    """The shape to make: that of a part, if one is named. Raises TypeError."""
    for key in kwargs:
        if key not in PARTITION:
            raise TypeError(f"Keyword argument should be one of {list(PARTITION)}. Received: {key}")
    return kwargs.get("partition_shape") or shape


def _numeric(dtype: Any) -> Any:
    kind = as_dtype(float32 if dtype is None else dtype)
    if not (kind.is_floating or kind.is_integer or kind.is_complex or kind.is_bool):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {kind!r}.")
    return kind


def _floating(dtype: Any) -> Any:
    kind = as_dtype(float32 if dtype is None else dtype)
    if not kind.is_floating:
        raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {kind!r}.")
    return kind


class zeros_initializer(Initializer):
    """Tensors of zeros.

    >>> tf.zeros_initializer()([2]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """Zeros of a numeric or bool dtype (float32 by default)."""
        return zeros(_partition(kwargs, shape), _numeric(dtype))


class ones_initializer(Initializer):
    """Tensors of ones.

    >>> tf.ones_initializer()([2]).numpy()
    array([1., 1.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """Ones of a numeric or bool dtype (float32 by default)."""
        return ones(_partition(kwargs, shape), _numeric(dtype))


class constant_initializer(Initializer):
    """Tensors of a value, or of as many values as the shape has elements.

    >>> tf.constant_initializer(3.)([2]).numpy()
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any = 0, support_partition: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. "
                "Expected Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """The values; of the dtype that the value has by itself if none is given."""
        dims = _partition(kwargs, shape)
        return constant(self.value, None if dtype is None else as_dtype(dtype), dims)

    def get_config(self) -> dict[str, Any]:
        return {"value": self.value}


class random_normal_initializer(Initializer):
    """Normals; with a seed the same ones at every call."""

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> None:
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """Normals of a floating-point dtype (float32 by default)."""
        kind, dims = _floating(dtype), _partition(kwargs, shape)
        if self.seed is None:
            return normal(dims, self.mean, self.stddev, kind)
        return stateless_normal(dims, [self.seed, 0], self.mean, self.stddev, kind)

    def get_config(self) -> dict[str, Any]:
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


class random_uniform_initializer(Initializer):
    """Numbers in [minval, maxval); with a seed the same ones at every call."""

    def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None) -> None:
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        """Numbers of a floating-point or integer dtype (float32 by default)."""
        kind = as_dtype(float32 if dtype is None else dtype)
        if not (kind.is_floating or kind.is_integer):
            raise ValueError(
                f"Argument `dtype` is expected to be float or integer. Received: {kind!r}."
            )
        dims = _partition(kwargs, shape)
        if self.seed is None:
            return uniform(dims, self.minval, self.maxval, kind)
        return stateless_uniform(dims, [self.seed, 0], self.minval, self.maxval, kind)

    def get_config(self) -> dict[str, Any]:
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}
