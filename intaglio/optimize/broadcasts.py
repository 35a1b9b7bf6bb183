"""Moves elementwise ops before broadcasts, so that repeated elements are computed once.

Gradients of means and sums are broadcasts, which are nearly always combined with arrays of their shape. Every
element is computed from the same numbers as before, with the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.optimize.pattern import RuleSet, pat, same_shape

BROADCASTS = RuleSet()
rule = BROADCASTS.rule

Value = SymbolicTensor

UNARY = (raw.Neg, raw.Abs, raw.Square, raw.Sqrt, raw.Rsqrt)
BINARY = (raw.AddV2, raw.Sub, raw.Mul, raw.RealDiv, raw.Maximum, raw.Minimum, raw.SquaredDifference)


def _unary(op: Op) -> None:
    @rule(lambda x, s: getattr(pat, op.name)(pat.BroadcastTo(x, s)))
    def before_broadcast(x: Value, s: Value):
        """f(broadcast(x, s))  ->  broadcast(f(x), s)"""
        return raw.BroadcastTo(op(x), s)


def _binary(op: Op) -> None:
    @rule(lambda x, s, y: getattr(pat, op.name)(pat.BroadcastTo(x, s), y))
    def left_broadcast(x: Value, s: Value, y: Value):
        """f(broadcast(x, s), y)  ->  f(x, y) or broadcast(f(x, y), s)"""
        return _late(x, s, y, op)

    @rule(lambda x, s, y: getattr(pat, op.name)(y, pat.BroadcastTo(x, s)))
    def right_broadcast(x: Value, s: Value, y: Value):
        """f(y, broadcast(x, s))  ->  f(y, x) or broadcast(f(y, x), s)"""
        return _late(x, s, y, lambda x, y: op(y, x))


def _late(x: Value, s: Value, y: Value, f: Callable[[Value, Value], Any]) -> Any:
    """f(x, y), if y alone has the whole shape, or that broadcast, if x has y's."""
    if _is_shape_of(s, y):
        return f(x, y)
    if not shapes.known(x.dims) or not shapes.known(y.dims):
        return None
    if _broadcast(x.dims, y.dims) == x.dims:
        return raw.BroadcastTo(f(x, y), s)
    return None


def _is_shape_of(s: Value, y: Value) -> bool:
    """True if `s` certainly is the shape of `y`."""
    whole = s.spec.value
    if whole is not None:
        return y.dims == tuple(whole.tolist())
    return s.node.op is raw.Shape and origin_of_shape(s.node.inputs[0]) is origin_of_shape(y)


# Ops whose results are mostly zeros, which the compiler handles specially, or strided.
APART = frozenset([raw.StridedSliceGrad, raw.Split, raw.SplitV])
# Maximum length of the chain that is searched for a value with the same shape.
MAX_LOOKBACK_NODES = 64


def origin_of_shape(value: Value) -> Value:
    """The earliest value of the chain to this one that has the same shape."""
    for _ in range(MAX_LOOKBACK_NODES):
        before = _same_before(value.node)
        if before is None:
            break
        value = before
    return value


def _same_before(node: Node) -> Value | None:
    """An input of the node with the shape of its result, or None."""
    op, inputs = node.op, node.inputs
    if op.shape_input and len(node.outputs) == 1:
        shape = inputs[op.input_names.index(op.shape_input)].node
        return shape.inputs[0] if shape.op is raw.Shape else None
    if op in (raw.AddN, raw.BiasAdd, raw.Identity):
        return inputs[0]
    if "scalar" not in node.op.rules:
        return None
    return next((v for v in inputs if all(_within(w, v) for w in inputs)), None)


def _within(small: Value, large: Value) -> bool:
    """True if broadcasting the first with the second certainly gives the second's shape."""
    if small is large or small.dims == ():
        return True
    if small.dims is None or large.dims is None or len(small.dims) > len(large.dims):
        return False
    facing = large.dims[len(large.dims) - len(small.dims) :]
    pairs = zip(small.dims, facing, strict=True)
    return all(a == 1 or (a == b and b is not None) for a, b in pairs)


def _broadcast(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        return None


def _sum(*terms: Value) -> Any:
    """Binary sums of the terms, in the order of AddN, which can be fused with other elementwise ops."""
    if not same_shape(*terms) and len({id(origin_of_shape(v)) for v in terms}) > 1:
        return None
    if terms[0].dtype not in raw.AddV2.T:
        return None
    if any(v.node.op in APART for v in terms):
        return None
    return functools.reduce(_plus, terms)


def _plus(x: Value, y: Value) -> Any:
    """The sum of two values, moved before the broadcast if one of them is one."""
    total = None
    if x.node.op is raw.BroadcastTo:
        small, shape = x.node.inputs
        total = _late(small, shape, y, raw.AddV2)
    elif y.node.op is raw.BroadcastTo:
        small, shape = y.node.inputs
        total = _late(small, shape, x, lambda y, x: raw.AddV2(x, y))
    return raw.AddV2(x, y) if total is None else total


@rule(lambda a, b: pat.AddN(a, b))
def sum_of_two(a: Value, b: Value):
    """add_n([a, b])  ->  a + b"""
    return _sum(a, b)


@rule(lambda a, b, c: pat.AddN(a, b, c))
def sum_of_three(a: Value, b: Value, c: Value):
    """add_n([a, b, c])  ->  (a + b) + c"""
    return _sum(a, b, c)


for _op in UNARY:
    _unary(_op)
for _op in BINARY:
    _binary(_op)
