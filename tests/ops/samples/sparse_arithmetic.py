"""Arithmetic of sparse tensors with one another and with dense ones, and their products."""

from tests.ops.samples import c64, each, f32, f64, i32, i64, of, sample, sums

A = i64([[0, 0], [0, 2], [1, 1]])
B = i64([[0, 2], [1, 0]])
SHAPE = i64([2, 3])
INVALID = "InvalidArgumentError"
BOTH = {"a_indices": A, "a_shape": SHAPE, "b_indices": B, "b_shape": SHAPE}

each(
    ("float32", "float64", "int32", "int64"),
    "SparseAdd",
    **BOTH,
    a_values=(3,),
    b_values=(2,),
    thresh=of(0),
)
sample("SparseAdd", **BOTH, a_values=f64([1, 2, 3]), b_values=f64([-2, 0.25]), thresh=f64.of(0.5))
sample("SparseAdd", **BOTH, a_values=c64(3), b_values=c64(2), thresh=f32.of(0))
sample(
    "SparseAdd",
    **{**BOTH, "b_shape": i64([2, 4])},
    a_values=f32(3),
    b_values=f32(2),
    thresh=f32.of(0),
    error=(INVALID, "got 3 and 4 for dimension 1"),
)
each(
    ("float32", "int64"),
    "SparseAddGrad",
    backprop_val_grad=(3,),
    a_indices=A,
    b_indices=B,
    sum_indices=i64([[0, 0], [0, 2], [1, 0]]),
)
sample(
    "SparseAddGrad",
    backprop_val_grad=f32(2),
    a_indices=A,
    b_indices=B,
    sum_indices=A,
    error=(INVALID, "should match"),
)
for _name in ("SparseSparseMaximum", "SparseSparseMinimum"):
    each(("float32", "float64", "int32", "uint8"), _name, **BOTH, a_values=(3,), b_values=(2,))
    sample(
        _name,
        **{**BOTH, "b_shape": i64([2, 4])},
        a_values=f32(3),
        b_values=f32(2),
        error=(INVALID, "got 3 and 4 for dimension 1"),
    )

each(
    ("float32", "float64", "int32", "complex64"),
    "SparseTensorDenseAdd",
    a_indices=A,
    a_values=(3,),
    a_shape=SHAPE,
    b=(2, 3),
)
sample(
    "SparseTensorDenseAdd",
    a_indices=A,
    a_values=f32(3),
    a_shape=SHAPE,
    b=f32(3),
    error=(INVALID, "different ranks; received: 2 and 1"),
)
sample(
    "SparseTensorDenseAdd",
    a_indices=i64([[5, 0]]),
    a_values=f32(1),
    a_shape=SHAPE,
    b=f32(2, 3),
    error=(INVALID, "a_indices(0,0) = 5"),
)

for _name in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
    each(("float32", "float64"), _name, sp_indices=A, sp_values=(3,), sp_shape=SHAPE, dense=(2, 3))
    for _dims in ((2, 1), (3,), (1, 3), ()):
        sample(_name, sp_indices=A, sp_values=f64(3), sp_shape=SHAPE, dense=f64(*_dims, lo=1, hi=2))
    sample(
        _name,
        sp_indices=A,
        sp_values=f32(3),
        sp_shape=SHAPE,
        dense=f32(2),
        error=(INVALID, "broadcasts dense to sparse only"),
    )
sample(
    "SparseDenseCwiseDiv",
    sp_indices=A,
    sp_values=i32([7, -7, 3]),
    sp_shape=SHAPE,
    dense=i32([2, 3, -4]),
)
sample(
    "SparseDenseCwiseDiv",
    sp_indices=A,
    sp_values=i32(3),
    sp_shape=SHAPE,
    dense=i32.of(0),
    error=(INVALID, "cannot divide by zero"),
)

for _a, _b in ((False, False), (True, False), (False, True), (True, True)):
    sums(
        ("float32", "float64", "complex64", "complex128", "int32"),
        "SparseTensorDenseMatMul",
        a_indices=A,
        a_values=(3,),
        a_shape=SHAPE,
        b={
            (False, False): (3, 4),
            (True, False): (2, 4),
            (False, True): (4, 3),
            (True, True): (4, 2),
        }[_a, _b],
        adjoint_a=_a,
        adjoint_b=_b,
    )
sample(
    "SparseTensorDenseMatMul",
    a_indices=i64([[1, 1], [0, 2], [1, 0], [1, 1]]),
    a_values=f64(4),
    a_shape=SHAPE,
    b=f64(3, 2),
    tol=1e-12,
)
sample(
    "SparseTensorDenseMatMul",
    a_indices=A,
    a_values=f32(3),
    a_shape=SHAPE,
    b=f32(2, 2),
    error=(INVALID, "inner dimension does not match: 3 vs. 2"),
)
sample(
    "SparseTensorDenseMatMul",
    a_indices=A,
    a_values=f32(3),
    a_shape=i64([1, 3]),
    b=f32(3, 2),
    error=(INVALID, "out of bounds (>=1)"),
)
