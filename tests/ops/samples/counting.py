"""Samples of counting."""

from tests.ops.samples import each, f32, i32, i64, of, sample

WEIGHTS = ("int32", "int64", "float32", "float64")
each(WEIGHTS, "Bincount", arr=i32([1, 1, 5, 3]), size=i32.of(4), weights=of([]))
each(WEIGHTS, "Bincount", arr=i32([1, 1, 5, 3]), size=i32.of(6), weights=(4,))
each(WEIGHTS, "DenseBincount", input=i32([1, 1, 5, 3]), size=i32.of(4), weights=of([]))
each(WEIGHTS, "DenseBincount", input=i64([[1, 1], [0, 3]]), size=i64.of(4), weights=(2, 2))
sample(
    "DenseBincount",
    input=i32([[1, 1], [0, 3]]),
    size=i32.of(3),
    weights=f32([]),
    binary_output=True,
)
sample(
    "DenseBincount",
    input=i32([-1]),
    size=i32.of(3),
    weights=f32([]),
    error=("InvalidArgumentError", "Input arr must be non-negative!"),
)
each(
    WEIGHTS,
    "HistogramFixedWidth",
    values=of([-1, 0, 1, 2, 5, 15]),
    value_range=of([0, 5]),
    nbins=i32.of(5),
)
each(WEIGHTS, "Bucketize", input=of([-5, 10, 150, 0]), boundaries=[0.0, 10.0, 100.0])
