"""Range analysis of integer scalars: loop counters, their bounds, and affine expressions of these.

A value is an affine expression: a constant plus multiples of terms that are not affine expressions
themselves. The difference of two expressions with the same terms is exact; the range of an expression
follows from those of its terms. Sums, differences and products of machine integers are exact modulo
2 ** bits, also where intermediate results wrap around: a result whose exact range is within its dtype is
correct. All other ops need operands whose exact ranges are within their dtypes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.optimize.trip_count import index_of, stays, step_of, trip_count_of

# Bounds are integers, or infinite where none is known.
Bound = int | float
Range = tuple[Bound, Bound]
ANY: Range = (-math.inf, math.inf)


class Affine(NamedTuple):
    """A constant plus multiples of values, which are compared by identity."""

    constant: int
    terms: Mapping[int, int]

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """This expression plus a multiple of another."""
        terms = dict(self.terms)
        for key, factor in other.terms.items():
            terms[key] = terms.get(key, 0) + times * factor
        kept = {key: factor for key, factor in terms.items() if factor}
        return Affine(self.constant + times * other.constant, kept)


class Ranges:
    """The ranges of the integer scalars of a graph, given the ranges of its inputs."""

    def __init__(self, inputs: Mapping[int, Range]) -> None:
        self._terms = dict(inputs)
        self._found: dict[int, Affine] = {}
        # Values are kept alive, so that their ids stay unique.
        self._values: list[SymbolicTensor] = []

    def affine(self, value: SymbolicTensor) -> Affine:
        """The affine expression of a value."""
        found = self._found.get(id(value))
        if found is None:
            self._values.append(value)
            found = self._found[id(value)] = self._expression(value) or self._term(value)
        return found

    def range(self, value: SymbolicTensor) -> Range:
        """The least and the largest possible number of a value."""
        return self._within(self.affine(value), value)

    def of(self, expression: Affine) -> Range:
        """The least and the largest possible number of an expression."""
        low: Bound = expression.constant
        high: Bound = expression.constant
        for key, factor in expression.terms.items():
            ends = [factor * bound for bound in self._terms[key]]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _within(self, expression: Affine, value: SymbolicTensor) -> Range:
        bounds, found = np.iinfo(value.dtype.numpy), self.of(expression)
        return found if bounds.min <= found[0] and found[1] <= bounds.max else ANY

    def _term(self, value: SymbolicTensor) -> Affine:
        """A value as a term; a constant if its range is a single number."""
        low, high = self._terms.setdefault(id(value), self._computed(value))
        if low == high:
            return Affine(int(low), {})
        return Affine(0, {id(value): 1})

    def _expression(self, value: SymbolicTensor) -> Affine | None:
        node, known = value.node, value.spec.value
        if known is not None:
            return Affine(int(known.reshape(())), {})
        if node.op in (raw.Identity, raw.StopGradient):
            return self.affine(node.inputs[0])
        if node.op is raw.Neg:
            return Affine(0, {}).plus(self.affine(node.inputs[0]), -1)
        if node.op is raw.Cast:
            source = node.inputs[0]
            fits = is_integer_scalar(source) and self.range(source) != ANY
            return self.affine(source) if fits else None
        if len(node.inputs) != 2 or not all(is_integer_scalar(v) for v in node.inputs):
            return None
        x, y = map(self.affine, node.inputs)
        if node.op in (raw.AddV2, raw.Add):
            return x.plus(y)
        if node.op is raw.Sub:
            return x.plus(y, -1)
        if node.op is raw.Mul and not (x.terms and y.terms):
            whole, factor = (x, y.constant) if x.terms else (y, x.constant)
            return Affine(0, {}).plus(whole, factor)
        return None

    def _computed(self, value: SymbolicTensor) -> Range:
        """The range of a value that is no affine expression."""
        node = value.node
        if len(node.inputs) != 2 or not all(is_integer_scalar(v) for v in node.inputs):
            return ANY
        (a, b), (c, d) = map(self.range, node.inputs)
        if node.op is raw.Minimum:
            return min(a, c), min(b, d)
        if node.op is raw.Maximum:
            return max(a, c), max(b, d)
        if node.op is raw.FloorMod and c > 0:
            return 0, d - 1
        return ANY


def is_integer_scalar(value: SymbolicTensor) -> bool:
    """Whether a value is one integer."""
    return value.dims == () and value.dtype.is_integer and value.dtype.numpy.kind in "iu"


def ranges_in_body(loop: Node, around: Ranges) -> dict[int, Range]:
    """The ranges of the integer scalars among the inputs of a loop's body."""
    body: Graph = loop.attrs["body"]
    trip_count = trip_count_of(loop)
    limits = _limits(loop, around)
    found: dict[int, Range] = {}
    for i, (value, start) in enumerate(zip(body.inputs, loop.inputs, strict=True)):
        if not is_integer_scalar(value) or not is_integer_scalar(start):
            continue
        step = 0 if stays(loop, i) else step_of(loop, i)
        if step is None:
            continue
        iterations = math.inf if trip_count is None else max(trip_count - 1, 0)
        change = step * iterations if step else 0
        (low, high), (least, most) = around.range(start), limits.get(i, ANY)
        low, high = max(low + min(0, change), least), min(high + max(0, change), most)
        # A counter that may wrap around has no bounds.
        bounds = np.iinfo(value.dtype.numpy)
        if bounds.min <= low + min(0, step) and high + max(0, step) <= bounds.max:
            found[id(value)] = low, high
    return found


def _limits(loop: Node, around: Ranges) -> dict[int, Range]:
    """The ranges of loop variables that the condition implies at the start of the body."""
    cond: Graph = loop.attrs["cond"]
    constants = {
        id(value): around.range(start)
        for i, (value, start) in enumerate(zip(cond.inputs, loop.inputs, strict=True))
        if is_integer_scalar(value) and is_integer_scalar(start) and stays(loop, i)
    }
    inside, found = Ranges(constants), dict[int, Range]()
    waiting = [cond.outputs[0].node]
    while waiting:
        test = waiting.pop()
        if test.op is raw.LogicalAnd:
            waiting += [v.node for v in test.inputs]
        for i, limits in _compared(cond, test, inside):
            low, high = found.get(i, ANY)
            found[i] = max(low, limits[0]), min(high, limits[1])
    return found


def _compared(cond: Graph, test: Node, inside: Ranges) -> list[tuple[int, Range]]:
    """The ranges that a comparison implies for its operands."""
    if test.op not in (raw.Less, raw.LessEqual, raw.Greater, raw.GreaterEqual):
        return []
    less, greater = test.inputs
    if test.op in (raw.Greater, raw.GreaterEqual):
        less, greater = greater, less
    if not (is_integer_scalar(less) and is_integer_scalar(greater)):
        return []
    apart = int(test.op in (raw.Less, raw.Greater))
    found: list[tuple[int, Range]] = []
    for value, limits in (
        (less, (-math.inf, inside.range(greater)[1] - apart)),
        (greater, (inside.range(less)[0] + apart, math.inf)),
    ):
        index = index_of(cond, value)
        if index is not None:
            found.append((index, limits))
    return found
