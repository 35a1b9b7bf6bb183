"""Quotients and remainders of values in registers.

Where a division would stop the processor the function refuses: the interpreter says what is wrong,
or gives what NumPy gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.elementwise import broadcast, elementwise
from intaglio.native.functions import Functions
from intaglio.native.held import Held, is_small
from intaglio.native.lanes import Lanes
from intaglio.native.writer import Writer


def division(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """FloorDiv, FloorMod, TruncateDiv and their like."""
    shape = broadcast(inputs)
    if not is_small(shape):
        return elementwise(w, node, inputs)
    x, y = (w.spread(h, shape) for h in inputs)
    s = w.builder(int(np.prod(shape)))
    if x.kind.letter == "f":
        made = _of_floats(s, node.op.name, x, y)
    else:
        _safe(w, s, x, y, inputs[1].known)
        made = _of_integers(s, node.op.name, x, y)
    return [w.in_registers(made, shape)]


def _of_floats(s: Functions, op: str, x: Lanes, y: Lanes) -> Lanes:
    if op == "FloorDiv":
        return s.floor(s.div(x, y))
    if op == "Div":
        return s.div(x, y)
    if op == "TruncateDiv":
        return s.intrinsic("trunc", s.div(x, y))
    rest = s.each(x.kind, lambda a, b: f"frem {s.vector(x.kind)} {a}, {b}", x, y)
    if op != "FloorMod":
        return rest
    zero = s.const(0, x)
    unlike = s.logical_and(
        s.bit_xor(s.lt(x, zero), s.lt(y, zero)), s.ne(rest, zero)
    )  # fmt: skip
    return s.select(unlike, s.add(rest, y), rest)


def _safe(w: Writer, s: Functions, x: Lanes, y: Lanes, known: Any) -> None:
    """Refuses what a processor cannot divide."""
    if known is not None and np.all(known) and not np.any(known == -1):
        return
    able = s.ne(y, s.const(0, y))
    if x.kind.letter == "i":
        least = s.const(-(1 << (x.kind.bits - 1)), x)
        able = s.logical_and(
            able, s.logical_not(s.logical_and(s.eq(x, least), s.eq(y, s.const(-1, y))))
        )  # fmt: skip
    w.demand(every(s, able))


def every(s: Functions, test: Lanes) -> str:
    """Whether a test holds in all lanes, as i1."""
    kind = f"<{s.lanes} x i1>"
    return s.code.call("i1", f"llvm.vector.reduce.and.v{s.lanes}i1", (kind, test.names[0]))  # fmt: skip


def _of_integers(s: Functions, op: str, x: Lanes, y: Lanes) -> Lanes:
    kind = x.kind
    sign = "s" if kind.letter == "i" else "u"
    vector = s.vector(kind)
    quotient = s.each(kind, lambda a, b: f"{sign}div {vector} {a}, {b}", x, y)
    rest = s.each(kind, lambda a, b: f"{sign}rem {vector} {a}, {b}", x, y)
    if op in ("Div", "TruncateDiv"):
        return quotient
    if op in ("Mod", "TruncateMod"):
        return rest
    if kind.letter == "u":
        return quotient if op == "FloorDiv" else rest
    zero = s.const(0, x)
    unlike = s.bit_xor(s.lt(x, zero), s.lt(y, zero))
    inexact = s.logical_and(s.ne(rest, zero), unlike)
    if op == "FloorDiv":
        return s.select(inexact, s.sub(quotient, s.const(1, x)), quotient)
    return s.select(inexact, s.add(rest, y), rest)


DIVISIONS = ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div")
