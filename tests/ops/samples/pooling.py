"""Samples of pooling and its gradients."""

from tests.ops.samples import FLOATING, each, f32, f64, i32, i64, sample, sums

TWO, ONE = [1, 2, 2, 1], [1, 1, 1, 1]
CPU = "TensorFlow has no CPU kernel for this"
MAXES = (*FLOATING, "int32", "int64", "uint8", "int16", "int8", "uint16")
SHAPES = (
    (TWO, TWO, "VALID"),
    (TWO, TWO, "SAME"),
    ([1, 3, 2, 1], ONE, "SAME"),
    ([1, 3, 3, 1], TWO, "VALID"),
    (TWO, [1, 3, 3, 1], "SAME"),
)

each(MAXES, "MaxPool", input=(2, 4, 5, 2), ksize=TWO, strides=TWO, padding="VALID")
for ksize, strides, padding in SHAPES:
    attrs = {"ksize": ksize, "strides": strides, "padding": padding}
    sample("MaxPool", input=f64(2, 5, 6, 2), **attrs)
    sample("AvgPool", value=f64(2, 5, 6, 2), **attrs, tol=1e-12)
sample(
    "MaxPool",
    input=f64(2, 5, 6, 2),
    ksize=TWO,
    strides=TWO,
    padding="EXPLICIT",
    explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0],
    grad2="TensorFlow has no op for it",
)
sample(
    "MaxPool",
    input=f64(2, 3, 3, 6),
    ksize=[1, 1, 1, 3],
    strides=[1, 1, 1, 3],
    padding="VALID",
    grad=False,
)
sample(
    "MaxPool",
    input=f64(2, 2, 5, 6),
    ksize=[1, 1, 2, 2],
    strides=[1, 1, 2, 2],
    padding="SAME",
    data_format="NCHW",
    parity=CPU,
)
sample("MaxPool", input=f32(2, 5, 5, 3), ksize=[1, 7, 2, 1], strides=TWO, padding="VALID")
sample(
    "MaxPool",
    input=f32(2, 5, 5, 3),
    ksize=[1, 0, 2, 1],
    strides=TWO,
    padding="VALID",
    error=(
        "InvalidArgumentError",
        "Sliding window ksize must be positive. The specified or inferred ksize is: 1,0,2,1",
    ),
)
sample(
    "MaxPool",
    input=f32(2, 5, 5, 3),
    ksize=TWO,
    strides=[1, 0, 1, 1],
    padding="VALID",
    error=("InvalidArgumentError", "Stride must be > 0, but got 0"),
)
sample(
    "MaxPool",
    input=f32(2, 5, 5, 3),
    ksize=[2, 1, 1, 1],
    strides=ONE,
    padding="VALID",
    error=("UnimplementedError", "Pooling is not yet supported on the batch dimension."),
)
sums(FLOATING, "AvgPool", value=(2, 4, 5, 2), ksize=TWO, strides=TWO, padding="SAME")
sample(
    "AvgPool",
    value=f64(2, 2, 5, 6),
    ksize=[1, 1, 2, 2],
    strides=[1, 1, 2, 2],
    padding="SAME",
    data_format="NCHW",
    parity=CPU,
)

X, Y = f64([[[[4.0], [1.0]], [[2.0], [3.0]]]]), f64([[[[4.0]]]])
sample(
    "MaxPoolGrad",
    orig_input=X,
    orig_output=Y,
    grad=f64([[[[2.0]]]]),
    ksize=TWO,
    strides=TWO,
    padding="VALID",
    wrt=("grad",),
)
sample(
    "MaxPoolGrad",
    orig_input=f64([[[[3.0], [3.0], [1.0]]]]),
    orig_output=f64([[[[3.0], [3.0]]]]),
    grad=f64([[[[1.0], [2.0]]]]),
    ksize=[1, 1, 2, 1],
    strides=ONE,
    padding="VALID",
    wrt=("grad",),
)
sample(
    "MaxPoolGradGrad",
    orig_input=X,
    orig_output=Y,
    grad=f64(1, 2, 2, 1),
    ksize=TWO,
    strides=TWO,
    padding="VALID",
    wrt=("grad",),
)
sample(
    "AvgPoolGrad",
    orig_input_shape=i32([2, 5, 6, 2]),
    grad=f64(2, 3, 3, 2),
    ksize=TWO,
    strides=TWO,
    padding="SAME",
    tol=1e-12,
)
sample(
    "AvgPoolGrad",
    orig_input_shape=i32([2, 5, 6, 2]),
    grad=f64(2, 3, 4, 2),
    ksize=[1, 3, 3, 1],
    strides=ONE,
    padding="VALID",
    tol=1e-12,
)
sums(
    FLOATING,
    "AvgPoolGrad",
    orig_input_shape=i32([2, 4, 5, 2]),
    grad=(2, 2, 3, 2),
    ksize=TWO,
    strides=TWO,
    padding="SAME",
)

