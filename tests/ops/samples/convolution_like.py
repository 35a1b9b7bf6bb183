"""Samples of gradients of Conv2D whose shapes are those of tensors."""

from tests.ops.samples import FLOATING, sums

NO_KERNEL = "TensorFlow has no kernel for CPUs"
PLAIN = {"strides": [1, 1, 1, 1], "padding": "SAME"}

for by, moved in (("Input", ("filter", "out_backprop")), ("Filter", ("input", "out_backprop"))):
    sums(
        FLOATING,
        f"Conv2DBackprop{by}V2",
        input=(2, 5, 4, 2),
        filter=(3, 2, 2, 3),
        out_backprop=(2, 5, 4, 3),
        **PLAIN,
        wrt=moved,
        parity=NO_KERNEL,
    )
    sums(
        ("float32", "float64"),
        f"Conv2DBackprop{by}V2",
        input=(2, 5, 5, 2),
        filter=(3, 2, 2, 3),
        out_backprop=(2, 2, 4, 3),
        strides=[1, 2, 1, 1],
        padding="VALID",
        wrt=moved,
        parity=NO_KERNEL,
    )
