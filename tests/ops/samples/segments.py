"""Samples of reductions over segments."""

from tests.ops.samples import NUMERIC, REAL, each, f32, f64, i32, i64, sample

EMPTY = dict.fromkeys(("grad", "grad2"), "an empty segment holds the lowest number")
SEGMENTS = (("Sum", NUMERIC), ("Mean", NUMERIC), ("Prod", NUMERIC), ("Max", REAL), ("Min", REAL))
for name, types in SEGMENTS:
    op = f"Segment{name}"
    each(types, op, data=(5, 2), segment_ids=i32([0, 0, 2, 3, 3]), domain=(1, 3), ulp=4)
    sample(op, data=f32(0, 2), segment_ids=i32(0))
    sample(
        op,
        data=f32(4),
        segment_ids=i32([0, 2, 1, 3]),
        error=("InvalidArgumentError", "segment ids are not increasing"),
    )
    sample(
        op,
        data=f32(4),
        segment_ids=i32([1, 2, 2]),
        error=(
            "InvalidArgumentError",
            "segment_ids should be the same size as dimension 0 of input",
        ),
    )
for name, types in SEGMENTS:
    if name == "Mean":
        continue
    op = f"Unsorted{'Segment'}{name}"
    each(
        types,
        op,
        data=(5, 2),
        segment_ids=i32([2, 0, -1, 0, 3]),
        num_segments=i32.of(5),
        domain=(1, 3),
        ulp=4,
        **(EMPTY if name in ("Max", "Min") else {}),
    )
    sample(op, data=f64(2, 2, 3), segment_ids=i64([[0, 1], [1, -1]]), num_segments=i64.of(2))
    sample(
        op,
        data=f32(2),
        segment_ids=i32([0, 5]),
        num_segments=i32.of(3),
        error=("InvalidArgumentError", "segment_ids[1] = 5 is out of range [0, 3)"),
    )
sample(
    "UnsortedSegmentProd",
    data=f64([0.0, 2.0, 0.0, 0.0, 3.0]),
    segment_ids=i32([0, 0, 1, 1, 1]),
    num_segments=i32.of(2),
)
sample(
    "SegmentProd",
    data=f64([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0], [1.5, 0.0]]),
    segment_ids=i32([0, 0, 1, 1]),
)
