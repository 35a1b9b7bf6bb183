"""Python loops with a tensor exit condition: remaining iterations become branches, or one staged loop.

A Python loop has Python items: layers, keys, numbers that index lists. So its iterations are
recorded one by one, each under the condition that no jump was taken before. If that would make the graph
too large, and the items can be stacked as rows of tensors, the remaining iterations become a staged loop
over these.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.autograph.conditionals import State, if_stmt
from intaglio.base import dtypes, nest
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import control_flow

# Turns recorded one by one make a graph of at most this many ops.
MAX_UNROLLED_OPS = 4_000
# And there are no more of them than this: what has not ended by then may never do so.
MAX_UNROLLED_ITERATIONS = 1_000_000
PHRASE = (
    "break and return statements which depend on a TF condition are not supported in "
    "Python for loops. Did you intend to make it a TF loop?"
)

Body = Callable[[Any], None]


class Unrolled:
    """The iterations of a Python loop from the one on that a tensor decides about."""

    def __init__(
        self,
        extra_test: Any,
        body: Body,
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: Sequence[str],
    ) -> None:
        self.extra_test = extra_test
        self.body = body
        self.get_state = get_state
        self.set_state = set_state
        self.names = names

    def run(self, items: Iterator[Any], staged: Callable[[int, Body], None]) -> None:
        """Records the iterations; `staged(count, turn)` records a loop over their numbers."""
        graph = control_flow.recording()
        left = list(itertools.islice(items, MAX_UNROLLED_ITERATIONS + 1))
        endless = len(left) > MAX_UNROLLED_ITERATIONS
        start = len(graph.nodes)
        for number, item in enumerate(left):
            if number == 1:
                ops = size(graph.nodes[start:])
                if ops * len(left) > MAX_UNROLLED_OPS:
                    self._loop([] if endless else left[1:], ops, staged)
                    return
            self._iteration(item)

    def _iteration(self, item: Any) -> None:
        @functools.wraps(self.body)
        def iteration() -> None:
            self.body(item)

        if_stmt(
            self.extra_test(),
            iteration,
            lambda: None,
            self.get_state,
            self.set_state,
            self.names,
            len(self.names),
        )

    def _loop(self, left: list[Any], ops: int, staged: Callable[[int, Body], None]) -> None:
        rows = stacked(left) if left else None
        if rows is None:
            raise NotImplementedError(_too_large(len(left), ops))

        def iteration(number: Any) -> None:
            self.body(nest.map_structure(lambda t: raw.GatherV2(t, number, 0), rows))

        try:
            staged(len(left), iteration)
        except (TypeError, ValueError) as e:
            raise NotImplementedError(
                f"{_too_large(len(left), ops)} As a loop over tensors it fails: {e}"
            ) from e


def stacked(items: Sequence[Any]) -> Any:
    """The items as the rows of tensors, in their structure; None if they cannot be that."""
    if all([type(item) is int for item in items]):
        return convert.to_tensor(np.array(items), dtypes.int32)
    try:
        for other in items[1:]:
            nest.assert_same_structure(items[0], other)
        columns = zip(*[nest.flatten(item) for item in items], strict=True)
        tensors = [_column(c) for c in columns]
    except (TypeError, ValueError):
        return None
    return nest.pack_sequence_as(items[0], tensors)


def _column(values: Sequence[Any]) -> Any:
    """Raises TypeError or ValueError for values that are not of one type and shape."""
    kinds = {bool if type(v) is bool else type(v) for v in values}
    if len(kinds) > 1 and not all(isinstance(v, Tensor) for v in values):
        raise TypeError("values of several types")
    if isinstance(values[0], Tensor):
        return raw.Pack(list(values), axis=0)
    return convert.to_tensor(list(values))


def size(nodes: Sequence[Node]) -> int:
    """The number of nodes, those of nested graphs included."""
    inner = [a for n in nodes for a in n.attrs.values() if isinstance(a, Graph)]
    return len(nodes) + sum([size(graph.nodes) for graph in inner])


def _too_large(count: int, ops: int) -> str:
    many = count or f"more than {MAX_UNROLLED_ITERATIONS}"
    return (
        f"{PHRASE} Each iteration that is left becomes a branch of the graph: {many} iterations of about "
        f"{ops} ops are more than the {MAX_UNROLLED_OPS} ops that a loop may unroll to. Write "
        "`for i in tf.range(n):`, or loop over a tensor."
    )
