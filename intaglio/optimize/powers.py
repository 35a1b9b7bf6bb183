"""Strength reduction of long chains of products with one factor, by powers of the factor.

`x @ (x @ (x @ v))` of integers is `x**3 @ v` bit for bit: arithmetic modulo 2**n is associative,
overflow or not. Powers by repeated squaring (Knuth, The Art of Computer Programming, 4.6.3) take
the logarithm of the number of products. Floats round differently in another order and stay.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import raw
from intaglio.opdef.op import Op

Known = tuple[int, ...]

# The product ops, with the attributes that transform the operands first.
_PRODUCTS: dict[Op, tuple[str, ...]] = {
    raw.Mul: (),
    raw.MatMul: ("transpose_a", "transpose_b"),
    raw.BatchMatMulV2: ("adj_x", "adj_y"),
}


@dataclass(frozen=True)
class Chain:
    """A chain of `count` products: each multiplies the one before by `factor`, its operand `side`."""

    start: SymbolicTensor
    factor: SymbolicTensor
    side: int
    count: int

    def saves(self, last: Node) -> bool:
        """Whether the powers take fewer multiplications; False if the sizes are not known."""
        factor, result = self.factor.dims, last.outputs[0].dims
        if factor is None or result is None or None in factor or None in result:
            return False
        # All products of the chain take the same number of multiplications for an element of the result.
        square, product = math.prod(cast(Known, factor)), math.prod(cast(Known, result))
        squarings, products = self.count.bit_length() - 1, self.count.bit_count()
        return squarings * square + products * product < self.count * product

    def shortened(self, last: Node, new: Rewriter) -> SymbolicTensor:
        """The chain's value: its start times those squares whose binary digit of the count is 1."""
        plain = {**last.attrs, **dict.fromkeys(_PRODUCTS[last.op], False)}
        value, square = new.value(self.start), new.value(self.factor)
        for digit in range(self.count.bit_length()):
            if digit:
                square = _product(new, last, (square, square), plain)
            if self.count >> digit & 1:
                pair = (value, square) if self.side else (square, value)
                value = _product(new, last, pair, last.attrs)
        return value


@looks_for(lambda op: op in _PRODUCTS)
def shorten_powers(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with chains of integer products by one factor replaced by products with its powers."""
    if not any([_is_integer_product(node) for node in graph.nodes]):
        return graph
    fuel = fuel or Fuel()
    chains = _whole_chains(graph)
    new = Rewriter(graph)
    for node in graph.nodes:
        chain = chains.get(id(node))
        if chain is not None and chain.saves(node) and fuel.burn():
            new.root = node
            new.replace(node, [chain.shortened(node, new)])
        else:
            new.keep(node, new.copy(node))
    return new.result()


def _is_integer_product(node: Node) -> bool:
    return node.op in _PRODUCTS and node.outputs[0].dtype.is_integer


def _whole_chains(graph: Graph) -> dict[int, Chain]:
    """The maximal chains, by the id of their last node.

    The inner nodes of a chain are used by the next product alone, so they are dead afterwards.
    """
    uses = Counter([id(v) for node in graph.nodes for v in node.inputs])
    uses.update([id(v) for v in graph.outputs])
    found: dict[int, list[Chain]] = {}
    longest: dict[int, Chain] = {}
    for node in graph.nodes:
        if not _is_integer_product(node) or node.control:
            continue
        chains = found[id(node)] = []
        for side in (0, 1):
            before = node.inputs[1 - side]
            shorter = found.get(id(before.node), ()) if uses[id(before)] == 1 else ()
            chain = _next_chain(node, side, shorter)
            if chain is None:
                continue
            chains.append(chain)
            if chain.count > 1:
                longest.pop(id(before.node), None)
                longest[id(node)] = chain
    return longest


def _next_chain(node: Node, side: int, shorter: Iterable[Chain]) -> Chain | None:
    """The chain that ends in this node, with the factor as operand `side`, extending that of its input."""
    changed = _PRODUCTS[node.op]
    if changed and node.attrs.get(changed[1 - side]):
        return None
    factor, before = node.inputs[side], node.inputs[1 - side]
    for chain in shorter:
        last = before.node
        like = last.op is node.op and last.attrs == node.attrs
        if like and chain.factor is factor and (chain.side == side or not changed):
            return Chain(chain.start, factor, side, chain.count + 1)
    return Chain(before, factor, side, 1)


def _product(
    new: Rewriter, like: Node, pair: tuple[Any, Any], attrs: dict[str, Any]
) -> SymbolicTensor:
    """The product of two values by the same op."""
    return cast("SymbolicTensor", new.execute(like.op, pair, attrs, None)[0])
