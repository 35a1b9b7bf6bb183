"""Reductions over dimensions of sparse tensors, and softmax along the last one."""

from tests.ops.samples import HALF_TO_DOUBLE, each, f32, f64, i32, i64, sample

A = i64([[0, 0], [0, 2], [1, 1]])
SHAPE = i64([3, 3])
INVALID = "InvalidArgumentError"

for _kind in ("Sum", "SumSparse", "Max", "MaxSparse"):
    _name = f"SparseReduce{_kind}"
    for _axes in (i32.of(0), i32([1]), i32([-1]), i32([0, 1]), i32([])):
        for _keep in (False, True):
            each(
                ("float32", "float64", "int64"),
                _name,
                input_indices=A,
                input_values=(3,),
                input_shape=SHAPE,
                reduction_axes=_axes,
                keep_dims=_keep,
            )
    sample(
        _name,
        input_indices=A,
        input_values=f32([-1, -2, -3]),
        input_shape=SHAPE,
        reduction_axes=i32([1]),
    )
    sample(
        _name,
        input_indices=A,
        input_values=f32(3),
        input_shape=SHAPE,
        reduction_axes=i32([5]),
        error=(INVALID, "Invalid reduction dimension 5"),
    )

each(HALF_TO_DOUBLE, "SparseSoftmax", sp_indices=A, sp_values=(3,), sp_shape=SHAPE, ulp=4)
sample(
    "SparseSoftmax",
    sp_indices=i64([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]]),
    sp_values=f64(4),
    sp_shape=i64([2, 2, 2]),
    ulp=4,
)
sample(
    "SparseSoftmax",
    sp_indices=i64([[0]]),
    sp_values=f32(1),
    sp_shape=i64([3]),
    error=(INVALID, "rank >= 2"),
)
