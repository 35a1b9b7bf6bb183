"""Samples of choosing by condition."""

from tests.ops.samples import NUMERIC, ORDINARY, b1, each, f16, f32, f64, sample

each([t for t in (*NUMERIC, "bool") if t != "float16"], "Where", condition=(3, 4), domain=(-1, 1))
sample("Where", condition=f16(3), error=("UnimplementedError", "float16"))
sample(
    "Where",
    condition=b1.of(True),
    error=("InvalidArgumentError", "WhereOp : Unhandled input dimensions: 0"),
)
sample("Where", condition=b1(0, 2))
sample("Where", condition=b1(2, 2, 2))
each(
    ORDINARY,
    "SelectV2",
    condition=b1([[True, False, True], [False, False, True]]),
    t=(2, 3),
    e=(2, 3),
)
sample("SelectV2", condition=b1([True, False, True]), t=f64(2, 1), e=f64())
sample("SelectV2", condition=b1.of(False), t=f64(2), e=f64(2))
sample("SelectV2", condition=b1([[True], [False]]), t=f64(), e=f64(3))
sample(
    "SelectV2",
    condition=b1([True, False]),
    t=f32(3),
    e=f32(),
    error=("InvalidArgumentError", "must be broadcastable"),
)
each(ORDINARY, "Select", condition=b1([[True, False], [False, True]]), x=(2, 2), y=(2, 2))
sample("Select", condition=b1([True, False]), x=f64(2, 3), y=f64(2, 3))
sample("Select", condition=b1.of(True), x=f64(2, 3), y=f64(2, 3))
sample("Select", condition=b1.of(True), x=f32(2), y=f32(3), error=("InvalidArgumentError", ""))
