"""Samples of running totals, indices of extremes and evenly spaced numbers."""

from tests.ops.samples import FLOATING, NUMERIC, REAL, b1, each, f32, f64, i32, i64, of, sample

for name in ("Cumsum", "Cumprod"):
    each(NUMERIC, name, x=(2, 3), axis=i32.of(1), domain=(1, 3), ulp=4)
    for exclusive in (False, True):
        for reverse in (False, True):
            sample(
                name,
                x=f64(2, 3, lo=1, hi=2),
                axis=i64.of(-1),
                exclusive=exclusive,
                reverse=reverse,
                ulp=4,
            )
    sample(name, x=f32(0, 3), axis=i32.of(0))
    sample(
        name,
        x=f32(3),
        axis=i32.of(1),
        error=("InvalidArgumentError", "Expected scan axis in the range [-1, 1), but got 1"),
    )
each(FLOATING, "CumulativeLogsumexp", x=(2, 3), axis=i32.of(1), ulp=8)
sample(
    "CumulativeLogsumexp",
    x=f64(3),
    axis=i32.of(0),
    exclusive=True,
    reverse=True,
    tol=1e-12,
    grad="its first result is -inf",
    grad2="its first result is -inf",
)
for name in ("ArgMax", "ArgMin"):
    each(REAL, name, input=(3, 4), dimension=i32.of(1))
    sample(name, input=b1([True, False, True]), dimension=i32.of(0))
    sample(name, input=f32([1.0, float("nan"), 3.0]), dimension=i32.of(0))
    sample(name, input=f32(2, 3, 4), dimension=i64.of(-2), output_type="int32")
    sample(name, input=f32(0, 3), dimension=i32.of(1))
    sample(
        name,
        input=f32(0, 3),
        dimension=i32.of(0),
        error=("InvalidArgumentError", "Reduction axis 0 is empty in shape [0,3]"),
    )
    sample(
        name,
        input=f32(2),
        dimension=i32.of(1),
        error=("InvalidArgumentError", "Expected dimension in the range [-1, 1), but got 1"),
    )
each(("float32", "float64"), "LinSpace", start=of(0), stop=of(3), num=i32.of(5), ulp=4)
sample("LinSpace", start=f32.of(2), stop=f32.of(3), num=i64.of(1))
sample(
    "LinSpace",
    start=f32.of(2),
    stop=f32.of(3),
    num=i32.of(0),
    error=("InvalidArgumentError", "Requires num > 0: 0"),
)
for exclusive in (False, True):
    for reverse in (False, True):
        sample(
            "Cumprod",
            x=f64([2.0, 0.0, 3.0, 0.0, -1.5]),
            axis=i32.of(0),
            exclusive=exclusive,
            reverse=reverse,
        )
sample("CumulativeLogsumexp", x=f64([-700.0, 3.0, 800.0, 801.0]), axis=i32.of(0), tol=1e-12)
