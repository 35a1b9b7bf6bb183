"""Loops over elements as an op: its outputs are written by a function of `ops/restricted.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.restricted import run_loops

# The estimated cost of such a function, in multiplications: a call waits for its code.
WORK = 1 << 30


@op
class _ElementLoops(Op):
    """outputs = function(inputs): created by passes for ops without another expression.

    The function, `module:name`, is called once, for `rows` rows, with flat arrays and numbers: the
    outputs, scratch arrays (`Towned`, `owned_sizes`), the inputs and the integers, or in the order
    of `layout`, which has one letter for each: `o`, `w` (scratch), `i`, `n`, and `N` or `D` for an
    integer or float64 among the words that are then the last input. It writes every element of the
    outputs and of its scratch arrays before it reads them; the outputs in `begun` are initialised
    with inputs, which follow those of the function.

    With a `refusal`, a message, the first scratch array is one int64 0; the function writes another
    number there if the inputs are invalid, which raises InvalidArgumentError with this message.
    """

    signature = (
        "inputs: *Tin; function: str, integers: list(int), shapes: list(shape), Tout: list(type),"
        " owned_sizes: list(int), Towned: list(type), refusal: str = '', layout: str = '',"
        " begun: list(int) = [], rows: int = 1 -> outputs: *Tout"
    )
    differentiable = False
    internal = True

    def infer(self, inputs, shapes, Tout) -> Any:
        return [[Spec(dtype, tuple(dims)) for dtype, dims in zip(Tout, shapes, strict=True)]]

    def kernel(
        self,
        inputs,
        function,
        integers,
        shapes,
        Tout,
        owned_sizes,
        Towned,
        refusal,
        layout,
        begun,
        rows,
    ):
        outputs = [np.zeros(dims, dtype.numpy) for dtype, dims in zip(Tout, shapes, strict=True)]
        owned = [np.zeros(n, t.numpy) for n, t in zip(owned_sizes, Towned, strict=True)]
        letters = layout_of(len(outputs), len(owned), len(inputs), len(integers), layout)
        taken = [np.ascontiguousarray(a).reshape(-1) for a in inputs]
        for number, start in zip(begun, taken[letters.count("i") :], strict=False):
            outputs[number].reshape(-1)[:] = start
        words = iter(taken[-1:][0] if {*letters} & {*"ND"} else ())
        flat = [a.reshape(-1) for a in outputs]
        sources = {"o": iter(flat), "w": iter(owned), "i": iter(taken), "n": iter(integers)}
        sources["N"] = (int(w) for w in words)
        sources["D"] = (float(w.view(np.float64)) for w in words)
        arguments: list[Any] = [next(sources[letter]) for letter in letters]
        loops = later.named(function)
        if not run_loops(loops, WORK, *arguments, rows=rows):
            loops(*arguments, 0, rows)
        if refusal and owned[0][0]:
            raise invalid_argument(refusal)
        return outputs


def layout_of(outputs: int, owned: int, inputs: int, integers: int, layout: str) -> str:
    """The layout of a call: the given one, or the default for such numbers of each."""
    return layout or "o" * outputs + "w" * owned + "i" * inputs + "n" * integers
