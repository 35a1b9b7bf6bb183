"""Samples of positions in permutations that are never materialised."""

from tests.ops.samples import each, i32, i64, of, sample, u32, u64

TYPES = ("int32", "uint32", "int64", "uint64")
KEY = i32([5, 9, 498247692])

each(TYPES, "RandomIndexShuffle", index=of([0, 1, 2, 3]), seed=KEY, max_index=of(3))
each(TYPES, "RandomIndexShuffle", index=of(4), seed=KEY, max_index=of(30000))
each(
    TYPES,
    "RandomIndexShuffle",
    index=of([0, 1, 70000, 100000]),
    seed=KEY,
    max_index=of(100000),
    rounds=6,
)
for key in (i32([-1, 7, -9]), i64([-1, 1 << 40, 3]), u32([1, 2, 3]), u64([1, 2, 1 << 63])):
    sample(
        "RandomIndexShuffle", index=i64([0, 5, 1 << 61]), seed=key, max_index=i64.of((1 << 62) + 3)
    )
# One permutation for each seed and range.
SEEDS = i32([[1, 2, 3], [1, 2, 3], [4, 5, 6]])
sample("RandomIndexShuffle", index=i32([0, 1, 2]), seed=SEEDS, max_index=i32([9, 9, 20000]))
sample("RandomIndexShuffle", index=i32.of(7), seed=SEEDS, max_index=i32.of(9))
# More rounds than the sequence of bits has; a range that fills its block; nothing to shuffle.
sample("RandomIndexShuffle", index=i32([0, 1, 2]), seed=KEY, max_index=i32.of(65535), rounds=70)
sample("RandomIndexShuffle", index=i32([0, 65535, 65536]), seed=KEY, max_index=i32.of(65536))
sample("RandomIndexShuffle", index=i32.of(0), seed=KEY, max_index=i32.of(0))

for index, key, largest, text in (
    (i32.of(6), KEY, i32.of(5), "max_index must be >= index"),
    (i32.of(-1), KEY, i32.of(5), "index must be >= 0"),
    (i32.of(1), KEY, i32.of(-1), "max_index must be >= 0"),
    (i32.of(1), i32([1, 2]), i32.of(5), "Seed must be a vector of size [3]"),
    (i32([1, 2]), KEY, i32([5, 6, 7]), ""),
    (i32([1, 2]), SEEDS, i32.of(5), ""),
    (i32([[1, 2]]), KEY, i32.of(5), ""),
):
    sample(
        "RandomIndexShuffle",
        index=index,
        seed=key,
        max_index=largest,
        error=("InvalidArgumentError", text),
    )
