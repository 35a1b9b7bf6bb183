"""Samples of ops that make Summary messages. What the messages say is in tests/compat_v1/test_summaries.py."""

from tests.ops.samples import each, f32, i32, s, sample

each(("float32", "int64"), "ScalarSummary", tags=s.of("a"), values=())
sample("ScalarSummary", tags=s(["a", "b"]), values=f32(2))
sample(
    "ScalarSummary",
    tags=s.of("a"),
    values=f32(2),
    error=("InvalidArgumentError", "tags and values are not the same shape: [] != [2] (tag 'a')"),
)
each(("float32", "int32"), "HistogramSummary", tag=s.of("h"), values=(2, 3))
sample("HistogramSummary", tag=s.of("h"), values=f32([1e-13, -1e-13, 0.0, 1e30, -1e30]))
for _bad, _what in ((float("nan"), "Nan in summary histogram"), (float("inf"), "Infinity in")):
    sample(
        "HistogramSummary", tag=s.of("h"), values=f32([_bad]), error=("InvalidArgumentError", _what)
    )
_PNG = "another encoder of PNG"
for _images in (f32(2, 3, 3, 1), f32(2, 3, 3, 3, lo=0, hi=1)):
    for _most in (1, 3):
        sample("ImageSummary", tag=s.of("i"), tensor=_images, max_images=_most, parity=_PNG)
sample(
    "ImageSummary",
    tag=s.of("i"),
    tensor=f32(1, 3, 3, 2),
    parity="its eager calls fail in TensorFlow",
    error=("InvalidArgumentError", "Tensor must be 4-D with last dim 1, 3, or 4"),
)
for _sound in (f32(2, 5, 1), f32(2, 5)):
    for _most in (1, 3):
        sample(
            "AudioSummaryV2",
            tag=s.of("a"),
            tensor=_sound,
            sample_rate=f32.of(8000),
            max_outputs=_most,
        )
sample(
    "AudioSummaryV2",
    tag=s.of("a"),
    tensor=f32(2),
    sample_rate=f32.of(8000),
    error=("InvalidArgumentError", "Tensor must be 3-D or 2-D"),
)
for _tensor in (f32(2, 3), i32(2), s(["x", "y"])):
    sample("TensorSummaryV2", tag=s.of("t"), tensor=_tensor, serialized_summary_metadata=s.of(""))
_MESSAGE = b"\n\x08\n\x01a\x15\x00\x00\x80?"  # 1.0 under the tag a
_OTHER = b"\n\x08\n\x01b\x15\x00\x00\x00@"
sample("MergeSummary", inputs=[s.of(_MESSAGE), s.of(_OTHER)])
sample("MergeSummary", inputs=[s([_MESSAGE, _OTHER])])
sample(
    "MergeSummary",
    inputs=[s.of(_MESSAGE), s.of(_MESSAGE)],
    error=("InvalidArgumentError", "Duplicate tag a found in summary inputs"),
)
