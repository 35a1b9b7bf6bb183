"""Samples of order."""

import numpy as np

from tests.ops.samples import REAL, each, f32, f64, i16, i32, i64, s, sample

INVALID = "InvalidArgumentError"
OLD = "TensorFlow has no kernel for the older op"

each(REAL, "TopKV2", input=(2, 5), k=i32.of(3))
sample("TopKV2", input=f64(2, 3, 4), k=i32.of(2))
sample("TopKV2", input=f64(4), k=i32.of(1))
sample("TopKV2", input=f64(4), k=i32.of(0), grad="no values")
sample("TopKV2", input=f32([3, 1, 3, 2, 3]), k=i64.of(4), index_type="int64")
sample("TopKV2", input=f32([1, 1, 1]), k=i16.of(1), index_type="int16")
sample(
    "TopKV2",
    input=f32(2, 3),
    k=i32.of(4),
    error=(INVALID, "input must have at least k columns. Had 3, needed 4"),
)
sample("TopKV2", input=f32(2, 3), k=i32.of(-1), error=(INVALID, "Need k >= 0, got -1"))
sample("TopK", input=f64(2, 4), k=2, parity=OLD)
sample("TopK", input=i32(5), k=5, parity=OLD)
each(REAL, "NthElement", input=(2, 5), n=i32.of(2))
sample("NthElement", input=f64(2, 5), n=i32.of(1), reverse=True)
sample(
    "NthElement",
    input=f32(3),
    n=i32.of(3),
    error=(INVALID, "Input must have last dimension > n = 3"),
)
for name in ("LowerBound", "UpperBound"):
    sample(name, sorted_inputs=f32([[1, 2, 2, 4], [0, 1, 5, 9]]), values=f32([[2, 0], [9, 10]]))
    sample(name, sorted_inputs=i32([[1, 2, 2, 4]]), values=i32([[2, 0, 4]]), out_type="int64")
    sample(name, sorted_inputs=f64([[1.5, 2.5]]), values=f64(1, 0))
    sample(name, sorted_inputs=f32(2, 3), values=f32(1, 3), error=(INVALID, "Leading dim_size"))
sample(
    "LowerBound",
    sorted_inputs=s([["a", "b", "d"]]),
    values=s([["b", "c"]]),
    parity="no kernel for strings",
)
sample(
    "InTopKV2",
    predictions=f32([[1, 3, 2], [1, 1, 0], [5, 4, 3], [0, 1, 2]]),
    targets=i32([2, 1, 2, 7]),
    k=i32.of(2),
)
sample("InTopKV2", predictions=f32(3, 4), targets=i64([0, 1, -1]), k=i64.of(1))
sample("InTopK", predictions=f32(3, 4), targets=i32([0, 1, 2]), k=2)
NOT_FINITE = f32([[1, 3, 2], [1, np.nan, 0], [np.inf, 4, 3], [5, 4, -np.inf], [1, 0, np.nan]])
sample("InTopK", predictions=NOT_FINITE, targets=i32([1, 0, 0, 0, 0]), k=3)
sample("InTopKV2", predictions=NOT_FINITE, targets=i32([1, 0, 1, 1, 0]), k=i32.of(1))
sample(
    "InTopK",
    predictions=f32(3, 4),
    targets=i32([0, 1]),
    k=2,
    error=(INVALID, "must match length of targets"),
)
