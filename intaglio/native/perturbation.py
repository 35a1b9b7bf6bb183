"""The scatter of a graph's results when its arithmetic rounds differently.

Monte Carlo arithmetic (Parker, "Monte Carlo arithmetic", UCLA CSD-970002, 1997): the graph is
interpreted several times with what rounds perturbed by a few units of the last place. Two correct
implementations differ by about as much as these results do, however ill-conditioned the program is:
a step of Adam on a gradient that is nothing but rounding, the sign of a sum that cancels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op

# A difference of at most this multiple of the scatter counts as rounding.
SCATTER = 24.0
# A value whose scatter exceeds this share of its magnitude is not compared, unless the scatter is below the
# second number, which makes a useful tolerance.
UNSTABLE, MIN_UNSTABLE = 0.02, 1e-3
# Where rounding decides between two values of an element, the probability that n runs and the reference
# agree and the next run does not is at most 1 / (e * (n + 2)). The number of runs after which that is used.
MIN_RUNS_OF_CHANCE = 8
# Sums that cancel leave some elements near zero with no digit in common. Perturbed runs, each of which takes
# as long as an interpreted call, are saved if no more than this share of the elements is wrong, each by no
# more than so many units in the last place of the largest element.
MAX_CANCELLED, MAX_CANCELLED_ULPS = 1e-3, 4.0


# The number of elements that are compared at once: the comparison takes some tens of bytes for each.
BLOCK = 1 << 18


class Tolerance(NamedTuple):
    """The minimal tolerance, whatever the scatter: relative, and absolute for zeros."""

    relative: float
    absolute: float


# Coarse, as a wrong result of a compiler is rarely right to three digits.
COARSE = Tolerance(1e-3, float(np.finfo(np.float32).tiny))


def perturbed(graph: Graph, generator: np.random.Generator) -> Graph:
    """The graph with perturbed operands and results of ops that round, in its branches and loops too."""
    graph = map_attached(graph, lambda node, name, inner: perturbed(inner, generator))
    new = Rewriter(graph)

    def perturb(value: SymbolicTensor, normwise: bool = False) -> Any:
        return raw._Perturb(value, generator=generator, normwise=normwise)

    for node in graph.nodes:
        if not rounds(node.op):
            new.keep(node)
            continue
        new.record_beside(node)
        with door.pushed(new):
            operands = [perturb(v) if _is_float(v) else v for v in new.values(node.inputs)]
            copy = new.keep(node, derived(node, operands, control=new.control(node)))
            for old, value in zip(node.outputs, copy.outputs, strict=True):
                if _is_float(value):
                    new.substitute(old, perturb(value, node.op.normwise_error))
    return new.result()


def rounds(op: Op) -> bool:
    """Whether an op's native code may differ from its kernel in the last bits."""
    return not (op.native_exact or op.has_graphs or op.stateful or op.free or op.data_inputs)


def _is_float(value: SymbolicTensor) -> bool:
    return value.dtype.is_floating or value.dtype.is_complex


def agree(reference: Any, other: Any, scattered: Sequence[Any]) -> bool:
    """Whether an array equals `reference` within the scatter of perturbed runs.

    See `differing`. Arrays of another shape agree only if a perturbed one has another shape, too.
    Where rounding decides many elements, as in an iteration that is chaotic, few runs leave some of
    them as they are by chance: as many may differ.
    """
    if not isinstance(reference, np.ndarray) or reference.dtype.kind in "OSU":
        return True
    others = [s for s in scattered if np.shape(s) == reference.shape]
    if np.shape(other) != reference.shape:
        return len(others) < len(scattered)
    other = np.asarray(other)
    wrong, unstable = _differing_in_blocks(reference, other, others)
    if not wrong.any() or _is_cancellation(reference, other, wrong):
        return True
    if len(others) < MIN_RUNS_OF_CHANCE:
        return False
    return int(wrong.sum()) <= int(unstable.sum()) / (math.e * (len(others) + 2))


def _differing_in_blocks(reference: Any, other: Any, scattered: Sequence[Any]) -> Any:
    """What `differing` gives; its temporary arrays, of 8 bytes an element, are those of one block."""
    if reference.size <= BLOCK:
        return differing(reference, other, scattered, COARSE)
    wrong, unstable = (np.empty(reference.shape, bool) for _ in range(2))
    flat = [np.reshape(a, -1) for a in (reference, other, *scattered)]
    for start in range(0, reference.size, BLOCK):
        block = slice(start, start + BLOCK)
        a, b, *others = (x[block] for x in flat)
        wrong.reshape(-1)[block], unstable.reshape(-1)[block] = differing(a, b, others, COARSE)
    return wrong, unstable


def _is_cancellation(reference: Any, other: Any, wrong: Any) -> bool:
    """Whether few elements are wrong, and by so little that sums which cancel explain it."""
    if not np.issubdtype(reference.dtype, np.inexact):  # nor is bfloat16, of few digits
        return False
    if wrong.sum() > MAX_CANCELLED * wrong.size:
        return False
    a, b = reference[wrong], other[wrong]
    largest = np.max(np.abs(reference), where=np.isfinite(reference), initial=0.0)
    limit = MAX_CANCELLED_ULPS * np.finfo(reference.dtype).eps * largest
    return bool(np.all(np.abs(a - b) <= limit))


def differing(reference: Any, other: Any, scattered: Sequence[Any], tolerance: Tolerance) -> Any:
    """Which elements of an array are wrong if `reference` is right, and which cannot be compared.

    `scattered` are the results of perturbed runs, arrays of the same shape. Integers and bools have
    to be equal, unless a perturbed run has another value there. Floats may differ by rounding.
    An infinity has to be the same one, and what is NaN has to be NaN: only sums that overflow give
    an infinity in one order and NaN in another.
    """
    if reference.dtype.kind in "biu":
        unstable = changed(reference, scattered)
        return (other != reference) & ~unstable, unstable
    wide = np.complex128 if reference.dtype.kind == "c" else np.float64
    a, b = reference.astype(wide), other.astype(wide)
    finite, nan = np.isfinite(a), np.isnan(a)
    scatter, unstable = np.zeros(a.shape), np.zeros(a.shape, bool)
    with np.errstate(all="ignore"):
        for sample in scattered:
            c = sample.astype(wide)
            unstable |= np.isfinite(c) != finite
            unstable |= ~finite & (c != a) & ~(np.isnan(c) & nan)
            scatter = np.fmax(scatter, np.abs(c - a))
        scatter = np.where(finite & ~unstable, scatter, 0.0)
        # Rounding alone decides an element with such a large scatter.
        decided = UNSTABLE * np.abs(a) + 1e3 * tolerance.absolute
        unstable |= finite & (scatter > decided) & (scatter > MIN_UNSTABLE)
        limit = SCATTER * scatter + tolerance.relative * np.abs(a) + tolerance.absolute
        equal = (a == b) | (finite & (np.abs(a - b) <= limit)) | (nan & np.isnan(b))
        equal |= (nan & np.isinf(b)) | (np.isinf(a) & np.isnan(b))
    return ~equal & ~unstable, unstable


def changed(reference: Any, others: Sequence[Any]) -> Any:
    """Whether any of the other arrays differs from the reference, a bool for each element."""
    differs = np.zeros(np.shape(reference), bool)
    for other in others:
        differs |= other != reference
    return differs
