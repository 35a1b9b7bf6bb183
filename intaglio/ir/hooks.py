"""Functions of upper layers that nodes and graphs call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.ir.graph import Graph, Node
    from intaglio.opdef.op import Op


class Exporter(Protocol):
    """The interface of the layer graphdef, which writes graphs as protocol buffers."""

    def node_def(self, node: Node) -> Any:
        """One node as a NodeDef message."""
        ...

    def op_def(self, op: Op) -> Any:
        """An op's declaration as an OpDef message."""
        ...

    def graph_def(self, nodes: Sequence[Node], add_shapes: bool) -> Any:
        """Nodes as a GraphDef message."""
        ...

    def function_def(self, graph: Graph) -> Any:
        """A graph as a FunctionDef message."""
        ...

    def versions(self) -> Any:
        """The versions of the format as a VersionDef message."""
        ...

    def created(
        self,
        graph: Any,
        op_type: str,
        inputs: Sequence[Any],
        input_types: Sequence[Any] | None,
        name: str | None,
        attrs: Mapping[str, Any] | None,
    ) -> Node:
        """A new node of the graph, whose attributes are AttrValue messages."""
        ...

    def attribute(self, value: Any, kind: str) -> Any:
        """An attribute of that kind as `get_attr` returns it."""
        ...


class IrHooks(Hooks):
    """Functions of the layers for protocol buffers and sessions that nodes and graphs call."""

    # The exporter of `node_def`, `op_def` and `as_graph_def`.
    exporter: Exporter
    # `Operation.run` and `Tensor.eval`, given the node or tensor, the feeds and the session.
    run_in_session: Callable[[Any, Any, Any], Any]


HOOKS = IrHooks()
