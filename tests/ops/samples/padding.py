"""Samples of padding."""

from tests.ops.samples import NUMERIC, ORDINARY, each, f32, f64, i32, i64, of, sample

INVALID = "InvalidArgumentError"
WIDE = i32([[1, 2], [0, 1]])

each(NUMERIC, "Pad", input=(2, 3), paddings=WIDE)
each(ORDINARY[-2:], "Pad", input=(2, 3), paddings=WIDE)
sample("Pad", input=f64(2), paddings=i64([[0, 0]]))
sample("Pad", input=f64(), paddings=i32([[0, 0]]), error=(INVALID, "rank"))
sample("Pad", input=f32(2), paddings=i32([[-1, 0]]), error=(INVALID, "must be non-negative: -1 0"))
sample("Pad", input=f32(2), paddings=WIDE, error=(INVALID, "rank of inputs"))
each(NUMERIC, "PadV2", input=(2, 3), paddings=WIDE, constant_values=of(7))
sample("PadV2", input=f64(2, 2), paddings=i64([[1, 0], [2, 0]]), constant_values=f64())
for mode in ("REFLECT", "SYMMETRIC"):
    each(ORDINARY, "MirrorPad", input=(3, 4), paddings=WIDE, mode=mode)
    sample("MirrorPad", input=f64(3, 2), paddings=i64([[2, 2], [1, 0]]), mode=mode)
    each(NUMERIC, "MirrorPadGrad", input=(6, 5), paddings=WIDE, mode=mode)
    sample("MirrorPadGrad", input=f64(7, 3), paddings=i64([[2, 2], [1, 0]]), mode=mode)
sample("MirrorPad", input=f64(3), paddings=i32([[3, 3]]), mode="SYMMETRIC")
sample(
    "MirrorPad",
    input=f32(3),
    paddings=i32([[3, 0]]),
    mode="REFLECT",
    error=(INVALID, "paddings must be less than the dimension size"),
)
sample(
    "MirrorPad",
    input=f32(3),
    paddings=i32([[4, 0]]),
    mode="SYMMETRIC",
    error=(INVALID, "paddings must be no greater than the dimension size"),
)
