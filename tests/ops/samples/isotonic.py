"""Samples of isotonic regression."""

from tests.ops.samples import each, f32, i8, i32, i64, of, sample, u8

each(("float32",), "IsotonicRegression", input=(2, 7), tol=1e-6)
each(("float32",), "IsotonicRegression", input=of([3.0, 1.0, 2.0, 5.0, 4.0]))
each(("float64",), "IsotonicRegression", input=(3, 2, 9), output_dtype="float64", tol=1e-14)
each(("float16",), "IsotonicRegression", input=(4,), output_dtype="float16")
sample("IsotonicRegression", input=i8([[1, 2, 0]]))
sample("IsotonicRegression", input=i32([[1, 2, 0], [3, 3, 1]]), output_dtype="float64")
sample("IsotonicRegression", input=i64([5, 1, 4, 2, 9]), output_dtype="float64")
sample("IsotonicRegression", input=f32())
sample("IsotonicRegression", input=f32(2, 0))
sample("IsotonicRegression", input=u8([1, 2]), error=("NotFoundError", "Could not find device"))
