"""Samples of resizing and its gradients.

Resized images are float32 whatever the images are, so finite differences in float64 cannot
check these gradients: tests/ops/test_image_gradients.py does, and TensorFlow's answers do.
"""

from tests.ops.samples import FLOATING, SIGNED, each, f32, i32, sample

LINEAR = "the result is float32: see tests/ops/test_image_gradients.py"
TYPES = (*SIGNED, "uint8", "uint16", *FLOATING)
CENTERS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = ([3, 9], [8, 2], [1, 1], [5, 7])

for op in ("ResizeBilinear", "ResizeBicubic"):
    each(TYPES, op, images=(2, 5, 7, 3), size=i32([3, 9]), tol=2e-6, grad=LINEAR)
    for centers in CENTERS:
        for size in SIZES:
            sample(op, images=f32(2, 5, 7, 3), size=i32(size), **centers, tol=2e-6)
            sample(
                f"{op}Grad",
                grads=f32(2, *size, 3),
                original_image=f32(2, 5, 7, 3),
                **centers,
                tol=4e-6,
            )
            sample("ResizeNearestNeighbor", images=f32(1, 5, 7, 2), size=i32(size), **centers)
            sample(
                "ResizeNearestNeighborGrad",
                grads=f32(1, *size, 2),
                size=i32([5, 7]),
                **centers,
                tol=2e-6,
            )
each(
    FLOATING,
    "ResizeBilinearGrad",
    grads=f32(2, 3, 9, 3),
    original_image=(2, 5, 7, 3),
    half_pixel_centers=True,
    tol=1e-2,
    grad=LINEAR,
)
each(
    ("float32", "float64"),
    "ResizeBicubicGrad",
    grads=f32(2, 3, 9, 3),
    original_image=(2, 5, 7, 3),
    half_pixel_centers=True,
    tol=4e-6,
    grad=LINEAR,
)
each(TYPES, "ResizeNearestNeighbor", images=(2, 5, 7, 3), size=i32([3, 9]), half_pixel_centers=True)
each(
    ("uint8", "int8", "int32", *FLOATING),
    "ResizeNearestNeighborGrad",
    grads=(2, 4, 9, 3),
    size=i32([2, 3]),
    tol=1e-1,
)
each(TYPES, "ResizeArea", images=(2, 5, 7, 3), size=i32([3, 9]), tol=2e-6)
for size in SIZES:
    sample("ResizeArea", images=f32(1, 5, 7, 2), size=i32(size), tol=2e-6)
    sample("ResizeArea", images=f32(1, 5, 7, 2), size=i32(size), align_corners=True, tol=2e-6)

for op in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"):
    sample(op, images=f32(0, 5, 7, 2), size=i32([2, 2]))
    sample(
        op, images=f32(5, 7, 2), size=i32([2, 2]), error=("InvalidArgumentError", "4-dimensional")
    )
    sample(
        op,
        images=f32(1, 5, 7, 2),
        size=i32([2, 2, 2]),
        error=("InvalidArgumentError", "shape_t must have two elements"),
    )
    sample(
        op,
        images=f32(1, 5, 7, 2),
        size=i32([0, 2]),
        error=("InvalidArgumentError", "output dimensions must be positive"),
    )
sample(
    "ResizeBilinear",
    images=f32(1, 5, 7, 2),
    size=i32([2, 2]),
    align_corners=True,
    half_pixel_centers=True,
    error=("InvalidArgumentError", "If half_pixel_centers is True, align_corners must be False."),
)
sample(
    "ResizeBilinear",
    images=f32([[[[1.0], [float("nan")], [2.0], [3.0]]]]),
    size=i32([1, 8]),
    half_pixel_centers=True,
)

each(
    TYPES,
    "ScaleAndTranslate",
    images=(2, 5, 7, 3),
    size=i32([3, 9]),
    scale=f32([0.6, 9 / 7]),
    translation=f32([0, 0]),
    tol=2e-5,
    grad=LINEAR,
)
KERNELS = (
    "lanczos1",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "box",
    "triangle",
    "keyscubic",
    "mitchellcubic",
)
for kernel in KERNELS:
    for antialias in (True, False):
        attrs = {"kernel_type": kernel, "antialias": antialias, "tol": 1e-5}
        where = {"scale": f32([0.6, 1.5]), "translation": f32([0.3, -1.0])}
        sample("ScaleAndTranslate", images=f32(1, 5, 7, 2), size=i32([4, 9]), **where, **attrs)
        sample(
            "ScaleAndTranslateGrad",
            grads=f32(1, 4, 9, 2),
            original_image=f32(1, 5, 7, 2),
            **where,
            **attrs,
            grad=LINEAR,
        )
sample(
    "ScaleAndTranslate",
    images=f32(1, 5, 7, 2),
    size=i32([4, 9]),
    scale=f32([0, 1]),
    translation=f32([0, 0]),
    error=("InvalidArgumentError", "cale must be greater than zero"),
)
sample(
    "ScaleAndTranslate",
    images=f32(1, 5, 7, 2),
    size=i32([4, 9]),
    scale=f32([1, 1]),
    translation=f32([0, 0]),
    kernel_type="sinc",
    error=("InvalidArgumentError", "Unrecognized kernel type: sinc"),
)
