"""Initializers of TensorFlow 1: the dtype belongs to the initializer.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/initializers. Random ones draw from
`tf.random` with their seed, as TensorFlow 1's do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.array import creation
from intaglio.composite_ops.linalg import diagonals
from intaglio.composite_ops.random import stateful
from intaglio.opdef import raw

# The standard deviation of a normal distribution cut at two of its own.
_CUT = 0.87962566103423978


class Initializer:
    """A function of a shape that returns a tensor."""

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype: DType = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """A tensor of the shape; of the initializer's dtype unless another is arguments."""
        return self._values(_dims(shape), self.dtype if dtype is None else as_dtype(dtype))

    def _values(self, dims: Any, dtype: DType) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say what it makes")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        found = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        return {**found, "dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An initializer of the arguments that `get_config` returned."""
        return cls(**config)


def _dims(shape: Any) -> Any:
    return shape.as_list() if isinstance(shape, TensorShape) else shape


class Zeros(Initializer):
    """Zeros."""

    def _values(self, dims: Any, dtype: DType) -> Any:
        return creation.zeros(dims, dtype)


class Ones(Initializer):
    """Ones."""

    def _values(self, dims: Any, dtype: DType) -> Any:
        return creation.ones(dims, dtype)


class Constant(Initializer):
    """A scalar everywhere, or an array in the arguments shape."""

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        super().__init__(dtype)
        self.value = value
        self._verify = verify_shape

    def _values(self, dims: Any, dtype: DType) -> Any:
        value = np.asarray(self.value)
        if self._verify and tuple(value.shape) != tuple(dims):
            raise TypeError(f"Expected Tensor's shape: {tuple(dims)}, got {value.shape}.")
        if value.size == 1:
            return creation.fill(dims, raw.Cast(value.reshape(()), DstT=dtype))
        return raw.Reshape(raw.Cast(value, DstT=dtype), dims)


class RandomUniform(Initializer):
    """Uniform between `minval` and `maxval`; for floats `maxval` is 1 if it is None."""

    def __init__(
        self,
        minval: Any = 0.0,
        maxval: Any = None,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _values(self, dims: Any, dtype: DType) -> Any:
        top = 1 if self.maxval is None and dtype.is_floating else self.maxval
        return stateful.uniform(dims, self.minval, top, dtype, seed=self.seed)


class RandomNormal(Initializer):
    """Normal with a mean and a standard deviation."""

    def __init__(
        self,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _values(self, dims: Any, dtype: DType) -> Any:
        return stateful.normal(dims, self.mean, self.stddev, dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    """Normal without what is farther than two standard deviations from the mean."""

    def _values(self, dims: Any, dtype: DType) -> Any:
        return stateful.truncated_normal(dims, self.mean, self.stddev, dtype, seed=self.seed)


def fans(dims: Any) -> tuple[float, float]:
    """How many inputs and outputs a unit of a weight of this shape has."""
    sizes = [int(d) for d in dims]
    if len(sizes) < 2:
        both = sizes[0] if sizes else 1
        return both, both
    field = math.prod(sizes[:-2])
    return sizes[-2] * field, sizes[-1] * field


class VarianceScaling(Initializer):
    """Random numbers whose variance is `scale` over the number of inputs or outputs."""

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of fan_in, fan_out, fan_avg: {mode}")
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(f"Argument `distribution` is not known: {distribution}")
        super().__init__(dtype)
        self.scale, self.mode, self.seed = scale, mode, seed
        self.distribution = distribution

    def _values(self, dims: Any, dtype: DType) -> Any:
        into, out = fans(dims)
        fan = {"fan_in": into, "fan_out": out, "fan_avg": (into + out) / 2.0}[self.mode]
        variance = self.scale / max(1.0, fan)
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return stateful.uniform(dims, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return stateful.normal(dims, 0.0, math.sqrt(variance), dtype, seed=self.seed)
        deviation = math.sqrt(variance) / _CUT
        return stateful.truncated_normal(dims, 0.0, deviation, dtype, seed=self.seed)


class _Scaled(VarianceScaling):
    """A variance scaling with fixed arguments."""

    _arguments = (1.0, "fan_avg", "uniform")

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(*self._arguments, seed=seed, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal initializer."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class UniformUnitScaling(Initializer):
    """Uniform, so that a product with inputs of variance 1 has variance `factor` squared."""

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.factor, self.seed = factor, seed

    def _values(self, dims: Any, dtype: DType) -> Any:
        size = max(1.0, math.prod(float(d) for d in dims[:-1]))
        limit = math.sqrt(3 / size) * self.factor
        return stateful.uniform(dims, -limit, limit, dtype, seed=self.seed)


class GlorotUniform(_Scaled):
    """Uniform, scaled by the mean of inputs and outputs (Glorot and Bengio, 2010)."""


class GlorotNormal(_Scaled):
    """Normal, scaled by the mean of inputs and outputs (Glorot and Bengio, 2010)."""

    _arguments = (1.0, "fan_avg", "truncated_normal")


class HeNormal(_Scaled):
    """Normal, scaled by the inputs (He et al., 2015)."""

    _arguments = (2.0, "fan_in", "truncated_normal")


class HeUniform(_Scaled):
    """Uniform, scaled by the inputs (He et al., 2015)."""

    _arguments = (2.0, "fan_in", "uniform")


class LecunNormal(_Scaled):
    """Normal, scaled by the inputs (LeCun et al., 1998)."""

    _arguments = (1.0, "fan_in", "truncated_normal")


class LecunUniform(_Scaled):
    """Uniform, scaled by the inputs (LeCun et al., 1998)."""

    _arguments = (1.0, "fan_in", "uniform")


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times `gain`."""

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(dtype)
        self.gain, self.seed = gain, seed

    def _values(self, dims: Any, dtype: DType) -> Any:
        if len(dims) < 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at "
                f"least two-dimensional. Received shape={dims}"
            )
        rows, columns = math.prod(dims[:-1]), dims[-1]
        tall = (max(rows, columns), min(rows, columns))
        q, r = raw.Qr(stateful.normal(tall, dtype=dtype, seed=self.seed), full_matrices=False)
        signed = raw.Mul(q, raw.Sign(diagonals.diag_part(r)))
        if rows < columns:
            signed = raw.Transpose(signed, np.array([1, 0], np.int32))
        return raw.Mul(raw.Cast(self.gain, DstT=dtype), raw.Reshape(signed, dims))


class Identity(Initializer):
    """The identity matrix, times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(dtype)
        self.gain = gain

    def _values(self, dims: Any, dtype: DType) -> Any:
        if len(dims) != 2:
            raise ValueError(
                "The tensor to initialize, specified by argument `shape` must be at "
                f"most two-dimensional. Received shape={dims}"
            )
        return raw.Cast(self.gain * np.eye(*dims), DstT=dtype)
