"""Samples of activation functions."""

from tests.ops.samples import FLOATING, REAL, each, f32, f64, sample

each(REAL, "Relu", features=(2, 5))
sample("Relu", features=f32([float("nan"), -0.0, 0.0, float("-inf"), float("inf")]))
each(REAL, "ReluGrad", gradients=(2, 5), features=(2, 5))
each(REAL, "Relu6", features=(2, 5), domain=(-4.0, 9.0))
each(REAL, "Relu6Grad", gradients=(2, 5), features=(2, 5), domain=(-4.0, 9.0))
sample("Relu6Grad", gradients=f64(4), features=f64([0.0, 6.0, 3.0, 7.0]), grad=False)
each(FLOATING, "Elu", features=(2, 5), ulp=4)
each(FLOATING, "EluGrad", gradients=(2, 5), outputs=(2, 5), ulp=4)
each(FLOATING, "Selu", features=(2, 5), ulp=6)
each(FLOATING, "SeluGrad", gradients=(2, 5), outputs=(2, 5), ulp=4)
each(FLOATING, "LeakyRelu", features=(2, 5))
sample("LeakyRelu", features=f64(2, 5), alpha=1.5)
each(FLOATING, "LeakyReluGrad", gradients=(2, 5), features=(2, 5), alpha=0.3)
each(FLOATING, "Softplus", features=(2, 5), ulp=8)
sample("Softplus", features=f32([-200.0, -20.0, -15.0, 0.0, 15.0, 200.0]), ulp=8)
each(FLOATING, "SoftplusGrad", gradients=(2, 5), features=(2, 5), ulp=6)
each(FLOATING, "Softsign", features=(2, 5), ulp=4)
each(FLOATING, "SoftsignGrad", gradients=(2, 5), features=(2, 5), ulp=6)
