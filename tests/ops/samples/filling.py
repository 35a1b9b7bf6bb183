"""Samples of the ops that make tensors from little."""

from tests.ops.samples import (
    HALF_TO_DOUBLE,
    NUMERIC,
    ORDINARY,
    b1,
    each,
    f32,
    f64,
    i8,
    i32,
    i64,
    of,
    s,
    sample,
    u8,
)

INVALID = "InvalidArgumentError"

each(ORDINARY, "ZerosLike", x=(2, 3))
sample("ZerosLike", x=s())
each((*NUMERIC, "bool"), "OnesLike", x=(2, 3))
sample("OnesLike", x=f64())
each(ORDINARY, "Fill", dims=i32([2, 3]), value=())
sample("Fill", dims=i64([2]), value=f64())
sample("Fill", dims=i32([]), value=i32.of(7))
sample("Fill", dims=i32([0, 2]), value=b1.of(True))
sample("Fill", dims=i32([-1]), value=f32(), error=(INVALID, "-1"))
sample("Fill", dims=i32([2]), value=f32(2), error=(INVALID, "scalar"))
sample("Empty", shape=i32([2, 3]), dtype="float32", init=True)
sample("Empty", shape=i32([2]), dtype="string", init=True)

for start, limit, delta in ((0, 5, 1), (3, 18, 3), (2, 2, 1)):
    each(
        ("bfloat16", *HALF_TO_DOUBLE, "int32", "int64"),
        "Range",
        start=of(start),
        limit=of(limit),
        delta=of(delta),
    )
each(("int32", "int64", "float64"), "Range", start=of(5), limit=of(0), delta=of(-2))
each(
    ("int8", "int16", "uint16", "uint32", "uint64"),
    "Range",
    start=of(1),
    limit=of(9),
    delta=of(3),
    parity="TensorFlow has no kernel for the type",
)
sample("Range", start=f32.of(0), limit=f32.of(1), delta=f32.of(0.1))
sample("Range", start=f64.of(-1), limit=f64.of(1), delta=f64.of(0.3))
sample("Range", start=f32.of(1), limit=f32.of(0), delta=f32.of(-0.125))
sample(
    "Range",
    start=i32.of(0),
    limit=i32.of(3),
    delta=i32.of(0),
    error=(INVALID, "Requires delta != 0"),
)
sample(
    "Range",
    start=i32.of(5),
    limit=i32.of(3),
    delta=i32.of(1),
    error=(INVALID, "Requires start <= limit when delta > 0: 5/3"),
)
sample(
    "Range",
    start=i32.of(3),
    limit=i32.of(5),
    delta=i32.of(-1),
    error=(INVALID, "Requires start >= limit when delta < 0: 3/5"),
)

each(ORDINARY, "OneHot", indices=i64([[0, 2], [-1, 1]]), depth=i32.of(3), on_value=(), off_value=())
for axis in (0, 1, 2):
    sample(
        "OneHot",
        indices=i32([[0, 2], [3, 1]]),
        depth=i32.of(4),
        axis=axis,
        on_value=f64.of(2.5),
        off_value=f64.of(-1),
    )
sample("OneHot", indices=u8.of(1), depth=i32.of(2), on_value=i32.of(5), off_value=i32.of(0))
sample("OneHot", indices=i8([1, 1]), depth=i32.of(0), on_value=f32.of(1), off_value=f32.of(0))
sample(
    "OneHot",
    indices=i32([1]),
    depth=i32.of(-1),
    on_value=f32.of(1),
    off_value=f32.of(0),
    error=(INVALID, "depth must be non-negative, got: -1"),
)
