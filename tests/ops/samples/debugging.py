"""Samples of ops that check their inputs."""

from tests.ops.samples import FLOATING, ORDINARY, b1, each, f32, f64, i32, s, sample

INF, NAN = float("inf"), float("nan")

each(ORDINARY, "Assert", condition=b1.of(True), data=[(2, 3)])
each(
    ORDINARY,
    "Assert",
    condition=b1.of(False),
    data=[(2, 3), ()],
    error=("InvalidArgumentError", "assertion failed: ["),
)
sample(
    "Assert",
    condition=b1.of(False),
    data=[s.of("a"), i32([[1, 2], [3, 4]])],
    error=("InvalidArgumentError", "assertion failed: [a] [[1 2][3...]...]"),
)
sample(
    "Assert",
    condition=b1.of(False),
    data=[f32([1.5, 2.0, 3.0])],
    summarize=2,
    error=("InvalidArgumentError", "assertion failed: [1.5 2...]"),
)
sample(
    "Assert",
    condition=b1.of(False),
    data=[i32([[[1, 2], [3, 4]]])],
    summarize=-1,
    error=("InvalidArgumentError", "assertion failed: [[[1 2][3 4]]]"),
)
each(FLOATING, "CheckNumerics", tensor=(2, 3), message="m")
each(FLOATING, "CheckNumericsV2", tensor=(2, 3), message="m")
sample(
    "CheckNumerics",
    tensor=f32([1.0, INF, NAN]),
    message="m",
    error=("InvalidArgumentError", "m : Tensor had Inf and NaN values"),
)
sample(
    "CheckNumericsV2",
    tensor=f64([-INF, INF, NAN]),
    message="m",
    error=("InvalidArgumentError", "m : Tensor had -Inf, +Inf, and NaN values"),
)
sample(
    "CheckNumericsV2",
    tensor=f64([-INF, NAN]),
    message="m",
    error=("InvalidArgumentError", "m : Tensor had -Inf and NaN values"),
)
