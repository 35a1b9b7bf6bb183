"""Samples of roots, exponentials, logarithms, trigonometric and hyperbolic functions."""

from tests.ops.samples import COMPLEX, FLOATING, each, f32, sample

# Half precision differs by how often TensorFlow rounds in between.
FULL = ("float32", "float64")
HALF = ("bfloat16", "float16")

for name, domain in (
    ("Sqrt", (0.1, 3.0)),
    ("Exp", (-2.0, 2.0)),
    ("Expm1", (-2.0, 2.0)),
    ("Log", (0.1, 3.0)),
    ("Log1p", (-0.5, 3.0)),
    ("Sin", (-2.0, 2.0)),
    ("Cos", (-2.0, 2.0)),
    ("Tan", (-1.2, 1.2)),
    ("Asin", (-0.9, 0.9)),
    ("Acos", (-0.9, 0.9)),
    ("Atan", (-2.0, 2.0)),
    ("Sinh", (-2.0, 2.0)),
    ("Cosh", (-2.0, 2.0)),
    ("Tanh", (-2.0, 2.0)),
    ("Asinh", (-2.0, 2.0)),
    ("Acosh", (1.2, 3.0)),
    ("Atanh", (-0.8, 0.8)),
    ("Sigmoid", (-3.0, 3.0)),
    ("Rsqrt", (0.1, 3.0)),
):
    each(FULL, name, x=(2, 3), domain=domain, ulp=4)
    each(HALF, name, x=(2, 3), domain=domain, ulp=2)
    each(COMPLEX, name, x=(2, 3), domain=domain, tol=2e-6)
for name in ("SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad"):
    each(FULL, name, y=(2, 3), dy=(2, 3), domain=(0.2, 0.9), ulp=4)
    each(HALF, name, y=(2, 3), dy=(2, 3), domain=(0.2, 0.9), ulp=6)
    each(COMPLEX, name, y=(2, 3), dy=(2, 3), domain=(0.2, 0.9), tol=1e-5)
each(FLOATING, "Atan2", y=(2, 3), x=(3,), domain=(0.2, 2.0), ulp=4)
for name in ("Xlogy", "Xlog1py", "Xdivy"):
    each(FULL, name, x=(2, 3), y=(3,), domain=(0.2, 2.0), ulp=4)
    each(HALF, name, x=(2, 3), y=(3,), domain=(0.2, 2.0), ulp=6)
    each(COMPLEX, name, x=(2, 3), y=(3,), domain=(0.2, 2.0), tol=1e-5)
    sample(name, x=f32([0.0, 0.0]), y=f32([0.0, float("nan")]))
sample("Log", x=f32([-1.0, 0.0]))
sample("Sqrt", x=f32([-1.0, 0.0]))
