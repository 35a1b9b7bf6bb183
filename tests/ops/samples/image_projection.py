"""Samples of images through projective maps."""

from tests.ops.samples import each, f32, i32, sample

BACK = "TensorFlow's gradient moves the image back, which is only near the derivative"
MOVES = f32([[1, 0.2, -0.6, -0.1, 0.9, 0.8, 0.01, 0.02], [0.5, 0, 3, 0, 2, -7, 0, 0]])
SAME = f32([[1, 0, 0, 0, 1, 0, 0, 0]])
TYPES = ("uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")
SIZE = {"output_shape": i32([6, 9])}

for how in ("NEAREST", "BILINEAR"):
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        attrs = {"interpolation": how, "fill_mode": mode, "grad": BACK, "tol": 4e-6}
        sample(
            "ImageProjectiveTransformV2", images=f32(2, 5, 7, 2), transforms=MOVES, **SIZE, **attrs
        )
        sample(
            "ImageProjectiveTransformV3",
            images=f32(2, 5, 7, 2),
            transforms=MOVES,
            fill_value=f32.of(2.5),
            **SIZE,
            **attrs,
        )
        sample(
            "ImageProjectiveTransformV3",
            images=f32(2, 5, 7, 2),
            transforms=SAME,
            fill_value=f32.of(2.5),
            **SIZE,
            **attrs,
        )
    each(
        TYPES,
        "ImageProjectiveTransformV3",
        images=(2, 5, 7, 2),
        transforms=MOVES,
        fill_value=f32.of(3),
        interpolation=how,
        grad=BACK,
        tol=2e-2,
        **SIZE,
    )
for transforms in (f32(2, 7), f32(3, 8)):
    sample(
        "ImageProjectiveTransformV2",
        images=f32(2, 5, 7, 2),
        transforms=transforms,
        interpolation="NEAREST",
        **SIZE,
        error=("InvalidArgumentError", "transform"),
    )
sample(
    "ImageProjectiveTransformV2",
    images=f32(2, 5, 7, 2),
    transforms=SAME,
    interpolation="CUBIC",
    **SIZE,
    parity="TensorFlow 2.21 does not look",
    error=("InvalidArgumentError", "Invalid interpolation CUBIC"),
)
