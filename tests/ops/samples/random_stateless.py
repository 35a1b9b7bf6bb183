"""Samples of random ops without state."""

from tests.ops.samples import FLOATING, INDEX, T, each, f32, i32, i64, of, s, sample, u64

WIDE = ("int32", "int64", "uint32", "uint64")
KEYS = {"key": u64([0x123456789ABCDEF0]), "counter": u64([2**64 - 2, 7]), "alg": i32.of(1)}

sample("StatelessRandomGetAlg")
for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
    each(INDEX, op, seed=of([1, -2]))
    sample(
        op, seed=i32([1, 2, 3]), error=("InvalidArgumentError", "seed must have shape [2], not [3]")
    )

for kind in ("RandomUniform", "RandomNormal", "TruncatedNormal"):
    each(FLOATING, f"Stateless{kind}V2", shape=i32([3, 7]), **KEYS, dtype=T, ulp=4)
    sample(f"Stateless{kind}V2", shape=i64([0]), **KEYS)
    each(FLOATING, f"Stateless{kind}", shape=i32([3, 7]), seed=i32([5, -6]), dtype=T, ulp=4)
sample("StatelessRandomUniformV2", shape=i32([40000]), **KEYS)
sample(
    "StatelessRandomUniformV2",
    shape=i32([2]),
    **(KEYS | {"counter": u64([1])}),
    parity="reads past the counter",
    error=("InvalidArgumentError", "length at least 2"),
)

each(WIDE, "StatelessRandomUniformFullIntV2", shape=i32([3, 7]), **KEYS, dtype=T)
each(WIDE, "StatelessRandomUniformFullInt", shape=i32([3, 7]), seed=i64([5, -6]), dtype=T)
each(
    WIDE[:2],
    "StatelessRandomUniformIntV2",
    shape=i32([3, 7]),
    **KEYS,
    minval=of(3),
    maxval=of(1000),
)
each(
    WIDE[2:],
    "StatelessRandomUniformIntV2",
    shape=i32([3, 7]),
    **KEYS,
    minval=of(3),
    maxval=of(1000),
    parity="has no kernel on CPU there",
)
each(
    INDEX,
    "StatelessRandomUniformInt",
    shape=i32([3, 7]),
    seed=i64([5, -6]),
    minval=of(-30),
    maxval=of(1000),
)
sample(
    "StatelessRandomUniformIntV2",
    shape=i32([2]),
    **KEYS,
    minval=i32.of(3),
    maxval=i32.of(3),
    error=("InvalidArgumentError", "Need minval < maxval, got 3 >= 3"),
)
sample("StatelessShuffle", value=f32(6, 2), **KEYS)
sample("StatelessShuffle", value=s(["a", "b", "c"]), **KEYS)
each(
    FLOATING,
    "StatelessMultinomial",
    logits=of([[0, 1, 2, 3], [1, 1, 1, 1]]),
    num_samples=i32.of(21),
    seed=i32([1, 2]),
)
