"""Choosing by condition: where, select."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, NUMERIC, bool_, int64
from intaglio.base.errors import UnimplementedError, invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.scalar import select
from intaglio.opdef.spec import Spec
from intaglio.ops.array.passing import check_same
from intaglio.ops.families import unbroadcast

# The elements from which on indices are divided, where NumPy counts its way through all coordinates.
MIN_DIVIDED = 1 << 12


def _coordinates(condition: np.ndarray) -> np.ndarray:
    """`np.argwhere`, by division of the indices of what is true."""
    found = np.flatnonzero(condition)
    if condition.ndim == 1:
        return found[:, np.newaxis]
    result = np.empty((len(found), condition.ndim), np.int64)
    for d in range(condition.ndim - 1, 0, -1):
        outer = found // condition.shape[d]
        np.subtract(found, outer * condition.shape[d], out=result[:, d])
        found = outer
    result[:, 0] = found
    return result


@op
class Where(Op):
    """The coordinates of the elements that are true (not zero), a row for each."""

    graphdef_names = {"condition": "input"}

    signature = "condition: T -> index: int64"
    differentiable = False
    T = (*NUMERIC, bool_)
    numerics_checked = False

    def infer(self, condition: Spec) -> Spec:
        return Spec(int64, (None, condition.rank))

    def kernel(self, condition):
        if condition.ndim == 0:
            raise invalid_argument("WhereOp : Unhandled input dimensions: 0")
        if condition.dtype == np.float16:
            raise UnimplementedError(
                None, None, "Where has no kernel for float16: compare the condition with 0 first."
            )
        if condition.dtype.kind == "V":
            condition = condition != 0
        return (np.argwhere if condition.size < MIN_DIVIDED else _coordinates)(condition)


@op
class SelectV2(Op):
    """t where the condition holds, else e; all three broadcast."""

    signature = "condition: bool, t: T, e: T -> output: T"
    blockwise = True
    T = ALL
    native_exact = True
    batching = "broadcast"

    def infer(self, condition: Spec, t: Spec, e: Spec) -> Spec:
        shape = shapes.broadcast(condition.shape, shapes.broadcast(t.shape, e.shape))
        return Spec(t.dtype, shape)

    def kernel(self, condition, t, e):
        try:
            return select(condition, t, e)
        except ValueError:
            raise invalid_argument(
                f"condition {brackets(condition.shape)}, then {brackets(t.shape)}, and else {brackets(e.shape)} must be broadcastable"
            ) from None

    def scalar(self, s, condition, t, e):
        return s.select(condition, t, e)

    def gradient(self, doutput, condition, t: Spec, e: Spec, output: Spec) -> Any:
        zero = np.zeros((), t.dtype.numpy)
        return (
            None,
            unbroadcast(raw.SelectV2(condition, doutput, zero), t, output),
            unbroadcast(raw.SelectV2(condition, zero, doutput), e, output),
        )


@op
class Select(Op):
    """x where the condition holds, else y, of one shape; a vector condition chooses rows."""

    graphdef_names = {"x": "t", "y": "e"}

    signature = "condition: bool, x: T, y: T -> output: T"
    T = ALL
    blockwise = True
    native_exact = True

    def infer(self, condition: Spec, x: Spec, y: Spec) -> Spec:
        check_same(x.shape, y.shape)
        return Spec(x.dtype, shapes.merge(x.shape, y.shape))

    def kernel(self, condition, x, y):
        if x.shape != y.shape:
            raise invalid_argument(
                f"'then' and 'else' must have the same size.  but received: {brackets(x.shape)} vs. {brackets(y.shape)}"
            )
        if condition.ndim == 1 and x.ndim > 1 and condition.shape[0] == x.shape[0]:
            condition = condition.reshape((-1,) + (1,) * (x.ndim - 1))
        elif condition.ndim and condition.shape != x.shape:
            raise invalid_argument(
                f"Inputs to operation Select of type Select must have the same size and shape.  Input 0: {brackets(condition.shape)} != input 1: {brackets(x.shape)}"
            )
        return select(condition, x, y)

    def gradient(self, doutput, condition) -> Any:
        zeros = raw.ZerosLike(doutput)
        return (None, raw.Select(condition, doutput, zeros), raw.Select(condition, zeros, doutput))
