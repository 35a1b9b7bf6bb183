"""Samples of adding a bias."""

from tests.ops.samples import FLOATING, each, f32, f64, sample, sums

CPU = (*FLOATING, "int32", "int64", "uint8", "int8", "int16", "complex64")

each(CPU, "BiasAdd", value=(2, 3), bias=(3,))
sample("BiasAdd", value=f64(2, 2, 2, 3), bias=f64(3))
sample("BiasAdd", value=f64(2, 3, 2, 2), bias=f64(3), data_format="NCHW")
sample("BiasAdd", value=f32(2, 2), bias=f32(3), error=("InvalidArgumentError", "[3] vs. [2,2]"))
sample(
    "BiasAdd",
    value=f32(2),
    bias=f32(2),
    error=("InvalidArgumentError", "Input tensor must be at least 2D: [2]"),
)
sample(
    "BiasAdd",
    value=f32(2, 2),
    bias=f32(2, 2),
    error=("InvalidArgumentError", "Biases must be 1D: [2,2]"),
)
each(("float32", "float64", "int32"), "BiasAddV1", value=(2, 3), bias=(3,))
sums(FLOATING, "BiasAddGrad", out_backprop=(2, 3, 4))
sample("BiasAddGrad", out_backprop=f64(2, 3, 2, 2), data_format="NCHW", ulp=4)
