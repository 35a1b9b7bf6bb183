"""Value range analysis: bounds of a value's elements for all data, such as 0 to 3 for `x % 4`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op

# Maximum number of nodes that are examined for a value.
MAX_DEPTH = 24


class Bounds(NamedTuple):
    """The least and the greatest possible element, NaN excepted, where the computation does not overflow."""

    low: float
    high: float


_Found = Bounds | None
_Rule = Callable[[Node, list[_Found]], _Found]
_RULES: dict[Op, _Rule] = {}


def bounds_of(value: SymbolicTensor, depth: int = MAX_DEPTH) -> _Found:
    """The bounds of the elements; None if none are known."""
    node, dtype = value.node, value.dtype
    if node.op is raw.Const:
        array = np.asarray(node.attrs["value"])
        fits = array.size and array.dtype.kind in "biuf" and np.isfinite(array).all()
        return Bounds(float(array.min()), float(array.max())) if fits else None
    if dtype.is_bool:
        return Bounds(0, 1)
    found: _Found = None
    if depth and (node.op in _RULES or node.op.data_inputs or node.op.is_identity):
        operands = [bounds_of(v, depth - 1) for v in node.inputs]
        found = _RULES.get(node.op, _moved)(node, operands)
    if found is None or not all(map(math.isfinite, found)):
        return None
    if dtype.is_integer and not dtype.min <= found.low <= found.high <= dtype.max:
        return None  # it wraps around
    return found


def _union(*operands: _Found) -> _Found:
    known = [g for g in operands if g is not None]
    if not known or len(known) != len(operands):
        return None
    return Bounds(min(g.low for g in known), max(g.high for g in known))


def _moved(node: Node, operands: list[_Found]) -> _Found:
    """The bounds of a result whose elements are all elements of some inputs."""
    names = node.op.data_inputs or tuple(node.op.input_names)
    pairs = zip(node.op.input_names, operands, strict=False)
    own = [bounds for name, bounds in pairs if name in names]
    return _union(*own) if len(operands) == len(node.op.input_names) else _union(*operands)


def _rule(*ops: Op) -> Callable[[_Rule], _Rule]:
    def register(rule: _Rule) -> _Rule:
        _RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


def _of_corners(function: Callable[[float, float], float]) -> _Rule:
    def rule(node: Node, operands: list[_Found]) -> _Found:
        a, b = operands
        if a is None or b is None:
            return None
        found = [function(x, y) for x in a for y in b]
        return Bounds(min(found), max(found))

    return rule


_rule(raw.AddV2, raw.Add)(_of_corners(lambda x, y: x + y))
_rule(raw.Sub)(_of_corners(lambda x, y: x - y))
_rule(raw.Mul)(_of_corners(lambda x, y: x * y))


@_rule(raw.Maximum, raw.Minimum)
def _either(node: Node, operands: list[_Found]) -> _Found:
    a, b = operands
    if a is None or b is None:
        return None
    best = max if node.op is raw.Maximum else min
    return Bounds(best(a.low, b.low), best(a.high, b.high))


@_rule(raw.RealDiv, raw.FloorDiv)
def _divided(node: Node, operands: list[_Found]) -> _Found:
    a, b = operands
    if a is None or b is None or b.low <= 0:
        return None
    found = [x / y for x in a for y in b]
    low, high = min(found), max(found)
    return (
        Bounds(math.floor(low), math.floor(high)) if node.op is raw.FloorDiv else Bounds(low, high)
    )


@_rule(raw.FloorMod)
def _remainder(node: Node, operands: list[_Found]) -> _Found:
    divisor = operands[1]
    if divisor is None or divisor.low <= 0 or not node.outputs[0].dtype.is_integer:
        return None
    return Bounds(0, divisor.high - 1)


@_rule(raw.Abs)
def _absolute(node: Node, operands: list[_Found]) -> _Found:
    (a,) = operands
    if a is None:
        return None
    least = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Bounds(least, max(abs(a.low), abs(a.high)))


@_rule(raw.Neg)
def _negative(node: Node, operands: list[_Found]) -> _Found:
    (a,) = operands
    return None if a is None else Bounds(-a.high, -a.low)


@_rule(raw.Ceil, raw.Floor)
def _rounded(node: Node, operands: list[_Found]) -> _Found:
    (a,) = operands
    round_ = math.ceil if node.op is raw.Ceil else math.floor
    return None if a is None else Bounds(round_(a.low), round_(a.high))


@_rule(raw.Cast)
def _cast(node: Node, operands: list[_Found]) -> _Found:
    (a,) = operands
    whole = node.outputs[0].dtype.is_integer and not node.inputs[0].dtype.is_integer
    return Bounds(math.trunc(a.low), math.trunc(a.high)) if a is not None and whole else a


@_rule(raw.Max, raw.Min)
def _extremum(node: Node, operands: list[_Found]) -> _Found:
    dims = node.inputs[0].dims
    return operands[0] if dims is not None and shapes.known(dims) and 0 not in dims else None


@_rule(raw.Sum)
def _total(node: Node, operands: list[_Found]) -> _Found:
    a, value = operands[0], node.inputs[0]
    before, after = shapes.count(value.dims), shapes.count(node.outputs[0].dims)
    if a is None or before is None or not after:
        return None
    terms = before // after
    return Bounds(min(a.low * terms, 0), max(a.high * terms, 0))


@_rule(raw.ArgMax, raw.ArgMin)
def _position(node: Node, operands: list[_Found]) -> _Found:
    dims = node.inputs[0].dims
    return Bounds(0, max(dims) - 1) if dims and shapes.known(dims) else None


@_rule(raw.SelectV2)
def _chosen(node: Node, operands: list[_Found]) -> _Found:
    return _union(*operands[1:])


@_rule(raw.Pack, raw.ConcatV2)
def _joined(node: Node, operands: list[_Found]) -> _Found:
    return _union(*(operands[:-1] if node.op is raw.ConcatV2 else operands))
