"""Parts of a graph as functions of its library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from intaglio.graphdef import messages
from intaglio.graphdef.dataflow.edges import CONTROL, Edge, Nodes, edge, unique
from intaglio.graphdef.node_checks import OUTPUT_SHAPES


class Argument(NamedTuple):
    """An argument of a function: its name and data type, and the node whose shape it has."""

    name: str
    type: int
    like: Any = None


class Part(NamedTuple):
    """Nodes that become a function, with the names of arguments as inputs, and its results."""

    nodes: Nodes
    outputs: list[Edge]


def needed(
    nodes: Nodes,
    outputs: Sequence[Edge],
    is_argument: Callable[[Edge], bool],
    is_inside: Callable[[str], bool],
) -> tuple[set[str], set[Edge], set[str]]:
    """What outputs need of a graph: the nodes, the edges that are arguments, what is waited for outside."""
    found: set[str] = set()
    arguments: set[Edge] = set()
    outside: set[str] = set()
    work = list(outputs)
    while work:
        taken = work.pop()
        if taken.output == CONTROL and not is_inside(taken.node):
            outside.add(taken.node)
        elif taken.output != CONTROL and is_argument(taken):
            arguments.add(taken)
        elif taken.node in nodes and taken.node not in found:
            found.add(taken.node)
            work += map(edge, nodes[taken.node].input)
    return found, arguments, outside


def part(
    nodes: Nodes, names: set[str], outputs: Sequence[Edge], arguments: dict[Edge, str]
) -> Part:
    """Copies of nodes in which arguments stand for edges from outside, by name.

    Control dependencies on other nodes are dropped: a function runs when its arguments are there.
    """

    def moved(text: str) -> str | None:
        taken = edge(text)
        if taken.output == CONTROL:
            return text if taken.node in names else None
        return arguments.get(taken, text)

    copies: Nodes = {}
    for name in nodes:
        if name in names:
            copy = copies[name] = messages.NodeDef()
            copy.CopyFrom(nodes[name])
            inputs = [t for text in copy.input if (t := moved(text)) is not None]
            del copy.input[:]
            copy.input.extend(inputs)
    return Part(copies, [Edge(arguments[o]) if o in arguments else o for o in outputs])


class Library:
    """The functions of a graph, to which others are added."""

    def __init__(self, proto: Any) -> None:
        self._proto = proto
        self._names = {f.signature.name for f in proto.function}

    def add(
        self, label: str, found: Part, arguments: Sequence[Argument], types: Sequence[int]
    ) -> str:
        """The name of a function of a part of a graph; `types` are those of its outputs."""
        name = unique(label.replace("/", "_"), self._names)
        self._names.add(name)
        function = self._proto.function.add()
        function.signature.name = name
        for i, argument in enumerate(arguments):
            function.signature.input_arg.add(name=argument.name, type=argument.type)
            if argument.like is not None and OUTPUT_SHAPES in argument.like.attr:
                shapes = argument.like.attr[OUTPUT_SHAPES]
                function.arg_attr[i].attr[OUTPUT_SHAPES].CopyFrom(shapes)
        for i, (output, kind) in enumerate(zip(found.outputs, types, strict=True)):
            function.signature.output_arg.add(name=f"result{i}", type=kind)
            function.ret[f"result{i}"] = output.text
        function.node_def.extend(found.nodes.values())
        return name


def argument_names(count: int, nodes: Nodes) -> list[str]:
    """Names for the arguments of a function that no node has."""
    return [unique(f"argument{i}", nodes) for i in range(count)]
