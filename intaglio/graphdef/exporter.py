"""Functions of this layer by which graphs and shapes are written as messages, or read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.graphdef import export, load, messages, tensors
from intaglio.ir.graph import Graph, Node
from intaglio.opdef.op import Op


class Exporter:
    """Writes messages; `EXPORTER` is the one."""

    def node_def(self, node: Node) -> Any:
        """One node as a NodeDef message."""
        return export.node_def(node)

    def op_def(self, op: Op) -> Any:
        """An op's declaration as an OpDef message."""
        return export.op_def(op)

    def graph_def(self, nodes: Sequence[Node], add_shapes: bool) -> Any:
        """Nodes as a GraphDef message."""
        return export.graph_def(nodes, add_shapes)

    def function_def(self, graph: Graph) -> Any:
        """A graph as a FunctionDef message; the functions that it calls are named only."""
        library = export.Library(messages.FunctionDefLibrary())
        return export.function_def(graph, graph.name, library)

    def versions(self) -> Any:
        """The versions of the format as a VersionDef message."""
        return messages.VersionDef(producer=export.PRODUCER)

    created = staticmethod(load.created)

    def attribute(self, value: Any, kind: str) -> Any:
        """An attribute of that kind as `Operation.get_attr` returns it."""
        if kind.startswith("list("):
            return [self.attribute(item, kind[5:-1]) for item in value or ()]
        if kind == "str" and isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        if kind == "shape":
            return tensors.shape_proto(value)
        if kind == "tensor":
            return tensors.tensor_proto(value)
        if kind == "func":
            return messages.NameAttrList(name=value.name)
        return value


EXPORTER = Exporter()
