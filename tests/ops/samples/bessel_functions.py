"""Samples of the Bessel functions."""

from tests.ops.samples import FLOATING, each, f32, f64, sample

TOLERANCES = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 3e-6, "float64": 1e-13}
PLACES = [-30.5, -8.0, -2.0, -0.1, 0.0, 1e-3, 1.9, 2.1, 7.9, 8.1, 40.0, 700.0]
for name in ("I0", "I0e", "I1", "I1e", "J0", "J1", "K0", "K0e", "K1", "K1e", "Y0", "Y1"):
    half = "an intermediate result is rounded: TensorFlow's is off"
    for dtype in FLOATING:
        each(
            (dtype,),
            f"Bessel{name}",
            x=(3, 4),
            domain=(0.2, 5.0),
            tol=TOLERANCES[dtype],
            parity=True if dtype in ("float32", "float64") else half,
        )
    sample(
        f"Bessel{name}",
        x=f64(7, lo=9.0, hi=60.0),
        tol=1e-12,
        grad=name[0] != "I" or name[-1] == "e" or "too large for differences",
    )
    sample(
        f"Bessel{name}",
        x=f64(PLACES),
        ulp=400,
        tol=None if name in ("I0", "I1") else 1e-12,
        grad="poles",
    )
    sample(f"Bessel{name}", x=f32(0, 2))
