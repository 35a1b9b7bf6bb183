"""Samples of quantisation imitated in floats."""

from tests.ops.samples import f32, sample

WRONG = "InvalidArgumentError"
X = f32([-7.0, -6.0, -3.03, -0.5, -0.01, 0.0, 0.024, 1.0, 2.5, 5.9, 8.0])
STEPS = "float32 only, and the steps have no slope: tests/composite_ops/quantization/test_quantization.py"
RANGES = (
    (-6.0, 6.0, 8, False),
    (-6.0, 6.0, 8, True),
    (0.0, 6.0, 8, False),
    (-6.1, 0.3, 4, False),
    (1.0, 6.0, 8, False),
    (-6.0, -1.0, 8, False),
    (-0.3, 0.2, 2, True),
    (-1.0, 1.0, 16, False),
)

for low, high, num_bits, narrow in RANGES:
    attrs = {"num_bits": num_bits, "narrow_range": narrow}
    bounds = {"min": f32.of(low), "max": f32.of(high)}
    sample("FakeQuantWithMinMaxArgs", inputs=X, min=low, max=high, **attrs, grad=STEPS)
    sample("FakeQuantWithMinMaxVars", inputs=X, **bounds, **attrs, grad=STEPS)
    sample(
        "FakeQuantWithMinMaxArgsGradient", gradients=f32(11), inputs=X, min=low, max=high, **attrs
    )
    sample(
        "FakeQuantWithMinMaxVarsGradient", gradients=f32(11), inputs=X, **bounds, **attrs, tol=1e-6
    )

CHANNELS = {"min": f32([-6.0, -1.0, 0.0]), "max": f32([6.0, 1.0, 3.0])}
for shape in ((3,), (4, 3), (2, 2, 2, 3)):
    inputs = f32(*shape, lo=-8, hi=8)
    name = "FakeQuantWithMinMaxVarsPerChannel"
    sample(name, inputs=inputs, **CHANNELS, grad=STEPS)
    sample(name, inputs=inputs, **CHANNELS, num_bits=3, narrow_range=True)
    sample(f"{name}Gradient", gradients=f32(*shape), inputs=inputs, **CHANNELS, tol=1e-6)

for num_bits in (1, 17):
    sample(
        "FakeQuantWithMinMaxArgs",
        inputs=X,
        num_bits=num_bits,
        error=(WRONG, "num_bits must be between 2 and 16, inclusive"),
    )
sample(
    "FakeQuantWithMinMaxArgs",
    inputs=X,
    min=1.0,
    max=1.0,
    error=(WRONG, "min has to be smaller than max, was: 1 >= 1"),
)
sample("FakeQuantWithMinMaxVars", inputs=X, min=f32.of(0.0), max=f32.of(0.0))
sample(
    "FakeQuantWithMinMaxVars",
    inputs=X,
    min=f32([1.0]),
    max=f32.of(2.0),
    error=(WRONG, "`min` must be rank 0 but is rank 1"),
)
sample(
    "FakeQuantWithMinMaxVarsPerChannel",
    inputs=f32(2, 3),
    min=f32([1.0, 2.0]),
    max=f32([1.0, 2.0, 3.0]),
    error=(WRONG, "min has incorrect size, expected 3 was 2"),
)
