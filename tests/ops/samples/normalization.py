"""Samples of sums of squares and normalisation."""

from tests.ops.samples import FLOATING, f16, f32, f64, sample, sums

CPU = "TensorFlow has no such op"

sums(FLOATING, "L2Loss", t=(2, 3))
sample("L2Loss", t=f32(0))
sample("L2Loss", t=f32())

for dtype in (f32, f16):
    sample("LRN", input=dtype(1, 2, 2, 7), depth_radius=2, alpha=0.5, beta=0.75, tol=1e-3)
sample(
    "LRN",
    input=f64(1, 2, 2, 7),
    depth_radius=2,
    bias=1.5,
    alpha=0.5,
    beta=0.75,
    parity=CPU,
    grad2=CPU,
)
sample("LRN", input=f32(2, 3), error=("InvalidArgumentError", "in must be 4-dimensional"))
sample(
    "LRNGrad",
    input_grads=f32(1, 2, 2, 7),
    input_image=f32(1, 2, 2, 7, lo=1, hi=2),
    output_image=f32(1, 2, 2, 7),
    depth_radius=2,
    tol=1e-5,
)
