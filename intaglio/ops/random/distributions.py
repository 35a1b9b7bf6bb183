"""Random ops of distributions with parameters: gamma, Poisson, binomial."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import INDEX, DType, float16, float32, float64, int32, int64
from intaglio.base.errors import invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import spec_of, unbroadcast
from intaglio.ops.random.generator import moved_on
from intaglio.ops.random.philox import MASK64, RESERVED, Stream
from intaglio.ops.random.rejection_sampling import binomial, gamma, poisson
from intaglio.ops.random.stateful import SAMPLED_BYTES, drawn_shape
from intaglio.ops.random.stateless import keyed, seeded
from intaglio.ops.shape_inputs import dims_of

HALF_TO_DOUBLE = (float16, float32, float64)
RATES = (*HALF_TO_DOUBLE, int32, int64)


def _for_each(shape: Spec, parameter: Spec) -> Any:
    """The shape of samples: `shape` samples for each element of a parameter."""
    lead = drawn_shape(shape)
    if lead is None or parameter.shape is None:
        return None
    return (*lead, *parameter.shape)


def _stream_numbers(size: int, parameters: int) -> Any:
    """The position in the stream of each output: one parameter's samples after another's."""
    if not parameters:
        return np.zeros(0, np.int64)
    each = size // parameters
    return (np.arange(parameters) * each + np.arange(each)[:, None]).reshape(-1)


def _sampled(function: Any, stream: Stream, parameter: Any, dims: tuple[int, ...]) -> Any:
    """`function` of a parameter repeated to fill the shape, whose last dimensions it has."""
    wide = np.asarray(parameter, np.float64).reshape(-1)
    size = shapes.count(dims) or 0
    own = np.shape(parameter)
    if own != dims[len(dims) - len(own) :]:
        raise invalid_argument(
            f"Shape passed in must end with the parameter's: {list(dims)} does not end"
            f" with {list(own)}"
        )
    if not size:
        return np.zeros(dims)
    repeated = np.tile(wide, size // len(wide))
    return function(stream, repeated, _stream_numbers(size, len(wide))).reshape(dims)


def _gamma(stream: Stream, alpha: Any, dims: tuple[int, ...]) -> Any:
    draw = functools.partial(gamma, double=alpha.dtype == np.float64)
    return _sampled(draw, stream, alpha, dims).astype(alpha.dtype)


def _gamma_slope(alpha: Any, output: Any, doutput: Any) -> Any:
    """The gradient with respect to the shape parameter, by implicit differentiation of each sample."""
    wide = raw.RandomGammaGrad(alpha, output)
    whole = raw.Mul(doutput, wide)
    return unbroadcast(whole, spec_of(alpha), spec_of(whole))


@op
class RandomGamma(Op):
    """`shape` gamma numbers for each element of `alpha`."""

    signature = "shape: S, alpha: T; seed: int = 0, seed2: int = 0 -> output: T"
    stateful = True
    droppable = True
    S = INDEX
    T = HALF_TO_DOUBLE

    def infer(self, shape: Spec, alpha: Spec) -> Spec:
        return Spec(alpha.dtype, _for_each(shape, alpha))

    def kernel(self, shape, alpha, stream):
        dims = (*dims_of(shape, SAMPLED_BYTES, each=np.shape(alpha)), *np.shape(alpha))
        start = stream.take((shapes.count(dims) or 0) * RESERVED)
        return _gamma(start, alpha, dims)

    def gradient(self, alpha, output, doutput) -> Any:
        return None, _gamma_slope(alpha, output, doutput)


@op
class StatelessRandomGammaV2(Op):
    """Gamma numbers of a seed; the shape ends with that of `alpha`."""

    signature = "shape: T, seed: Tseed, alpha: dtype -> output: dtype"
    T = INDEX
    Tseed = INDEX
    dtype = HALF_TO_DOUBLE

    def infer(self, shape: Spec, alpha: Spec) -> Spec:
        return Spec(alpha.dtype, drawn_shape(shape))

    def kernel(self, shape, seed, alpha):
        return _gamma(seeded(seed), alpha, dims_of(shape, SAMPLED_BYTES))

    def gradient(self, alpha, output, doutput) -> Any:
        return None, None, _gamma_slope(alpha, output, doutput)


@op
class StatelessRandomGammaV3(Op):
    """Gamma numbers of a key and a counter; the shape ends with that of `alpha`."""

    signature = (
        "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype"
        " -> output: dtype"
    )
    shape_dtype = INDEX
    dtype = HALF_TO_DOUBLE

    def infer(self, shape: Spec, alpha: Spec) -> Spec:
        return Spec(alpha.dtype, drawn_shape(shape))

    def kernel(self, shape, key, counter, alg, alpha):
        return _gamma(keyed(key, counter, alg), alpha, dims_of(shape, SAMPLED_BYTES))

    def gradient(self, alpha, output, doutput) -> Any:
        return None, None, None, None, _gamma_slope(alpha, output, doutput)


def _poisson(stream: Stream, rate: Any, dims: tuple[int, ...], dtype: DType) -> Any:
    numeric = dtype.numpy
    info: Any = np.iinfo(numeric) if dtype.is_integer else np.finfo(numeric)

    def draw(start: Stream, wide: Any, streams: Any) -> Any:
        return poisson(start, wide, streams, float(info.max))

    result = _sampled(draw, stream, rate, dims)
    return result.astype(numeric)


@op
class RandomPoissonV2(Op):
    """`shape` Poisson numbers for each element of `rate`."""

    signature = (
        "shape: S, rate: R; seed: int = 0, seed2: int = 0, dtype: type = int64 -> output: dtype"
    )
    stateful = True
    droppable = True
    differentiable = False
    S = INDEX
    R = RATES
    dtype = RATES

    def infer(self, shape: Spec, rate: Spec, dtype: DType) -> Spec:
        return Spec(dtype, _for_each(shape, rate))

    def kernel(self, shape, rate, dtype: DType, stream):
        dims = (*dims_of(shape, SAMPLED_BYTES, each=np.shape(rate)), *np.shape(rate))
        start = stream.take((shapes.count(dims) or 0) * RESERVED)
        return _poisson(start, rate, dims, dtype)


@op
class StatelessRandomPoisson(Op):
    """Poisson numbers of a seed; the shape ends with that of `lam`."""

    signature = "shape: T, seed: Tseed, lam: Rtype; dtype: type -> output: dtype"
    differentiable = False
    T = INDEX
    Tseed = INDEX
    Rtype = RATES
    dtype = RATES

    def infer(self, shape: Spec, dtype: DType) -> Spec:
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, seed, lam, dtype: DType):
        return _poisson(seeded(seed), lam, dims_of(shape, SAMPLED_BYTES), dtype)


def _parameters(counts: Any, probs: Any, dims: tuple[int, ...]) -> int:
    """How many parameters there are, of whose shape the last dimensions are."""
    lead = np.broadcast_shapes(np.shape(counts), np.shape(probs))
    if lead != dims[len(dims) - len(lead) :]:
        raise invalid_argument(
            f"Shape passed in must end with broadcasted shape: {list(dims)} does not "
            f"end with {list(lead)}"
        )
    return shapes.count(lead) or 0


def _binomial(stream: Stream, counts: Any, probs: Any, dims: tuple[int, ...], dtype: DType) -> Any:
    own = _parameters(counts, probs, dims)
    size = shapes.count(dims) or 0
    n = np.broadcast_to(np.asarray(counts, np.float64), dims).reshape(-1)
    p = np.broadcast_to(np.asarray(probs, np.float64), dims).reshape(-1)
    streams = _stream_numbers(size, own)
    result = binomial(stream, n, p, streams).reshape(dims)
    if dtype.is_integer:
        result = np.where(np.isnan(result), -1.0, result)
    return result.astype(dtype.numpy)


@op
class StatelessRandomBinomial(Op):
    """Binomial numbers of a seed; the shape ends with that of counts and probs together."""

    signature = "shape: S, seed: Tseed, counts: T, probs: T; dtype: type = int64 -> output: dtype"
    differentiable = False
    S = INDEX
    Tseed = INDEX
    T = RATES
    dtype = RATES

    def infer(self, shape: Spec, dtype: DType) -> Spec:
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, seed, counts, probs, dtype: DType):
        return _binomial(seeded(seed), counts, probs, dims_of(shape, SAMPLED_BYTES), dtype)


@op
class StatefulRandomBinomial(Op):
    """Binomial numbers from a generator's state, which advances by 50 numbers for each, or more."""

    signature = (
        "resource: resource, algorithm: int64, shape: S, counts: T, probs: T;"
        " dtype: type = int64 -> output: dtype"
    )
    stateful = True
    differentiable = False
    S = INDEX
    T = RATES
    dtype = RATES

    def infer(self, shape: Spec, dtype: DType) -> Spec:
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, resource, algorithm, shape, counts, probs, dtype: DType):
        dims = dims_of(shape, SAMPLED_BYTES)
        own = _parameters(counts, probs, dims) or 1
        each = (shapes.count(dims) or 0) // own
        skipped = 50 * own * (each + 3)
        low, high, key = map(int, moved_on(resource, int(algorithm), skipped)[:3])
        stream = Stream(key & MASK64, low & MASK64, high & MASK64)
        return _binomial(stream, counts, probs, dims, dtype)
