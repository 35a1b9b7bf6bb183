"""Samples of numbers as text."""

from tests.ops.samples import (
    COMPLEX,
    FLOATING,
    INTEGRAL,
    SIGNED,
    b1,
    bf16,
    c64,
    each,
    f16,
    f32,
    f64,
    i32,
    of,
    s,
    sample,
    u64,
)

WRONG = "InvalidArgumentError"
NUMBERS = [1.5, float("nan"), float("inf"), float("-inf"), -0.1, 0.0, 123456.789, 1e-10]

each(INTEGRAL, "AsString", input=of([0, 1, 100]))
each(SIGNED, "AsString", input=of([[-5, 7]]), width=6, fill="0")
each(FLOATING, "AsString", input=of([0.0, 1.0, -100.5]))
each(COMPLEX, "AsString", input=of([0.5, 1 - 2j]))
sample("AsString", input=b1([True, False]), width=9, fill="0")
sample("AsString", input=s(["a", ""]), width=5, fill="-")
sample("AsString", input=s(["a", ""]), width=5, fill="0")
sample("AsString", input=u64([2**64 - 1]), width=30)
for style in ({}, {"shortest": True}, {"scientific": True}):
    for more in ({}, {"precision": 2}, {"precision": 0}):
        sample("AsString", input=f32(NUMBERS), **style, **more)
        sample("AsString", input=f64(NUMBERS), **style, **more)
        sample("AsString", input=c64([1.5 - 0.25j]), **style, **more)
for fill in ("", " ", "0", "+", "-"):
    sample(
        "AsString",
        input=f32([1.5, -0.1, float("inf"), float("-inf"), float("nan")]),
        width=12,
        fill=fill,
    )
    sample("AsString", input=f32([1.5, -0.1, float("inf"), float("nan")]), fill=fill)
    sample("AsString", input=c64([1.5 - 0.25j]), width=12, fill=fill)
    sample("AsString", input=i32([5, -3]), width=6, fill=fill)
sample(
    "AsString",
    input=f32([1.0]),
    width=3,
    fill="x",
    error=(WRONG, 'Fill argument not supported: "x"'),
)
sample(
    "AsString",
    input=f32([1.0]),
    width=3,
    fill="00",
    error=(WRONG, "Fill string must be one or fewer characters"),
)
sample(
    "AsString",
    input=f32([1.0]),
    scientific=True,
    shortest=True,
    error=(WRONG, "Cannot select both scientific and shortest notation"),
)
sample(
    "AsString",
    input=i32([1]),
    precision=2,
    error=(WRONG, "precision not supported for datatype int32"),
)
sample(
    "AsString",
    input=i32([1]),
    scientific=True,
    error=(WRONG, "scientific and shortest format not supported for datatype int32"),
)
sample(
    "AsString",
    input=b1([True]),
    precision=2,
    error=(WRONG, "precision not supported for datatype bool"),
)

for shape in ((), (2,), (7,), (6,), (10, 2), (5, 4, 6), (2, 2, 2, 2), (2, 0), (0, 3), (2, 3, 0)):
    for ends in (-1, 1, 3):
        sample("StringFormat", inputs=[i32(*shape)], summarize=ends)
sample(
    "StringFormat",
    inputs=[f32(NUMBERS), f64(NUMBERS), f64([1 / 3, 0.1, 1e100])],
    template="a {} b\n{}: {}",
    placeholder="{}",
    summarize=-1,
)
sample(
    "StringFormat",
    inputs=[f16([0.1, 1 / 3, 65504]), bf16([0.1, 1 / 3]), c64([1j]), b1([True, False])],
    template="%s%s%s%s",
)
sample("StringFormat", inputs=[s(['a"\n\\ö', b"\xff\t\r'\x01\x7f"]), s.of("x")], template="ö%s %s")
sample(
    "StringFormat",
    inputs=[i32.of(1)],
    template="%s %s",
    error=(WRONG, "num placeholders in template and num inputs must match: 2 vs. 1"),
)
sample("StringFormat", inputs=[i32(5)], summarize=0)
