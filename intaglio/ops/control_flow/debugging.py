"""Ops that fail when something is wrong: Assert, CheckNumerics."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING
from intaglio.base.errors import InvalidArgumentError, ShapeError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_length
from intaglio.ops.text.tensor_text import summarized


@op
class Assert(Op):
    """Fails with the data in its message unless the condition holds."""

    signature = "condition: bool, data: *T; summarize: int = 3 ->"
    stateful = True
    carries_strings = True

    def infer(self, condition: Spec) -> None:
        if condition.rank:
            raise ShapeError(f"Shape must be rank 0 but is rank {condition.rank}")

    def native(self, condition, data) -> Any:
        """The interpreter adds the data to the message."""
        return raw.Assert(condition, []) if data else NotImplemented

    def kernel(self, condition, data, summarize: int, raises) -> None:
        check_length("T", data)
        holds = np.asarray(condition)
        if holds.ndim:
            raise invalid_argument(f"In[0] should be a scalar: {brackets(holds.shape)}")
        if not holds:
            if raises is not None:
                raise raises(data)
            texts = [summarized(array, summarize) for array in data]
            shown = b" ".join([b"[" + text + b"]" for text in texts])
            raise invalid_argument(f"assertion failed: {shown.decode('utf-8', 'replace')}")


@op
class _Refusal(Op):
    """Fails with a text unless the condition holds: what an op raises, in the expression that replaces the op.

    Machine code takes no texts; an attribute stays with the node.
    """

    signature = "condition: bool; text: str ->"
    stateful = True
    internal = True

    def infer(self, condition: Spec) -> None:
        if condition.rank:
            raise ShapeError(f"Shape must be rank 0 but is rank {condition.rank}")

    def kernel(self, condition, text) -> None:
        if not np.asarray(condition):
            raise invalid_argument(text)


class _Checked(Op):
    """Passes its input on. Fails if a number of it is not finite."""

    signature = "tensor: T; message: str -> output: T"
    T = FLOATING
    stateful = True
    batching = "leading"
    numerics_checked = False

    def infer(self, tensor: Spec) -> Spec:
        return Spec(tensor.dtype, tensor.shape)

    def native(self, tensor) -> Any:
        finite = raw.IsFinite(raw.Reshape(tensor, [-1]))
        raw.Assert(raw.All(finite, [0]), [])
        return raw.Identity(tensor)


@op
class CheckNumerics(_Checked):
    """Fails if there is an infinity or a NaN."""

    def kernel(self, tensor, message: str) -> Any:
        if not np.isfinite(tensor).all():
            faults = [("Inf", np.isinf(tensor)), ("NaN", np.isnan(tensor))]
            names = " and ".join([name for name, found in faults if found.any()])
            raise invalid_argument(f"{message} : Tensor had {names} values")
        return tensor

    def gradient(self, doutput) -> Any:
        return raw.CheckNumerics(
            doutput, message="Not a number (NaN) or infinity (Inf) values detected in gradient."
        )


@op
class CheckNumericsV2(_Checked):
    """Fails if there is an infinity or a NaN; distinguishes the signs of infinities."""

    def kernel(self, tensor, message: str) -> Any:
        if np.isfinite(tensor).all():
            return tensor
        faults = [
            ("-Inf", np.isneginf(np.asarray(tensor, np.float64))),
            ("+Inf", np.isposinf(np.asarray(tensor, np.float64))),
            ("NaN", np.isnan(tensor)),
        ]
        names = [name for name, found in faults if found.any()]
        if len(names) > 1:
            comma = "," if len(names) > 2 else ""
            names = [f"{', '.join(names[:-1])}{comma} and {names[-1]}"]
        raise InvalidArgumentError(None, None, f"{message} : Tensor had {names[0]} values")

    def gradient(self, doutput) -> Any:
        return raw.CheckNumericsV2(
            doutput, message="Not a number (NaN) or infinity (Inf) values detected in gradient."
        )
