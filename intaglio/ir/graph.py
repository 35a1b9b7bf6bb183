"""Nodes, their values and the immutable graph: the result of tracing and the input of every pass."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.base import origins
from intaglio.base.dtypes import DType
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Origin
from intaglio.base.shapes import Dims, TensorShape, as_dims, merge, mismatch, text
from intaglio.ir.hooks import HOOKS
from intaglio.ir.leaks import without_value
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor


class Node:
    """One op in a graph. `tf.Operation`.

    `inputs` are values of earlier nodes (flat; `op.sig.group` gives them by name), `attrs`
    the attributes, `control` nodes that must have run before, `origin` where the user wrote it.
    In a rewritten graph `source` is the traced node that this one was derived from; `kept` is the state
    that the runtime keeps for a traced node between runs, unset before the first.
    """

    # Libraries keep notes of their own on operations: Keras 2 marks updates.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_device",
        "attrs",
        "control",
        "graph",
        "inputs",
        "kept",
        "name",
        "op",
        "origin",
        "outputs",
        "source",
    )

    # An attribute of TensorFlow's operations: the operation that this one is the gradient of.
    _original_op = None

    def __init__(
        self,
        op: Op,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        name: str,
        specs: Sequence[Spec],
        *,
        control: tuple[Node, ...] = (),
        origin: Origin = (),
        graph: Any = None,
        device: str = "",
        source: Node | None = None,
    ) -> None:
        self.kept: Any
        self.op = op
        self.inputs: tuple[SymbolicTensor, ...] = tuple(inputs)
        self.attrs = attrs
        self.name = name
        self.control = control
        self.origin = origin
        self.graph = graph
        self._device = device
        self.source = source
        # Most nodes have one output, and there are many nodes.
        self.outputs: tuple[SymbolicTensor, ...] = (
            (SymbolicTensor(self, 0, specs[0]),)
            if len(specs) == 1
            else tuple([SymbolicTensor(self, i, s) for i, s in enumerate(specs)])
        )

    @property
    def type(self) -> str:
        """The op type: `"MatMul"`."""
        return self.op.name

    @property
    def device(self) -> str:
        """The requested device, or an empty string."""
        return self._device

    @property
    def control_inputs(self) -> list[Node]:
        """The nodes that must have run before this one."""
        return list(self.control)

    @property
    def _control_outputs(self) -> tuple[Node, ...]:
        """The nodes of its graph that must run after this one, which Keras 2 adds to `outputs`."""
        graph = self.graph
        return () if graph is None else tuple([n for n in graph.nodes if self in n.control])

    def _get_control_flow_context(self) -> None:
        """None: no node is inside a loop or branch of TensorFlow 1. Keras 2 asks."""

    def _control_flow_post_processing(self, input_tensors: Any = None) -> None:
        """Nothing remains to be done for a node inside a loop or branch. Keras 2 asks for it."""

    @property
    def traced_name(self) -> str:
        """The name under which the node was traced, also after rewrites."""
        return self.source.name if self.source is not None else self.name

    @property
    def frames(self) -> list[origins.Frame]:
        """The user's frames that created the node, innermost first."""
        return origins.frames(self.origin)

    @property
    def frame(self) -> origins.Frame | None:
        """The innermost of `frames`, the user's line that created the node; None if there is none."""
        found = origins.frames(self.origin[:1])
        return found[0] if found else None

    @property
    def node_def(self) -> Any:
        """The node as a NodeDef message."""
        return HOOKS.exporter.node_def(self)

    @property
    def op_def(self) -> Any:
        """The declaration of the node's op as an OpDef message."""
        return HOOKS.exporter.op_def(self.op)

    @property
    def traceback(self) -> Any:
        """The user's stack where the node was created, outermost first."""
        return traceback.StackSummary.from_list(
            [(f.filename, f.lineno, f.function, f.source) for f in reversed(self.frames)]
        )

    def values(self) -> tuple[SymbolicTensor, ...]:
        """The outputs."""
        return self.outputs

    def get_attr(self, name: str) -> Any:
        """An attribute as TensorFlow returns it: bytes for strings, DTypes for types, lists
        for lists, messages for tensors, shapes and functions.

        Raises ValueError if there is none of that name.
        """
        if name == "_class" and name in self.attrs:
            return self.colocation_groups()
        for attr in self.op.sig.attrs:
            if name == self.op.graphdef_names.get(attr.name, attr.name):
                value = self.attrs.get(attr.name, attr.default)
                return HOOKS.exporter.attribute(value, attr.kind)
        types = self.op.types_of(self.inputs, self.attrs)
        found = types.get(name, self.attrs.get(name))
        if found is None:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        if isinstance(found, str):
            return found.encode()
        return list(found) if isinstance(found, tuple) else found

    def colocation_groups(self) -> list[bytes]:
        """The colocation constraints, `loc:@name` each: the node's own name by default."""
        groups = self.attrs.get("_class")
        return [g.encode() for g in groups or (f"loc:@{self.name}",)]

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Runs the operation in a session, the default one if None.

        Raises ValueError if there is no default session.
        """
        HOOKS.run_in_session(self, feed_dict, session)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.op.name}>"

    def __str__(self) -> str:
        try:
            return str(self.node_def)
        except (RuntimeError, ValueError):  # an attribute has no text form
            return repr(self)


class SymbolicTensor(Tensor):
    """A value of a graph: output `index` of `node`. It has a spec and no data."""

    # Libraries keep notes of their own on tensors: Keras masks and logits. Slices of
    # variables have `assign`.
    __slots__ = ("__dict__", "__weakref__", "_key", "index", "node", "spec")

    def __init__(self, node: Node, index: int, spec: Spec) -> None:
        self.node = node
        self.index = index
        self.spec = spec

    @property
    def dtype(self) -> DType:
        return self.spec.dtype

    @property
    def dims(self) -> Dims:
        return self.spec.shape

    @property
    def numpy(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # eager tensors have it
        """Raises AttributeError, as for an unknown attribute, with a note why there is no value."""
        error = AttributeError(f"{type(self).__name__!r} object has no attribute 'numpy'")
        error.add_note(without_value(self))
        raise error

    @property
    def op(self) -> Node:
        """The `tf.Operation` that makes this tensor."""
        return self.node

    @property
    def graph(self) -> Any:
        """The graph that the tensor belongs to."""
        return self.node.graph

    @property
    def name(self) -> str:
        """`"add:0"`."""
        node = self.node
        if not node.name:  # a constant that no op has taken yet
            node.graph.name_by_op(node)
        return f"{node.name}:{self.index}"

    @property
    def value_index(self) -> int:
        """Which output of its operation this is."""
        return self.index

    @property
    def device(self) -> str:
        """The requested device, or an empty string."""
        return self.node.device

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value in a session, the default one if None: an array, or a NumPy scalar.

        Raises ValueError if there is no default session.
        """
        return HOOKS.run_in_session(self, feed_dict, session)

    def __hash__(self) -> int:
        graph = self.node.graph
        if graph is None or graph.building_function:
            return super().__hash__()
        return id(self)  # tensors of plain graphs compare by identity and are keys of feeds

    def consumers(self) -> list[Node]:
        """The operations that take this tensor."""
        return [n for n in self.node.graph.get_operations() if self.node_among(n)]

    def node_among(self, node: Node) -> bool:
        """True if `node` takes this tensor."""
        return any(v is self for v in node.inputs)

    def set_shape(self, shape: Any) -> None:
        """Refines the static shape. Raises ValueError if it is incompatible."""
        wanted = as_dims(shape)
        try:
            merged = merge(self.spec.shape, wanted)
        except ValueError:
            raise ValueError(mismatch(self.spec.shape, wanted)) from None
        if merged != self.spec.shape:
            self.spec = self.spec.like(shape=merged)

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.spec.shape)

    # Tensors compare element by element and have no hash: tables of values use id().
    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={text(self.dims)} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={text(self.dims)}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'


