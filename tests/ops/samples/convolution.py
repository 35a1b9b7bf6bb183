"""Samples of convolutions and their gradients."""

from tests.ops.samples import FLOATING, f32, f64, i32, sample, sums

ONE = [1, 1, 1, 1]
CPU = "TensorFlow has no CPU kernel for this layout"
GROUPS = "TensorFlow has no CPU kernel for gradients of groups"

sums(
    (*FLOATING, "int32"),
    "Conv2D",
    input=(2, 5, 4, 3),
    filter=(3, 2, 3, 2),
    strides=ONE,
    padding="SAME",
)
for padding in ("SAME", "VALID"):
    for strides, dilations in (
        (ONE, ONE),
        ([1, 2, 2, 1], ONE),
        ([1, 1, 2, 1], ONE),
        (ONE, [1, 2, 1, 1]),
        ([1, 2, 3, 1], [1, 1, 2, 1]),
    ):
        sample(
            "Conv2D",
            input=f64(2, 6, 7, 2),
            filter=f64(3, 2, 2, 3),
            strides=strides,
            padding=padding,
            dilations=dilations,
            tol=1e-12,
        )
sample(
    "Conv2D",
    input=f64(2, 4, 4, 2),
    filter=f64(3, 3, 2, 2),
    strides=ONE,
    padding="EXPLICIT",
    explicit_paddings=[0, 0, 2, 1, 0, 3, 0, 0],
    tol=1e-12,
)
sample(
    "Conv2D", input=f64(2, 4, 4, 3), filter=f64(1, 1, 3, 2), strides=ONE, padding="VALID", tol=1e-12
)
sample(
    "Conv2D",
    input=f64(2, 5, 5, 3),
    filter=f64(1, 1, 3, 2),
    strides=[1, 2, 2, 1],
    padding="SAME",
    tol=1e-12,
)
sample(
    "Conv2D", input=f32(2, 9, 9, 16), filter=f32(3, 3, 16, 8), strides=ONE, padding="SAME", tol=1e-4
)
sample(
    "Conv2D",
    input=f64(1, 4, 4, 16),
    filter=f64(3, 3, 16, 2),
    strides=ONE,
    padding="SAME",
    tol=1e-11,
)
sample(
    "Conv2D", input=f64(2, 4, 4, 4), filter=f64(3, 3, 2, 6), strides=ONE, padding="SAME", tol=1e-12
)
sample(
    "Conv2D",
    input=f64(2, 3, 5, 4),
    filter=f64(3, 2, 3, 2),
    strides=[1, 1, 2, 1],
    padding="SAME",
    data_format="NCHW",
    parity=CPU,
)
sample("Conv2D", input=f32(0, 4, 4, 3), filter=f32(2, 2, 3, 2), strides=ONE, padding="SAME")
for shape, window, phrase in (
    ((2, 5, 5, 3), (3, 3, 4, 6), "input depth must be evenly divisible by filter depth: 3 vs 4"),
    (
        (2, 5, 5, 3),
        (7, 3, 3, 6),
        "Computed output size would be negative: -1 [input_size: 5, effective_filter_size: 7, stride: 1]",
    ),
    ((2, 5, 5, 3), (3, 3, 3), "filter must be 4-dimensional: [3,3,3]"),
    ((5, 5, 3), (3, 3, 3, 3), "convolution input must be 4-dimensional: [5,5,3]"),
    (
        (2, 4, 4, 4),
        (3, 3, 2, 5),
        "output depth must be evenly divisible by number of groups: 5 vs 2",
    ),
    ((2, 4, 4, 4), (0, 3, 4, 5), "filter must not have zero elements"),
):
    sample(
        "Conv2D",
        input=f32(*shape),
        filter=f32(*window),
        strides=ONE,
        padding="VALID",
        error=("InvalidArgumentError", phrase),
    )
sample(
    "Conv2D",
    input=f32(2, 5, 5, 3),
    filter=f32(3, 3, 3, 3),
    strides=[2, 1, 1, 1],
    padding="VALID",
    error=("UnimplementedError", "strides in the batch and depth dimensions"),
)
sample(
    "Conv2D",
    input=f32(2, 5, 5, 3),
    filter=f32(3, 3, 3, 3),
    strides=ONE,
    padding="FOO",
    error=("InvalidArgumentError", '"FOO" is not in the list of allowed values'),
)