CUBE, STEP = [1, 2, 2, 2, 1], [1, 1, 2, 1, 1]
each(
    ("bfloat16", "float32"),
    "MaxPool3D",
    input=(1, 3, 4, 3, 2),
    ksize=CUBE,
    strides=STEP,
    padding="SAME",
)
sample("MaxPool3D", input=f64(1, 3, 4, 3, 2), ksize=CUBE, strides=STEP, padding="VALID", parity=CPU)
sample(
    "MaxPool3DGrad",
    orig_input=f32([[[[[4.0], [1.0]]]]]),
    orig_output=f32([[[[[4.0]]]]]),
    grad=f32([[[[[2.0]]]]]),
    ksize=[1, 1, 1, 2, 1],
    strides=[1, 1, 1, 2, 1],
    padding="VALID",
)
sample(
    "MaxPool3DGradGrad",
    orig_input=f32([[[[[4.0], [1.0]]]]]),
    orig_output=f32([[[[[4.0]]]]]),
    grad=f32([[[[[2.0], [3.0]]]]]),
    ksize=[1, 1, 1, 2, 1],
    strides=[1, 1, 1, 2, 1],
    padding="VALID",
)
sample(
    "AvgPool3D",
    parity=CPU,
    input=f64(1, 3, 4, 3, 2),
    ksize=CUBE,
    strides=STEP,
    padding="SAME",
    tol=1e-12,
)
sample(
    "AvgPool3DGrad",
    parity=CPU,
    orig_input_shape=i32([1, 3, 4, 3, 2]),
    grad=f64(1, 3, 2, 3, 2),
    ksize=CUBE,
    strides=STEP,
    padding="SAME",
    tol=1e-12,
)

each(
    ("float32", "int32", "float64"),
    "MaxPoolWithArgmax",
    input=(2, 4, 5, 2),
    ksize=TWO,
    strides=TWO,
    padding="SAME",
)
sample(
    "MaxPoolWithArgmax",
    input=f32(2, 4, 5, 2),
    ksize=TWO,
    strides=TWO,
    padding="VALID",
    include_batch_in_index=True,
    Targmax="int32",
)
ATTRS = {"ksize": TWO, "strides": TWO, "padding": "VALID"}
sample(
    "MaxPoolGradWithArgmax",
    input=f32(2, 2, 2, 1),
    grad=f32(2, 1, 1, 1),
    argmax=i64([[[[3]]], [[[1]]]]),
    **ATTRS,
)
sample(
    "MaxPoolGradGradWithArgmax",
    input=f32(2, 2, 2, 1),
    grad=f32(2, 2, 2, 1),
    argmax=i64([[[[3]]], [[[1]]]]),
    **ATTRS,
    parity=CPU,
)
sample("AvgPool3D", input=f32(1, 3, 4, 3, 2), ksize=CUBE, strides=STEP, padding="SAME", tol=1e-6)
sample(
    "AvgPool3DGrad",
    orig_input_shape=i32([1, 3, 4, 3, 2]),
    grad=f32(1, 3, 2, 3, 2),
    ksize=CUBE,
    strides=STEP,
    padding="SAME",
    tol=1e-6,
)
LINE = {"ksize": [1, 1, 1, 2, 1], "strides": [1, 1, 1, 2, 1], "padding": "VALID"}
X3, Y3 = f64([[[[[4.0], [1.0]]]]]), f64([[[[[4.0]]]]])
sample(
    "MaxPool3DGrad",
    orig_input=X3,
    orig_output=Y3,
    grad=f64(1, 1, 1, 1, 1),
    wrt=("grad",),
    **LINE,
    parity=CPU,
)
sample(
    "MaxPool3DGradGrad",
    orig_input=X3,
    orig_output=Y3,
    grad=f64(1, 1, 1, 2, 1),
    wrt=("grad",),
    **LINE,
    parity=CPU,
)
sample(
    "MaxPoolGradWithArgmax",
    input=f64(2, 2, 2, 1),
    grad=f64(2, 1, 1, 1),
    argmax=i64([[[[3]]], [[[1]]]]),
    wrt=("grad",),
    **ATTRS,
    parity=CPU,
)
