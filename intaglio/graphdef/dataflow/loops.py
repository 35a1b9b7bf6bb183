"""Loops: the nodes between Enter and Exit of a frame become a `While`."""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.graphdef import messages
from intaglio.graphdef.dataflow.conditionals import with_branches
from intaglio.graphdef.dataflow.edges import (
    CONTROL,
    ENTER,
    EXIT,
    LOOP_CONDITION,
    MERGE,
    NEXT_ITERATION,
    SWITCH,
    Edge,
    Nodes,
    controls,
    copied,
    edges,
    in_order,
    is_back_edge,
    operand,
    output_type,
    sibling,
)
from intaglio.graphdef.dataflow.functions import Argument, Library, argument_names, needed, part
from intaglio.graphdef.tensors import MalformedError
from intaglio.opdef import raw

# The names of the frames around a node, the outermost first.
Frame = tuple[str, ...]


def with_loops(nodes: Nodes, library: Library) -> Nodes:
    """The graph, where each frame is a `While`. Raises MalformedError for frames that are no loops."""
    frames = frames_of(nodes)
    if not any(frames.values()):
        return nodes
    nodes = dict(nodes)
    inner_first = sorted(dict.fromkeys(frames.values()), key=len, reverse=True)
    for frame in inner_first:
        if frame:
            members = [name for name in nodes if frames[name] == frame]
            for new in _Loop(nodes, members, frame[-1], library).replace():
                frames[new] = frame[:-1]
    return nodes


def frames_of(nodes: Nodes) -> dict[str, Frame]:
    """The frame of each node; an Exit is in the frame that it leaves."""
    frames: dict[str, Frame] = {}
    for name in in_order(nodes):
        node = nodes[name]
        inside: Frame = ()
        for taken in edges(node):
            source = nodes.get(taken.node)
            if source is None or is_back_edge(nodes, node, taken):
                continue
            found = frames[taken.node][:-1] if source.op in EXIT else frames[taken.node]
            if found[: len(inside)] != inside and inside[: len(found)] != found:
                raise MalformedError(
                    f"node '{name}' takes values of two loops, {inside} and {found}"
                )
            inside = max(inside, found, key=len)
        if node.op in ENTER:
            inside = (*inside, node.attr["frame_name"].s.decode("utf-8", "replace"))
        frames[name] = inside
    return frames


class _Function(NamedTuple):
    """The condition or the body of a loop: its results, the nodes that they need, its arguments.

    Arguments are the edges that carry loop variables and invariants into it; of `variables` they have
    the positions.
    """

    outputs: list[Edge]
    variables: dict[Edge, int]
    names: set[str]
    arguments: set[Edge]


