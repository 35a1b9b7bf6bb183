"""Random ops without state: the same seed gives the same numbers, everywhere and always."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import INDEX, ORDINARY, REAL, DType, int32, int64, uint32, uint64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.ops.random.philox import MASK64, Stream
from intaglio.ops.random.stateful import (
    categorical_shape,
    check_categorical,
    check_float,
    check_range,
    drawn_shape,
)
from intaglio.ops.shape_inputs import dims_of

PHILOX = 1
THREEFRY = 2
AUTO_SELECT = 3
INTEGERS = (int32, int64, uint32, uint64)


def seeded(seed: Any) -> Stream:
    """The stream of a seed of two integers. Raises InvalidArgumentError."""
    if np.shape(seed) != (2,):
        shape = ",".join(map(str, np.shape(seed)))
        raise invalid_argument(f"seed must have shape [2], not [{shape}]")
    return philox.scrambled(int(seed[0]), int(seed[1]))


def keyed(key: Any, counter: Any, alg: Any) -> Stream:
    """The stream of a key and a counter. Raises InvalidArgumentError."""
    if np.ndim(alg) != 0:
        raise invalid_argument("algorithm must be of shape [], not a vector")
    if int(alg) not in (PHILOX, AUTO_SELECT):
        if int(alg) == THREEFRY:
            raise invalid_argument(
                "The ThreeFry algorithm exists on XLA devices only: "
                'use alg="philox" or alg="auto_select"'
            )
        raise invalid_argument(f"Unsupported algorithm id: {int(alg)}")
    if np.shape(key) != (1,):
        raise invalid_argument(f"key must have shape [1], not {list(np.shape(key))}")
    if np.ndim(counter) != 1 or len(counter) < 2:
        raise invalid_argument(
            f"counter must be a vector with length at least 2; got shape: {list(np.shape(counter))}"
        )
    return Stream(int(key[0]) & MASK64, int(counter[0]), int(counter[1]))


def _vector(spec: Spec, length: int, what: str) -> None:
    if not shapes.compatible(spec.shape, (length,)):
        raise ShapeError(f"{what} must have shape [{length}], not {shapes.text(spec.shape)}")


# -- keys ----------------------------------------------------------------------------


@op
class StatelessRandomGetKeyCounter(Op):
    """The key and counter of a seed of two integers."""

    native_exact = True
    signature = "seed: Tseed -> key: uint64, counter: uint64"
    differentiable = False
    Tseed = INDEX

    def infer(self, seed: Spec) -> Any:
        _vector(seed, 2, "seed")
        return Spec(uint64, (1,)), Spec(uint64, (2,))

    def kernel(self, seed):
        key, low, high = seeded(seed)
        return np.array([key], np.uint64), np.array([low, high], np.uint64)


@op
class StatelessRandomGetAlg(Op):
    """The number of the algorithm that runs on this device: Philox."""

    signature = "-> alg: int32"
    differentiable = False

    def infer(self) -> Spec:
        return Spec(int32, ())

    def kernel(self):
        return np.asarray(PHILOX, np.int32)


@op
class StatelessRandomGetKeyCounterAlg(Op):
    """The key, counter and algorithm for a seed of two integers."""

    native_exact = True
    signature = "seed: Tseed -> key: uint64, counter: uint64, alg: int32"
    differentiable = False
    Tseed = INDEX

    def infer(self, seed: Spec) -> Any:
        _vector(seed, 2, "seed")
        return Spec(uint64, (1,)), Spec(uint64, (2,)), Spec(int32, ())

    def kernel(self, seed):
        key, low, high = seeded(seed)
        counter = np.array([low, high], np.uint64)
        return np.array([key], np.uint64), counter, np.asarray(PHILOX, np.int32)


# -- floats --------------------------------------------------------------------------


class KeyedFloats(Op):
    """Random floats of a shape, from a key and a counter."""

    signature = (
        "shape: Tshape, key: uint64, counter: uint64, alg: int32;"
        " dtype: type = float32 -> output: dtype"
    )
    differentiable = False
    Tshape = INDEX
    draw: Any = None

    def infer(self, shape: Spec, key: Spec, dtype: DType) -> Spec:
        _vector(key, 1, "key")
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, key, counter, alg, dtype: DType):
        dims = dims_of(shape, dtype.size)
        check_float(dtype)
        start = keyed(key, counter, alg)
        return self.draw(start, shapes.count(dims), dtype.numpy).reshape(dims)


@op
class StatelessRandomUniformV2(KeyedFloats):
    """Floats in [0, 1)."""

    native_exact = True
    draw = staticmethod(philox.uniform)


@op
class StatelessRandomNormalV2(KeyedFloats):
    """Normals of mean 0 and standard deviation 1."""

    draw = staticmethod(philox.normal)


@op
class StatelessTruncatedNormalV2(KeyedFloats):
    """Standard normals, drawn again while more than two standard deviations off."""

    draw = staticmethod(philox.truncated_normal)


class SeededFloats(Op):
    """Random floats of a shape, from a seed."""

    signature = "shape: T, seed: Tseed; dtype: type = float32 -> output: dtype"
    differentiable = False
    T = INDEX
    Tseed = INDEX
    draw: Any = None

    def infer(self, shape: Spec, seed: Spec, dtype: DType) -> Spec:
        _vector(seed, 2, "seed")
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, seed, dtype: DType):
        dims = dims_of(shape, dtype.size)
        check_float(dtype)
        return self.draw(seeded(seed), shapes.count(dims), dtype.numpy).reshape(dims)


@op
class StatelessRandomUniform(SeededFloats):
    """Floats in [0, 1)."""

    native_exact = True
    draw = staticmethod(philox.uniform)


@op
class StatelessRandomNormal(SeededFloats):
    """Normals of mean 0 and standard deviation 1."""

    draw = staticmethod(philox.normal)


@op
class StatelessTruncatedNormal(SeededFloats):
    """Standard normals, drawn again while more than two standard deviations off."""

    draw = staticmethod(philox.truncated_normal)


# -- integers ------------------------------------------------------------------------


@op
class StatelessRandomUniformIntV2(Op):
    """Integers in [minval, maxval), from a key and a counter."""

    native_exact = True
    signature = (
        "shape: Tshape, key: uint64, counter: uint64, alg: int32,"
        " minval: dtype, maxval: dtype -> output: dtype"
    )
    differentiable = False
    Tshape = INDEX
    dtype = INTEGERS

    def infer(self, shape: Spec, key: Spec, minval: Spec) -> Spec:
        _vector(key, 1, "key")
        return Spec(minval.dtype, drawn_shape(shape))

    def kernel(self, shape, key, counter, alg, minval, maxval):
        dims = dims_of(shape, minval.dtype.itemsize)
        check_range(minval, maxval)
        start = keyed(key, counter, alg)
        count = shapes.count(dims) or 0
        result = philox.uniform_int(start, count, minval, maxval, minval.dtype)
        return result.reshape(dims)


@op
class StatelessRandomUniformInt(Op):
    """Integers in [minval, maxval), from a seed."""

    native_exact = True
    signature = "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype"
    differentiable = False
    T = INDEX
    Tseed = INDEX
    dtype = INTEGERS

    def infer(self, shape: Spec, seed: Spec, minval: Spec) -> Spec:
        _vector(seed, 2, "seed")
        return Spec(minval.dtype, drawn_shape(shape))

    def kernel(self, shape, seed, minval, maxval):
        dims = dims_of(shape, minval.dtype.itemsize)
        check_range(minval, maxval)
        count = shapes.count(dims) or 0
        start = seeded(seed)
        result = philox.uniform_int(start, count, minval, maxval, minval.dtype)
        return result.reshape(dims)


@op
class StatelessRandomUniformFullIntV2(Op):
    """Integers over the whole range of the dtype, from a key and a counter."""

    native_exact = True
    signature = (
        "shape: Tshape, key: uint64, counter: uint64, alg: int32;"
        " dtype: type = uint64 -> output: dtype"
    )
    differentiable = False
    Tshape = INDEX

    def infer(self, shape: Spec, key: Spec, dtype: DType) -> Spec:
        _vector(key, 1, "key")
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, key, counter, alg, dtype: DType):
        dims = dims_of(shape, dtype.size)
        _check_integer(dtype)
        start = keyed(key, counter, alg)
        result = philox.full_int(start, shapes.count(dims) or 0, dtype.numpy)
        return result.reshape(dims)


@op
class StatelessRandomUniformFullInt(Op):
    """Integers over the whole range of the dtype, from a seed."""

    native_exact = True
    signature = "shape: T, seed: Tseed; dtype: type = uint64 -> output: dtype"
    differentiable = False
    T = INDEX
    Tseed = (*INDEX, uint32, uint64)

    def infer(self, shape: Spec, seed: Spec, dtype: DType) -> Spec:
        _vector(seed, 2, "seed")
        return Spec(dtype, drawn_shape(shape))

    def kernel(self, shape, seed, dtype: DType):
        dims = dims_of(shape, dtype.size)
        _check_integer(dtype)
        result = philox.full_int(seeded(seed), shapes.count(dims) or 0, dtype.numpy)
        return result.reshape(dims)


def _check_integer(dtype: DType) -> None:
    if dtype not in INTEGERS:
        raise invalid_argument(
            f"Value for attr 'dtype' of {dtype.name} is not in the list of allowed "
            "values: int32, int64, uint32, uint64"
        )


# -- permutations and categories -----------------------------------------------------


@op
class StatelessShuffle(Op):
    """The value with its first dimension in another order."""

    signature = "value: T, key: uint64, counter: uint64, alg: int32 -> output: T"
    T = ORDINARY

    def infer(self, value: Spec, key: Spec) -> Spec:
        _vector(key, 1, "key")
        return Spec(value.dtype, value.shape)

    def kernel(self, value, key, counter, alg):
        if np.ndim(value) == 0 or len(value) < 2:
            return value
        return value[philox.permutation(keyed(key, counter, alg), len(value))]


@op
class StatelessMultinomial(Op):
    """Samples from each row of unnormalised log-probabilities, for a seed."""

    signature = (
        "logits: T, num_samples: int32, seed: Tseed;"
        " output_dtype: type = int64 -> output: output_dtype"
    )
    differentiable = False
    T = REAL
    Tseed = INDEX

    def infer(self, logits: Spec, num_samples: Spec, seed: Spec, output_dtype: DType) -> Spec:
        _vector(seed, 2, "seed")
        return Spec(output_dtype, categorical_shape(logits, num_samples))

    def kernel(self, logits, num_samples, seed, output_dtype: DType):
        check_categorical(logits, num_samples)
        result = philox.categories(seeded(seed), logits, int(num_samples))
        return result.astype(output_dtype.numpy, copy=False)