BACK = "Conv2DBackpropInput"
sums(
    FLOATING,
    BACK,
    input_sizes=i32([2, 5, 4, 3]),
    filter=(3, 2, 3, 2),
    out_backprop=(2, 5, 4, 2),
    strides=ONE,
    padding="SAME",
)
sample(
    BACK,
    input_sizes=i32([2, 5, 4, 3]),
    filter=f64(3, 2, 3, 2),
    out_backprop=f64(2, 2, 2, 2),
    strides=[1, 2, 2, 1],
    padding="VALID",
    tol=1e-12,
)
sample(
    BACK,
    input_sizes=i32([2, 6, 5, 3]),
    filter=f64(3, 2, 3, 2),
    out_backprop=f64(2, 3, 3, 2),
    strides=[1, 2, 2, 1],
    padding="SAME",
    tol=1e-12,
)
sample(
    BACK,
    input_sizes=i32([1, 5, 5, 16]),
    filter=f64(3, 3, 16, 2),
    out_backprop=f64(1, 5, 5, 2),
    strides=ONE,
    padding="SAME",
    tol=1e-11,
)
sample(
    BACK,
    input_sizes=i32([1, 5, 5, 8]),
    filter=f64(3, 3, 8, 2),
    out_backprop=f64(1, 3, 1, 2),
    strides=ONE,
    padding="VALID",
    parity=CPU,
    dilations=[1, 1, 2, 1],
    tol=1e-11,
)
sample(
    BACK,
    input_sizes=i32([2, 4, 4, 4]),
    filter=f64(3, 3, 2, 6),
    out_backprop=f64(2, 4, 4, 6),
    strides=ONE,
    padding="SAME",
    tol=1e-12,
    parity=GROUPS,
)
sample(
    BACK,
    input_sizes=i32([2, 3, 5, 4]),
    filter=f64(3, 2, 3, 2),
    out_backprop=f64(2, 2, 5, 4),
    strides=ONE,
    padding="SAME",
    data_format="NCHW",
    parity=CPU,
)
sample(
    BACK,
    input_sizes=i32([2, 5, 5, 3]),
    filter=f32(3, 3, 3, 6),
    out_backprop=f32(2, 4, 5, 6),
    strides=ONE,
    padding="SAME",
    error=(
        "InvalidArgumentError",
        "Size of out_backprop doesn't match computed: actual = 4, computed = 5",
    ),
)

BACK = "Conv2DBackpropFilter"
sums(
    FLOATING,
    BACK,
    input=(2, 5, 4, 3),
    filter_sizes=i32([3, 2, 3, 2]),
    out_backprop=(2, 5, 4, 2),
    strides=ONE,
    padding="SAME",
)
sample(
    BACK,
    input=f64(2, 5, 4, 3),
    filter_sizes=i32([3, 2, 3, 2]),
    out_backprop=f64(2, 2, 2, 2),
    strides=[1, 2, 2, 1],
    padding="VALID",
    tol=1e-12,
)
sample(
    BACK,
    input=f64(2, 6, 5, 3),
    filter_sizes=i32([3, 2, 3, 2]),
    out_backprop=f64(2, 3, 3, 2),
    strides=[1, 2, 2, 1],
    padding="SAME",
    tol=1e-12,
)
sample(
    BACK,
    input=f64(2, 4, 4, 4),
    filter_sizes=i32([3, 3, 2, 6]),
    out_backprop=f64(2, 4, 4, 6),
    strides=ONE,
    padding="SAME",
    tol=1e-12,
    parity=GROUPS,
)
sample(
    BACK,
    input=f32(2, 5, 5, 3),
    filter_sizes=i32([3, 3, 3, 6]),
    out_backprop=f32(2, 4, 5, 6),
    strides=ONE,
    padding="SAME",
    error=("InvalidArgumentError", "Size of out_backprop doesn't match computed"),
)

FIVE = [1, 1, 1, 1, 1]
sums(
    FLOATING, "Conv3D", input=(1, 3, 4, 3, 2), filter=(2, 2, 3, 2, 3), strides=FIVE, padding="SAME"
)
sample(
    "Conv3D",
    input=f64(1, 4, 5, 4, 2),
    filter=f64(2, 2, 3, 2, 1),
    strides=[1, 2, 1, 2, 1],
    padding="SAME",
    tol=1e-12,
)
sample(
    "Conv3D",
    input=f64(1, 2, 3, 4, 3),
    filter=f64(2, 2, 3, 2, 1),
    strides=FIVE,
    padding="VALID",
    data_format="NCDHW",
    parity=CPU,
)
sample(
    "Conv3DBackpropInputV2",
    input_sizes=i32([1, 3, 4, 3, 2]),
    filter=f64(2, 2, 3, 2, 2),
    out_backprop=f64(1, 2, 3, 1, 2),
    strides=FIVE,
    padding="VALID",
    tol=1e-12,
)
sample(
    "Conv3DBackpropFilterV2",
    input=f64(1, 3, 4, 3, 2),
    filter_sizes=i32([2, 2, 3, 2, 2]),
    out_backprop=f64(1, 2, 3, 1, 2),
    strides=FIVE,
    padding="VALID",
    tol=1e-12,
)
