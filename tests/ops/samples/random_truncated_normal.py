"""Samples of normals between two bounds: each method of drawing, its mirror, and rows that follow another."""

from tests.ops.samples import each, f32, f64, i32, i64, of, sample

FLOATS = ("float16", "float32", "float64")
INF = float("inf")
# Lower and upper bounds for normal, uniform and exponential proposals, and those between them.
BOUNDS = (
    (-2.0, 3.0),
    (-INF, 0.5),
    (-1.0, 1.5),
    (0.0, INF),
    (-1.25, 0.5),
    (-0.75, -0.25),
    (0.25, 1.5),
    (1.0, 1.75),
    (0.25, 3.0),
    (3.0, INF),
    (-INF, -5.0),
    (-9.0, -4.0),
    (4.0, 4.125),
)
IMPLICIT = "samples are differentiated at the same quantile: tests/ops/test_truncated_normal.py"
LOW, HIGH = [low for low, _ in BOUNDS], [high for _, high in BOUNDS]

for low, high in BOUNDS:
    each(
        FLOATS,
        "StatelessParameterizedTruncatedNormal",
        shape=i32([40]),
        seed=i64([1, 2]),
        means=of(0),
        stddevs=of(1),
        minvals=of(low),
        maxvals=of(high),
        ulp=8,
        grad=IMPLICIT,
    )
for floats, ulp in ((["float16"], 8), (["float32", "float64"], 256)):  # sums near zero
    each(
        floats,
        "StatelessParameterizedTruncatedNormal",
        shape=i32([7, 2, len(BOUNDS)]),
        seed=i32([-3, 9]),
        means=of([[0.5], [-2.0]]),
        stddevs=of(2),
        minvals=of(LOW),
        maxvals=of(HIGH),
        ulp=ulp,
        grad=IMPLICIT,
    )
each(
    FLOATS,
    "StatelessParameterizedTruncatedNormal",
    shape=i32([3, 0]),
    seed=i64([1, 2]),
    means=of(0),
    stddevs=of(1),
    minvals=of(-1),
    maxvals=of(1),
    grad=IMPLICIT,
)
for shape, means, low, high, error in (
    ([2], [0.0, 1.0, 2.0], -1.0, 1.0, "must end with"),
    ([2], 0.0, 1.0, 1.0, "Invalid parameters"),
    ([2], 0.0, -INF, INF, "Invalid parameters"),
    ([2], 0.0, 1e200, INF, "failed to accept"),
):
    sample(
        "StatelessParameterizedTruncatedNormal",
        shape=i32(shape),
        seed=i64([1, 2]),
        means=f64.of(means),
        stddevs=f64.of(1.0),
        minvals=f64.of(low),
        maxvals=f64.of(high),
        error=("InternalError" if "failed" in error else "InvalidArgumentError", error),
    )

STATEFUL = {"seed": 3, "seed2": 4, "graph": "draws on", "ulp": 8}
each(
    FLOATS,
    "ParameterizedTruncatedNormal",
    shape=i32([2, 5]),
    means=of(0),
    stdevs=of([1, 2]),
    minvals=of([-2, 1]),
    maxvals=of([3, 4]),
    **STATEFUL,
)
# Of scalars each hundred begins anew; a bound that is a vector makes rows of the first dimension.
each(
    FLOATS,
    "ParameterizedTruncatedNormal",
    shape=i32([2, 80]),
    means=of(1),
    stdevs=of([1]),
    minvals=of(-1),
    maxvals=of(3),
    **STATEFUL,
)
each(
    FLOATS,
    "ParameterizedTruncatedNormal",
    shape=i32([len(BOUNDS), 3]),
    means=of([0]),
    stdevs=of([1]),
    minvals=of(LOW),
    maxvals=of(HIGH),
    **STATEFUL,
)
for shape, means, error in (
    ([], [0.0], "must not be empty"),
    ([3, 4], [0.0, 0.0], "length 1 or shape"),
    ([3, 4], [[0.0]], "scalar or vector"),
):
    sample(
        "ParameterizedTruncatedNormal",
        shape=i32(shape),
        means=f32.of(means),
        stdevs=f32.of([1.0]),
        minvals=f32.of([-1.0]),
        maxvals=f32.of([1.0]),
        error=("InvalidArgumentError", error),
    )
