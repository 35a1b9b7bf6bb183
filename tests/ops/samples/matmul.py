"""Samples of matrix products."""

from tests.ops.samples import COMPLEX, FLOATING, T, bf16, each, f32, f64, i8, sample, sums

MATMUL = (*FLOATING, "int32", "int64", *COMPLEX)
BATCH = (*FLOATING, "int16", "int32", "int64", *COMPLEX)
LAST = ("InvalidArgumentError", "Matrix size-incompatible: In[0]: [2,2], In[1]: [3,3]")

UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
each(UNSIGNED, "MatMul", a=(2, 3), b=(3, 4), parity="TensorFlow has no CPU kernel")
sums(MATMUL, "MatMul", a=(2, 3), b=(3, 4))
for ta, tb in ((True, False), (False, True), (True, True)):
    sizes = {"a": (3, 2) if ta else (2, 3), "b": (4, 3) if tb else (3, 4)}
    sums(
        ("float64", "float32", "int32", "complex128", "bfloat16"),
        "MatMul",
        **sizes,
        transpose_a=ta,
        transpose_b=tb,
    )
sample("MatMul", a=f32(2, 0), b=f32(0, 3))
sample("MatMul", a=f32(0, 2), b=f32(2, 3))
sample("MatMul", a=f32(40, 70), b=f32(70, 30), tol=1e-5)
sample("MatMul", a=f32(2, 2), b=f32(3, 3), error=LAST)
sample(
    "MatMul",
    a=f32(2, 2),
    b=f32(3),
    error=("InvalidArgumentError", "has different ndims: [2,2] vs. [3]"),
)
sample(
    "MatMul", a=f32(2, 2, 2), b=f32(2, 2, 2), error=("InvalidArgumentError", "ndims must be == 2")
)

sums(BATCH, "BatchMatMulV2", x=(2, 2, 3), y=(2, 3, 4))
sums(("float64", "complex128", "int32"), "BatchMatMulV2", x=(3, 1, 2, 3), y=(2, 3, 2))
sums(("float64", "complex128"), "BatchMatMulV2", x=(2, 3, 2), y=(3, 4), adj_x=True)
sums(("float64", "complex128"), "BatchMatMulV2", x=(2, 3), y=(2, 4, 3), adj_y=True)
sums(("float64", "complex128"), "BatchMatMulV2", x=(2, 3, 2), y=(1, 4, 3), adj_x=True, adj_y=True)
sample("BatchMatMulV2", x=f64(2, 3), y=f64(3, 4), tol=1e-12)
sample(
    "BatchMatMulV2",
    x=f32(2, 2, 2),
    y=f32(2, 3, 3),
    error=("InvalidArgumentError", "Matrix size-incompatible: In[0]: [2,2,2], In[1]: [2,3,3]"),
)
sample(
    "BatchMatMulV2",
    x=f32(2, 2, 2),
    y=f32(3, 2, 2),
    error=("InvalidArgumentError", "[2,2,2] vs. [3,2,2]"),
)
sample(
    "BatchMatMulV2",
    x=f32(2),
    y=f32(2, 2),
    error=("InvalidArgumentError", "In[0] ndims must be >= 2: 1"),
)

sums(
    ("float32", "float64", "complex64", "int32", "float16"), "BatchMatMul", x=(2, 2, 3), y=(2, 3, 2)
)
sample("BatchMatMul", x=f64(2, 3, 2), y=f64(2, 2, 3), adj_x=True, adj_y=True, tol=1e-12)
sample(
    "BatchMatMul",
    x=f32(2, 2, 2),
    y=f32(2, 2),
    error=("InvalidArgumentError", "has different ndims"),
)

sample("BatchMatMulV3", x=i8(2, 3), y=i8(3, 4), Tout="int32")
sample(
    "BatchMatMulV3",
    x=bf16(2, 2, 3),
    y=bf16(2, 3, 4),
    Tout="float32",
    parity="TensorFlow has no CPU kernel",
)
sums(("float64", "complex128", "int32"), "BatchMatMulV3", x=(2, 2, 3), y=(3, 4), Tout=T)
