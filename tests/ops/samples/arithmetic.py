"""Samples of elementwise arithmetic."""

from tests.ops.samples import DIFFERENTIABLE, NUMERIC, each, f32, s, sample

each(NUMERIC, "AddV2", x=(2, 3), y=(3,))
sample("AddV2", x=f32(2, 3), y=f32(2), error=("InvalidArgumentError", "[2,3] vs. [2]"))
each(NUMERIC, "Add", x=(2, 1, 3), y=(4, 1))
each(NUMERIC, "Sub", x=(2, 3), y=())
each(NUMERIC, "Mul", x=(2, 3), y=(2, 1))
each(NUMERIC, "Neg", x=(2, 3))
each(DIFFERENTIABLE, "Sigmoid", x=(2, 3))
each(DIFFERENTIABLE, "SigmoidGrad", y=(2, 3), dy=(2, 3), domain=(0.1, 0.9))
sample("Add", x=s(["a", "b"]), y=s.of("c"))
