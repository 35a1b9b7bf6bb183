"""A graph under construction: names, nodes, look-up."""

from __future__ import annotations

import re
import time
from array import array
from collections.abc import Sequence
from typing import Any

from intaglio.base import origins
from intaglio.base.hooks import ShownInNotebooks
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.hooks import HOOKS
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec

_VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


_TENSOR_NAMES = 'Tensor names must be of the form "<op_name>:<output_index>".'


def is_node_name(name: str) -> bool:
    """True if a node may have the name."""
    return _VALID_NAME.match(name) is not None


class GraphBuilder(ShownInNotebooks):
    """A graph under construction: a list of nodes with unique names."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.added_at = array("q")  # nanoseconds, for each node
        self.by_name: dict[str, Node] = {}
        self._used: dict[str, int] = {}
        self._finalized = False

    def add(
        self,
        op: Op,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        name: str,
        specs: Sequence[Spec],
        *,
        control: tuple[Node, ...] = (),
        device: str = "",
        skip: int = 2,
    ) -> Node:
        """Appends a node under a unique name. Raises RuntimeError once finalized.

        An empty name is given later, by `name_node`.
        """
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        unique = self.unique_name(name) if name else ""
        node = Node(
            op,
            inputs,
            attrs,
            unique,
            specs,
            control=control,
            origin=origins.capture(skip),
            graph=self,
            device=device,
        )
        self.nodes.append(node)
        self.added_at.append(time.perf_counter_ns())
        if unique:
            self.by_name[unique] = node
        return node

    def name_node(self, node: Node, name: str) -> Node:
        """Names a node that was added without a name; returns it."""
        node.name = self.unique_name(name)
        self.by_name[node.name] = node
        return node

    def name_after(self, node: Node, name: str) -> Node:
        """Names an unnamed node, and unnamed nodes before it, after the op that takes it.

        `name` is the op's name and argument, which constants are called: `mul/y`. Others
        have their own type instead of the argument: `mul/ReadVariableOp`.
        """
        if node.op is raw.Placeholder:  # a captured value
            node.attrs.setdefault("_user_specified_name", name.rpartition("/")[2])
        if node.inputs:
            scope = name.rpartition("/")[0]
            name = f"{scope}/{node.op.name}" if scope else node.op.name
            self._name_inputs(node, name)
        return self.name_node(node, name)

    def name_by_op(self, node: Node) -> Node:
        """Names an unnamed node after its own type."""
        self._name_inputs(node, node.op.name)
        return self.name_node(node, node.op.name)

    def _name_inputs(self, node: Node, name: str) -> None:
        for argument, value in zip(node.op.input_names, node.inputs, strict=False):
            if not value.node.name:
                self.name_after(value.node, f"{name}/{argument}")

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken (names differ by more than case).

        A scope's own name with its slash (`"loss/"`) is for the one op that ends the scope.
        """
        if name.endswith("/"):
            name = name[:-1]
            if name not in self.by_name:
                return name
        key = name.lower()
        count = self._used.get(key, 0)
        # A name that is taken was valid; case makes no difference.
        if not count and not _VALID_NAME.match(name):
            raise ValueError(
                f"'{name}' is not a valid scope name"
                if "/" in name
                else f"'{name}' is not a valid node name"
            )
        if mark_as_used:
            self._used[key] = count + 1
        if not count:
            return name
        while True:
            candidate = f"{name}_{count}"
            if candidate.lower() not in self._used:
                break
            count += 1
        if mark_as_used:
            self._used[candidate.lower()] = 1
        return candidate

    def finalize(self) -> None:
        """No node can be added from now on."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        """Undoes `finalize`, for a caller that finalized the graph itself and has not relied on that."""
        self._finalized = False

    @property
    def finalized(self) -> bool:
        """True after `finalize`."""
        return self._finalized

    @property
    def version(self) -> int:
        """A number that grows with every node."""
        return len(self.nodes)

    def get_operations(self) -> list[Node]:
        """All operations, in the order of their creation."""
        return [n if n.name else self.name_by_op(n) for n in self.nodes]

    @property
    def operations(self) -> list[Node]:
        """All operations, in the order of their creation: `get_operations()`."""
        return self.get_operations()

    def num_operations(self) -> int:
        """How many operations there are."""
        return len(self.nodes)

    def get_operation_by_name(self, name: str) -> Node:
        """The operation of that name.

        Raises KeyError if there is none, ValueError for a tensor's, TypeError for no string.
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)  # type: ignore[return-value]  # so it is a node

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor `"node:index"`.

        Raises KeyError if there is none, ValueError for an operation's, TypeError for no string.
        """
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)  # type: ignore[return-value]  # so it is a value

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Node | SymbolicTensor:
        """The operation or tensor of a name, or the object itself if it is of this graph.

        Raises KeyError for unknown names, ValueError for elements of other graphs and for
        names of the other kind, TypeError for what is neither.
        """
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self._tensor_named(obj)
            return self._operation_named(obj, allow_operation)
        if allow_tensor and isinstance(obj, SymbolicTensor):
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj!r} is not an element of this graph.")
            return obj
        if allow_operation and isinstance(obj, Node):
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        wanted = ["Tensor"] * allow_tensor + ["Operation"] * allow_operation
        kind = "Operation" if isinstance(obj, Node) else type(obj).__name__
        raise TypeError(f"Can not convert a {kind} into a {' or '.join(wanted)}.")

    def _tensor_named(self, name: str) -> SymbolicTensor:
        label, _, index = name.rpartition(":")
        if ":" in label or not index.isdecimal():
            raise ValueError(
                f"The name {name!r} looks a like a Tensor name, but is not a valid one. {_TENSOR_NAMES}"
            )
        self.get_operations()
        if label not in self.by_name:
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. "
                f"The operation, {label!r}, does not exist in the graph."
            )
        outputs = self.by_name[label].outputs
        # Compared as text first: Python refuses to read very long numbers.
        if len(index) > 9 or int(index) >= len(outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. "
                f"The operation, {label!r}, exists but only has {len(outputs)} outputs."
            )
        return outputs[int(index)]

    def _operation_named(self, name: str, allowed: bool) -> Node:
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        self.get_operations()
        found = self.by_name.get(name)
        if not allowed:
            raise ValueError(
                f"The name {name!r} refers to an Operation, not a Tensor. {_TENSOR_NAMES}"
                if found
                else f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. {_TENSOR_NAMES}"
            )
        if found is None:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return found

    @property
    def graph_def_versions(self) -> Any:
        """The versions of the GraphDef format, as a VersionDef message."""
        return HOOKS.exporter.versions()

    def as_graph_def(
        self,
        from_version: int | None = None,
        add_shapes: bool = False,
        use_pybind11_proto: bool = False,
    ) -> Any:
        """The graph as a GraphDef message, TensorFlow's in names, numbers and text.

        Args:
          from_version: only the nodes added since `version` was this number.
          add_shapes: writes each node's output shapes as the attribute `_output_shapes`.
          use_pybind11_proto: accepted and ignored.
        """
        nodes = self.get_operations()[from_version or 0 :]
        return HOOKS.exporter.graph_def(nodes, add_shapes)

    def freeze(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]
    ) -> Graph:
        """What has been built so far as an immutable graph."""
        return Graph(name, inputs, self.nodes, outputs)
