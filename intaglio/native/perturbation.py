"""How far the results of a graph scatter when its arithmetic rounds otherwise.

Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", UCLA CSD-970002, 1997): the graph is
interpreted several times with what rounds perturbed by a few units of the last place. Two correct
implementations differ by about as much as these results do, however ill-conditioned the program is:
a step of Adam on a gradient that is nothing but rounding, the sign of a sum that cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import door, raw

# How many times the scatter, and how many times a value itself, still counts as rounding. The
# second is coarse: what a compiler gets wrong is rarely right to three digits.
SCATTER, RELATIVE = 24.0, 1e-3
# A value that scatters by as much as it is large is not compared at all.
UNSTABLE = 0.02


def perturbed(graph: Graph, generator: np.random.Generator) -> Graph:
    """The graph with perturbed operands and results of ops that round, in its branches and loops too."""
    graph = map_attached(graph, lambda node, name, inner: perturbed(inner, generator))
    new = Rewriter(graph)

    def perturb(value: SymbolicTensor) -> Any:
        return raw._Perturb(value, generator=generator)

    for node in graph.nodes:
        if not _rounds(node):
            new.keep(node)
            continue
        new.record_beside(node)
        with door.pushed(new):
            operands = [perturb(v) if _is_float(v) else v for v in new.values(node.inputs)]
            copy = new.keep(node, derived(node, operands, control=new.control(node)))
            for old, value in zip(node.outputs, copy.outputs, strict=True):
                if _is_float(value):
                    new.substitute(old, perturb(value))
    return new.result()


def _rounds(node: Node) -> bool:
    """Whether an op's native code may differ from its kernel in the last bits."""
    op = node.op
    return not (op.native_exact or op.has_graphs or op.stateful or op.free or op.data_inputs)


def _is_float(value: SymbolicTensor) -> bool:
    return value.dtype.is_floating or value.dtype.is_complex


def agree(reference: Any, other: Any, scattered: Sequence[Any]) -> bool:
    """Whether an array is what `reference` is, given what perturbed runs computed instead.

    Integers and bools have to be equal, unless a perturbed run has another value there; what is not
    finite in one has to be so in the other. Arrays of another shape agree only if a perturbed
    one has another shape, too.
    """
    if not isinstance(reference, np.ndarray) or reference.dtype.kind in "OSU":
        return True
    others = [s for s in scattered if np.shape(s) == reference.shape]
    if np.shape(other) != reference.shape:
        return len(others) < len(scattered)
    if reference.dtype.kind in "biu":
        return bool(np.all((other == reference) | changed(reference, others)))
    kind = np.complex128 if reference.dtype.kind == "c" else np.float64
    a, b = reference.astype(kind), np.asarray(other).astype(kind)
    with np.errstate(all="ignore"):
        samples = [s.astype(kind) for s in others]
        scatter = np.max([np.abs(s - a) for s in samples], axis=0) if samples else 0.0
        scatter = np.where(np.isfinite(scatter), scatter, 0.0)
        near = np.abs(b - a) <= SCATTER * scatter + RELATIVE * np.abs(a) + np.finfo(np.float32).tiny
        unstable = changed(np.isfinite(a), [np.isfinite(s) for s in samples])
        unstable |= scatter > UNSTABLE * np.abs(a)
        # Sums that overflow give an infinity in one order and NaN in another.
        infinite = ~np.isfinite(a) & ~np.isfinite(b)
    return bool(np.all((a == b) | near | unstable | infinite))


def changed(reference: Any, others: Sequence[Any]) -> Any:
    """Which elements of a reference, bool by element, any of the other arrays has not."""
    differs = np.zeros(np.shape(reference), bool)
    for other in others:
        differs |= other != reference
    return differs
