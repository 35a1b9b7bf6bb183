"""Random ops with a state of their own: each call advances its stream.

A kernel requests `stream`, the state of its node (or eagerly, of the calls with the same seeds),
and takes from it as many counters as TensorFlow's kernels reserve. Since every node has a stream of
its own, the nodes of a graph need no order, and one whose numbers are unused is dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, INDEX, ORDINARY, REAL, DType
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.ops.random.philox import RESERVED
from intaglio.ops.shape_inputs import dims_of


def drawn_shape(shape: Spec) -> Any:
    """The shape of a shape input. Raises ShapeError unless it is a vector."""
    if shape.rank not in (None, 1):
        raise ShapeError(
            f"shape must be a vector of {{int32,int64}}, got shape {_text(shape.shape)}"
        )
    return shape.as_shape()


# The size of numbers of distributions, which are computed in double precision.
SAMPLED_BYTES = 8


def _text(dims: Any) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in dims) + "]"


def check_float(dtype: DType) -> None:
    """Raises InvalidArgumentError unless random floats of the dtype exist."""
    if dtype not in FLOATING:
        raise invalid_argument(
            f"Value for attr 'dtype' of {dtype.name} is not in the list of allowed "
            "values: half, bfloat16, float, double"
        )


def check_range(minval: Any, maxval: Any) -> None:
    """Raises InvalidArgumentError unless both are scalars and the range is not empty."""
    for name, value in (("minval", minval), ("maxval", maxval)):
        if np.ndim(value) != 0:
            raise invalid_argument(f"{name} must be 0-D, got shape {_text(np.shape(value))}")
    if minval >= maxval:
        raise invalid_argument(f"Need minval < maxval, got {minval} >= {maxval}")


class StatefulFloats(Op):
    """Random floats of a shape."""

    signature = "shape: T; dtype: type, seed: int = 0, seed2: int = 0 -> output: dtype"
    differentiable = False
    stateful = True
    droppable = True
    T = INDEX

    def infer(self, shape: Spec, dtype: DType) -> Spec:
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, dtype: DType, stream):
        dims = dims_of(shape, dtype.size)
        check_float(dtype)
        count = shapes.count(dims) or 0
        start = stream.take(count * RESERVED)
        return self.draw(start, count, dtype.numpy).reshape(dims)

    @staticmethod
    def draw(stream: philox.Stream, count: int, dtype: np.dtype[Any]) -> np.ndarray:
        """The numbers, from the start of the reserved counters."""
        raise NotImplementedError


@op
class RandomUniform(StatefulFloats):
    """Floats in [0, 1)."""

    draw = staticmethod(philox.uniform)


@op
class RandomStandardNormal(StatefulFloats):
    """Normals of mean 0 and standard deviation 1."""

    draw = staticmethod(philox.normal)


@op
class TruncatedNormal(StatefulFloats):
    """Standard normals, drawn again while more than two standard deviations off."""

    draw = staticmethod(philox.truncated_normal)


@op
class RandomUniformInt(Op):
    """Integers in [minval, maxval)."""

    signature = (
        "shape: T, minval: Tout, maxval: Tout; seed: int = 0, seed2: int = 0 -> output: Tout"
    )
    differentiable = False
    stateful = True
    droppable = True
    T = INDEX
    Tout = INDEX

    def infer(self, shape: Spec, minval: Spec) -> Spec:
        return Spec(minval.dtype, drawn_shape(shape))

    def kernel(self, shape, minval, maxval, stream):
        dims = dims_of(shape, minval.dtype.itemsize)
        check_range(minval, maxval)
        count = shapes.count(dims) or 0
        start = stream.take(count * RESERVED)
        result = philox.uniform_int(start, count, minval, maxval, minval.dtype)
        return result.reshape(dims)


@op
class RandomShuffle(Op):
    """The value with its first dimension in another order."""

    signature = "value: T; seed: int = 0, seed2: int = 0 -> output: T"
    stateful = True
    droppable = True
    T = ORDINARY

    def infer(self, value: Spec) -> Spec:
        return Spec(value.dtype, value.shape)

    def kernel(self, value, stream):
        if np.ndim(value) == 0 or len(value) < 2:
            return value
        start = stream.take(-(-(len(value) - 1) // 4))
        return value[philox.permutation(start, len(value))]


@op
class Multinomial(Op):
    """Samples from each row of unnormalised log-probabilities."""

    signature = (
        "logits: T, num_samples: int32; seed: int = 0, seed2: int = 0,"
        " output_dtype: type = int64 -> output: output_dtype"
    )
    output_dtype = INDEX
    differentiable = False
    stateful = True
    droppable = True
    T = REAL

    def infer(self, logits: Spec, num_samples: Spec, output_dtype: DType) -> Spec:
        return Spec(output_dtype, categorical_shape(logits, num_samples))

    def kernel(self, logits, num_samples, output_dtype: DType, stream):
        check_categorical(logits, num_samples)
        count = int(num_samples)
        start = stream.take(len(logits) * (-(-count // 4) * 4) * 2 * RESERVED)
        result = philox.categories(start, logits, count)
        return result.astype(output_dtype.numpy, copy=False)


def categorical_shape(logits: Spec, num_samples: Spec) -> Any:
    """The shape of samples from rows of logits. Raises ShapeError."""
    if logits.rank not in (None, 2):
        raise ShapeError(f"Shape must be rank 2 but is rank {logits.rank}")
    rows = None if logits.shape is None else logits.shape[0]
    count = None if num_samples.value is None else int(num_samples.value)
    return rows, count if count is None or count >= 0 else None


def check_categorical(logits: Any, num_samples: Any) -> None:
    """Raises InvalidArgumentError for arguments without a distribution."""
    if np.ndim(logits) != 2:
        raise invalid_argument(f"logits should be a matrix, got shape {_text(np.shape(logits))}")
    if np.ndim(num_samples) != 0:
        raise invalid_argument(
            f"num_samples should be a scalar, got shape {_text(np.shape(num_samples))}"
        )
    if num_samples < 0:
        raise invalid_argument(f"num_samples should be non-negative, got {num_samples}")
    if logits.shape[1] <= 0:
        raise invalid_argument(f"num_classes should be positive, got {logits.shape[1]}")
    check_allocated((len(logits), int(num_samples)), SAMPLED_BYTES, "A random tensor")
