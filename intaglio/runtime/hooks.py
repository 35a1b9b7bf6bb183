"""Functions of later modules and upper layers that the runtime calls: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.ir.graph import Graph
    from intaglio.opdef.op import Op
    from intaglio.runtime.eager import EagerTensor
    from intaglio.runtime.resources import ResourceManager

Method = Callable[[Any, Any], Any]


class PerNode(Protocol):
    """A service with something of its own for every node."""

    def for_node(self, op: Op, attrs: dict[str, Any]) -> Any:
        """What the node's kernel gets, at every run of the graph."""
        ...

    def for_call(self, op: Op, types: dict[str, Any], attrs: dict[str, Any]) -> Any:
        """What an eager call's kernel gets."""
        ...


class Services(Hooks):
    """Services that kernels request by parameter name: see `intaglio.opdef.op.SERVICES`."""

    # Runs a branch, body or called graph on arrays.
    run: Callable[[Graph, Sequence[Any]], list[Any]]
    # An array as an eager tensor.
    wrap: Callable[[Any], EagerTensor]
    resources: ResourceManager
    # The state of a random op.
    stream: PerNode
    # What makes the error of a node, if it is not its op's own.
    raises: PerNode


class RuntimeHooks(Hooks):
    """The runtime's upward calls."""

    # The function of a graph that runs a second time: optimised, or compiled where that pays.
    compile_repeated: Callable[[Graph], Callable[..., tuple[Any, ...]]]
    # True for a graph that is compiled so before its first run.
    compiles_at_once: Callable[[Graph], bool]
    # Methods in machine code that replace `+ - * /`, for programs that use them often.
    native_operators: Callable[[dict[str, Method]], dict[str, Method]]
    # A tensor with a layout of a mesh, as `tf.zeros(..., layout=...)` makes it.
    copy_to_mesh: Callable[[Any, Any], Any]
    # A tensor's value in a DLPack capsule.
    dlpack_capsule: Callable[..., Any]
    # The level of ops on an accelerator, over a level whose tapes see them.
    accelerator_level: Callable[[Any, str, bool], Any]
    # A tensor with a value, on another device.
    moved: Callable[[Any, str], Any]
    # The tensor of an accelerator in an object with `__dlpack__`.
    of_dlpack: Callable[[Any], Any]
    # How many replicas of a strategy call the function of this name together.
    replicas_with: Callable[[str], int]


SERVICES = Services()
HOOKS = RuntimeHooks()
