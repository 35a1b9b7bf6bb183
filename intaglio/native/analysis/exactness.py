"""Which nodes have native code that is bit for bit equal to their kernels.

Such code may replace the interpreter at any call of a function without a change of results.
"""

from __future__ import annotations

from intaglio.ir.graph import Node
from intaglio.opdef import raw


def keeps_bits(node: Node) -> bool:
    """True if the native code of a node's op is bit for bit equal to the kernel.

    That is so for ops that declare it, except for roots of complex numbers, and for ops that only
    copy elements. Graphs among the attributes are not examined.
    """
    op = node.op
    root = op in (raw.Sqrt, raw.Rsqrt) and node.outputs[0].dtype.is_complex
    return not root and (op.native_exact or op.free or (bool(op.data_inputs) and not op.combines))
