"""Samples of random ops of distributions with parameters."""

from tests.ops.samples import T, each, f32, f64, i32, i64, of, sample, u64

FLOATS = ("float16", "float32", "float64")
RATES = (*FLOATS, "int32", "int64")
KEYS = {"key": u64([0x123456789ABCDEF0]), "counter": u64([7, 9]), "alg": i32.of(1)}
SHAPES = [0.2, 1.0, 1.5, 9.0]
MEANS = [0, 1, 7, 20]
SAMPLED = "a sample moves only as far as its draws are kept"

each(FLOATS, "RandomGamma", shape=i32([50]), alpha=of(SHAPES), seed=3, seed2=4, ulp=4, grad=SAMPLED)
each(
    FLOATS,
    "StatelessRandomGammaV2",
    shape=i32([50, 4]),
    seed=i64([1, 2]),
    alpha=of(SHAPES),
    ulp=4,
    grad=SAMPLED,
)
each(
    FLOATS,
    "StatelessRandomGammaV3",
    shape=i32([50, 4]),
    **KEYS,
    alpha=of(SHAPES),
    ulp=4,
    grad=SAMPLED,
)
each(RATES, "RandomPoissonV2", shape=i32([50]), rate=of(MEANS), seed=3, seed2=4, dtype=T)
each(RATES, "StatelessRandomPoisson", shape=i32([50, 4]), seed=i64([1, 2]), lam=of(MEANS), dtype=T)
sample("RandomPoissonV2", shape=i32([2]), rate=f64([-1.0]), seed=3, seed2=4, dtype="float32")
for output in RATES:
    sample(
        "StatelessRandomBinomial",
        shape=i32([50, 3]),
        seed=i64([1, 2]),
        counts=f64([30.0, 100.0, 50.0]),
        probs=f64([0.5, 0.8, 0.0]),
        dtype=output,
    )
sample(
    "StatelessRandomBinomial",
    shape=i32([7, 3, 2]),
    seed=i64([1, 2]),
    counts=f32([[9.0], [40.0], [2.0]]),
    probs=f32([0.3, 0.5]),
)
sample(
    "StatelessRandomBinomial",
    shape=i32([3]),
    seed=i64([1, 2]),
    counts=f32(2),
    probs=f32.of(0.5),
    error=("InvalidArgumentError", "must end with"),
)
