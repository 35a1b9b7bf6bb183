"""Which nodes have native code with the bits of their kernels: it may replace these at any call."""

from __future__ import annotations

from intaglio.ir.graph import Node
from intaglio.opdef import raw


def is_exact(node: Node) -> bool:
    """True for an op whose native code gives the kernel's bits, except roots of complex numbers.

    An op that only moves elements gives those of its operand.
    """
    op = node.op
    root = op in (raw.Sqrt, raw.Rsqrt) and node.outputs[0].dtype.is_complex
    return not root and (op.native_exact or op.free or (bool(op.data_inputs) and not op.combines))
