"""Samples of elementwise arithmetic."""

from tests.ops.samples import (
    COMPLEX,
    DIFFERENTIABLE,
    FLOATING,
    NUMERIC,
    REAL,
    SIGNED,
    UNSIGNED,
    each,
    f32,
    f64,
    i8,
    i32,
    of,
    s,
    sample,
    u8,
)

MOST = (*SIGNED, *DIFFERENTIABLE)
FEW = ("int32", "int64", *DIFFERENTIABLE)
REMAINDERS = ("int32", "int64", "float32", "float64")
NAN, INF = float("nan"), float("inf")

each(NUMERIC, "AddV2", x=(2, 3), y=(3,))
sample("AddV2", x=f32(2, 3), y=f32(2), error=("InvalidArgumentError", "[2,3] vs. [2]"))
sample("AddV2", x=i8([127, -128]), y=i8([1, -1]))
sample("AddV2", x=f64(2, 1), y=f64(1, 3))
sample("AddV2", x=f32(0, 3), y=f32(1, 3))
each([n for n in NUMERIC if n not in ("uint16", "uint32", "uint64")], "Add", x=(2, 1, 3), y=(4, 1))
sample("Add", x=s(["a", "b"]), y=s.of("c"))
sample("Add", x=s.of("a"), y=s.of("ß"))
each(NUMERIC, "Sub", x=(2, 3), y=())
each(NUMERIC, "Mul", x=(2, 3), y=(2, 1))
each(DIFFERENTIABLE, "MulNoNan", x=(2, 3), y=(3,))
sample("MulNoNan", x=f32([NAN, INF, 1.0]), y=f32([0.0, 0.0, 2.0]))
each(DIFFERENTIABLE, "RealDiv", x=(2, 3), y=(3,), domain=(0.5, 2.0))
each(DIFFERENTIABLE, "Div", x=(2, 3), y=(3,), domain=(0.5, 2.0))
each(SIGNED, "Div", x=of([7, -7, 7, -7]), y=of([2, 2, -2, -2]))
each(REAL, "TruncateDiv", x=(2, 3), y=(3,), domain=(1, 9))
each(SIGNED, "TruncateDiv", x=of([7, -7, 7, -7]), y=of([2, 2, -2, -2]))
each(REAL, "FloorDiv", x=(2, 3), y=(3,), domain=(1, 9))
each((*SIGNED, *FLOATING), "FloorDiv", x=of([7, -7, 7, -7]), y=of([2, 2, -2, -2]))
sample(
    "FloorDiv",
    x=i32([1, 2]),
    y=i32([1, 0]),
    error=("InvalidArgumentError", "Integer division by zero"),
)
sample(
    "Div", x=i32([1, 2]), y=i32([1, 0]), error=("InvalidArgumentError", "Integer division by zero")
)
sample(
    "FloorMod",
    x=i32([1, 2]),
    y=i32([1, 0]),
    error=("InvalidArgumentError", "Integer division by zero"),
)
sample("FloorDiv", x=f32([1.0, 0.0]), y=f32([0.1, 0.0]))
sample("FloorDiv", x=u8([200, 9]), y=u8([7, 2]))
each((*SIGNED, *FLOATING), "FloorMod", x=of([7, -7, 7, -7]), y=of([2, 2, -2, -2]))
each(UNSIGNED, "FloorMod", x=of([7, 8]), y=of([2, 3]))
sample("FloorMod", x=f64([7.5, -7.5]), y=f64([2.0, 2.0]))
sample("FloorMod", x=f32([5.5, 1.0, 1.0]), y=f32([-INF, 0.0, INF]))
each(REMAINDERS, "Mod", x=of([7, -7, 7]), y=of([2, 2, -2]))
each(REMAINDERS, "TruncateMod", x=of([7, -7, 7]), y=of([2, 2, -2]))
each(FLOATING, "Pow", x=(2, 3), y=(3,), domain=(0.5, 2.0), ulp=3)
each(COMPLEX, "Pow", x=(2, 3), y=(3,), domain=(0.5, 2.0), tol=1e-5)
each(SIGNED, "Pow", x=of([3, -2, 2]), y=of([3, 3, 0]))
sample(
    "Pow",
    x=i32([2]),
    y=i32([-1]),
    error=("InvalidArgumentError", "Integers to negative integer powers are not allowed"),
)
each(REAL, "Maximum", x=(2, 3), y=(3,))
each(REAL, "Minimum", x=(2, 3), y=(3,))
sample("Maximum", x=f32([NAN, 1.0, 0.0]), y=f32([1.0, NAN, -0.0]))
sample("Minimum", x=f32([NAN, 1.0, 0.0]), y=f32([1.0, NAN, -0.0]))
each(FEW, "SquaredDifference", x=(2, 3), y=(3,))
each(DIFFERENTIABLE, "DivNoNan", x=(2, 3), y=(3,), domain=(0.5, 2.0))
sample("DivNoNan", x=f32([1.0, NAN]), y=f32([0.0, 0.0]))

each(MOST, "Neg", x=(2, 3))
each((*SIGNED, *FLOATING), "Abs", x=(2, 3))
sample("Abs", x=i8([-128, 127]))
each(MOST, "Sign", x=(2, 3), tol=1e-6)
sample("Sign", x=f32([NAN, 0.0, -0.0, 3.0]))
each(NUMERIC, "Square", x=(2, 3))
each(DIFFERENTIABLE, "Reciprocal", x=(2, 3), domain=(0.5, 2.0))
each(DIFFERENTIABLE, "Inv", x=(2, 3), domain=(0.5, 2.0))
each(DIFFERENTIABLE, "ReciprocalGrad", y=(2, 3), dy=(2, 3), ulp=4)
each(DIFFERENTIABLE, "InvGrad", y=(2, 3), dy=(2, 3), ulp=4)
