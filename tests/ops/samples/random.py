"""Samples of random ops with a state; TensorFlow's first draw with these seeds."""

from tests.ops.samples import FLOATING, INDEX, T, each, f32, i32, i64, of, s, sample

SEEDS = {"seed": 3, "seed2": 4}

for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    each(FLOATING, op, shape=i32([3, 7]), dtype=T, **SEEDS, ulp=4)
    sample(op, shape=i64([2, 0, 3]), dtype="float32", **SEEDS)
    sample(op, shape=i32([]), dtype="float64", seed=-5, seed2=0)
    sample(op, shape=i32([-1]), dtype="float32", error=("InvalidArgumentError", "must be >= 0"))
    sample(
        op,
        shape=i32([2]),
        dtype="int32",
        error=("InvalidArgumentError", "not in the list of allowed values"),
    )
    sample(op, shape=i32([2]), dtype="float32", nondeterministic=True)
sample("RandomUniform", shape=i32([3000, 11]), dtype="float32", **SEEDS)
sample("TruncatedNormal", shape=i32([2000]), dtype="float64", **SEEDS)

each(INDEX, "RandomUniformInt", shape=i32([5]), minval=of(-3), maxval=of(1000), **SEEDS)
each(
    INDEX, "RandomUniformInt", shape=i64([2, 3]), minval=of(-(2**31)), maxval=of(2**31 - 1), **SEEDS
)
sample(
    "RandomUniformInt",
    shape=i32([2]),
    minval=i32.of(5),
    maxval=i32.of(5),
    error=("InvalidArgumentError", "Need minval < maxval, got 5 >= 5"),
)
sample(
    "RandomUniformInt",
    shape=i32([2]),
    minval=i32([5]),
    maxval=i32.of(5),
    error=("InvalidArgumentError", "minval must be 0-D, got shape [1]"),
)

for size in (0, 1, 2, 5, 6, 10, 33):
    sample("RandomShuffle", value=i32(list(range(size))), **SEEDS)
sample("RandomShuffle", value=f32(6, 2), **SEEDS)
sample("RandomShuffle", value=s(["a", "b", "c"]), **SEEDS)

each(
    FLOATING,
    "Multinomial",
    logits=of([[0, 1, 2, 3], [1, 1, 1, 1], [9, 0, 0, 0]]),
    num_samples=i32.of(21),
    **SEEDS,
)
sample(
    "Multinomial",
    logits=f32([[1, 2, float("nan"), 3, float("-inf"), 2]]),
    num_samples=i32.of(50),
    output_dtype="int32",
    **SEEDS,
)
sample(
    "Multinomial",
    logits=f32([1.0, 2.0]),
    num_samples=i32.of(3),
    error=("InvalidArgumentError", "logits should be a matrix, got shape [2]"),
)
sample(
    "Multinomial",
    logits=f32(1, 2),
    num_samples=i32.of(-3),
    error=("InvalidArgumentError", "num_samples should be non-negative, got -3"),
)
