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
    """A service with separate state for every node."""

    def for_node(self, op: Op, attrs: dict[str, Any]) -> Any:
        """The argument of the node's kernel, at every run of the graph."""
        ...

    def for_call(self, op: Op, types: dict[str, Any], attrs: dict[str, Any]) -> Any:
        """The argument of the kernel in an eager call."""
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
    # Creates the error of a node, where that is not its op's own.
    raises: PerNode


class RuntimeHooks(Hooks):
    """The runtime's upward calls."""

    # The function of a graph that runs a second time: optimised, or compiled where that pays.
    compile_repeated: Callable[[Graph], Callable[..., tuple[Any, ...]]]
    # True for a graph that is compiled in that way before its first run.
    compiles_at_once: Callable[[Graph], bool]
    # Methods in machine code that replace `+ - * /`, for programs that use them often.
    native_operators: Callable[[dict[str, Method]], dict[str, Method]]
    # Creates a tensor with a mesh layout, as in `tf.zeros(..., layout=...)`.
    copy_to_mesh: Callable[[Any, Any], Any]
    # Exports a tensor's value as a DLPack capsule.
    dlpack_capsule: Callable[..., Any]
    # Creates the level of an accelerator, over a level whose tapes watch its ops.
    accelerator_level: Callable[[Any, str, bool], Any]
    # Copies a tensor that has a value to another device.
    moved: Callable[[Any, str], Any]
    # The accelerator tensor of an object with `__dlpack__`.
    of_dlpack: Callable[[Any], Any]
    # How many replicas of a strategy call the function of this name together.
    replicas_with: Callable[[str], int]


SERVICES = Services()
HOOKS = RuntimeHooks()
