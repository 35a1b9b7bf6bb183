"""Samples of rounding and of questions about floating-point numbers."""

from tests.ops.samples import FLOATING, each, f32, f64, of, sample

NAN, INF = float("nan"), float("inf")

each(("float32", "float64"), "Rint", x=of([0.5, 1.5, 2.5, -0.5, -1.5, 0.3]))
for name in ("Floor", "Ceil", "Round"):
    each(FLOATING, name, x=of([0.5, 1.5, 2.5, -0.5, -1.5, 0.3]))
each(("int32", "int64"), "Round", x=(2, 3), parity="TensorFlow gives 0")
for name in ("IsNan", "IsInf", "IsFinite"):
    each(FLOATING, name, x=of([NAN, INF, -INF, 1.0]))
sample("NextAfter", x1=f32([1.0, 0.0, INF]), x2=f32([2.0, 1.0, 0.0]))
sample("NextAfter", x1=f64(2, 3), x2=f64(3), grad2="constant")
