"""Ops that hand their input on: identity, gradient barriers, asserted shapes."""

from __future__ import annotations

from typing import Any

from intaglio.base import shapes
from intaglio.base.dtypes import ALL
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_length


class Passing(Op):
    """output = input."""

    signature = "input: T -> output: T"
    T = ALL
    batching = "leading"
    data_inputs = ("input",)
    is_identity = True

    def infer(self, input: Spec) -> Spec:
        return input

    def kernel(self, input):
        return input


class Transparent(Passing):
    """output = input, also for gradients."""

    def gradient(self, doutput) -> Any:
        return doutput


@op
class Identity(Transparent):
    """The input itself."""

    native_exact = True
    cheap = True
    free = True
    reported = False
    numerics_checked = False


@op
class Snapshot(Transparent):
    """The input itself."""


@op
class GuaranteeConst(Transparent):
    """The input, promised not to change from run to run."""

    stateful = True
    droppable = True


@op
class DeepCopy(Op):
    """A copy of the input."""

    signature = "x: T -> y: T"
    T = ALL
    stateful = True
    droppable = True
    batching = "leading"
    data_inputs = ("x",)

    def infer(self, x: Spec) -> Spec:
        return x.like()

    def kernel(self, x):
        return x.copy()

    def gradient(self, dy) -> Any:
        return dy


@op
class StopGradient(Passing):
    """The input; gradients end here."""

    cheap = True
    numerics_checked = False

    def gradient(self) -> Any:
        return None


@op
class PreventGradient(Passing):
    """The input; asking for a gradient through it is an error."""

    signature = "input: T; message: str = '' -> output: T"
    numerics_checked = False

    def gradient(self, message) -> Any:
        raise LookupError(f"Gradient explicitly disabled. Reason: {message!r}.")


@op
class IdentityN(Op):
    """The inputs themselves."""

    signature = "input: *T -> output: *T"
    native_exact = True
    numerics_checked = False
    is_identity = True

    def infer(self, input: list[Spec]) -> Any:
        return list(input)

    def kernel(self, input):
        check_length("T", input)
        return input

    def gradient(self, doutput) -> Any:
        return list(doutput)


@op
class PlaceholderWithDefault(Op):
    """The input, of a shape that is less well known."""

    signature = "input: dtype; shape: shape -> output: dtype"
    dtype = ALL
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, shape: Dims) -> Spec:
        if not shapes.compatible(input.shape, shape):
            raise ShapeError(
                f"Shapes {shapes.text(input.shape)} and {shapes.text(shape)} are not compatible"
            )
        return Spec(input.dtype, shape)

    def kernel(self, input):
        return input

    def gradient(self, doutput) -> Any:
        return doutput


@op
class EnsureShape(Op):
    """The input, whose shape is checked."""

    signature = "input: T; shape: shape -> output: T"
    T = ALL
    numerics_checked = False

    def infer(self, input: Spec, shape: Dims) -> Spec:
        check_same(shape, input.shape)
        return Spec(input.dtype, shapes.merge(input.shape, shape))

    def kernel(self, input, shape):
        if not shapes.compatible(input.shape, shape):
            raise invalid_argument(
                f"Shape of tensor input {brackets(input.shape)} is not compatible "
                f"with expected shape {brackets(shape)}."
            )
        return input

    def gradient(self, doutput) -> Any:
        return doutput


def check_same(a: Dims, b: Dims) -> None:
    """Raises ShapeError with TensorFlow's text unless the shapes are compatible."""
    if not shapes.compatible(a, b):
        raise ShapeError(shapes.mismatch(a, b))
