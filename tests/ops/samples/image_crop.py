"""Samples of crops and glimpses."""

from tests.ops.samples import each, f32, i32, sample

LINEAR = "the result is float32: see tests/ops/test_image_gradients.py"
TYPES = ("uint8", "uint16", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
BOXES = f32([[0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], [0.9, 0.8, 0.2, 0.1], [-0.5, 0.2, 1.5, 0.7]])
WHERE = {"boxes": BOXES, "box_ind": i32([0, 1, 1, 0])}
CROP = {**WHERE, "crop_size": i32([3, 5])}

each(
    TYPES,
    "CropAndResize",
    image=(2, 6, 7, 2),
    **CROP,
    extrapolation_value=-1.5,
    tol=2e-6,
    grad=LINEAR,
)
sample("CropAndResize", image=f32(2, 6, 7, 2), **CROP, method="nearest")
sample("CropAndResize", image=f32(2, 6, 7, 2), **WHERE, crop_size=i32([1, 1]), tol=2e-6)
sample(
    "CropAndResize", image=f32(2, 6, 7, 2), boxes=f32(0, 4), box_ind=i32([]), crop_size=i32([2, 2])
)
ONE = {"boxes": f32([[0, 0, 1, 1]]), "box_ind": i32([0]), "crop_size": i32([2, 2])}
sample(
    "CropAndResize",
    image=f32(2, 6, 7, 2),
    **{**ONE, "box_ind": i32([2])},
    error=("OutOfRangeError", "box_index has values outside [0, batch_size)"),
)
sample(
    "CropAndResize",
    image=f32(2, 6, 7, 2),
    **{**ONE, "crop_size": i32([0, 2])},
    error=("InvalidArgumentError", "crop dimensions must be positive"),
)
sample(
    "CropAndResize",
    image=f32(2, 6, 7, 2),
    **{**ONE, "boxes": f32([[0, 0, 1]])},
    error=("InvalidArgumentError", "boxes must have 4 columns"),
)
sample(
    "CropAndResize",
    image=f32(2, 6, 7, 2),
    **{**ONE, "box_ind": i32([0, 0])},
    error=("InvalidArgumentError", "box_index has incompatible shape"),
)
sample(
    "CropAndResize",
    image=f32(6, 7, 2),
    **ONE,
    error=("InvalidArgumentError", "input image must be 4-D"),
)
for method in ("bilinear", "nearest"):
    for T in ("float16", "float32", "float64"):
        sample(
            "CropAndResizeGradImage",
            grads=f32(4, 3, 5, 2),
            **WHERE,
            image_size=i32([2, 6, 7, 2]),
            T=T,
            method=method,
            tol=1e-2 if T == "float16" else 4e-6,
        )
sample(
    "CropAndResizeGradImage",
    grads=f32(1, 2, 2, 2),
    boxes=f32([[0, 0, 1, 1]]),
    box_ind=i32([2]),
    image_size=i32([2, 6, 7, 2]),
    T="float32",
    error=("OutOfRangeError", "box_index has values outside [0, batch_size)"),
)
each(TYPES, "CropAndResizeGradBoxes", grads=f32(4, 3, 5, 2), image=(2, 6, 7, 2), **WHERE, tol=1e-5)
sample("CropAndResizeGradBoxes", grads=f32(4, 1, 1, 2), image=f32(2, 6, 7, 2), **WHERE, tol=1e-5)

QUIET = {"uniform_noise": False, "noise": "zero"}
for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
    for centered in (True, False):
        for normalized in (True, False):
            sample(
                op,
                input=f32(3, 7, 9, 2),
                size=i32([3, 2]),
                offsets=f32([[0, 0], [0.3, -0.2], [2, 3]]),
                centered=centered,
                normalized=normalized,
                **QUIET,
            )
    sample(op, input=f32(2, 7, 9, 2), size=i32([9, 11]), offsets=f32(2, 2), nondeterministic=True)
    sample(
        op,
        input=f32(2, 7, 9, 2),
        size=i32([9, 11]),
        offsets=f32(2, 2),
        uniform_noise=False,
        noise="gaussian",
        nondeterministic=True,
    )
    sample(
        op,
        input=f32(2, 7, 9, 2),
        size=i32([3, 2]),
        offsets=f32(3, 2),
        error=("InvalidArgumentError", "first dimension should be batch"),
    )
    sample(
        op,
        input=f32(2, 7, 9, 2),
        size=i32([3, 2]),
        offsets=f32(2, 2),
        noise="zero",
        error=(
            "InvalidArgumentError",
            "uniform_noise and noise could not be specified at the same time",
        ),
    )
