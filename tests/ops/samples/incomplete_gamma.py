"""Samples of the incomplete gamma and beta functions."""

from tests.ops.samples import FLOATING, each, f32, f64, of, sample

TOLERANCES = {"bfloat16": 1e-2, "float16": 2e-3, "float32": 2e-6, "float64": 1e-11}
NO_SECOND = "IgammaGradA has no gradient, in TensorFlow neither"
A = [0.0, 0.0, -1.0, 1.0, 1.0, 2.0, 2.0, 1e-20, 0.3, 100.0, 1e4, 30.0]
X = [0.0, 1.0, 1.0, -1.0, 0.0, 1e300, 1e-300, 1.0, 3.0, 99.0, 1.01e4, 400.0]

for name in ("Igamma", "Igammac"):
    for dtype in FLOATING:
        each(
            (dtype,),
            name,
            a=(3, 1),
            x=(3, 4),
            domain=(0.2, 6.0),
            tol=TOLERANCES[dtype],
            grad2=NO_SECOND,
            parity=True if dtype[-2:] in ("32", "64") else "TensorFlow has no kernel",
        )
    sample(name, a=f64(A), x=f64(X), tol=1e-9, grad="edges")
    sample(name, a=f64(4, lo=0.5, hi=3), x=f64(4, lo=0.5, hi=9), wrt=("x",), tol=1e-11)
    sample(name, a=f32(2), x=f32(3), error=("InvalidArgumentError", "Incompatible shapes"))
for name, names in (("IgammaGradA", ("a", "x")), ("RandomGammaGrad", ("alpha", "sample"))):
    for dtype in ("float32", "float64"):
        arguments = dict.fromkeys(names, (3, 4))
        each(
            (dtype,),
            name,
            **arguments,
            domain=(0.2, 6.0),
            tol=1e-5 if dtype == "float32" else 1e-10,
        )
    sample(
        name, **{names[0]: f64([20.0, 200.0, 0.01]), names[1]: f64([31.0, 180.0, 1e-5])}, tol=1e-7
    )
for dtype in ("float32", "float64"):
    each(
        (dtype,),
        "Betainc",
        a=(3, 4),
        b=(3, 4),
        x=(3, 4),
        domain=(0.1, 0.9),
        tol=TOLERANCES[dtype],
        wrt=("x",),
    )
    each(
        (dtype,),
        "Betainc",
        a=of(2.5),
        b=of(0.7),
        x=(3, 4),
        domain=(0.1, 0.9),
        tol=TOLERANCES[dtype],
        wrt=("x",),
    )
sample(
    "Betainc",
    a=f64([1.0, 30.0, 0.01, 500.0, 2.0, -1.0]),
    b=f64([1.0, 2.0, 5.0, 700.0, 3.0, 1.0]),
    x=f64([0.0, 0.999, 1e-9, 0.41, 1.0, 0.5]),
    tol=1e-10,
    grad="edges",
)
sample("Betainc", a=f32(2), b=f32(3), x=f32(3), error=("InvalidArgumentError", "inconsistent"))
