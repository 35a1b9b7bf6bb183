"""What all optimizers of TensorFlow 1 share, eagerly, in functions and in plain graphs.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Optimizer. In a plain graph
`minimize` takes a tensor and returns the operation that a session runs. Elsewhere it takes a function of
no arguments, since eagerly nothing remembers how a loss was computed.

Subclasses say which variables they keep for each variable (`_create_slots`) and how one changes
(`_resource_apply_dense`, `_resource_apply_sparse`): programs subclass it too, so these names are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from intaglio.autodiff.gradient_tape import GradientTape
from intaglio.autodiff.graph_gradient import graph_gradients
from intaglio.base import nest
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.variable_scopes import GraphKeys, trainable_variables, variable_scope
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.state.hooks import HOOKS
from intaglio.state.tracking import Trackable
from intaglio.state.variable import Variable
from intaglio.trace import scopes


class _Writes:
    """The operations of a graph since then that change variables."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._start = len(graph.nodes)

    def found(self) -> list[Any]:
        """The operations, in order."""
        initializers = {
            v.initializer for v in self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        }
        return [
            n
            for n in self._graph.nodes[self._start :]
            if n.op.stateful and not n.op.droppable and n.inputs and n not in initializers
        ]


class Optimizer(Trackable):
    """Applies gradients to variables; subclasses say how one variable changes."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(
        self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False
    ) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name = name
        self._use_locking = use_locking
        self._own_scope = use_own_namescope_for_non_slot_vars
        # slot name -> variable -> its slot; (name, graph) -> a variable of the optimizer's own
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots: dict[tuple[str, Any], Any] = {}
        # Where checkpoints have values of slots that come later: by slot name and variable.
        self._waiting_slots: dict[str, dict[Any, list[Any]]] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    # -- the optimizer's variables -----------------------------------------------------------

    def get_slot_names(self) -> list[str]:
        """What is kept for each variable, once there are slots."""
        return sorted(self._slots)

    def get_slot(self, var: Any, name: str) -> Any:
        """What is kept for a variable under a name, or None."""
        return self._slots.get(name, {}).get(var.ref())

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> Any:
        """The slot that a checkpoint has a value of; None before there is one in a graph, where none is made."""
        found = self.get_slot(variable, slot_name)
        if found is None and scopes.executing_eagerly():
            return self._get_or_make_slot(
                variable, slot_variable_position.value(), slot_name, self._name
            )
        if found is None:
            waiting = self._waiting_slots.setdefault(slot_name, {})
            waiting.setdefault(variable.ref(), []).append(slot_variable_position)
        return found

    def variables(self) -> list[Any]:
        """The variables of the optimizer in the current graph, in the order of their names."""
        graph = _home()
        found = [v for (_, home), v in self._non_slots.items() if home is graph]
        for slots in self._slots.values():
            found += [slot for slot in slots.values() if _home(slot) is graph]
        return sorted(found, key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """The slot of a variable; a new one begins with a value."""
        slots = self._slot_dict(slot_name)
        if var.ref() not in slots:
            unique = f"{_own_name(var)}/{op_name}"
            with variable_scope(None, unique, auxiliary_name_scope=False) as scope:
                name = scope.name
            with scopes.name_scope(""):  # the name has the variable scope's name already
                slot = slots[var.ref()] = Variable(val, trainable=False, name=name)
            for position in self._waiting_slots.get(slot_name, {}).pop(var.ref(), ()):
                position.restore(slot)
        return slots[var.ref()]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        """The slot of a variable; a new one begins with what an initializer makes."""
        return self._get_or_make_slot(
            var, lambda: initializer(shape, dtype=dtype), slot_name, op_name
        )

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """The slot of a variable; a new one begins with zeros."""
        return self._filled_slot(var, 0.0, slot_name, op_name)

    def _filled_slot(self, var: Any, number: float, slot_name: str, op_name: str) -> Any:
        def value() -> Any:
            return raw.Fill(raw.Shape(var), raw.Cast(number, DstT=var.dtype))

        return self._get_or_make_slot(var, value, slot_name, op_name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer's own, one in each graph."""
        key = (name, _home())
        if key not in self._non_slots:
            own = f"{self._name}/{name}" if self._own_scope else name
            found = self._non_slots[key] = Variable(initial_value, trainable=False, name=own)
            self._handle_deferred_dependencies(name, found)
        return self._non_slots[key]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        graph = _home()
        own = {name: v for (name, home), v in self._non_slots.items() if home is graph}
        return {**dict(sorted(own.items())), **super()._trackable_children(save_type, **kwargs)}

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slots.get((name, _home() if graph is None else graph))

    # -- gradients ---------------------------------------------------------------------------

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs of a function of no arguments, or of a tensor of a graph.

        Raises RuntimeError eagerly for a loss that is a tensor: use a `tf.GradientTape` for it.
        """
        if isinstance(loss, SymbolicTensor):
            chosen = trainable_variables() if var_list is None else nest.flatten(var_list)
            if not chosen:
                raise ValueError("No variables to optimize.")
            found = graph_gradients(loss, chosen, grad_loss)
            return list(zip(found, chosen, strict=True))
        if not callable(loss):
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager "
                "execution is enabled."
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        chosen = tape.watched_variables() if var_list is None else var_list
        gradients = tape.gradient(value, chosen, grad_loss)
        return list(zip(gradients, chosen, strict=True))

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """Computes gradients and applies them. Raises ValueError if there is none."""
        pairs = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        if all(gradient is None for gradient, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support "
                f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:
        """Changes the variables; in a graph by the operation that is returned.

        Gradients of the replicas of a strategy are summed. Raises ValueError if no gradient is given.
        """
        listed = list(grads_and_vars)
        if not listed:
            raise ValueError("No variables provided.")
        pairs = [(g, v) for g, v in listed if g is not None]
        if not pairs:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in listed]}."
            )
        if not skip_gradients_aggregation:
            summed = HOOKS.sum_of_replicas([g for g, _ in pairs])
            pairs = [(g, v) for g, (_, v) in zip(summed, pairs, strict=True)]
        with scopes.init_scope():
            self._create_slots([v for _, v in pairs])
        graph: Any = getattr(door.level(), "graph", None)
        if graph is not None:
            return self._recorded(graph, pairs, global_step, name)
        self._prepare()
        self._finish([self._changed(g, v) for g, v in pairs], name or self._name)
        if global_step is not None:
            global_step.assign_add(1)
        return None

    def _recorded(self, graph: Any, pairs: Any, global_step: Any, name: str | None) -> Any:
        """The operation by which a session changes the variables."""
        with scopes.name_scope(name or self._name) as scope:
            self._prepare()
            updates = [_updated(graph, lambda g=g, v=v: self._changed(g, v)) for g, v in pairs]
            operation = self._finish(updates, scope if global_step is None else "update")
            if global_step is not None:
                with scopes.control_dependencies([operation]):
                    one = raw.Cast(1, DstT=global_step.dtype)
                    operation = _updated(
                        graph, lambda: raw.AssignAddVariableOp(global_step.handle, one, name=scope)
                    )
        if operation not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, operation)
        return operation

    def _changed(self, gradient: Any, variable: Any) -> Any:
        if isinstance(gradient, IndexedSlices):
            values = raw.Cast(gradient.values, DstT=variable.dtype)
            return self._resource_apply_sparse_duplicate_indices(values, variable, gradient.indices)
        dense = raw.Cast(convert.to_tensor(gradient), DstT=variable.dtype)
        return self._resource_apply_dense(dense, variable)

    # -- what subclasses say -------------------------------------------------------------------

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes what is kept for these variables, where it is not there yet."""

    def _prepare(self) -> None:
        """Called before the variables change."""

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """Called with the changes of all variables; returns one operation for them in a graph."""
        return grouped(update_ops, name_scope)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how a variable changes")

    def _resource_apply_sparse_duplicate_indices(self, grad: Any, handle: Any, indices: Any) -> Any:
        """Changes rows, of which some may be named twice: the gradients of one row are added."""
        rows, positions = raw.Unique(indices)
        total = raw.UnsortedSegmentSum(grad, positions, raw.Size(rows))
        return self._resource_apply_sparse(total, handle, rows)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how rows change")

    def _call_if_callable(self, param: Any) -> Any:
        """A hyperparameter, or what a function of no arguments returns."""
        return param() if callable(param) else param


def grouped(operations: list[Any], name: str) -> Any:
    """An operation of the current graph that waits for others; None eagerly."""
    graph: Any = getattr(door.level(), "graph", None)
    if graph is None:
        return None
    with scopes.control_dependencies([o for o in operations if o is not None]):
        return _updated(graph, lambda: raw.NoOp(name=name))


def _updated(graph: Any, change: Callable[[], Any]) -> Any:
    """The operation that a function adds to a graph: the last one that changes a variable, or what it returns."""
    writes = _Writes(graph)
    count = len(graph.nodes)
    returned = change()
    found = writes.found()
    if not found:
        return graph.nodes[-1] if len(graph.nodes) > count else returned
    if len(found) == 1:
        return found[0]
    with scopes.control_dependencies(found):
        raw.NoOp()
    return graph.nodes[-1]


def _home(variable: Any = None) -> Any:
    """The plain graph of a variable, or the current one; None for variables outside of graphs."""
    if variable is not None:
        return variable.handle.graph if isinstance(variable.handle, SymbolicTensor) else None
    with scopes.init_scope():
        return None if scopes.executing_eagerly() else get_default_graph()


def _own_name(variable: Any) -> str:
    return variable.name.partition(":")[0]
