"""Reductions over segments of rows that are gathered first."""

from tests.ops.samples import FLOATING, REAL, f32, f64, i32, i64, sample, sums

INVALID = "InvalidArgumentError"
AT, IDS = i32([3, 0, 3, 1]), i32([0, 0, 1, 3])

for _kind, _types in (("Sum", REAL), ("Mean", FLOATING), ("SqrtN", FLOATING)):
    _name = f"SparseSegment{_kind}"
    sums(_types, _name, data=(4, 2), indices=AT, segment_ids=IDS)
    sample(_name, data=f64(4), indices=i64([1, 2]), segment_ids=i64([0, 1]), tol=1e-12)
    sample(
        _name,
        data=f32(3, 2),
        indices=i32([0, 5]),
        segment_ids=i32([0, 1]),
        error=(INVALID, "out of range [0, 3)"),
    )
    sample(
        _name,
        data=f32(3, 2),
        indices=i32([0, 1]),
        segment_ids=i32([1, 0]),
        error=(INVALID, "increasing"),
    )
    sample(
        _name,
        data=f32(3, 2),
        indices=i32([0, 1]),
        segment_ids=i32([1]),
        error=(INVALID, "same size"),
    )
    _name = f"SparseSegment{_kind}WithNumSegments"
    sums(_types, _name, data=(4, 2), indices=AT, segment_ids=IDS, num_segments=i32.of(5))
    sample(
        _name,
        data=f32(3, 2),
        indices=i32([0, 1]),
        segment_ids=i32([1, 3]),
        num_segments=i32.of(2),
        error=(INVALID, "must be < num_segments"),
    )
    _name = f"SparseSegment{_kind}Grad"
    sums(
        ("float32", "float64"),
        _name,
        grad=(4, 2),
        indices=AT,
        segment_ids=IDS,
        output_dim0=i32.of(5),
    )
    sample(
        _name,
        grad=f32(4, 2),
        indices=i32([0, 7]),
        segment_ids=i32([0, 1]),
        output_dim0=i32.of(4),
        error=(INVALID, "Index 7 out of range [0, 4)"),
    )
    _name = f"SparseSegment{_kind}GradV2"
    sums(
        ("float32", "float64"),
        _name,
        grad=(4, 2),
        indices=AT,
        segment_ids=IDS,
        dense_output_dim0=i32.of(5),
    )
