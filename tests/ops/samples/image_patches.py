"""Samples of patches of images and volumes."""

from tests.ops.samples import COMPLEX, FLOATING, INTEGRAL, b1, each, f32, f64, sample

ONE, TWO = [1, 1, 1, 1], [1, 2, 2, 1]
WINDOW = {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "rates": ONE}
NO_FILTERS = "there are no complex convolutions to scatter it with"

each((*FLOATING, *INTEGRAL), "ExtractImagePatches", images=(2, 4, 5, 2), **WINDOW, padding="SAME")
sample(
    "ExtractImagePatches",
    images=b1(2, 4, 5, 2),
    **WINDOW,
    padding="SAME",
    parity="TensorFlow has no CPU kernel for bool",
)
each(COMPLEX, "ExtractImagePatches", images=(2, 4, 5, 2), **WINDOW, padding="SAME", grad=NO_FILTERS)
for padding in ("SAME", "VALID"):
    sample(
        "ExtractImagePatches",
        images=f64(2, 5, 6, 2),
        ksizes=TWO,
        strides=ONE,
        rates=TWO,
        padding=padding,
    )
    sample(
        "ExtractImagePatches",
        images=f64(1, 7, 5, 3),
        ksizes=[1, 3, 2, 1],
        strides=[1, 2, 2, 1],
        rates=ONE,
        padding=padding,
    )
each(
    (*FLOATING, *INTEGRAL),
    "ExtractVolumePatches",
    input=(1, 3, 4, 3, 2),
    ksizes=[1, 2, 2, 1, 1],
    strides=[1, 1, 2, 1, 1],
    padding="SAME",
)
sample(
    "ExtractVolumePatches",
    input=f64(2, 3, 4, 3, 2),
    ksizes=[1, 2, 3, 2, 1],
    strides=[1, 1, 1, 2, 1],
    padding="VALID",
)
BASE = {"ksizes": TWO, "strides": ONE, "rates": ONE, "padding": "VALID"}
sample("ExtractImagePatches", images=f32(4, 5, 2), **BASE, error=("InvalidArgumentError", "4"))
sample(
    "ExtractImagePatches",
    images=f32(1, 4, 5, 2),
    **{**BASE, "ksizes": [2, 2, 2, 1]},
    error=("UnimplementedError", "Only support ksizes across space."),
)
sample(
    "ExtractImagePatches",
    images=f32(1, 4, 5, 2),
    **{**BASE, "ksizes": [1, 2, 1]},
    error=("InvalidArgumentError", "Length for attr 'ksizes' of 3 must be at least minimum 4"),
)
sample(
    "ExtractImagePatches",
    images=f32(1, 4, 5, 2),
    **{**BASE, "ksizes": [1, 20, 2, 1]},
    error=("InvalidArgumentError", "Computed output size would be negative: "),
)
sample(
    "ExtractImagePatches",
    images=f32(1, 4, 5, 2),
    **{**BASE, "strides": [1, 0, 1, 1]},
    error=("OutOfRangeError", "strides is out of range."),
)
