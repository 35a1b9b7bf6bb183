"""Determines whether a node has vector code by emitting it once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels.loop_nest import apply
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Lanes, Unsupported, kind_of
from intaglio.native.vector_math import division
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw


class Trial(NamedTuple):
    """The reason why a node has no vector code, or ""; and whether that approximates functions.

    Code without approximations is bit for bit equal to the node's kernel; NumPy approximates
    differently.
    """

    reason: str
    approximates: bool = False


def tried(node: Node) -> Trial:
    """Emits a node's code and returns the outcome."""
    if may_divide_by_zero(node):
        return Trial("a divisor that may be zero")
    code = Code("trial", [])
    s = Functions(code, 4, 1)
    try:
        inputs = [Lanes(kind_of(v.dtype.numpy), ("%x",)) for v in node.inputs]
        apply(s, node, inputs)
    except Unsupported as e:
        return Trial(str(e))
    return Trial("", code.approximates or bool(code.callees))


def may_divide_by_zero(node: Node) -> bool:
    """True for integer divisions that need a guard: a divisor may be zero, which traps."""
    if node.op not in division.OPS or not node.inputs[0].dtype.is_integer:
        return False
    divisor = node.inputs[1].node
    return divisor.op is not raw.Const or not np.all(divisor.attrs["value"])
