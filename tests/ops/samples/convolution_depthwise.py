"""Samples of depthwise convolution."""

from tests.ops.samples import FLOATING, f32, f64, i32, sample, sums

ONE = [1, 1, 1, 1]
CPU = "TensorFlow has no CPU kernel for this"
OP = "DepthwiseConv2dNative"

sums(FLOATING, OP, input=(2, 5, 4, 3), filter=(3, 2, 3, 2), strides=ONE, padding="SAME")
sample(
    OP,
    input=f64(2, 5, 5, 3),
    filter=f64(3, 3, 3, 2),
    strides=[1, 2, 2, 1],
    padding="VALID",
    tol=1e-12,
)
sample(
    OP,
    input=f64(2, 5, 5, 2),
    filter=f64(2, 2, 2, 1),
    strides=ONE,
    padding="EXPLICIT",
    explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0],
    tol=1e-12,
)
sample(
    OP,
    input=f64(2, 5, 5, 2),
    filter=f64(2, 2, 2, 1),
    strides=ONE,
    padding="SAME",
    dilations=[1, 2, 2, 1],
    parity=CPU,
)
sample(
    OP,
    input=f64(2, 2, 5, 5),
    filter=f64(2, 2, 2, 2),
    strides=ONE,
    padding="SAME",
    data_format="NCHW",
    parity=CPU,
)
sample(
    OP,
    input=f32(2, 5, 5, 3),
    filter=f32(3, 3, 4, 2),
    strides=ONE,
    padding="SAME",
    error=("InvalidArgumentError", "input and filter must have the same depth: 3 vs 4"),
)
sample(
    OP + "BackpropInput",
    input_sizes=i32([2, 5, 5, 3]),
    filter=f64(3, 3, 3, 2),
    out_backprop=f64(2, 2, 2, 6),
    strides=[1, 2, 2, 1],
    padding="VALID",
    tol=1e-12,
)
sample(
    OP + "BackpropFilter",
    input=f64(2, 5, 5, 3),
    filter_sizes=i32([3, 3, 3, 2]),
    out_backprop=f64(2, 3, 3, 6),
    strides=[1, 2, 2, 1],
    padding="SAME",
    tol=1e-12,
)
sums(
    ("float32",),
    OP,
    input=(2, 6, 7, 20),
    filter=(3, 3, 20, 1),
    strides=[1, 2, 2, 1],
    padding="SAME",
)
sums(
    ("float32",),
    OP + "BackpropInput",
    input_sizes=i32([2, 6, 7, 20]),
    filter=(3, 3, 20, 1),
    out_backprop=(2, 3, 4, 20),
    strides=[1, 2, 2, 1],
    padding="SAME",
)
sums(
    ("float32",),
    OP + "BackpropFilter",
    input=(2, 6, 7, 20),
    filter_sizes=i32([3, 3, 20, 1]),
    out_backprop=(2, 6, 7, 20),
    strides=ONE,
    padding="SAME",
)