class Graph(ShownInNotebooks):
    """An immutable graph: inputs, nodes in the order they run, outputs.

    `nodes` hold the Placeholders of `inputs` first. Stateful nodes keep their order.
    """

    __slots__ = (
        "__weakref__",
        "compiled",
        "derived",
        "inputs",
        "name",
        "nodes",
        "optimized_run",
        "outputs",
    )

    # Whether passes must not look into a call of it, as its nodes are no description of its effect.
    opaque = False

    def __init__(
        self,
        name: str,
        inputs: Sequence[SymbolicTensor],
        nodes: Sequence[Node],
        outputs: Sequence[SymbolicTensor],
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.nodes = tuple(nodes)
        self.outputs = tuple(outputs)
        self.compiled: Any = None  # the interpreter's function, built on the first run
        self.optimized_run: Any = None  # the optimised graph's, built on the second run
        self.derived: dict[Any, Any] = {}  # results that other layers cache here, by their keys

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<Graph {self.name}: {len(self.nodes)} nodes>"

    @property
    def input_specs(self) -> list[Spec]:
        """The specs of the inputs."""
        return [v.spec for v in self.inputs]

    @property
    def output_specs(self) -> list[Spec]:
        """The specs of the outputs."""
        return [v.spec for v in self.outputs]

    @property
    def stateful(self) -> bool:
        """True if a node has effects or reads state."""
        return any(n.op.stateful for n in self.nodes)
