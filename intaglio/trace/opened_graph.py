"""Graphs that programs open themselves: `tf.__internal__.FuncGraph(name)`.

Keras 2 opens one for each layer, to infer the layer's result. A tensor of another layer's graph becomes
an input of it. In the graph of a function, which would be called, that is an error.
"""

from __future__ import annotations

from typing import Any

from intaglio.trace.graph import FuncGraph


class _AnyFuncGraph(type):
    """`isinstance(graph, OpenedGraph)` asks for any graph of a function: programs know one class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, FuncGraph)
            if cls is OpenedGraph
            else super().__instancecheck__(instance)
        )


class OpenedGraph(FuncGraph, metaclass=_AnyFuncGraph):
    """A graph that a program opens; tensors of every graph but those inside it are its inputs.

    The other parameters are TensorFlow's; collections and signatures are not kept.
    """

    def __init__(
        self,
        name: str,
        collections: Any = None,
        capture_by_value: bool | None = None,
        structured_input_signature: Any = None,
        structured_outputs: Any = None,
    ) -> None:
        super().__init__(name)
        self.structured_outputs = structured_outputs

    def _encloses(self, tensor: Any) -> bool:
        return super()._encloses(tensor) or self.reaches(tensor)

    def reaches(self, tensor: Any) -> bool:
        """True unless the tensor's graph is inside this one."""
        graph = tensor.graph
        while isinstance(graph, FuncGraph):
            if graph is self:
                return False
            graph = graph.enclosing
        return True


OpenedGraph.__name__ = OpenedGraph.__qualname__ = "FuncGraph"
