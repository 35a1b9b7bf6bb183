"""Empty rows of ragged tensors filled with a default."""

from tests.ops.samples import each, f32, f64, i64, sample

each(
    ("float64", "int32", "string", "bool"),
    "RaggedFillEmptyRows",
    value_rowids=i64([1, 2, 2, 5]),
    values=(4,),
    nrows=i64.of(7),
    default_value=(),
)
sample(
    "RaggedFillEmptyRows",
    value_rowids=i64([3, 0, 3]),
    values=f64(3),
    nrows=i64.of(4),
    default_value=f64(),
)
sample(
    "RaggedFillEmptyRows", value_rowids=i64([]), values=f32(0), nrows=i64.of(2), default_value=f32()
)
sample(
    "RaggedFillEmptyRows",
    value_rowids=i64([1, 9]),
    values=f32(2),
    nrows=i64.of(3),
    default_value=f32(),
    error=("InvalidArgumentError", "9"),
)
sample(
    "RaggedFillEmptyRows",
    value_rowids=i64([1]),
    values=f32(1, 2),
    nrows=i64.of(3),
    default_value=f32(),
    error=("InvalidArgumentError", "values must be a vector"),
)

each(
    ("float64", "float32", "int32"),
    "RaggedFillEmptyRowsGrad",
    reverse_index_map=i64([0, 3, 5, 6]),
    grad_values=(8,),
    tol=1e-6,
)
sample(
    "RaggedFillEmptyRowsGrad",
    reverse_index_map=i64([9]),
    grad_values=f32(3),
    error=("InvalidArgumentError", "reverse index"),
)
