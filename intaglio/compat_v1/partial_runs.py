"""Runs of a graph in several steps (`Session.partial_run`), and runs that measure each node.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session#partial_run.

What was computed is kept: no node runs twice in a partial run, so that random numbers and
assignments are those of one run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from intaglio.base.errors import invalid_argument
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.runtime import interpreter

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def needed_nodes(
    wanted: Iterable[Node], known: Iterable[int], done: Iterable[int] = ()
) -> set[int]:
    """The ids of the nodes that run for these, where the tensors `known` are given and the nodes
    `done` have run."""
    supplied, needed, before = set(known), set[int](), set(done)
    work = list(wanted)
    while work:
        node = work.pop()
        if id(node) in needed or id(node) in before:
            continue
        needed.add(id(node))
        work += [v.node for v in node.inputs if id(v) not in supplied]
        work += node.control
    return needed


class DeviceAttributes(NamedTuple):
    """What `Session.list_devices` says of a device."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int

    def __repr__(self) -> str:
        return "_DeviceAttributes(" + ", ".join(map(str, self)) + ")"


class PartialRun:
    """A run in progress: the values so far, and what is still to be fed and fetched.

    Raises InvalidArgumentError if nothing is fetched, or a tensor is both fed and fetched.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        elements: Sequence[Node | SymbolicTensor],
        feeds: Sequence[SymbolicTensor],
        kernels: Callable[[Node], Any],
    ) -> None:
        if not elements:
            raise invalid_argument("Must specify at least one target to fetch or execute.")
        self._nodes = nodes
        self._kernels = kernels
        self._targets = [e for e in elements if isinstance(e, Node)]
        self._fetches = {id(e): e for e in elements if isinstance(e, SymbolicTensor)}
        self._feeds = {id(t): t for t in feeds}
        for key, tensor in self._fetches.items():
            if key in self._feeds:
                raise invalid_argument(f"{tensor.name} is both fed and fetched.")
        self._values: dict[int, tuple[SymbolicTensor, Any]] = {}
        self._done: set[int] = set()
        self._fed: set[int] = set()
        self._fetched: set[int] = set()

    @property
    def ended(self) -> bool:
        """Whether all has been fed and fetched."""
        return self._fed == self._feeds.keys() and self._fetched == self._fetches.keys()

    def run(
        self, fetches: Sequence[SymbolicTensor], feeds: Sequence[tuple[SymbolicTensor, Any]]
    ) -> list[Any]:
        """The arrays of the fetches, after the feeds. Raises InvalidArgumentError."""
        self._check(fetches, [t for t, _ in feeds])
        for tensor, array in feeds:
            self._values[id(tensor)] = tensor, array
            self._fed.add(id(tensor))
        for tensor in fetches:
            missing = self._missing([tensor.node])
            if missing is not None:
                raise invalid_argument(
                    f"Fetch {missing.name} can't be computed from the feeds that have been fed so far."
                )
        targets = [t for t in self._targets if self._missing([t]) is None]
        self._compute([*(t.node for t in fetches), *targets])
        self._fetched |= {id(t) for t in fetches}
        return [self._values[id(t)][1] for t in fetches]

    def _check(self, fetches: Sequence[SymbolicTensor], feeds: Sequence[SymbolicTensor]) -> None:
        for kind, past, tensors, declared, before in (
            ("feed", "fed", feeds, self._feeds, self._fed),
            ("fetch", "fetched", fetches, self._fetches, self._fetched),
        ):
            for tensor in tensors:
                if id(tensor) not in declared:
                    raise invalid_argument(
                        f"The {kind} {tensor.name} was not specified in partial_run_setup."
                    )
                if id(tensor) in before:
                    raise invalid_argument(f"The {kind} {tensor.name} has already been {past}.")

    def _to_run(self, wanted: Iterable[Node]) -> list[Node]:
        needed = needed_nodes(wanted, self._values, self._done)
        return [n for n in self._nodes if id(n) in needed]

    def _missing(self, wanted: Iterable[Node]) -> SymbolicTensor | None:
        """A tensor that is needed and not fed yet."""
        for node in self._to_run(wanted):
            for output in node.outputs:
                if id(output) in self._feeds and id(output) not in self._values:
                    return output
                if node.op is raw.Placeholder and id(output) not in self._values:
                    return output
        return None

    def _compute(self, wanted: Iterable[Node]) -> None:
        nodes = self._to_run(wanted)
        inside = {id(n) for n in nodes}
        read = {id(v): v for n in nodes for v in n.inputs if id(v.node) not in inside}
        read |= {id(v): v for n in nodes for v in n.inputs if id(v) in self._values}
        outputs = [o for n in nodes for o in n.outputs if id(o) not in self._values]
        graph = FrozenGraph("session", [*read.values()], nodes, outputs)
        run = interpreter.compiled_with(graph, self._kernels)
        arrays = run(*[self._values[key][1] for key in read])
        self._values |= {id(t): (t, a) for t, a in zip(outputs, arrays, strict=True)}
        self._done |= inside


class NodeStatistics(NamedTuple):
    """When a node ran, in nanoseconds of the clock, and what it computed."""

    node: Node
    start: int
    end: int
    outputs: list[Any]


def measured(
    nodes: Sequence[Node],
    known: dict[int, tuple[SymbolicTensor, Any]],
    kernels: Callable[[Node], Any],
) -> tuple[dict[int, Any], list[NodeStatistics]]:
    """Runs nodes one by one: the arrays of their tensors by id, and the times."""
    arrays = {key: array for key, (_, array) in known.items()}
    statistics: list[NodeStatistics] = []
    for node in nodes:
        inputs = list({id(v): v for v in node.inputs}.values())
        run = interpreter.compiled_with(
            FrozenGraph("session", inputs, [node], list(node.outputs)), kernels
        )
        start = time.time_ns()
        outputs = list(run(*[arrays[id(v)] for v in inputs]))
        statistics.append(NodeStatistics(node, start, time.time_ns(), outputs))
        for output, array in zip(node.outputs, outputs, strict=True):
            arrays.setdefault(id(output), array)
    return arrays, statistics


def describe(step_stats: Any, statistics: Sequence[NodeStatistics]) -> None:
    """Writes the times into a StepStats message, as those of one device."""
    device = step_stats.dev_stats.add(device=CPU)
    for found in statistics:
        node, spent = found.node, found.end - found.start
        names = ", ".join(v.node.name for v in node.inputs)
        entry = device.node_stats.add(
            node_name=node.name,
            all_start_micros=found.start // 1000,
            op_end_rel_micros=spent // 1000,
            all_end_rel_micros=spent // 1000,
            timeline_label=f"{node.name} = {node.op.name}({names})",
            scheduled_micros=found.start // 1000,
            thread_id=threading.get_ident() % 2**32,
            all_start_nanos=found.start,
            op_end_rel_nanos=spent,
            all_end_rel_nanos=spent,
            scheduled_nanos=found.start,
        )
        for slot, (tensor, array) in enumerate(zip(node.outputs, found.outputs, strict=True)):
            shape = getattr(array, "shape", None)
            if shape is None:
                continue  # a resource or variant
            described = entry.output.add(slot=slot).tensor_description
            described.dtype = tensor.dtype.as_datatype_enum
            for length in shape:
                described.shape.dim.add(size=length)
            described.allocation_description.requested_bytes = int(getattr(array, "nbytes", 0))
            described.allocation_description.allocator_name = "cpu"
