"""Samples of colours."""

from tests.ops.samples import FLOATING, each, f32, f64, sample

TOLERANCE = {"bfloat16": 2e-2, "float16": 2e-3, "float32": 1e-6, "float64": 1e-12}
EDGES = [[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.1], [0.2, 0.7, 0.7], [1, 0, 1], [0, 1, 0]]
WITH_ZEROS = "colours with equal channels are corners of the map"

for dtype in FLOATING:
    tol = {"tol": TOLERANCE[dtype]}
    each((dtype,), "RGBToHSV", images=(2, 3, 4, 3), domain=(0.0, 1.0), **tol)
    each((dtype,), "HSVToRGB", images=(2, 3, 4, 3), domain=(0.0, 1.0), **tol)
sample("RGBToHSV", images=f64(EDGES), grad=WITH_ZEROS, tol=1e-12)
sample("HSVToRGB", images=f64(EDGES), tol=1e-12)
for op in ("RGBToHSV", "HSVToRGB"):
    sample(op, images=f32(0, 3))
    sample(
        op,
        images=f32(2, 4),
        error=(
            "FailedPreconditionError",
            "input must have 3 channels but input only has 4 channels",
        ),
    )
    sample(op, images=f32(), error=("InvalidArgumentError", "input must be at least 1D"))

CPU = "TensorFlow has no CPU kernel for this"
SINGLE = "there is no float64 of it: see tests/ops/test_image_gradients.py"
for op, factor in (
    ("AdjustContrastv2", "contrast_factor"),
    ("AdjustHue", "delta"),
    ("AdjustSaturation", "scale"),
):
    for dtype, tol in (("float16", 4e-3), ("float32", 2e-6)):
        for number in (0.3, 1.7, -0.4):
            each(
                (dtype,),
                op,
                images=(2, 3, 4, 3),
                domain=(0.0, 1.0),
                **{factor: f32.of(number)},
                tol=tol,
                grad=SINGLE,
                parity=True if dtype == "float32" else CPU,
            )
    sample(op, images=f32(2, 2, 5, 4, 3), **{factor: f32.of(0.5)}, tol=4e-6)
    sample(op, images=f32(0, 4, 3), **{factor: f32.of(0.5)})
    sample(
        op,
        images=f32([[[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.1], [1, 0, 1]]]),
        **{factor: f32.of(0.25)},
        tol=1e-6,
    )
    sample(
        op,
        images=f32(4, 3),
        **{factor: f32.of(0.5)},
        error=("InvalidArgumentError", "input must be at least 3-D, got shape"),
    )
    sample(
        op,
        images=f32(2, 4, 3),
        **{factor: f32([0.5])},
        error=("InvalidArgumentError", f"{factor} must be scalar"),
    )
sample("AdjustContrastv2", images=f32(2, 3, 5), contrast_factor=f32.of(0.5), tol=2e-6)
sample(
    "AdjustHue",
    images=f32(2, 3, 4),
    delta=f32.of(0.5),
    error=("InvalidArgumentError", "input must have 3 channels but instead has 4 channels"),
)
