"""Folds multiplications and additions per channel after a convolution into its filters and bias.

Batch normalisations at inference are such affine functions, as one op or decomposed; so are biases.
The graph keeps a multiplication of the filters, and rounding errors stay of the same size. An
infinite slope gives NaN for filters that are zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.kernels.normalization_layers import FORWARD
from intaglio.native.passes.normalization_fusion import fits
from intaglio.native.passes.use_def import Users, is_large, is_plain, only_user, users_of
from intaglio.opdef import door, raw

SUMS = frozenset([raw.BiasAdd, raw.AddV2, raw.Add])


class _Fold(NamedTuple):
    """A convolution and the affine nodes after it, each the only user of the one before."""

    convolution: Node
    following: list[Node]


@looks_for(lambda op: op is raw.Conv2D)
def fold_channels(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with the affine nodes after each convolution folded into its filters and bias."""
    fuel = fuel or Fuel()
    users = users_of(graph)
    awaited = {id(c) for n in graph.nodes for c in n.control}
    folds: dict[int, _Fold] = {}
    absorbed: set[int] = set()
    for node in graph.nodes:
        following = _following(node, users) if node.op is raw.Conv2D else []
        if not following or awaited & {id(n) for n in (node, *following)} or not fuel.burn():
            continue
        folds[id(following[-1])] = _Fold(node, following)
        absorbed |= {id(n) for n in (node, *following)}
    if not folds:
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        fold = folds.get(id(node))
        if fold is not None:
            new.substitute(node.outputs[0], _folded(fold, new))
        elif id(node) not in absorbed:
            new.keep(node)
    return new.result()


def _following(node: Node, users: Users) -> list[Node]:
    """The affine nodes that can be folded; none if they only add, which convolution kernels do
    themselves."""
    if not is_large(node) or node.attrs["data_format"] != "NHWC":
        return []
    found: list[Node] = []
    value = node.outputs[0]
    while True:
        user = only_user(value, users)
        if user is None or not _folds(user, value):
            break
        found.append(user)
        value = user.outputs[0]
    return found if any(n.op in (*FORWARD, raw.Mul) for n in found) else []


def _folds(node: Node, value: SymbolicTensor) -> bool:
    """True if a node adds to `value`, or multiplies it by, one number for each channel."""
    dims, op = value.dims, node.op
    if not is_plain(node) or dims is None or node.outputs[0].dims != dims:
        return False
    if op in FORWARD:
        first = node.inputs[0] is value and not node.attrs["is_training"]
        return first and fits(node)
    if op not in SUMS and op not in (raw.Sub, raw.Mul):
        return False
    if op is raw.BiasAdd and node.attrs["data_format"] != "NHWC":
        return False
    if op is raw.Sub and node.inputs[0] is not value:
        return False
    other = _other(node, value).dims
    assert other is not None
    count = math.prod([d or 0 for d in other])
    return other[-1:] == dims[-1:] == (count,) or (op is raw.Mul and count == 1)


def _other(node: Node, value: SymbolicTensor) -> SymbolicTensor:
    return node.inputs[node.inputs[0] is value]


def _folded(fold: _Fold, new: Rewriter) -> SymbolicTensor:
    """The convolution with scaled filters, and its bias."""
    convolution, following = fold
    new.root = following[-1]
    with door.pushed(new):
        slope, shift = _affine(fold, new)
        x, filters = (new.value(v) for v in convolution.inputs)
        folded = derived(convolution, [x, raw.Mul(filters, slope)])
        new.keep(convolution, folded)
        if shift is None:
            return folded.outputs[0]
        channels = np.array([folded.outputs[0].dims[-1]], np.int32)  # type: ignore[index]  # dims are known
        if shift.dims is None or len(shift.dims) != 1:
            shift = raw.Reshape(shift, channels)
        return raw.AddV2(folded.outputs[0], shift)


def _affine(fold: _Fold, new: Rewriter) -> tuple[SymbolicTensor | None, SymbolicTensor | None]:
    """The slope and the shift of the channels; None for a slope of one or a shift of zero."""
    value = fold.convolution.outputs[0]
    slope: SymbolicTensor | None = None
    shift: SymbolicTensor | None = None
    for node in fold.following:
        op = node.op
        if op in FORWARD:
            factor, least = _normal(node, new)
            slope = factor if slope is None else raw.Mul(slope, factor)
            shift = least if shift is None else raw.AddV2(raw.Mul(shift, factor), least)
        else:
            other = new.value(_other(node, value))
            if op is raw.Mul:
                slope = other if slope is None else raw.Mul(slope, other)
                shift = shift if shift is None else raw.Mul(shift, other)
            elif op is raw.Sub:
                shift = raw.Neg(other) if shift is None else raw.Sub(shift, other)
            else:
                shift = other if shift is None else raw.AddV2(shift, other)
        value = node.outputs[0]
    return slope, shift


def _normal(node: Node, new: Rewriter) -> tuple[SymbolicTensor, SymbolicTensor]:
    """The slope and the shift of a normalisation by known statistics."""
    _, scale, offset, mean, variance = (new.value(v) for v in node.inputs)
    small = np.array(node.attrs["epsilon"], np.float32)
    slope = raw.RealDiv(scale, raw.Sqrt(raw.AddV2(variance, small)))
    return slope, raw.Sub(offset, raw.Mul(mean, slope))
