"""Several ops as one, for a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec


class Fused(Op):
    """outputs = body(inputs). Compilers make these and bring a kernel; without one the body is interpreted."""

    signature = "inputs: *Tin; body: func, Tout: list(type) -> outputs: *Tout"
    differentiable = False

    def infer(self, inputs, body: Any, Tout) -> Any:
        return [list(body.output_specs)]

    def kernel(self, inputs, body, run):
        return run(body, inputs)


@op
class _FusedElementwise(Fused):
    """outputs = body(inputs), where `body` has elementwise ops only and its outputs one shape."""


@op
class _FusedRows(Fused):
    """outputs = body(inputs), where `body` has elementwise ops and reductions along rows."""


@op
class _FusedLayers(Fused):
    """outputs = body(inputs), where `body` is a layer of a network with what comes after it."""


@op
class _Program(Fused):
    """outputs = body(inputs), where a compiler makes one function of `body`.

    What is not compiled is interpreted. Variables go in as handles.
    """

    stateful = True


@op
class _AddAt(Op):
    """x with a row added at an index of an axis: what gradients of rows add up to.

    The index is the last number of `index`, as it is for slices that take all of the axes before.
    """

    signature = "x: T, index: int32, row: T; axis: int = 0 -> y: T"
    T = NUMERIC
    differentiable = False

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)

    def kernel(self, x, index, row, axis):
        y = np.array(x)
        y[(slice(None),) * axis + (np.ravel(index)[-1],)] += row
        return y
