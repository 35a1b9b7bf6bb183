"""Samples of formatting and printing."""

from tests.ops.samples import ORDINARY, each, f32, f64, i32, s, sample

each(ORDINARY, "StringFormat", inputs=[(2, 3), ()], template="a %s b %s c")
each(ORDINARY, "StringFormat", inputs=[(9,)], template="{}", placeholder="{}")
sample("StringFormat", inputs=[f32(7, 2, 7)], summarize=2)
sample("StringFormat", inputs=[f32(2, 0), f32(0, 2)], template="%s %s", summarize=-1)
sample("StringFormat", inputs=[i32([1, 2, 3])], summarize=0)
sample("StringFormat", inputs=[f64([1 / 3, 1e300, float("nan"), -float("inf")])], summarize=-1)
sample("StringFormat", inputs=[f32([1 / 3, 1e30, 16777216.0, -0.0])], summarize=-1)
sample("StringFormat", inputs=[], template="nothing")
sample(
    "StringFormat",
    inputs=[i32.of(1)],
    template="%s %s",
    error=(
        "InvalidArgumentError",
        "num placeholders in template and num inputs must match: 2 vs. 1",
    ),
)
sample("PrintV2", input=s.of("sample"), end="", output_stream="stdout")
sample(
    "PrintV2",
    input=s(["a"]),
    error=("InvalidArgumentError", "Input is expected to be scalar, but got [1]"),
)
sample(
    "PrintV2",
    input=s.of("a"),
    output_stream="nowhere",
    error=("InvalidArgumentError", "Unknown output stream: nowhere, Valid streams are: "),
)
