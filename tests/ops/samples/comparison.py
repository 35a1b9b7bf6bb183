"""Samples of comparisons."""

from tests.ops.samples import ORDINARY, REAL, each, f32, i32, s, sample

for name in ("Less", "LessEqual", "Greater", "GreaterEqual"):
    each(REAL, name, x=(2, 3), y=(3,), domain=(0, 3))
    sample(name, x=f32([float("nan"), 1.0]), y=f32([1.0, 1.0]))
    sample(name, x=i32(2), y=i32(3), error=("InvalidArgumentError", "[2] vs. [3]"))
for name in ("Equal", "NotEqual"):
    each(ORDINARY, name, x=(2, 3), y=(3,), domain=(0, 2))
    sample(name, x=s.of("a"), y=s.of("a"))
    sample(name, x=f32([float("nan")]), y=f32([float("nan")]))
    sample(
        name,
        x=i32(2),
        y=i32(3),
        incompatible_shape_error=False,
        graph="with unknown shapes the rank of the result is open",
    )
    sample(name, x=i32(2), y=i32(3), error=("InvalidArgumentError", "[2] vs. [3]"))
each(("float32", "float64"), "ApproximateEqual", x=(2, 3), y=(2, 3), tolerance=1.0)
