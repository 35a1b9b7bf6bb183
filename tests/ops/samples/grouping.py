"""Samples of grouping."""

from tests.ops.samples import NUMERIC, REAL, each, f32, f64, i32, i64, s, sample

INVALID = "InvalidArgumentError"

each(REAL, "Unique", x=(9,), domain=(-1, 1))
sample("Unique", x=s(["b", "a", "b", ""]), out_idx="int64")
sample("Unique", x=i32([]))
sample("Unique", x=f32(2, 2), error=(INVALID, "unique expects a 1D vector"))
each(REAL, "UniqueWithCounts", x=(9,), domain=(-1, 1))
sample("UniqueWithCounts", x=s(["b", "a", "b", ""]))
for name in ("UniqueV2", "UniqueWithCountsV2"):
    sample(name, x=i32([[1, 2, 1], [3, 3, 3], [1, 2, 1]]), axis=i64([0]))
    sample(name, x=f32([[1, 2, 1], [3, 3, 3], [1, 2, 1]]), axis=i32([1]))
    sample(name, x=i32([1, 2, 1]), axis=i64([]), out_idx="int64")
each(REAL, "ListDiff", x=(6,), y=(3,), domain=(-2, 2))
sample("ListDiff", x=s(["a", "b", "c"]), y=s(["b"]), out_idx="int64")
sample("ListDiff", x=i32([3, 3]), y=i32([3]))
sample("UnravelIndex", indices=i32([22, 41, 37]), dims=i32([7, 6]))
sample("UnravelIndex", indices=i64.of(5), dims=i64([2, 3]))
sample("UnravelIndex", indices=i32([9]), dims=i32([2, 3]), error=(INVALID, "out of bound"))

each(NUMERIC, "DynamicPartition", data=(4, 2), partitions=i32([1, 0, 0, 1]), num_partitions=3)
sample("DynamicPartition", data=f64(2, 2), partitions=i32([[0, 1], [1, 0]]), num_partitions=2)
sample("DynamicPartition", data=s(3), partitions=i32([0, 0, 1]), num_partitions=2)
sample(
    "DynamicPartition",
    data=f32(2),
    partitions=i32([0, 2]),
    num_partitions=2,
    error=(INVALID, "partitions[1] = 2 is not in [0, 2)"),
)
for name in ("DynamicStitch", "ParallelDynamicStitch"):
    sample(name, indices=[i32([0, 2]), i32([1])], data=[f64(2, 3), f64(1, 3)])
    sample(name, indices=[i32.of(1), i32([[0], [2]])], data=[f64(2), f64(2, 1, 2)])
each(NUMERIC, "DynamicStitch", indices=[i32([0]), i32([1, 2])], data=[(1,), (2,)])
sample(
    "DynamicStitch",
    indices=[i32([0, 1]), i32([1])],
    data=[f64(2), f64(1)],
    grad="TensorFlow's gradient, too, gives a row that was overwritten its successor's",
)
sample("DynamicStitch", indices=[i32([1])], data=[s(1)], parity="unset rows are arbitrary")
