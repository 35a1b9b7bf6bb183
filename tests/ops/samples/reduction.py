"""Samples of reductions."""

from tests.ops.samples import DIFFERENTIABLE, NUMERIC, REAL, each, f32, f64, i8, i32, i64, sample

DUPLICATE = ("InvalidArgumentError", "Axes contains duplicate dimension: 0")

for name in ("Sum", "Mean", "Prod"):
    each(NUMERIC, name, input=(2, 3), axis=i32([1]), domain=(1, 4), ulp=4, tol=None)
    sample(name, input=f32(2, 3, 4), axis=i32([0, 2]), keep_dims=True, ulp=8)
    sample(name, input=f64(2, 3, 4), axis=i32([-1, 0]), ulp=8)
    sample(name, input=f64(2, 3), axis=i64.of(0))
    sample(name, input=f64(2, 3), axis=i32([0, 1]), keep_dims=True)
    sample(name, input=f32(2, 3), axis=i32(0))
    sample(name, input=f32(0, 3), axis=i32([0]))
    sample(name, input=f32(), axis=i32(0))
    sample(name, input=f32(2, 3), axis=i32([0, 0]), error=DUPLICATE)
    sample(
        name,
        input=f32(2, 3),
        axis=i32([2]),
        error=(
            "InvalidArgumentError",
            "Invalid reduction dimension (2 for input with 2 dimension(s)",
        ),
    )
sample("Prod", input=f64([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]]), axis=i32([1]))
sample("Mean", input=i32([7, -2, -8]), axis=i32([0]))
sample("Mean", input=i32([-7, -1]), axis=i32([0]))
sample("Sum", input=i8([100, 100]), axis=i32([0]))
for name in ("Max", "Min"):
    each(REAL, name, input=(2, 3), axis=i32([1]))
    sample(name, input=f64(2, 3, 4), axis=i32([0, -1]), keep_dims=True)
    sample(name, input=f64(2, 3), axis=i32([0, 1]))
    sample(name, input=f32(0, 3), axis=i32([0]))
    sample(name, input=i32(0), axis=i32([0]))
    sample(name, input=f32([1.0, float("nan"), 3.0]), axis=i32.of(0))
    sample(name, input=f32(2), axis=i32([0, 0]), error=DUPLICATE)
each(DIFFERENTIABLE, "EuclideanNorm", input=(2, 3), axis=i32([1]), tol=1e-2)
sample("EuclideanNorm", input=i32([[3, 4], [5, 12]]), axis=i32([1]), keep_dims=True)
