"""Samples of greyscale dilation."""

from tests.ops.samples import REAL, each, f32, f64, sample

PLAIN = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1]}
WIDE = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1]}
FIRST = "the op has no second gradient, in TensorFlow neither"

each(REAL, "Dilation2D", input=(2, 4, 5, 2), filter=(2, 3, 2), padding="SAME", **PLAIN, grad2=FIRST)
sample(
    "Dilation2D", input=f64(2, 5, 6, 2), filter=f64(2, 3, 2), padding="VALID", **WIDE, grad2=FIRST
)
sample(
    "Dilation2D",
    input=f32(2, 4, 5, 2),
    filter=f32(2, 3, 3),
    padding="SAME",
    **PLAIN,
    error=("InvalidArgumentError", "same depth"),
)
for by in ("Input", "Filter"):
    each(
        ("float32", "float64", "int32"),
        f"Dilation2DBackprop{by}",
        input=(2, 4, 5, 2),
        filter=(2, 3, 2),
        out_backprop=(2, 4, 5, 2),
        padding="SAME",
        **PLAIN,
        tol=1e-6,
    )
