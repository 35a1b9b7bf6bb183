"""Samples of changes of dtype and of complex numbers."""

from tests.ops.samples import COMPLEX, NUMERIC, c64, c128, each, f32, f64, i64, s, sample, u8

for target in (*NUMERIC, "bool"):
    each((*NUMERIC, "bool"), "Cast", x=(2, 3), DstT=target, domain=(0, 9))
    sample("Cast", x=i64([2**40 + 3, -1, 300, -300, 2**31]), DstT=target)
for target in ("int32", "int64", "bool", "float16"):
    sample("Cast", x=f64([1.7, -1.7, float("nan"), float("inf"), 1e20]), DstT=target)
sample("Cast", x=f32([1.00390625, 1.01]), DstT="bfloat16", Truncate=True)
sample(
    "Cast",
    x=s(["1"]),
    DstT="int32",
    error=("UnimplementedError", "Cast string to int32 is not supported"),
)
each((*NUMERIC,), "Bitcast", input=(2, 4), type="uint8")
sample("Bitcast", input=u8(2, 4), type="float32")
sample(
    "Bitcast",
    input=f32(3),
    type="float64",
    error=("InvalidArgumentError", "Cannot bitcast from 1 to 2"),
)
sample("Bitcast", input=f32(3), type="int32")
for name in ("Real", "Imag", "Angle"):
    sample(name, input=c64(2, 3), Tout="float32", tol=1e-6)
    sample(name, input=c128(2, 3), Tout="float64", tol=1e-12)
sample("ComplexAbs", x=c64(2, 3), Tout="float32")
sample("ComplexAbs", x=c128(2, 3), Tout="float64")
each(COMPLEX, "Conj", input=(2, 3))
sample("Complex", real=f32(2, 3), imag=f32(3), Tout="complex64")
sample("Complex", real=f64(2, 3), imag=f64(3), Tout="complex128")
