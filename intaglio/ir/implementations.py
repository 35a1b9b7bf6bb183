"""Functions that implement one interface for different devices, and which of them a call runs.

`tf.function(f, experimental_attributes={"api_implements": name, "api_preferred_device": device})` declares
that a function implements the interface `name`, and the device that it is written for. In TensorFlow the
pass "implementation_selector" of Grappler lets a recorded call of one run the one for the device of the call
(https://www.tensorflow.org/guide/graph_optimization, "Implementation selector"): samplers of
TensorFlow Probability draw other numbers on a CPU, recurrent layers of Keras are other functions.

A graph is marked when its trace is finished (`declare`). The pass of `optimize/implementations.py` asks
`chosen` for the graph that a call runs, and so does the gradient of a call, whose forward and backward graph belong together.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.base.shapes import Dims
from intaglio.ir import walk
from intaglio.ir.graph import Graph, SymbolicTensor

# The key of a graph's `derived` for the attributes of its function.
ATTRIBUTES = "attributes of the function"
_INTERFACE = "interface that the function implements"

INTERFACE_NAME = "api_implements"
DEVICE = "api_preferred_device"
HERE = "CPU"


class Interface:
    """The functions that implement one interface; its members keep it alive."""

    __slots__ = ("__weakref__", "_kept", "_members")

    def __init__(self) -> None:
        self._members: list[weakref.ref[Graph]] = []
        self._kept: list[Graph] = []

    def add(self, graph: Graph) -> None:
        """Adds an implementation by a weak reference."""
        self._members = [*(r for r in self._members if r() is not None), weakref.ref(graph)]

    def keep(self, graph: Graph) -> None:
        """Keeps an implementation alive as long as any other of the interface."""
        if all(kept is not graph for kept in self._kept):
            self._kept.append(graph)

    @property
    def members(self) -> list[Graph]:
        """The implementations in the order in which they were traced."""
        return [g for r in self._members if (g := r()) is not None]


_interfaces: weakref.WeakValueDictionary[str, Interface] = weakref.WeakValueDictionary()
_declaring = lasting_lock()


def declare(graph: Graph, attributes: Mapping[str, Any]) -> None:
    """Gives a graph the attributes of its function, and joins the interface that they name."""
    graph.derived[ATTRIBUTES] = dict(attributes)
    name = attributes.get(INTERFACE_NAME)
    if not isinstance(name, str):
        return
    with _declaring:
        interface = _interfaces.get(name)
        if interface is None:
            interface = _interfaces[name] = Interface()
        interface.add(graph)
        graph.derived[_INTERFACE] = interface


def attributes_of(graph: Graph) -> Mapping[str, Any]:
    """The attributes of the function that a graph was traced from; none of other graphs."""
    return graph.derived.get(ATTRIBUTES, {})


def keep(graph: Graph) -> None:
    """Keeps a graph alive as long as the others of its interface: `ConcreteFunction.add_to_graph`."""
    interface = graph.derived.get(_INTERFACE)
    if interface is not None:
        interface.keep(graph)


def siblings(graph: Graph) -> list[Graph]:
    """The implementations of a graph's interface, itself included; none if it implements none."""
    interface = graph.derived.get(_INTERFACE)
    return [] if interface is None else interface.members


def chosen(graph: Graph) -> Graph:
    """The graph that a recorded call of `graph` runs: the first for the CPU whose signature fits.

    It is the graph itself if it is for the CPU, or while
    `tf.config.optimizer.set_experimental_options` switches "implementation_selector" off.
    """
    found = siblings(graph)
    if not found or _device(graph) == HERE or not _enabled():
        return graph
    fitting = (g for g in found if _device(g) == HERE and _alike(graph, g))
    return next(fitting, graph)


def has_choices(graph: Graph) -> bool:
    """Whether another function runs for a call in the graph, or in a graph below it."""
    if not _interfaces or not _enabled():
        return False
    return any(chosen(g) is not g for g in walk.nested(graph))


def _device(graph: Graph) -> Any:
    return attributes_of(graph).get(DEVICE)


def _enabled() -> bool:
    options = OPTIONS.optimizer
    return not options.get("disable_meta_optimizer") and bool(
        options.get("implementation_selector", True)
    )


def _alike(graph: Graph, other: Graph) -> bool:
    """Whether a call of one graph may become a call of the other: input and output specs agree."""
    return (
        [v.dtype for v in graph.inputs] == [v.dtype for v in other.inputs]
        and [v.dtype for v in graph.outputs] == [v.dtype for v in other.outputs]
        and all(map(shapes.is_subshape, *_dims(graph.inputs, other.inputs)))
        and all(map(shapes.compatible, *_dims(graph.outputs, other.outputs)))
    )


def _dims(
    own: Sequence[SymbolicTensor], others: Sequence[SymbolicTensor]
) -> tuple[list[Dims], ...]:
    return [v.dims for v in own], [v.dims for v in others]
