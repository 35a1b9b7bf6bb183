"""Loop rerolling: repeated sequences of an elementwise graph become one loop.

A run of nodes repeats with a period if each node's inputs are those of the node one period before,
one period later: values of the previous iteration, loop invariants from outside, and constants,
which may differ and then are elements of a table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.ir.equality import attributes_key
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.opdef import raw

# Shorter runs are unrolled; and the most nodes of a period.
MIN_NODES, MAX_PERIOD_NODES = 64, 256
# The most iterations between the definition and the use of a loop-carried value.
MAX_DEPTH = 4


class Repeat(NamedTuple):
    """A repeated run: its nodes iteration after iteration, and those before them.

    `carried` are the loop-carried values: their node's index in an iteration, how many iterations
    later they are last used, and whether one exists before the first iteration. `sources` maps
    inputs of an iteration's nodes (node index, input number) to a value of an earlier iteration.
    """

    nodes: Sequence[Node]
    period: int
    before: Sequence[Node]
    carried: Sequence[tuple[int, int, bool]]
    sources: dict[tuple[int, int], tuple[int, int]]

    @property
    def iterations(self) -> int:
        """The number of iterations."""
        return len(self.nodes) // self.period

    def constants(self, node_index: int, number: int) -> list[Any]:
        """The constants of a node's input, iteration after iteration."""
        nodes = self.nodes[node_index :: self.period]
        return [n.inputs[number].node.attrs["value"].reshape(-1)[0] for n in nodes]

    def value_of(self, node_index: int, iteration: int) -> SymbolicTensor:
        """The value of a node in an iteration; one before the first, where `iteration` is negative."""
        index = iteration * self.period + node_index
        return (self.nodes if index >= 0 else self.before)[index].outputs[0]


@memoized
def periods(graph: Graph) -> list[Node | Repeat]:
    """The computed nodes of the graph in order, runs of them as `Repeat`."""
    inputs = {id(v) for v in graph.inputs}
    nodes = [n for n in graph.nodes if n.op is not raw.Const and id(n.outputs[0]) not in inputs]
    return list(_Search(graph, nodes).parts(0, len(nodes)))


def size(graph: Graph) -> int:
    """The number of nodes whose code is emitted."""
    return sum(p.period if isinstance(p, Repeat) else 1 for p in periods(graph))


