"""`tf.Graph`, and `FuncGraph`, the graph of a function: the graphs under construction of a recorder.

Follows https://www.tensorflow.org/api_docs/python/tf/Graph.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import nest
from intaglio.base.composite import ActsAsTensor, CompositeTensor
from intaglio.base.dtypes import DType, from_numpy
from intaglio.base.shapes import Dims
from intaglio.ir import walk
from intaglio.ir.builder import GraphBuilder
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.ir.hooks import HOOKS
from intaglio.ir.leaks import leaked
from intaglio.opdef import door, keys, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.trace.effects import Effects
from intaglio.trace.recorder import Recorder
from intaglio.trace.variable_creation import CREATORS

# Eager tensors of at most this many elements become constants of the graph that uses them.
MAX_CAPTURED_CONSTANT_ELEMENTS = 128


class _Called(NamedTuple):
    """A function that a graph calls, with its FunctionDef message."""

    definition: Any


class Graph(GraphBuilder):
    """A graph that ops are recorded into. `tf.Graph`.

    >>> with tf.Graph().as_default() as graph:
    ...     total = tf.constant(1) + 2
    >>> [op.type for op in graph.get_operations()]
    ['Const', 'Const', 'AddV2']
    """

    building_function = False
    # Called for every new node: notes the Python state that the code on the stack reads.
    observe_code: Callable[[Node], None] | None = None
    _unfeedable: frozenset[int] = frozenset()
    _unfetchable: frozenset[int] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.seed: int | None = None
        self._collections: dict[Any, list[Any]] = {}
        self._effects = Effects()
        self._recorder = Recorder(self)
        # Optimizers of TensorFlow 1 keep what belongs to a graph under this text, which no other graph has.
        self._graph_key = f"graph-key-{keys.fresh()}/"

    def as_default(self) -> AbstractContextManager[Graph]:
        """Ops of the block are recorded into this graph."""
        return door.pushed(self._recorder, self)

    @property
    def _functions(self) -> dict[str, _Called]:
        """The functions that the graph calls, by name, as tools look them up."""
        return {f.signature.name: _Called(f) for f in self.as_graph_def().library.function}

    # -- feeding and fetching ---------------------------------------------------------

    def prevent_feeding(self, tensor: Any) -> None:
        """Marks a tensor as one whose value cannot be given from outside."""
        self._unfeedable |= {id(tensor)}

    def is_feedable(self, tensor: Any) -> bool:
        """True unless `prevent_feeding` was called with the tensor."""
        return id(tensor) not in self._unfeedable

    def prevent_fetching(self, op: Any) -> None:
        """Marks an operation as unfetchable."""
        self._unfetchable |= {id(op)}

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """True for tensors and operations that can be fetched."""
        node = getattr(tensor_or_op, "node", tensor_or_op)
        return id(node) not in self._unfetchable

    # -- collections ------------------------------------------------------------------

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of the collections that have values; those of TensorFlow's own bookkeeping are no texts."""
        return [k for k, values in self._collections.items() if values and isinstance(k, str)]

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """The values of a collection; with a scope, those whose name matches it."""
        found = self._collections.get(name, [])
        if scope is None:
            return list(found)
        matches = re.compile(scope).match
        return [v for v in found if hasattr(v, "name") and matches(v.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself, as a list that the caller may change."""
        return self._collections.setdefault(name, [])

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Adds a value to a collection."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Adds a value to several collections, to each once."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def clear_collection(self, name: Any) -> None:
        """Removes all values of a collection."""
        self._collections.pop(name, None)

    # -- scopes -----------------------------------------------------------------------

    def get_name_scope(self) -> str:
        """The current name scope, without its last slash."""
        return self._recorder.scope.rstrip("/")

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """Operations of the block are colocated with `op`; see `colocation_groups`.

        Raises TypeError for what is neither a tensor nor an operation.
        """
        if op is None:
            return self._recorder.beside((), ignore_existing)
        node = op if isinstance(op, Node) else getattr(op, "op", None)
        if not isinstance(node, Node):
            raise TypeError(
                f"Argument `op` must be an Operation or a Tensor, not {type(op).__name__}."
            )
        groups = tuple(group.decode() for group in node.colocation_groups())
        return self._recorder.beside(groups, ignore_existing)

    def name_scope(self, name: str | None) -> Any:
        """Names of the block's operations begin with `name/`."""
        return self._recorder.scoped(name)

    @contextmanager
    def container(self, container_name: str) -> Generator[str]:
        """Resources of the block belong to a container. There is one process and no container."""
        yield container_name

    def switch_to_thread_local(self) -> None:
        """Gives every thread scopes of its own; scopes are always per thread here."""

    def op_def_for_type(self, type: str) -> Any:
        """The declaration of an op type as an OpDef message. Raises KeyError if there is none."""
        op = raw.find(type)
        if op is None:
            raise KeyError(f"Op type not registered '{type}'")
        return HOOKS.exporter.op_def(op)

    def control_dependencies(self, control_inputs: Any) -> Any:
        """Operations of the block run after `control_inputs`."""
        return self._recorder.after(as_operations(self, control_inputs))

    def device(self, name: Any) -> Any:
        """Operations of the block carry this device."""
        return self._recorder.on(None if name is None else str(name))

    # Loops and branches are functions, as in TensorFlow 2: there is no context of older ones.
    _control_flow_context = None

    def _get_control_flow_context(self) -> None:
        """None: loops and branches are ops with graphs of their own. Keras 2 asks."""

    def _set_control_flow_context(self, ctx: None) -> None:
        """Sets what `_get_control_flow_context` has returned."""

    def _apply_device_functions(self, operation: Any) -> None:
        """Tells an operation the device of the block: Keras 2 asks with an object of its own."""
        if self._recorder.device:
            operation._set_device_from_string(self._recorder.device)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Any:
        """Operations of the block get gradients registered by `tf.RegisterGradient`.

        Raises TypeError unless `op_type_map` maps op types to names.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError("`op_type_map` must be a dictionary mapping strings to strings")
        if not all(isinstance(s, str) for pair in op_type_map.items() for s in pair):
            raise TypeError("`op_type_map` must be a dictionary mapping strings to strings")
        return self._recorder.overriding(op_type_map)

    # -- recording --------------------------------------------------------------------

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Any],
        dtypes: Any = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Node:
        """A new operation of this type. Like `raw_ops`, but inputs are not converted.

        Args:
          op_type: the name of the op.
          inputs: the tensors, those of lists one by one.
          dtypes: accepted and ignored: the op determines its outputs.
          input_types: the types that the inputs must have.
          name: the name; the op's own if None. `"x/"` is a full name, outside of all scopes.
          attrs: AttrValue messages by name. Those without a default are needed.
          op_def: accepted and ignored: the op is the one declared under `op_type`.
          compute_shapes: accepted and ignored: shapes are always computed.
          compute_device: False for a node without the current device.

        Raises:
          TypeError: an input is no tensor or of another type, an attribute no message.
          ValueError: an attribute is missing or does not fit.
          RuntimeError: there is no such op, or the graph is finalized.

        >>> with tf.Graph().as_default() as graph:
        ...     x = tf.constant([1.0, 2.0])
        >>> graph.create_op("AddV2", [x, x], name="twice").outputs
        (<tf.Tensor 'twice:0' shape=(2,) dtype=float32>,)
        """
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        with self._recorder.on(None if not compute_device else self._recorder.device):
            return HOOKS.exporter.created(self, op_type, inputs, input_types, name, attrs)

    @property
    def _variable_creator_stack(self) -> list[tuple[int, Callable[..., Any]]]:
        """The active creators of variables, which are the thread's: Keras 2 asks whether there are any."""
        return list(enumerate(CREATORS.stack))

    @_variable_creator_stack.setter
    def _variable_creator_stack(self, stack: list[tuple[int, Callable[..., Any]]]) -> None:
        CREATORS.stack[:] = [creator for _, creator in stack]

    def _create_op_from_tf_operation(self, c_op: Node, compute_device: bool = True) -> Node:
        """The operation itself: a node is the same for Python and for what executes it."""
        return c_op

    def spec_of_constant(self, array: Any) -> Spec:
        """The spec of an array as a constant."""
        return Spec(from_numpy(array.dtype), array.shape, array)

    def capture(self, tensor: Tensor, name: str | None = None) -> SymbolicTensor:
        """An outer tensor as a value of this graph. Raises ValueError: plain graphs capture nothing."""
        if isinstance(tensor, EagerTensor):
            argument = (name or "x").rpartition("/")[2]
            raise RuntimeError(
                f"{argument}: Attempting to capture an EagerTensor without building a function. "
                "A graph that is no function's has no inputs of its own: make the value inside the graph."
            )
        raise ValueError(
            f"Tensor {tensor!r} must be from the same graph as {self!r}, not from {tensor.graph!r}."
        )

    def note_effects(self, node: Node) -> None:
        """Called for every stateful node recorded."""

    def placeholder(
        self,
        dtype: DType,
        shape: Dims,
        name: str,
        content: Any = None,
        user_name: str | None = None,
    ) -> SymbolicTensor:
        """An input of the graph."""
        attrs: dict[str, Any] = {"dtype": dtype, "shape": shape}
        if user_name is not None:
            attrs["_user_specified_name"] = user_name
        spec = Spec(dtype, shape, content)
        return self.add(raw.Placeholder, (), attrs, name, [spec], skip=2).outputs[0]


class FuncGraph(Graph):
    """The graph of a traced function: a graph with inputs, captures and outputs."""

    building_function = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        self.captured: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.variable_refs: dict[int, Any] = {}
        # Called when the function creates a variable; set while it is traced.
        self.admit_variable: Callable[[Any], None] | None = None
        # Creates variables once for each line, under `variables("once_per_site")`; else None.
        self.variable_sites: Callable[[Callable[[], Any]], Any] | None = None
        # The argument values of the tracing call, for initial values that depend on them.
        self.example: dict[int, Any] = {}
        self.enclosing: Any = getattr(door.level(), "graph", None)
        self.observe_code = getattr(self.enclosing, "observe_code", None)
        # Whether it is part of a function with `jit_compile=True`, which XLA compiles in TensorFlow.
        self.compiled_whole: bool = getattr(self.enclosing, "compiled_whole", False)
        # The attributes of Python objects that are declared as state, and that the trace uses.
        self.declared: tuple[Any, ...] = ()

    @property
    def outer_graph(self) -> Graph:
        """The graph around this one; an empty one where that is traced by eager code.

        Libraries walk up by it until a graph has no such attribute, as the outermost has in TensorFlow.
        """
        return Graph() if self.enclosing is None else self.enclosing

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def capture(self, tensor: Tensor, name: str | None = None) -> SymbolicTensor:
        """An outer tensor as an input of this graph; small eager ones become constants.

        Raises InaccessibleTensorError or TypeError for a tensor of a graph that is finished.
        """
        found = self.captured.get(id(tensor))
        if found is not None:
            return found[1]
        if isinstance(tensor, EagerTensor):
            if type(tensor) is EagerTensor and _is_small_constant(tensor._array):
                value: Any = Recorder(self).constant(tensor._array, name and f"{name}/")
                self.captured[id(tensor)] = (tensor, value)
                return value
        elif not self._encloses(tensor):
            raise leaked(tensor, self)
        return self._as_input(tensor, name)

    def _as_input(self, tensor: Tensor, name: str | None) -> SymbolicTensor:
        symbolic = isinstance(tensor, SymbolicTensor)
        argument = name.rpartition("/")[2] if name else None
        value = self.placeholder(tensor.dtype, tensor.dims, name or "", user_name=argument)
        if symbolic:
            value.spec = tensor.spec
        else:
            content = getattr(tensor._array, "spec", None)
            if content is not None and not _is_array(tensor._array):
                value.spec = Spec(tensor.dtype, tensor.dims, content)
        self.captured[id(tensor)] = (tensor, value)
        self.inputs.append(value)
        return value

    def drop_read(self, variable: Any, value: SymbolicTensor) -> None:
        """Removes the variable read that produced `value`, which nothing uses.

        The capture is removed too, if nothing else uses the variable.
        """
        dropped = {id(value.node), *[id(i.node) for i in value.node.inputs]}
        self.nodes[:] = [n for n in self.nodes if id(n) not in dropped]
        _, handle = self.captured[id(variable.handle)]
        if any(i is handle for n in self.nodes for i in n.inputs):
            return
        del self.captured[id(variable.handle)]
        self.nodes[:] = [n for n in self.nodes if n is not handle.node]
        self.inputs[:] = [i for i in self.inputs if i is not handle]
        self.variable_refs.pop(id(variable), None)

    @property
    def captures(self) -> list[tuple[Tensor, SymbolicTensor]]:
        """The (outer tensor, input) pairs of the captures, in order."""
        return [pair for pair in self.captured.values() if pair[1].node.op is raw.Placeholder]

    @property
    def external_captures(self) -> list[Tensor]:
        """The outer tensors that calls must pass along."""
        return [outer for outer, _ in self.captures]

    @property
    def internal_captures(self) -> list[SymbolicTensor]:
        """The inputs that are captures of outer tensors."""
        return [inner for _, inner in self.captures]

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses, as long as they live."""
        return tuple([v for ref in self.variable_refs.values() if (v := ref()) is not None])

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable among `variables`."""
        return tuple([v for v in self.variables if v.trainable])

    def watch_variable(self, variable: Any) -> None:
        """Notes that the function uses the variable."""
        known = self.variable_refs.get(id(variable))
        if known is None or known() is not variable:  # a collected variable had the same id
            self.variable_refs[id(variable)] = weakref.ref(variable)

    def note_effects(self, node: Node) -> None:
        self._effects.note(node)

    def _encloses(self, tensor: Any) -> bool:
        """True if a graph that is being recorded outside this one right now has the tensor."""
        graphs = [getattr(lv, "graph", None) for lv in door.stack().levels]
        if any(graph is tensor.graph for graph in graphs):
            return True
        return any(g.reaches(tensor) for g in graphs if isinstance(g, FuncGraph) and g is not self)

    def reaches(self, tensor: Any) -> bool:
        """True if a tensor of a finished graph can be captured nevertheless."""
        return False

    def freeze_function(self) -> FrozenGraph:
        """The finished graph, without nodes that neither outputs nor effects need."""
        self.get_operations()
        nodes = walk.live_nodes(self.nodes, self.outputs)
        kept = {id(n) for n in nodes}
        # A variable that is several arguments is one placeholder.
        unused = {id(v.node): v.node for v in self.inputs if id(v.node) not in kept}
        return FrozenGraph(self.name, self.inputs, [*unused.values(), *nodes], self.outputs)


def _is_small_constant(value: Any) -> bool:
    """True for a small tensor that a graph keeps as a constant: its dtype excludes watching by a tape."""
    return (
        _is_array(value)
        and value.size <= MAX_CAPTURED_CONSTANT_ELEMENTS
        and value.dtype.kind in "biuOSU"
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def as_operations(graph: Graph, control_inputs: Any) -> list[Node] | None:
    """Tensors and operations as the operations of `graph` to wait for.

    A function waits for those among the components of any structure, and for nothing else: what
    is eager is there already. Raises TypeError for None, and outside functions for what is
    neither tensor nor operation.
    """
    if control_inputs is None:
        return None
    if isinstance(control_inputs, (Node, Tensor, CompositeTensor, ActsAsTensor)):
        control_inputs = [control_inputs]
    if not isinstance(control_inputs, (list, tuple, Mapping)):
        control_inputs = list(control_inputs)  # a generator, a set
    if isinstance(graph, FuncGraph):
        control_inputs = nest.flatten(control_inputs, expand_composites=True)
    found: list[Node] = []
    for item in control_inputs:
        if isinstance(item, EagerTensor):
            continue
        node = item if isinstance(item, Node) else getattr(item, "op", None)
        if isinstance(node, Node):
            if node.graph is graph:
                found.append(node)
        elif item is None or not isinstance(graph, FuncGraph):
            kind = type(item).__name__
            raise TypeError(f"Can not convert a {kind} into a Tensor or Operation.")
    return found


def record(
    function: Callable[..., Any], name: str, specs: Sequence[tuple[DType, Dims, str]]
) -> tuple[FuncGraph, Any]:
    """Records `function` called with one placeholder for each (dtype, shape, name)."""
    graph = FuncGraph(name)
    with graph.as_default():
        arguments = [graph.placeholder(dtype, shape, label) for dtype, shape, label in specs]
        graph.inputs.extend(arguments)
        result = function(*arguments)
    return graph, result
