"""Sparse tensors as dense ones, in order, reshaped, cut, joined, with no row empty."""

from tests.ops.samples import ORDINARY, each, f32, f64, i32, i64, sample

PLACES = i64([[0, 0], [0, 2], [1, 1]])
MIXED = i64([[1, 1], [0, 2], [0, 0]])
SHAPE = i64([2, 3])
INVALID = "InvalidArgumentError"


each(
    ("float32", "float64", "int32", "int64", "bool", "string", "complex64"),
    "SparseToDense",
    sparse_indices=PLACES,
    output_shape=SHAPE,
    sparse_values=(3,),
    default_value=(),
)
sample(
    "SparseToDense",
    sparse_indices=i32([2, 0]),
    output_shape=i32([4]),
    sparse_values=f64.of(3),
    default_value=f64.of(-1),
    validate_indices=False,
)
sample(
    "SparseToDense",
    sparse_indices=i32.of(2),
    output_shape=i32([4]),
    sparse_values=f32.of(3),
    default_value=f32.of(-1),
)
for _at, _phrase in (
    (MIXED, "out of order"),
    (i64([[0, 1], [0, 1], [1, 1]]), "is repeated"),
    (i64([[0, 1], [0, 5], [1, 1]]), "is out of bounds"),
):
    sample(
        "SparseToDense",
        sparse_indices=_at,
        output_shape=SHAPE,
        sparse_values=f32(3),
        default_value=f32(),
        error=(INVALID, _phrase),
    )
sample(
    "SparseToDense",
    sparse_indices=PLACES,
    output_shape=i64([2]),
    sparse_values=f32(3),
    default_value=f32(),
    error=(INVALID, "incorrect number of elements"),
)
sample(
    "SparseToDense",
    sparse_indices=PLACES,
    output_shape=SHAPE,
    sparse_values=f32(2),
    default_value=f32(),
    error=(INVALID, "incorrect shape"),
)

each(ORDINARY, "SparseReorder", input_indices=MIXED, input_values=(3,), input_shape=SHAPE)
sample(
    "SparseReorder",
    input_indices=i64([[2**40, 1], [5, 2**45]]),
    input_values=f32(2),
    input_shape=i64([2**50, 2**50]),
    parity="the product of the sizes is out of range there",
)
sample(
    "SparseReorder",
    input_indices=MIXED,
    input_values=f32(2),
    input_shape=SHAPE,
    error=(INVALID, "values"),
)

for _new in ([3, 2], [6], [-1, 2], [1, 3, -1]):
    sample("SparseReshape", input_indices=PLACES, input_shape=SHAPE, new_shape=i64(_new))
for _new, _phrase in (([4, -1], "multiple of 4"), ([-1, -1], "only one"), ([7], "has 7")):
    sample(
        "SparseReshape",
        input_indices=PLACES,
        input_shape=SHAPE,
        new_shape=i64(_new),
        error=(INVALID, _phrase),
    )

each(
    ("float64", "int32", "string"),
    "SparseSlice",
    indices=PLACES,
    values=(3,),
    shape=SHAPE,
    start=i64([0, 1]),
    size=i64([5, 2]),
)
sample(
    "SparseSlice", indices=PLACES, values=f32(3), shape=SHAPE, start=i64([0, 7]), size=i64([1, 1])
)
sample(
    "SparseSlice",
    indices=PLACES,
    values=f32(3),
    shape=SHAPE,
    start=i64([0, 0]),
    size=i64([-1, 1]),
    error=(INVALID, "non-negative size"),
)
sample(
    "SparseSlice",
    indices=PLACES,
    values=f32(3),
    shape=SHAPE,
    start=i64([0]),
    size=i64([1, 1]),
    error=(INVALID, "length 2 but got length 1"),
)
each(
    ("float64", "int32"),
    "SparseSliceGrad",
    backprop_val_grad=(2,),
    input_indices=PLACES,
    input_start=i64([0, 1]),
    output_indices=i64([[0, 1], [1, 0]]),
)

for _axis in (0, 1, -1):
    each(
        ("float32", "int64", "string"),
        "SparseConcat",
        indices=[PLACES, PLACES],
        values=[(3,), (3,)],
        shapes=[SHAPE, SHAPE],
        concat_dim=_axis,
    )
sample(
    "SparseConcat",
    indices=[PLACES, PLACES],
    values=[f32(3), f32(3)],
    shapes=[SHAPE, SHAPE],
    concat_dim=2,
    error=(INVALID, "must be in range [-2, 2)"),
)
sample(
    "SparseConcat",
    indices=[PLACES, PLACES],
    values=[f32(3), f32(3)],
    shapes=[SHAPE, i64([2, 4])],
    concat_dim=0,
    error=(INVALID, "Input shapes must match"),
)

for _axis, _count in ((1, 2), (-1, 3), (0, 2), (0, 1)):
    each(
        ("float32", "string"),
        "SparseSplit",
        split_dim=i64.of(_axis),
        indices=PLACES,
        values=(3,),
        shape=SHAPE,
        num_split=_count,
    )
sample(
    "SparseSplit",
    split_dim=i64.of(1),
    indices=PLACES,
    values=f32(3),
    shape=SHAPE,
    num_split=4,
    error=(INVALID, "num_split should be between 1"),
)
sample(
    "SparseSplit",
    split_dim=i64.of(2),
    indices=PLACES,
    values=f32(3),
    shape=SHAPE,
    num_split=2,
    error=(INVALID, "axis should be in range"),
)

each(
    ("float32", "float64", "int64", "string", "bool"),
    "SparseFillEmptyRows",
    indices=PLACES,
    values=(3,),
    dense_shape=i64([4, 3]),
    default_value=(),
)
sample(
    "SparseFillEmptyRows",
    indices=i64([[3, 1], [1, 1], [1, 0]]),
    values=f64(3),
    dense_shape=i64([4, 3]),
    default_value=f64(),
)
sample(
    "SparseFillEmptyRows",
    indices=PLACES,
    values=f32(3),
    dense_shape=i64([1, 3]),
    default_value=f32(),
    error=(INVALID, "indices(2, 0) is invalid: 1 >= 1"),
)
sample(
    "SparseFillEmptyRows",
    indices=PLACES,
    values=f32(3),
    dense_shape=i64([0, 3]),
    default_value=f32(),
    error=(INVALID, "dense_shape[0] = 0"),
)
each(
    ("float32", "float64", "int32"),
    "SparseFillEmptyRowsGrad",
    reverse_index_map=i64([2, 0, 4]),
    grad_values=(5,),
)
sample(
    "SparseFillEmptyRowsGrad",
    reverse_index_map=i64([2, 7]),
    grad_values=f32(3),
    error=(INVALID, "must be in [0, "),
)
