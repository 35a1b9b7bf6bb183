"""Samples of the gamma function's logarithm, its derivatives, and zeta."""

from tests.ops.samples import HALF_TO_DOUBLE, each, f64, sample

each(HALF_TO_DOUBLE, "Lgamma", x=(3, 4), domain=(0.3, 9.0), tol=2e-6)
each(HALF_TO_DOUBLE, "Digamma", x=(3, 4), domain=(0.3, 9.0), tol=2e-6)
sample("Polygamma", a=f64([1.0, 2.0, 3.0]), x=f64(2, 3, lo=0.5, hi=4), tol=1e-10, wrt=("x",))
sample("Zeta", x=f64([2.0, 3.5, 5.0]), q=f64(2, 3, lo=0.5, hi=4), tol=1e-10, wrt=("q",))
sample("Lgamma", x=f64([-0.5, -1.3, -7.7, 20.0, 1e5]), tol=1e-12, grad_tol=1e-4)
sample("Digamma", x=f64([-0.5, -1.3, 20.0, 1e5]), tol=1e-10)