class _Loop:
    """One frame: its loop variables, in the order of their Merges, and its invariants."""

    def __init__(self, nodes: Nodes, members: list[str], frame: str, library: Library) -> None:
        self.nodes = nodes
        self.members = set(members)
        self.library = library
        own = [nodes[name] for name in members]
        conditions = [n for n in own if n.op == LOOP_CONDITION]
        if len(conditions) != 1:
            raise MalformedError(
                f"the frame '{frame[:80]}' has {len(conditions)} conditions (LoopCond), not one"
            )
        self.condition = conditions[0]
        self.merges = [
            n for n in own if n.op in MERGE and any(is_back_edge(nodes, n, e) for e in edges(n))
        ]
        # The Enters of the loop variables, and those of what stays the same.
        self.variables = [self._source(n, ENTER) for n in self.merges]
        entering = {n.name for n in self.variables}
        self.invariants = [n for n in own if n.op in ENTER and n.name not in entering]
        self.exits = [n for n in own if n.op in EXIT]
        # The loop variables by the Switches that end the loop or go on.
        index = {n.name: i for i, n in enumerate(self.merges)}
        self.switches = {
            n.name: index[merge]
            for n in own
            if n.op in SWITCH and operand(n, 1).node == self.condition.name
            if (merge := operand(n, 0).node) in index
        }

    def _source(self, merge: Any, ops: tuple[str, str]) -> Any:
        """The Enter or the NextIteration of a loop variable."""
        found = [
            n for e in edges(merge) if (n := self.nodes.get(e.node)) is not None and n.op in ops
        ]
        if len(found) != 1:
            raise MalformedError(f"'{merge.name}' has {len(found)} inputs {ops[0]}, not one")
        return found[0]

    def replace(self) -> list[str]:
        """Puts a `While` in the place of the frame; returns the names of the new nodes."""
        merged = {Edge(n.name): i for i, n in enumerate(self.merges)}
        going_on = {Edge(switch, 1): i for switch, i in self.switches.items()}
        ends = [operand(self._source(n, NEXT_ITERATION), 0) for n in self.merges]
        condition = self._function([operand(self.condition, 0)], merged)
        body = self._function(ends, {**merged, **going_on})
        used = condition.arguments | body.arguments
        invariants = [n for n in self.invariants if Edge(n.name) in used]
        entering = [*self.variables, *invariants]
        types = [output_type(n, 0) for n in entering]
        loop = messages.NodeDef(op=raw.While.name)
        loop.name = sibling(self.condition.name, loop.op, self.nodes)
        loop.input.extend([operand(n, 0).text for n in entering])
        loop.input.extend(dict.fromkeys([c for n in entering for c in controls(n)]))
        loop.attr["T"].list.type.extend(types)
        arguments = [
            Argument(*a)
            for a in zip(
                argument_names(len(types), self.nodes),
                types,
                [*self.merges, *invariants],
                strict=True,
            )
        ]
        kinds = [output_type(self.condition, 0)]
        loop.attr["cond"].func.name = self._add(f"{loop.name}_cond", condition, arguments, kinds)
        body.outputs.extend([Edge(n.name) for n in invariants])
        loop.attr["body"].func.name = self._add(f"{loop.name}_body", body, arguments, types)
        return self._put(loop)

    def _function(self, outputs: list[Edge], variables: dict[Edge, int]) -> _Function:
        """What results need. Raises MalformedError for nodes outside of the loop."""
        invariants = {Edge(n.name) for n in self.invariants}
        arguments = variables.keys() | invariants
        ends = {e.node for e in arguments} | {self.condition.name}

        def is_inside(name: str) -> bool:
            return name in self.members and name not in ends

        names, found, _ = needed(self.nodes, outputs, arguments.__contains__, is_inside)
        for name in names - self.members:
            raise MalformedError(f"a loop takes '{name}' from outside, and not through an Enter")
        return _Function(outputs, variables, names, found)

    def _add(
        self, label: str, function: _Function, arguments: list[Argument], types: list[int]
    ) -> str:
        """The name of the condition or the body in the library."""
        invariants = [a.like.name for a in arguments[len(self.merges) :]]
        names = {e: arguments[i].name for e, i in function.variables.items()}
        for name, argument in zip(invariants, arguments[len(self.merges) :], strict=True):
            names[Edge(name)] = argument.name
        found = part(self.nodes, function.names, function.outputs, names)
        found = with_branches(found, arguments, self.library)
        return self.library.add(label, found, arguments, types)

    def _put(self, loop: Any) -> list[str]:
        """Replaces the frame's nodes by the loop, and its Exits by what the loop ends with."""
        new = {loop.name: loop}
        for name in self._afterwards():
            node = self.nodes[name]
            if node.op in EXIT:
                new[name] = copied(node, self._after(operand(node, 0), node, loop))
            else:
                new[name] = copy = messages.NodeDef()
                copy.CopyFrom(node)
                del copy.input[:]
                taken = [self._after(e, node, loop) for e in edges(node) if e.output != CONTROL]
                copy.input.extend([e.text for e in taken])
        for name in self.members:
            del self.nodes[name]
        self.nodes.update(new)
        return list(new)

    def _afterwards(self) -> list[str]:
        """The Exits, and what computes from the values at the loop's end: it runs once."""
        found: set[str] = set()
        work = [n.name for n in self.exits]
        while work:
            name = work.pop()
            if name not in found:
                found.add(name)
                data = [e for e in edges(self.nodes[name]) if e.output != CONTROL]
                inside = [e.node for e in data if e.node in self.members]
                work += [n for n in inside if n not in self.switches and not self._enters(n)]
        return [name for name in self.nodes if name in found]

    def _after(self, taken: Edge, node: Any, loop: Any) -> Edge:
        """Where a value is found after the loop."""
        if taken.node in self.switches and taken.output == 0:
            return Edge(loop.name, self.switches[taken.node])
        if self._enters(taken.node):
            return operand(self.nodes[taken.node], 0)
        source = self.nodes.get(taken.node)
        if source is None or source.op in (*SWITCH, *MERGE, *NEXT_ITERATION):
            raise MalformedError(f"'{node.name}' leaves a loop with what is no loop variable")
        return taken

    def _enters(self, name: str) -> bool:
        return name in self.members and self.nodes[name].op in ENTER
