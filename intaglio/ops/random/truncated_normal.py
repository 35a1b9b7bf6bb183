"""Normal numbers of given means and deviations between given bounds, by rejection.

The methods are those of Robert, "Simulation of truncated normal variables" (1995): normal numbers
outside are rejected; where few would be inside, the proposals are uniform or exponential. The
choice of the method, and the order of the random numbers, follow TensorFlow's results with one
thread for the op (`tf.config.threading.set_intra_op_parallelism_threads(1)`). With more it divides
long results among them at positions that depend on their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, INDEX, float16, float32, float64
from intaglio.base.errors import InternalError, ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant, spec_of, unbroadcast
from intaglio.ops.random import philox
from intaglio.ops.random.philox import Stream
from intaglio.ops.random.stateful import SAMPLED_BYTES, drawn_shape
from intaglio.ops.random.stateless import seeded
from intaglio.ops.shape_inputs import dims_of

# Normals are proposed where a bound is farther than this from the mean, and the other on its other side.
FAR = 1.3
# So many numbers of one interval are sampled as rows of their own.
NUMBERS_IN_ROW = 100
# Blocks that are drawn in one go at least, an even number.
MIN_BLOCKS = 8
# The most proposals for a number, after which there is none.
MAX_REJECTED = 4000
# Rows of fewer numbers are drawn one number at a time.
FEW_NUMBERS = 16
# Blocks that short rows take from at a time.
MAX_WINDOW = 4096
# The difference of two expressions for a bound, in units in the last place.
CLOSE_ULPS = 16


class Interval:
    """Standard normal numbers between two bounds, which are NumPy scalars of one dtype.

    A proposal is computed from one number of the stream, and accepted by comparing another one with
    a bound.
    """

    def __init__(self, low: Any, high: Any) -> None:
        # Both bounds on the right side of the mean, or the one that there is on the left.
        self.mirrored = bool(high < 0 or np.isneginf(low))
        self.low, self.high = (-high, -low) if self.mirrored else (low, high)
        low, high = self.low, self.high
        self.normal = bool((low < -FAR and high >= 0) or (high > FAR and low <= 0))
        self.uniform = not self.normal and bool(low <= 0 or high < _longest(float(low)))
        # Of uniform proposals the numbers that decide are a block of their own.
        self.blocks = 2 if self.uniform else 1
        self.top = low * low / 2 if low >= 0 else low * 0
        self.rate = (low + np.sqrt(low * low + 4)) / 2

    def proposed(self, stream: Stream, blocks: int) -> tuple[Any, Any]:
        """The numbers that the blocks propose, in order, and which of them are accepted."""
        if self.normal:
            values = _normals(stream, blocks, self.low.dtype)
            return values, (values >= self.low) & (values <= self.high)
        numbers = _uniforms(stream, blocks, self.low.dtype)
        if self.uniform:
            numbers = numbers.reshape(blocks // 2, 2, -1).swapaxes(0, 1).reshape(2, -1)
        else:
            numbers = numbers.reshape(-1, 2).T
        return numbers[0], self.accepted(*numbers)

    def accepted(self, numbers: Any, deciding: Any) -> Any:
        """Whether uniform or exponential proposals are accepted."""
        values = self.values(numbers)
        if self.uniform:
            return deciding <= np.exp((self.top - values * values / 2).astype(values.dtype))
        bound = np.exp(-((values - self.rate) ** 2) / 2)
        return (deciding < bound) & (values < self.high)

    def values(self, numbers: Any) -> Any:
        """The standard normal numbers for numbers of the stream, before mirroring."""
        if self.normal:
            return numbers
        if self.uniform:
            return numbers * (self.high - self.low) + self.low
        return -_log(numbers) / self.rate + self.low


def _longest(low: float) -> float:
    """Up to this upper bound uniform proposals are accepted more often than exponential ones."""
    root = math.sqrt(low * low + 4)
    return low + 2 * math.sqrt(math.e) / (low + root) * math.exp((low * low - low * root) / 4)


def _in_block(dtype: Any) -> int:
    return 2 if dtype == np.float64 else 4


def _normals(stream: Stream, blocks: int, dtype: Any) -> Any:
    return philox.normal(stream, blocks * _in_block(dtype), dtype)


def _uniforms(stream: Stream, blocks: int, dtype: Any) -> Any:
    return philox.uniform(stream, blocks * _in_block(dtype), dtype)


def _log(numbers: Any) -> Any:
    """The logarithm, rounded once."""
    with np.errstate(divide="ignore"):
        return np.log(numbers.astype(np.float64)).astype(numbers.dtype)


def _none_accepted(interval: Interval) -> Exception:
    return InternalError(
        None,
        None,
        "TruncatedNormal rejection sampler failed to accept a sample between "
        f"{interval.low} and {interval.high} standard deviations.",
    )


def fill(stream: Stream, interval: Interval, out: Any) -> Stream:
    """Fills `out` with standard normals of the interval. Returns the stream from the next block on."""
    each = _in_block(out.dtype)
    filled, rejected = 0, 0
    while filled < len(out):
        blocks = MIN_BLOCKS + 2 * -(-(len(out) - filled) // each)
        numbers, accepted = interval.proposed(stream, blocks)
        taken = np.flatnonzero(accepted)[: len(out) - filled]
        out[filled : filled + len(taken)] = interval.values(numbers[taken])
        filled += len(taken)
        if filled == len(out):  # the rest of the blocks is for others
            units = blocks // interval.blocks
            blocks = interval.blocks * (1 + int(taken[-1]) * units // len(numbers))
        stream = stream.skipped(blocks)
        rejected = 0 if len(taken) else rejected + len(numbers)
        if rejected > MAX_REJECTED:
            raise _none_accepted(interval)
    if interval.mirrored:
        np.negative(out, out=out)
    return stream


class Window:
    """The numbers of a stream as Python floats, which many short rows take one by one."""

    def __init__(self, stream: Stream, blocks: int, dtype: Any) -> None:
        self._stream, self._size, self._dtype = stream, blocks + blocks % 2, np.dtype(dtype)
        self._each = _in_block(self._dtype)
        self._close = CLOSE_ULPS * float(ml_dtypes.finfo(self._dtype).eps)
        self._first, self._block = 0, 0
        self._numbers: dict[Any, list[float]] = {}

    def take(self, interval: Interval, count: int) -> list[float]:
        """The numbers of the next accepted proposals; those after them begin a new block."""
        accepts = self._normals if interval.normal else self._others
        found: list[float] = []
        rejected = 0
        while len(found) < count:
            if self._block + 2 > self._first + self._size:
                self._first = self._block
                self._numbers.clear()
            accepted = accepts(interval, (self._block - self._first) * self._each)
            self._block += interval.blocks
            rejected = 0 if accepted else rejected + self._each
            if rejected > MAX_REJECTED:
                raise _none_accepted(interval)
            found += accepted
        return found[:count]

    def _list(self, kind: Callable[..., Any]) -> list[float]:
        numbers = self._numbers.get(kind)
        if numbers is None:
            array = kind(self._stream.skipped(self._first), self._size, self._dtype)
            numbers = self._numbers[kind] = array.astype(np.float64).tolist()
        return numbers

    def _normals(self, interval: Interval, start: int) -> list[float]:
        low, high = float(interval.low), float(interval.high)
        return [v for v in self._list(_normals)[start : start + self._each] if low <= v <= high]

    def _others(self, interval: Interval, start: int) -> list[float]:
        numbers = self._list(_uniforms)[start : start + self._each * interval.blocks]
        if interval.uniform:
            pairs = zip(numbers[: self._each], numbers[self._each :], strict=True)
        else:
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return [u for u, v in pairs if self._is_accepted(interval, u, v)]

    def _is_accepted(self, interval: Interval, u: float, v: float) -> bool:
        low = float(interval.low)
        if interval.uniform:
            value = u * (float(interval.high) - low) + low
            difference = v - math.exp(float(interval.top) - value * value / 2)
        else:
            rate = float(interval.rate)
            value = low - math.log(u or 1.0) / rate
            difference = v - math.exp(-((value - rate) ** 2) / 2)
        size = abs(difference)
        if u and size > self._close * (1 + value * value) and value < float(interval.high):
            return difference < 0
        numbers = np.array([u, v], self._dtype)  # close enough to ask for the bits
        return bool(interval.accepted(numbers[:1], numbers[1:])[0])


def truncated(stream: Stream, parameters: Any, count: int, dtype: Any) -> Any:
    """`count` numbers for each row of `parameters`: [rows, 4] of mean, deviation, lower and upper bound.

    Returns [rows, count]. Raises InvalidArgumentError for rows without an interval, InternalError where
    no proposal is accepted.
    """
    means, deviations, lowest, highest = parameters.T
    if not (np.all(deviations > 0) and np.all(lowest < highest)):
        raise invalid_argument("Invalid parameters: give a stddev > 0 and a minval < maxval")
    if np.any(np.isinf(lowest) & np.isinf(highest)):
        raise invalid_argument("Invalid parameters: one of minval and maxval has to be finite")
    with np.errstate(all="ignore"):
        low, high = (lowest - means) / deviations, (highest - means) / deviations
        intervals = [Interval(a, b) for a, b in zip(low, high, strict=True)]
        result = np.empty((len(parameters), count), dtype)
        if 0 < count < FEW_NUMBERS:
            _fill_short(stream, intervals, result)
        elif count:
            for interval, row in zip(intervals, result, strict=True):
                stream = fill(stream, interval, row)
        return result * deviations[:, None] + means[:, None]


def _fill_short(stream: Stream, intervals: list[Interval], result: Any) -> None:
    """Rows of few numbers each: what takes NumPy long for few is done for all of them."""
    blocks = 2 * result.size // _in_block(result.dtype) + 2 * len(intervals)
    window = Window(stream, min(blocks, MAX_WINDOW), result.dtype)
    for interval, row in zip(intervals, result, strict=True):
        numbers = np.array(window.take(interval, len(row)), row.dtype)
        row[...] = interval.values(numbers)
        if interval.mirrored:
            np.negative(row, out=row)


@op
class StatelessParameterizedTruncatedNormal(Op):
    """Truncated normals of a seed; the shape ends with that of the parameters together."""

    signature = (
        "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype,"
        " maxvals: dtype -> output: dtype"
    )
    S = INDEX
    Tseed = INDEX
    dtype = (float16, float32, float64)

    def infer(self, shape: Spec, means: Spec) -> Spec:
        return Spec(means.dtype, drawn_shape(shape))

    def kernel(self, shape, seed, means, stddevs, minvals, maxvals):
        parameters = np.broadcast_arrays(means, stddevs, minvals, maxvals)
        own, dims = parameters[0].shape, dims_of(shape, SAMPLED_BYTES)
        if own != dims[max(len(dims) - len(own), 0) :]:
            raise invalid_argument(
                f"Shape passed in must end with broadcasted shape: {list(dims)} does not "
                f"end with {list(own)}"
            )
        rows = np.stack(parameters, -1).reshape(-1, 4)
        each = (shapes.count(dims) or 0) // (len(rows) or 1)
        return truncated(seeded(seed), rows, each, means.dtype).T.reshape(dims)

    def gradient(self, means, stddevs, minvals, maxvals, output, doutput) -> Any:
        """By implicit differentiation of each sample in the bounds; mean and deviation move and
        stretch it, as if the bounds moved with them: so TensorFlow does."""

        def standard(values: Any) -> Any:
            return raw.RealDiv(raw.Sub(values, means), stddevs)

        z, low, high = standard(output), standard(minvals), standard(maxvals)
        whole = _between(low, high)
        by_low = raw.Mul(raw.RealDiv(_between(z, high), whole), _density_ratio(low, z))
        by_high = raw.Mul(raw.RealDiv(_between(low, z), whole), _density_ratio(high, z))
        slopes = (raw.OnesLike(output), z, by_low, by_high)
        parts = [raw.Mul(doutput, slope) for slope in slopes]
        pairs = zip(parts, (means, stddevs, minvals, maxvals), strict=True)
        return None, None, *(unbroadcast(part, spec_of(p), spec_of(part)) for part, p in pairs)


def _between(low: Any, high: Any) -> Any:
    """The probability of a normal number between two; of the tail that does not cancel."""
    root = constant(math.sqrt(0.5), low)
    right = raw.Sub(raw.Erfc(raw.Mul(low, root)), raw.Erfc(raw.Mul(high, root)))
    root = constant(-math.sqrt(0.5), low)
    left = raw.Sub(raw.Erfc(raw.Mul(high, root)), raw.Erfc(raw.Mul(low, root)))
    return raw.SelectV2(raw.Greater(low, constant(0, low)), right, left)


def _density_ratio(bound: Any, z: Any) -> Any:
    """The normal density at a bound divided by that at a sample."""
    exponent = raw.Mul(raw.Sub(raw.Square(z), raw.Square(bound)), constant(0.5, z))
    return raw.Exp(exponent)


@op
class ParameterizedTruncatedNormal(Op):
    """Truncated normals, one row of the result for each set of parameters."""

    signature = (
        "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype;"
        " seed: int = 0, seed2: int = 0 -> output: dtype"
    )
    differentiable = False
    stateful = True
    droppable = True
    T = INDEX
    dtype = FLOATING

    def infer(self, shape: Spec, means: Spec) -> Spec:
        if means.rank not in (None, 0, 1):
            raise ShapeError(f"Shape must be at most rank 1 but is rank {means.rank}")
        return Spec(means.dtype, drawn_shape(shape))

    def kernel(self, shape, means, stdevs, minvals, maxvals, stream):
        dims = dims_of(shape, SAMPLED_BYTES)
        if not dims:
            raise invalid_argument("Shape tensor must not be empty")
        named = {"means": means, "stddevs": stdevs, "minvals": minvals, "maxvals": maxvals}
        for name, operand in named.items():
            _check_parameter(name, operand, dims)
        size = shapes.count(dims) or 0
        # Samples with the same parameters are divided into rows of their own.
        of_all = (
            np.ndim(minvals) == np.ndim(maxvals) == 0 and np.size(means) == np.size(stdevs) == 1
        )
        count = min(NUMBERS_IN_ROW, size) if of_all else size // (dims[0] or 1)
        rows = -(-size // (count or 1))
        columns = [np.broadcast_to(np.reshape(g, -1), rows) for g in named.values()]
        # What TensorFlow sets aside.
        start = stream.take(rows * 500 * (count + 3))
        result = truncated(start, np.stack(columns, -1), count, means.dtype)
        return result.reshape(-1)[:size].reshape(dims)


def _check_parameter(name: str, operand: Any, dims: tuple[int, ...]) -> None:
    """Raises InvalidArgumentError for what is neither a number nor one for each row."""
    shape = list(np.shape(operand))
    if len(shape) > 1:
        raise invalid_argument(f"Input {name} should be a scalar or vector, got shape: {shape}")
    if shape and shape[0] not in (1, dims[0]):
        raise invalid_argument(
            f"Input {name} should have length 1 or shape[0], got shape: {shape}, shape[0] is {dims[0]}"
        )