class _Search:
    """Finds repeated runs among nodes."""

    def __init__(self, graph: Graph, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.index = {id(n): i for i, n in enumerate(nodes)}
        # The last user of each node's value.
        self.last = list(range(len(nodes)))
        for i, node in enumerate(nodes):
            for value in node.inputs:
                if id(value.node) in self.index:
                    self.last[self.index[id(value.node)]] = i
        for value in graph.outputs:
            if id(value.node) in self.index:
                self.last[self.index[id(value.node)]] = len(nodes)
        numbers: dict[Any, int] = {}
        self.kinds = np.array([numbers.setdefault(_kind(n), len(numbers)) for n in nodes])

    def parts(self, start: int, stop: int) -> Iterator[Node | Repeat]:
        """The nodes from `start` to `stop`."""
        found = self._longest(start, stop) if stop - start >= MIN_NODES else None
        if found is None:
            yield from self.nodes[start:stop]
            return
        first, repeat = found
        yield from self.parts(start, first)
        yield repeat
        yield from self.parts(first + len(repeat.nodes), stop)

    def _longest(self, start: int, stop: int) -> tuple[int, Repeat] | None:
        kinds, best = self.kinds[start:stop], (MIN_NODES - 1, 0)
        for period in range(1, min(MAX_PERIOD_NODES, (stop - start) // 2) + 1):
            _, length = _run(kinds[period:] == kinds[:-period])
            if length + period > best[0] + period // 2:  # short periods are preferred
                best = (length + period, period)
        period = best[1]
        if not period:
            return None
        same = [self._alike(i, period) for i in range(start, stop - period)]
        at, length = _run(np.array(same))
        iterations = length // period + 1
        if iterations * period < MIN_NODES or iterations <= MAX_DEPTH:
            return None
        found = self._repeat(start + at, period, iterations)
        return None if found is None else (start + at, found)

    def _alike(self, i: int, period: int) -> bool:
        """True if the inputs of a node are those of the node a period later, a period earlier."""
        one, other = self.nodes[i], self.nodes[i + period]
        if self.kinds[i] != self.kinds[i + period]:
            return False
        for a, b in zip(one.inputs, other.inputs, strict=True):
            x, y = (self.index.get(id(v.node)) for v in (a, b))
            if x is None or y is None:
                constants = a.node.op is b.node.op is raw.Const
                if a is not b and not constants:
                    return False
            elif y - x != period and x != y:
                return False
        return True

    def _repeat(self, first: int, period: int, iterations: int) -> Repeat | None:
        """The repetition; None if iterations depend on more than a few iterations before them."""
        end = first + iterations * period
        sources: dict[tuple[int, int], tuple[int, int]] = {}
        for node_index in range(period):
            pairs = zip(
                *[n.inputs for n in self.nodes[first + node_index :: period][:2]], strict=True
            )
            for number, (value, later) in enumerate(pairs):
                source = self.index.get(id(value.node))
                if source is None:
                    continue
                if value is later:
                    if source >= first:
                        return None
                    continue
                iteration, there = divmod(source - first, period)
                sources[node_index, number] = (there, -iteration)
        needed = [s for s in sources.values() if s[1]]
        later = [
            (i % period, iterations - i // period)
            for i in range(end - first)
            if self.last[first + i] >= end
        ]
        if any(depth > MAX_DEPTH for _, depth in (*needed, *later)):
            return None
        begun = {(p, d) for p, depth in needed for d in range(1, depth + 1)}
        every = begun | {(p, d) for p, depth in later for d in range(1, depth + 1)}
        if any(first + p - d * period < 0 for p, d in begun):
            return None
        carried = [(p, d, (p, d) in begun) for p, d in sorted(every)]
        return Repeat(self.nodes[first:end], period, self.nodes[:first], carried, sources)


def _kind(node: Node) -> Any:
    """The key of nodes that have the same code."""
    return alike(node) or id(node)


def alike(node: Node) -> Any:
    """A key that is equal for nodes with the same vector code up to constants; None if unknown."""
    types = tuple([v.dtype for v in (*node.inputs, *node.outputs)])
    known = tuple([v.node.op is raw.Const for v in node.inputs])
    key = (node.op, known, types, attributes_key(node))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def form(graph: Graph, numbers: Sequence[Any]) -> Any:
    """A key that is equal for graphs with the same code up to `numbers`; None if unknown."""
    wires: dict[int, Any] = {id(v): i for i, v in enumerate(graph.inputs)}
    constants = {(n.dtype, n.tobytes()): -1 - i for i, n in enumerate(numbers)}
    nodes: list[Any] = [tuple([v.dtype for v in graph.inputs]), [n.dtype for n in numbers]]
    for node in graph.nodes:
        if node.op is raw.Const:
            value = node.attrs["value"]
            key = value.dtype, value.reshape(-1)[0].tobytes()
            wires[id(node.outputs[0])] = constants.get(key, key)
        elif id(node.outputs[0]) not in wires:
            key = alike(node)
            if key is None:
                return None
            nodes.append((key, tuple([wires[id(v)] for v in node.inputs])))
            wires[id(node.outputs[0])] = len(wires)
    return (*map(tuple, nodes), tuple([wires[id(v)] for v in graph.outputs]))


def _run(same: Any) -> tuple[int, int]:
    """The start of the longest run of true values, and its length."""
    ends = np.flatnonzero(~np.concatenate([[False], same, [False]]))
    lengths = np.diff(ends) - 1
    at = int(np.argmax(lengths))
    return int(ends[at]), int(lengths[at])


def table(values: Sequence[str], kind: str) -> tuple[str, str]:
    """A constant array of a module: its name, and its line."""
    text = ", ".join([f"{kind} {v}" for v in values])
    name = f"@numbers_{hashlib.sha256(f'{kind} {text}'.encode()).hexdigest()[:16]}"
    return name, f"{name} = internal constant [{len(values)} x {kind}] [{text}]"
