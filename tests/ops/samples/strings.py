"""Samples of string ops."""

from tests.ops.samples import i32, i64, s, sample

WRONG = "InvalidArgumentError"

sample("StringStrip", input=s(["  a b \t\n", "\u00a0x ", "\x0bz\x0c", ""]))
sample("StringLower", input=s([["AbÖ", "ÀÉ"]]))
sample("StringLower", input=s(["AbÖ", "İSS"]), encoding="utf-8")
sample("StringUpper", input=s(["abö", "straße"]))
sample("StringUpper", input=s.of("straße"), encoding="utf-8")
sample(
    "StringUpper",
    input=s(["a"]),
    encoding="latin",
    error=(WRONG, "only utf-8 or '' (no encoding) is supported, received latin"),
)
sample("StringLength", input=s(["a", "größe", "", b"\xff\xfe"]))
sample("StringLength", input=s([["a", "größe", "", b"\xff\xfe"]]), unit="UTF8_CHAR")
sample(
    "StringLength",
    input=s(["a"]),
    unit="x",
    error=(WRONG, 'of "x" is not in the list of allowed values'),
)

for pos, count in ((1, 2), (-3, 2), (5, 2), (2, 100), (1, -1), (0, 0)):
    sample("Substr", input=s.of("hello"), pos=i32.of(pos), len=i32.of(count))
    sample(
        "Substr",
        input=s(["größer", "東京五輪五輪"]),
        pos=i64.of(pos),
        len=i64.of(count),
        unit="UTF8_CHAR",
    )
sample("Substr", input=s(["hello", "wörld"]), pos=i32([1, 2]), len=i32([2, 2]))
sample("Substr", input=s.of("hello"), pos=i32([1, 2]), len=i32([1, 2]))
sample("Substr", input=s([["a"], ["bcd"]]), pos=i32([[0, 1]]), len=i32([[1, 1]]))
sample(
    "Substr",
    input=s.of("hello"),
    pos=i32.of(10),
    len=i32.of(2),
    error=(WRONG, "pos 10 out of range for string b'hello' at index 0"),
)
sample(
    "Substr",
    input=s.of("hi"),
    pos=i32.of(9),
    len=i32.of(2),
    unit="UTF8_CHAR",
    error=(WRONG, "pos 9 out of range for string at index 0"),
)
sample(
    "Substr",
    input=s.of("hello"),
    pos=i32.of(1),
    len=i32([2, 3]),
    error=(WRONG, "pos and len should have the same shape, got: [] vs. [2]"),
)

for sep, most in (("", -1), (",", -1), (", ", 1), ("", 1), ("", 0), (",", 0), ("", 2), (",", 2)):
    sample(
        "StringSplitV2",
        input=s(["a b  c", "", "d,e,,f", ",", " a, b, c "]),
        sep=s.of(sep),
        maxsplit=most,
    )
sample("StringSplitV2", input=s([]), sep=s.of(","))
sample(
    "StringSplitV2",
    input=s.of("a b"),
    sep=s.of(""),
    error=(WRONG, "input must be a vector, got shape: []"),
)

sample("StringJoin", inputs=[s(["a", "b"]), s.of("c")], separator="-")
sample("StringJoin", inputs=[s([["a"]]), s([["b"]]), s([["ö"]])])
sample("StringJoin", inputs=[s.of("a")])
sample(
    "StringJoin",
    inputs=[s(["a", "b"]), s(["c"])],
    error=(WRONG, "Input shapes do not match: [2] vs. [1]"),
)

GRID = s([["a", "b", "c"], ["d", "e", "f"]])
for axes in ([0], [1], [-1], [0, 1], [1, 0], []):
    sample("ReduceJoin", inputs=GRID, reduction_indices=i32(axes), separator=",")
    sample("ReduceJoin", inputs=GRID, reduction_indices=i32(axes), keep_dims=True)
sample("ReduceJoin", inputs=GRID, reduction_indices=i32.of(1))
sample("ReduceJoin", inputs=s.of("a"), reduction_indices=i32([]))
sample(
    "ReduceJoin",
    inputs=GRID,
    reduction_indices=i32([2]),
    error=("OutOfRangeError", "Invalid reduction dimension 2 for input with 2 dimension(s)"),
)
sample(
    "ReduceJoin",
    inputs=GRID,
    reduction_indices=i32([0, 0]),
    error=(WRONG, "Duplicate reduction dimension 0"),
)

sample(
    "UnsortedSegmentJoin",
    inputs=s(["a", "b", "c", "d"]),
    segment_ids=i32([0, 2, 0, 2]),
    num_segments=i32.of(3),
    separator=":",
)
sample(
    "UnsortedSegmentJoin",
    inputs=s([["a", "b"], ["c", "d"]]),
    segment_ids=i32([1, 0]),
    num_segments=i64.of(2),
)
sample(
    "UnsortedSegmentJoin",
    inputs=s([["a", "b"], ["c", "d"]]),
    segment_ids=i64([[1, 0], [1, 1]]),
    num_segments=i32.of(2),
    separator=":",
)
sample(
    "UnsortedSegmentJoin",
    inputs=s(["a"]),
    segment_ids=i32([5]),
    num_segments=i32.of(2),
    error=(WRONG, "segment_ids are not allowed to exceed num_segments"),
)

INTEGERS = ["1", " 12 ", "-3", "+3", "0", "007", "2147483647"]
FLOATS = [
    "1",
    " 1.5\n",
    "-.5",
    "5.",
    "1e5",
    "1E-3",
    "0x10",
    "0x1.8p1",
    "inf",
    "-Infinity",
    "NaN",
    "1e400",
    "3.4028235e38",
    "0.1",
]
for kind in ("int32", "int64", "float32", "float64"):
    sample("StringToNumber", string_tensor=s(INTEGERS), out_type=kind)
sample("StringToNumber", string_tensor=s(["1", "4294967295"]), out_type="uint32")
sample("StringToNumber", string_tensor=s.of("18446744073709551615"), out_type="uint64")
for kind in ("float32", "float64"):
    sample("StringToNumber", string_tensor=s(FLOATS), out_type=kind)
    for bad in ("", "abc", "1f", "1_0", "1 2", "--1"):
        sample(
            "StringToNumber",
            string_tensor=s.of(bad),
            out_type=kind,
            error=(WRONG, f"could not correctly convert string: {bad}"),
        )
for bad in ("", "1.5", "1e5", "0x10", "99999999999", "1_0"):
    sample(
        "StringToNumber",
        string_tensor=s([bad]),
        out_type="int32",
        error=(WRONG, f"could not correctly convert string: {bad}"),
    )
sample(
    "StringToNumber",
    string_tensor=s(["1"]),
    out_type="int8",
    error=(WRONG, "of int8 is not in the list of allowed values"),
)
