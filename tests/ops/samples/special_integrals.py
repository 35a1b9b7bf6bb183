"""Samples of integrals without a closed form."""

from tests.ops.samples import FLOATING, each, f32, f64, sample

TOLERANCES = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 2e-6, "float64": 1e-12}
PLACES = [-30.5, -2.0, -0.1, 0.0, 1e-3, 0.3725, 0.49, 1.49, 1.61, 2.6, 5.9, 6.1, 23.0, 50.0]
for name in ("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"):
    for dtype in FLOATING:
        half = dtype in ("bfloat16", "float16")
        each(
            (dtype,),
            name,
            x=(3, 4),
            domain=(0.2, 4.0),
            tol=TOLERANCES[dtype],
            parity="TensorFlow has no kernel" if half else True,
        )
    sample(name, x=f64(PLACES), ulp=2000, tol=1e-11, grad="poles")
    sample(name, x=f32(0, 2))
