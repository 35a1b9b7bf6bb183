"""How often integers occur in the rows of ragged tensors, and in sparse form."""

from tests.ops.samples import each, f32, f64, i32, i64, of, sample

SPLITS = i64([0, 3, 3, 5])
each(
    ("int32", "int64"),
    "RaggedBincount",
    splits=SPLITS,
    values=of([1, 0, 1, 4, 2]),
    size=of(4),
    weights=f32([]),
)
for _weights in (f32([0.5, 1, 2, 3, 4]), f64([0.5, 1, 2, 3, 4]), i64([1, 2, 3, 4, 5])):
    sample(
        "RaggedBincount",
        splits=SPLITS,
        values=i32([1, 0, 1, 4, 2]),
        size=i32.of(6),
        weights=_weights,
    )
sample(
    "RaggedBincount",
    splits=SPLITS,
    values=i32([1, 0, 1, 4, 2]),
    size=i32.of(3),
    weights=i32([]),
    binary_output=True,
)
sample(
    "RaggedBincount",
    splits=SPLITS,
    values=i32([1, 0, -1, 4, 2]),
    size=i32.of(3),
    weights=i32([]),
    error=("InvalidArgumentError", "non-negative"),
)
sample(
    "RaggedBincount",
    splits=SPLITS,
    values=i32([1, 0, 1, 4, 2]),
    size=i32.of(-3),
    weights=i32([]),
    error=("InvalidArgumentError", "non-negative"),
)

for _binary in (False, True):
    each(
        ("int32", "int64"),
        "RaggedCountSparseOutput",
        splits=SPLITS,
        values=of([1, 0, 1, 4, 2]),
        weights=i64([]),
        binary_output=_binary,
    )
    each(
        ("int32", "int64"),
        "DenseCountSparseOutput",
        values=of([[1, 0, 1], [4, 2, 2]]),
        weights=i32([]),
        binary_output=_binary,
    )
    sample(
        "SparseCountSparseOutput",
        indices=i64([[0, 0], [0, 2], [2, 1]]),
        values=i64([3, 3, 1]),
        dense_shape=i64([3, 3]),
        weights=f32([]),
        binary_output=_binary,
    )
sample(
    "RaggedCountSparseOutput",
    splits=SPLITS,
    values=i32([1, 0, 1, 4, 2]),
    weights=f32([0.5, 1, 2, 3, 4]),
    binary_output=False,
    maxlength=3,
)
sample(
    "RaggedCountSparseOutput",
    splits=SPLITS,
    values=i32([1, 0, 1, 4, 2]),
    weights=f64([0.5, 1, 2, 3, 4]),
    binary_output=False,
    minlength=8,
)
sample(
    "DenseCountSparseOutput", values=i32([1, 0, 1]), weights=f32([0.5, 1, 2]), binary_output=False
)
sample(
    "RaggedCountSparseOutput",
    splits=SPLITS,
    values=i32([1, 0, -1, 4, 2]),
    weights=f32([]),
    binary_output=False,
    error=("InvalidArgumentError", "non-negative"),
)
for _weights in (f32([]), f32([0.5, 1, 2]), i64([])):
    for _binary in (False, True):
        sample(
            "SparseBincount",
            indices=i64([[0, 0], [0, 2], [2, 1]]),
            values=i64([3, 5, 1]),
            dense_shape=i64([3, 3]),
            size=i64.of(5),
            weights=_weights,
            binary_output=_binary,
        )
        sample(
            "SparseBincount",
            indices=i64([[0], [2], [3]]),
            values=i32([3, 3, 1]),
            dense_shape=i64([5]),
            size=i32.of(4),
            weights=_weights,
            binary_output=_binary,
        )
sample(
    "SparseBincount",
    indices=i64([[0], [2], [3]]),
    values=i32([3, 3, 1]),
    dense_shape=i64([5]),
    size=i32.of(-4),
    weights=f32([]),
    error=("InvalidArgumentError", "non-negative"),
)
