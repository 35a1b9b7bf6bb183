"""Random numbers. ONNX does not say which ones: these are of the dtypes' streams here."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import cast, dtype_of, element, like, shape, tensor
from intaglio.opdef import raw


def _seeds(c: Any) -> dict[str, Any]:
    """A seed of the model's, as the bits of its float."""
    seed = c.attr("seed")
    return {} if seed is None else {"seed": int(np.float32(seed).view(np.int32)), "seed2": 1}


def uniform(c: Any, sizes: Any, dtype: Any) -> Any:
    """Numbers from 0 to 1."""
    return raw.RandomUniform(sizes, dtype=dtype, **_seeds(c))


def _between(c: Any, sizes: Any, dtype: Any) -> Any:
    numbers = uniform(c, sizes, dtype)
    low, high = c.attr("low", 0.0), c.attr("high", 1.0)
    return raw.AddV2(raw.Mul(numbers, like(high - low, numbers)), like(low, numbers))


def _normal(c: Any, sizes: Any, dtype: Any) -> Any:
    numbers = raw.RandomStandardNormal(sizes, dtype=dtype, **_seeds(c))
    scaled = raw.Mul(numbers, like(c.attr("scale", 1.0), numbers))
    return raw.AddV2(scaled, like(c.attr("mean", 0.0), numbers))


def _like(c: Any, x: Any) -> Any:
    number = c.attr("dtype")
    return dtype_of(number) if number is not None else element(x)


@operator("RandomUniform")
def _random_uniform(c) -> Any:
    return _between(c, np.array(c.attr("shape"), np.int64), dtype_of(c.attr("dtype", 1)))


@operator("RandomUniformLike")
def _random_uniform_like(c, x) -> Any:
    return _between(c, shape(x), _like(c, x))


@operator("RandomNormal")
def _random_normal(c) -> Any:
    return _normal(c, np.array(c.attr("shape"), np.int64), dtype_of(c.attr("dtype", 1)))


@operator("RandomNormalLike")
def _random_normal_like(c, x) -> Any:
    return _normal(c, shape(x), _like(c, x))


@operator("Bernoulli")
def _bernoulli(c, x) -> Any:
    x = tensor(x)
    drawn = raw.Less(cast(uniform(c, shape(x), dtypes.float32), x.dtype), x)
    return cast(drawn, _like(c, x))


@operator("Multinomial")
def _multinomial(c, x) -> Any:
    """Numbers of classes, from their unnormalised log probabilities."""
    count = np.int32(c.attr("sample_size", 1))
    found = raw.Multinomial(tensor(x), count, output_dtype=dtypes.int64, **_seeds(c))
    return cast(found, dtype_of(c.attr("dtype", 6)))
