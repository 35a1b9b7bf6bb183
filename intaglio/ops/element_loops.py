"""Loops over elements as an op: what a function of `ops/restricted.py` writes to its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.restricted import run_loops

# The multiplications that a call of such a function is taken for: it waits for its code.
WORK = 1 << 30


@op
class _ElementLoops(Op):
    """outputs = function(inputs): passes make it where there is no other expression of an op.

    The function, `module:name`, is called once, with the outputs, arrays of its own (`Towned`,
    `owned_sizes`), the inputs and the integers; all arrays are flat. It writes every element of the outputs,
    and reads none of them, nor of its own arrays, before. With a text as `refusal` the first of its own arrays
    is one int64 0; the function writes another number there if the inputs have no result, which is an
    InvalidArgumentError with this text.
    """

    signature = (
        "inputs: *Tin; function: str, integers: list(int), shapes: list(shape), Tout: list(type),"
        " owned_sizes: list(int), Towned: list(type), refusal: str = '' -> outputs: *Tout"
    )
    differentiable = False
    internal = True

    def infer(self, inputs, shapes, Tout) -> Any:
        return [[Spec(dtype, tuple(dims)) for dtype, dims in zip(Tout, shapes, strict=True)]]

    def kernel(self, inputs, function, integers, shapes, Tout, owned_sizes, Towned, refusal):
        outputs = [np.zeros(dims, dtype.numpy) for dtype, dims in zip(Tout, shapes, strict=True)]
        owned = [np.zeros(n, t.numpy) for n, t in zip(owned_sizes, Towned, strict=True)]
        taken = [np.ascontiguousarray(a).reshape(-1) for a in inputs]
        arguments = [*[a.reshape(-1) for a in outputs], *owned, *taken, *integers]
        loops = later.named(function)
        if not run_loops(loops, WORK, *arguments, rows=1):
            loops(*arguments, 0, 1)
        if refusal and owned[0][0]:
            raise invalid_argument(refusal)
        return outputs
