"""Samples of the convolution of any number of dimensions."""

from tests.ops.samples import f32, i32, sample, sums

TYPES = ("bfloat16", "float16", "float32", "float64")
ONES = {"strides": [1, 1, 1, 1], "padding": "SAME"}
NONE = "TensorFlow has no gradient of it either"

sums(TYPES, "Conv", input=(2, 5, 6, 3), filter=(2, 2, 3, 4), **ONES, grad=NONE)
sample("Conv", input=i32(2, 5, 6, 3), filter=i32(2, 2, 3, 4), **ONES)
for batch, dims in (((2, 3), 2), ((2, 1, 3), 3), ((), 0)):
    sums(
        ("float32",),
        "Conv",
        input=(*batch, 5, 6, 3),
        filter=(2, 3, 3, 4),
        strides=[1, 2, 1, 1],
        padding="VALID",
        batch_dims=dims,
    )
sums(("float32",), "Conv", input=(2, 5, 6, 3), filter=(2, 2, 3, 4), **ONES, dilations=[1, 2, 2, 1])
sums(
    ("float32",),
    "Conv",
    input=(2, 5, 6, 3),
    filter=(2, 2, 3, 4),
    strides=[1, 1, 1, 1],
    padding="EXPLICIT",
    explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0],
)
sums(
    ("float32", "float64"),
    "Conv",
    input=(2, 4, 5, 6, 3),
    filter=(2, 2, 2, 3, 4),
    strides=[1, 1, 1, 1, 1],
    padding="SAME",
    grad=NONE,
)
OTHERS = "TensorFlow has this on GPUs only"
sums(("float32",), "Conv", input=(2, 5, 6, 4), filter=(2, 2, 2, 4), **ONES, groups=2, parity=OTHERS)
sums(
    ("float32",),
    "Conv",
    input=(2, 3, 5, 6),
    filter=(2, 2, 3, 4),
    **ONES,
    data_format="CHANNELS_FIRST",
    parity=OTHERS,
)

for x, filters, options, text in (
    (f32(2, 5, 3), f32(2, 3, 4), ONES, "2 or 3 spatial dimensions"),
    (f32(2, 5, 6, 3), f32(2, 2, 5, 4), ONES, "Input depth must be equal"),
    (f32(2, 5, 6, 3), f32(2, 2, 3, 4), ONES | {"strides": [1, 1]}, "must specify 4"),
    (f32(2, 5, 6, 3), f32(2, 2, 3, 4), ONES | {"strides": [1, 1, 1, 2]}, "batch and depth"),
    (f32(2, 5, 6, 3), f32(2, 2, 3, 4), ONES | {"dilations": [1, 1, 1, 2]}, "batch and depth"),
    (f32(2, 5, 6, 3), f32(2, 2, 3, 4), ONES | {"padding": "EXPLICIT"}, "must contain 8 values"),
):
    sample("Conv", input=x, filter=filters, **options, error=("InvalidArgumentError", text))
