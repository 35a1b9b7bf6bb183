"""Samples of sums of many tensors, clipping and cross products."""

from tests.ops.samples import DIFFERENTIABLE, NUMERIC, REAL, each, f32, f64, of, sample

CLIPPED = [n for n in REAL if n not in ("uint32", "uint64")]

each(NUMERIC, "AddN", inputs=[(2, 3), (2, 3), (2, 3)])
sample(
    "AddN",
    inputs=[f32(2), f32(3)],
    error=("InvalidArgumentError", "must have the same size and shape"),
)
each(
    DIFFERENTIABLE,
    "AccumulateNV2",
    inputs=[(2, 3), (2, 3)],
    shape=[2, 3],
    parity="TensorFlow rewrites it before it runs",
)
each(CLIPPED, "ClipByValue", t=(2, 3), clip_value_min=of(1), clip_value_max=of(3))
sample(
    "ClipByValue",
    t=f64([1.5, -2.0, 0.3]),
    clip_value_min=f64(3, lo=-1, hi=0),
    clip_value_max=f64.of(1),
)
each(REAL, "Cross", a=(2, 3), b=(2, 3), domain=(1, 4), ulp=64)
