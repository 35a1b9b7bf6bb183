"""Samples of the error function and its relatives."""

from tests.ops.samples import FLOATING, each, f32, f64, sample

for name, domain in (
    ("Erf", (-3.0, 3.0)),
    ("Erfc", (-3.0, 3.0)),
    ("Erfinv", (-0.95, 0.95)),
    ("Ndtri", (0.05, 0.95)),
):
    # Single precision follows TensorFlow's coarser approximations only so far.
    types = FLOATING if name in ("Erf", "Erfc") else ("float32", "float64")
    each(types, name, x=(3, 4), domain=domain, tol=1e-6, grad_tol=1e-4)
    edges = [0.0, 1.0, -1.0, 2.0, float("nan")]
    sample(name, x=f64(edges), tol=1e-12, grad="the edge", grad2="the edge")
    sample(name, x=f32(edges), tol=1e-6)
