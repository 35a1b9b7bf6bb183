"""Samples of floats rounded to the steps of few bits."""

import itertools

from tests.ops.samples import each, f32, f64, i32, of, sample

WRONG = "InvalidArgumentError"
X = [-3.0, -1.1, -0.5, 0.0, 0.249, 0.5, 0.7, 1.3]
Y = [[-7.0, 0.3, 2.0], [4.0, -2.0, 6.5]]
STEPS = "the steps of a staircase have no slope; the gradient is the identity's"

for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
    for signed, given, bits, narrow, mode in itertools.product(
        (True, False), (True, False), (8, 3), (False, True), ("HALF_TO_EVEN", "HALF_UP")
    ):
        each(
            ("float32", "float64"),
            op,
            input=of(X),
            input_min=of(-1),
            input_max=of(1.2),
            signed_input=signed,
            range_given=given,
            num_bits=bits,
            narrow_range=narrow,
            round_mode=mode,
            grad=STEPS,
        )
    sample(op, input=f32(Y), input_min=f32.of(0), input_max=f32.of(0), axis=1)
    sample(
        op,
        input=f32(Y),
        input_min=f32.of(1.0),
        input_max=f32.of(-1.0),
        range_given=True,
        error=(WRONG, "Invalid range: input_min 1 > input_max -1"),
    )
sample(
    "QuantizeAndDequantizeV2",
    input=f32(Y),
    input_min=f32([-1.0, -2.0, 0.0]),
    input_max=f32([1.0, 2.0, 3.0]),
    range_given=True,
    axis=1,
    parity="TensorFlow's kernel for the host takes scalars only",
)
each(
    ("float32", "float64"),
    "QuantizeAndDequantizeV3",
    input=of(Y),
    input_min=of(-1),
    input_max=of(1),
    num_bits=i32.of(4),
    grad=STEPS,
)
sample(
    "QuantizeAndDequantizeV2",
    input=f32(Y),
    input_min=f32.of(-1.0),
    input_max=f32.of(1.0),
    num_bits=70,
    error=(WRONG, "num_bits is out of range: 70 with signed_input_ 1"),
)
sample(
    "QuantizeAndDequantizeV4Grad",
    gradients=f64(8),
    input=f64(X),
    input_min=f64.of(-1.0),
    input_max=f64.of(1.0),
)
