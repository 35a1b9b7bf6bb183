"""Elementwise ops come before broadcasts: what is the same along an axis is computed once.

Gradients of means and sums are broadcasts, which nearly always meet arrays of their shape. Every
element is computed from the same numbers as before, so that every bit stays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import SymbolicTensor
from intaglio.op import raw
from intaglio.optimize.pattern import RuleSet, pat, same_shape

BROADCASTS = RuleSet()
rule = BROADCASTS.rule

Value = SymbolicTensor

UNARY = ("Neg", "Abs", "Square", "Sqrt", "Rsqrt")
BINARY = (
    "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference",
)  # fmt: skip


def _unary(name: str) -> None:
    @rule(lambda x, s: getattr(pat, name)(pat.BroadcastTo(x, s)))
    def before_broadcast(x: Value, s: Value):
        """f(broadcast(x, s))  ->  broadcast(f(x), s)"""
        return raw.BroadcastTo(getattr(raw, name)(x), s)


def _binary(name: str) -> None:
    @rule(lambda x, s, y: getattr(pat, name)(pat.BroadcastTo(x, s), y))
    def left_broadcast(x: Value, s: Value, y: Value):
        """f(broadcast(x, s), y)  ->  f(x, y) or broadcast(f(x, y), s)"""
        return _late(x, s, y, lambda x, y: getattr(raw, name)(x, y))

    @rule(lambda x, s, y: getattr(pat, name)(y, pat.BroadcastTo(x, s)))
    def right_broadcast(x: Value, s: Value, y: Value):
        """f(y, broadcast(x, s))  ->  f(y, x) or broadcast(f(y, x), s)"""
        return _late(x, s, y, lambda x, y: getattr(raw, name)(y, x))


def _late(x: Value, s: Value, y: Value, f: Callable[[Value, Value], Any]) -> Any:
    """f(x, y), if y alone has the whole shape, or that broadcast, if x has y's."""
    if not shapes.known(x.dims) or not shapes.known(y.dims):
        return None
    whole = s.spec.value
    if whole is not None and y.dims == tuple(whole.tolist()):
        return f(x, y)
    if _broadcast(x.dims, y.dims) == x.dims:
        return raw.BroadcastTo(f(x, y), s)
    return None


def _broadcast(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        return None


def _sum(*terms: Value) -> Any:
    """Terms as sums of two, if one of them is a broadcast: in the order in which AddN adds."""
    if not same_shape(*terms) or terms[0].dtype not in raw.AddV2.T:
        return None
    if all(v.node.op.name != "BroadcastTo" for v in terms):
        return None
    return functools.reduce(_plus, terms)


def _plus(x: Value, y: Value) -> Any:
    """The sum, before a broadcast if one of them is one."""
    made = None
    if x.node.op.name == "BroadcastTo":
        small, shape = x.node.inputs
        made = _late(small, shape, y, raw.AddV2)
    elif y.node.op.name == "BroadcastTo":
        small, shape = y.node.inputs
        made = _late(small, shape, x, lambda y, x: raw.AddV2(x, y))
    return raw.AddV2(x, y) if made is None else made


@rule(lambda a, b: pat.AddN(a, b))
def sum_of_two(a: Value, b: Value):
    """add_n([broadcast(x), b])  ->  broadcast(x) + b"""
    return _sum(a, b)


@rule(lambda a, b, c: pat.AddN(a, b, c))
def sum_of_three(a: Value, b: Value, c: Value):
    """add_n([broadcast(x), b, c])  ->  (broadcast(x) + b) + c"""
    return _sum(a, b, c)


for _name in UNARY:
    _unary(_name)
for _name in BINARY:
    _binary(_name)
