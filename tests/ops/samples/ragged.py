"""Ragged tensors as flat values and row splits."""

from tests.ops.samples import b1, each, f32, f64, i32, i64, of, s, sample

for _dtype in ("float32", "float64", "int32", "int64"):
    each(
        (_dtype,), "RaggedRange", starts=of([0, 5, 8]), limits=of([3, 3, 12]), deltas=of([1, 1, 2])
    )
sample("RaggedRange", starts=i32.of(10), limits=i32([0, 5, 11]), deltas=i32.of(-3), Tsplits="int32")
sample("RaggedRange", starts=f32([0.5, 2.0]), limits=f32([2.0, 0.0]), deltas=f32([0.5, -0.75]))
sample("RaggedRange", starts=i64([]), limits=i64([]), deltas=i64.of(1))
sample(
    "RaggedRange",
    starts=i32([0]),
    limits=i32([3]),
    deltas=i32([0]),
    error=("InvalidArgumentError", "Requires delta != 0"),
)
sample(
    "RaggedRange",
    starts=i32([0, 1]),
    limits=i32([3]),
    deltas=i32.of(1),
    error=("InvalidArgumentError", "must have the same shape"),
)
sample(
    "RaggedRange",
    starts=i32([[0]]),
    limits=i32([3]),
    deltas=i32.of(1),
    error=("InvalidArgumentError", "must be a scalar or vector"),
)

each(
    ("float64", "int32", "string", "bool"),
    "RaggedGather",
    params_nested_splits=[i64([0, 2, 2, 5])],
    params_dense_values=(5,),
    indices=i32([2, 0, 0, 1]),
    OUTPUT_RAGGED_RANK=1,
)
sample(
    "RaggedGather",
    params_nested_splits=[i64([0, 1, 3]), i64([0, 2, 2, 5])],
    params_dense_values=f64(5, 2),
    indices=i64([1, 0, 1]),
    OUTPUT_RAGGED_RANK=2,
)
sample(
    "RaggedGather",
    params_nested_splits=[i32([0, 2, 2, 5])],
    params_dense_values=f32(5),
    indices=i64([[0, 1], [2, 2]]),
    OUTPUT_RAGGED_RANK=2,
)
sample(
    "RaggedGather",
    params_nested_splits=[i64([0, 1, 3]), i64([0, 2, 2, 5])],
    params_dense_values=f32(5),
    indices=i64.of(1),
    OUTPUT_RAGGED_RANK=1,
)
sample(
    "RaggedGather",
    params_nested_splits=[i64([0, 2, 2, 5])],
    params_dense_values=f32(5),
    indices=i64([3]),
    OUTPUT_RAGGED_RANK=1,
    error=("InvalidArgumentError", "indices[0] = 3 is not in [0, 3)"),
)

each(
    ("float64", "int32", "string", "bool", "complex64"),
    "RaggedTensorToTensor",
    shape=i64.of(-1),
    values=(5,),
    default_value=(),
    row_partition_tensors=[i64([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS"],
)
sample(
    "RaggedTensorToTensor",
    shape=i64([-1, 2]),
    values=f64(5),
    default_value=f64(),
    row_partition_tensors=[i64([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS"],
)
sample(
    "RaggedTensorToTensor",
    shape=i64([2, 4, 2]),
    values=f64(5, 2),
    default_value=f64(2),
    row_partition_tensors=[i64([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS"],
)
sample(
    "RaggedTensorToTensor",
    shape=i32.of(-1),
    values=f64(5),
    default_value=f64(),
    row_partition_tensors=[i32([0, 1, 3]), i32([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS", "ROW_SPLITS"],
)
sample(
    "RaggedTensorToTensor",
    shape=i64.of(-1),
    values=f32(4),
    default_value=f32(),
    row_partition_tensors=[i64.of(4), i64([0, 0, 2, 3])],
    row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
)
sample(
    "RaggedTensorToTensor",
    shape=i64([1, 2, 3]),
    values=f32(5),
    default_value=f32(),
    row_partition_tensors=[i64([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS"],
    error=("InvalidArgumentError", "are incompatible"),
)
sample(
    "RaggedTensorToTensor",
    shape=i64.of(-1),
    values=f32(5),
    default_value=f32(2),
    row_partition_tensors=[i64([0, 2, 2, 5])],
    row_partition_types=["ROW_SPLITS"],
    error=("InvalidArgumentError", "must be less than rt_input.flat_values.rank"),
)

each(
    ("float64", "int32", "string"),
    "RaggedTensorToSparse",
    rt_nested_splits=[i64([0, 2, 2, 5])],
    rt_dense_values=(5,),
)
sample(
    "RaggedTensorToSparse",
    rt_nested_splits=[i64([0, 1, 3]), i64([0, 2, 2, 5])],
    rt_dense_values=f64(5, 2),
)
sample("RaggedTensorToSparse", rt_nested_splits=[i32([0, 0])], rt_dense_values=s([]))
sample(
    "RaggedTensorToSparse",
    rt_nested_splits=[i64([1, 2, 5])],
    rt_dense_values=b1(5),
    error=("InvalidArgumentError", "First value of ragged splits must be 0"),
)
