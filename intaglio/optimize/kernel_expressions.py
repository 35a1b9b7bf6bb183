"""Expressions of other ops for NumPy kernels, recorded by calling the kernel with symbolic arrays.

The parts of a kernel that depend on shapes, attributes and constants alone are computed at once; its other
calls of NumPy become nodes. A kernel that needs unknown elements has no expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door, raw
from intaglio.optimize.symbolic_arrays import SymbolicArray
from intaglio.optimize.symbolic_numpy import recorded


def may_be_expressed(node: Node, shapes_known: bool = False) -> bool:
    """False for a node whose kernel is not a pure function of arrays of known shapes.

    `shapes_known` says that the caller knows all shapes.
    """
    op = node.op
    return (
        op not in (raw.Const, raw.Placeholder)
        and not (op.stateful or op.has_graphs or _is_random(node))
        and op.kernel_fn is not None
        and bool(node.outputs)
        and not any([kind == "service" for kind, _ in op.kernel_order])
        and (shapes_known or all([shapes.known(v.dims) for v in node.inputs]))
        and all([v.dtype.is_numpy_compatible for v in (*node.inputs, *node.outputs)])
    )


def _is_random(node: Node) -> bool:
    """True for random numbers with a new seed in each call."""
    seeds = [node.attrs[name] for name in ("seed", "seed2") if name in node.attrs]
    return bool(seeds) and not any(seeds)


def by_kernel(new: Rewriter, node: Node, loops: bool = False) -> list[SymbolicTensor] | None:
    """Records the node's kernel as other ops; returns their outputs, or None if there is no expression.

    `loops` says that loops over elements may be among them.
    """
    before = len(new.nodes)
    # Kernels are written for arrays: a symbolic one may raise any error in them.
    found = expressed(new, node, lambda: kernel_results(node, node.inputs, loops), Exception)
    # NumPy's function is the op itself. With other operands, those that have elements, it may have code.
    if any([n.op is node.op and _forms(n) == _forms(node) for n in new.nodes[before:]]):
        del new.nodes[before:]
        return None
    return found


def _forms(node: Node) -> list[Any]:
    """The dtypes and shapes of a node's inputs."""
    return [(v.dtype, v.dims) for v in node.inputs]


def expressed(
    new: Rewriter, node: Node, expression: Callable[[], Sequence[Any]], refusals: type[Exception]
) -> list[SymbolicTensor] | None:
    """The outputs of an expression for a node, which is recorded.

    None if the expression raises one of these exceptions, or if dtypes or shapes are not those of the node.
    """
    before, root = len(new.nodes), new.root
    new.root = node
    results: Sequence[Any] = ()
    try:
        with door.pushed(new):
            results = expression()
    except refusals:
        pass
    finally:
        new.root = root
    if fitting(results, node):
        return [*results]
    del new.nodes[before:]
    return None


def kernel_results(node: Node, inputs: Sequence[SymbolicTensor], loops: bool = False) -> list[Any]:
    """The results of the kernel for symbolic arrays, recorded into the new graph.

    The kernel's NumPy records writes to arrays, and all paths through conditions on data.
    """
    return recorded(node.op, node, [_array(v) for v in inputs], loops)


def fitting(results: Sequence[Any], node: Node) -> bool:
    """Whether results have the dtypes and shapes of a node's outputs."""
    pairs = [*zip(results, node.outputs, strict=False)]
    fits = [r.dtype is v.dtype and shapes.compatible(r.dims, v.dims) for r, v in pairs]
    return len(fits) == len(results) == len(node.outputs) and all(fits)


def _array(value: SymbolicTensor) -> Any:
    return value.node.attrs["value"] if value.node.op is raw.Const else SymbolicArray(value)
