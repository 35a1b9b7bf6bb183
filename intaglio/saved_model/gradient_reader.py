"""Custom gradients of a saved model: functions of its library, by the names that nodes have for them.

A model saved with `tf.saved_model.SaveOptions(experimental_custom_gradients=True)` has a function
for each `tf.custom_gradient`. It takes the gradients of all outputs of the node, and captures
variables, constants and tensors of the function in which the node is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from intaglio.autodiff import registered
from intaglio.base import nest
from intaglio.base.errors import UnsupportedFileError
from intaglio.graphdef import structured
from intaglio.graphdef.declarations import MalformedError
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.state.variable import Variable


class GradientReader:
    """Finds the gradient functions of one model.

    `graph` reads a function, `captured` an object by its number, `refuse_python` raises for a
    function that would run Python code.
    """

    def __init__(
        self,
        meta_graph: Any,
        graph: Callable[[str], Graph],
        captured: Callable[[int], Any],
        refuse_python: Callable[[str], None],
    ) -> None:
        pairs = meta_graph.graph_def.library.registered_gradients
        self.functions = {p.registered_op_type: p.gradient_func for p in pairs}
        self.saved = meta_graph.object_graph_def.concrete_functions
        self.nodes = meta_graph.object_graph_def.nodes
        self.graph = graph
        self.captured = captured
        self.refuse_python = refuse_python

    def named(self, name: str) -> str:
        """The name of a gradient function, which carries the function if the model has it."""
        function = self.functions.get(name)
        if function is None or function not in self.saved:
            return name
        return registered.named(name, functools.partial(self._gradients, function))

    def _gradients(self, name: str, op: Any, *gradients: Any) -> list[Any]:
        self.refuse_python(name)
        saved, graph = self.saved[name], self.graph(name)
        arguments = [*gradients, *[self._capture(i, op) for i in saved.bound_inputs]]
        wanted = [v.dtype for v in graph.inputs]
        if wanted != [a.dtype for a in arguments]:
            raise MalformedError(f"the gradient function '{name}' takes other arguments")
        results = raw.StatefulPartitionedCall(
            arguments, f=graph, Tout=[v.dtype for v in graph.outputs]
        )
        form = nest.flatten(structured.decode(saved.output_signature))
        if sum(spec is not None for spec in form) != len(graph.outputs):
            raise MalformedError(f"the gradient function '{name}' returns other results")
        remaining = iter(results)
        return [None if spec is None else next(remaining) for spec in form]

    def _capture(self, number: int, op: Any) -> Tensor:
        if not 0 <= number < len(self.nodes):
            raise MalformedError(f"there is no object {number}")
        node = self.nodes[number]
        if node.WhichOneof("kind") != "captured_tensor":
            found = self.captured(number)
            return found.handle if isinstance(found, Variable) else found
        name = node.captured_tensor.name
        try:
            return op.graph.get_tensor_by_name(name)
        except (AttributeError, KeyError, ValueError):
            raise UnsupportedFileError(
                f"a custom gradient of the SavedModel needs '{name[:80]}', which is not in the "
                "function that it belongs to"
            ) from None
