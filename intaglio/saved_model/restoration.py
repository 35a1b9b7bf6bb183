"""Restoring: values of a bundle into live objects, now and when objects come later.

The objects of a checkpoint are matched with live ones from the root on, by the names of attributes and
elements. Where the live objects end, a restoration waits: attributes are matched when they are set, and
elements of lists and dicts before a variable created since is used (`state/deferred.py`). It is held by
the objects that it waits for, and refers to them weakly: freed with them, it reports the values
for which no object came.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics" and "Delayed
restorations".
"""

from __future__ import annotations

import weakref
from typing import Any

from intaglio.base import errors, log, shapes
from intaglio.base.dtypes import DType
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.graphdef.saved_messages import TrackableObjectGraph
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names, object_graph
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.object_graph import Children, is_trackable
from intaglio.saved_model.slots import SlotPosition, has_slots
from intaglio.state import deferred
from intaglio.state.tracking import AutoTrackable, Trackable, TrackedStructure, when_set
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope

_UNRESTORED = (
    "Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored values. See the "
    "following logs for the specific values in question. To silence these warnings, use `status.expect_partial()`. See "
    "https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restorefor details about the status object "
    "returned by the restore function."
)


class Restoration:
    """One reading of a checkpoint: which of its objects have been matched, and what is still awaited.

    `find` returns the children of an object; the root's checkpoint gives it more than its own.
    Raises NotFoundError if there is no checkpoint, DataLossError for damaged files, and what assigning
    raises for values that do not fit.
    """

    def __init__(self, prefix: str, root: Any, find: Children) -> None:
        self.partial = True  # until the values have been looked at, none is reported
        self.bundle = Bundle(prefix)
        data = self.bundle.array(names.OBJECT_GRAPH_KEY)
        self.nodes = parsed(TrackableObjectGraph, data.item(), prefix).nodes
        self._check()
        # Bound methods of the checkpoint, which refers to the root.
        owner = getattr(find, "__self__", None)
        self._finder: Any = find if owner is None else weakref.WeakMethod(find)  # type: ignore[arg-type]  # a method, which has an owner
        self._bound = owner is not None
        self.matched: set[int] = set()
        # The slots in the checkpoint: (node of the optimizer, reference), by the nodes of optimizers and of
        # the variables that they are kept for; and what objects these nodes are.
        self.slots_by_node: dict[int, list[tuple[int, Any]]] = {}
        for owner, node in enumerate(self.nodes):
            for slot in node.slot_variables:
                for key in (owner, slot.original_variable_node_id):
                    self.slots_by_node.setdefault(key, []).append((owner, slot))
        self._placed: dict[int, Any] = {}
        # Variables of plain graphs, whose values are in sessions: they get them from `run`, or as they are
        # found where a session is known.
        self.of_sessions: list[tuple[Variable, Any]] = []
        self.session: Any = None
        self._restored: dict[int, Any] = {}  # weak references by the id of what they refer to
        # Lists, dicts and others that do not notify when they grow, by node.
        self._growing: dict[int, Any] = {}
        self.partial = False
        self._match(root, 0)
        self._wait(root)

    def _check(self) -> None:
        for number, node in enumerate(self.nodes):
            for child in node.children:
                if not 0 <= child.node_id < len(self.nodes):
                    raise MalformedError(
                        f"object {number} of {self.bundle.prefix} has the child {child.node_id}, which does not exist"
                    )
            for slot in node.slot_variables:
                numbers = (slot.original_variable_node_id, slot.slot_variable_node_id)
                if not all(0 <= n < len(self.nodes) for n in numbers):
                    raise MalformedError(
                        f"object {number} of {self.bundle.prefix} has a slot of objects that do not exist: {numbers}"
                    )
        if not self.nodes:
            raise MalformedError(f"{self.bundle.prefix} has no objects")

    def _find(self, value: Any) -> Any:
        find = self._finder() if self._bound else self._finder
        return (object_graph.children if find is None else find)(value)

    def _wait(self, root: Any) -> None:
        """Keeps the restoration as long as its root, if objects are awaited."""
        if not self._unmatched():
            return
        if isinstance(root, AutoTrackable):
            when_set(root, self._keep)
        deferred.RESTORATIONS.add(self)

    def _keep(self, owner: Any, name: str, value: Any) -> None:
        """A hook that refers to the restoration."""

    def _unmatched(self) -> bool:
        return len(self.matched) < len(self.nodes)

    def look_again(self) -> None:
        """Restores the objects that lists and dicts have got since."""
        if not self._growing:
            return
        with init_scope():
            for number, value in [*self._growing.items()]:
                if self._growing.pop(number, None) is None:
                    continue  # looked at while a variable of another one was restored
                self.matched.discard(number)
                self._match(value, number)
        if not self._unmatched():
            deferred.RESTORATIONS.discard(self)

    def _match(self, value: Any, number: int) -> None:
        """Restores an object from a node, and what both have children for."""
        work = [(value, number)]
        while work:
            value, number = work.pop()
            if number in self.matched:
                continue
            self.matched.add(number)
            self._place(value, number)
            if isinstance(value, Variable):
                self._restore(value, self.nodes[number])
                continue
            if hasattr(type(value), "_restore_checkpoint_values"):
                self._restore_values(value, self.nodes[number])
            found = self._find(value)
            numbers = {c.local_name: c.node_id for c in self.nodes[number].children}
            work += [(found[n], numbers[n]) for n in numbers if n in found]
            if all(n in found for n in numbers):
                continue
            if isinstance(value, Trackable) and not isinstance(value, TrackedStructure):
                when_set(value, self._later(numbers))
            else:
                self._growing[number] = value

    def _place(self, value: Any, number: int) -> None:
        """Notes which object a node is, and restores the slots that are known by it."""
        slots = self.slots_by_node.get(number)
        if slots is None:
            return
        self._placed[number] = weakref.ref(value)
        for optimizer_number, reference in slots:
            optimizer, variable = [
                found() if (found := self._placed.get(n)) is not None else None
                for n in (optimizer_number, reference.original_variable_node_id)
            ]
            if optimizer is None or variable is None or not has_slots(optimizer):
                continue
            position = SlotPosition(self, reference)
            slot = optimizer._create_or_restore_slot_variable(
                slot_variable_position=position, slot_name=reference.slot_name, variable=variable
            )
            if slot is not None:
                position.restore(slot)

    def restore_object(self, value: Any, number: int) -> None:
        """Restores an object from a node, unless it has been matched."""
        self._match(value, number)

    def _later(self, numbers: dict[str, int]) -> Any:
        def restore(owner: Any, name: str, value: Any) -> None:
            if name in numbers and is_trackable(value):
                # Variables created while a function is traced have their values before it runs.
                with init_scope():
                    self._match(value, numbers[name])

        return restore

    def _restore(self, variable: Variable, node: Any) -> None:
        for attribute in node.attributes:
            if attribute.name == names.VALUE:
                key = attribute.checkpoint_key
                stored, dims = self.bundle.dtype(key), self.bundle.dims(key)
                if stored is not variable.dtype:
                    raise errors.InvalidArgumentError(
                        None,
                        None,
                        f"tensor_name = {key}; expected dtype {_kind(variable.dtype)} does not equal original dtype {_kind(stored)}",
                    )
                if not shapes.compatible(variable._dims, dims):
                    raise ValueError(
                        f"Received incompatible tensor with shape {shapes.text(dims)} when attempting to restore variable with "
                        f"shape {shapes.text(variable._dims)} and name {variable.name}."
                    )
                if variable._resource is None:
                    self.of_sessions.append((variable, self.bundle.array(key)))
                    if self.session is not None:
                        variable.load(self.bundle.array(key), self.session)
                else:
                    variable._restore(from_array(self.bundle.array(key)))
                self._note(variable)

    def _restore_values(self, value: Any, node: Any) -> None:
        """Restores an object that defines its own checkpoint values."""
        keys = {a.name: a.checkpoint_key for a in node.attributes}
        if keys:
            value._restore_checkpoint_values(
                {
                    name + stored[len(key) :]: self.bundle.array(stored)
                    for name, key in keys.items()
                    for stored in self.bundle
                    if stored == key or stored.startswith(f"{key}-")
                }
            )
            self._note(value)

    def _note(self, value: Any) -> None:
        self._restored[id(value)] = weakref.ref(value)

    def has_restored(self, value: Any) -> bool:
        """True if a value of the checkpoint has been assigned to this object."""
        known = self._restored.get(id(value))
        return known is not None and known() is value

    @property
    def has_matched_any(self) -> bool:
        """True if an object besides the root is one of the checkpoint, with a value or without."""
        return len(self.matched) > 1

    def unused(self) -> list[int]:
        """The nodes that have values, and for which no object has been found."""
        return [n for n, node in enumerate(self.nodes) if node.attributes and n not in self.matched]

    def path(self, wanted: int) -> str:
        """How an object of the checkpoint is reached from the root."""
        paths, work = {0: "(root)"}, [0]
        for number in work:
            for child in self.nodes[number].children:
                if child.node_id not in paths:
                    paths[child.node_id] = f"{paths[number]}.{child.local_name}"
                    work.append(child.node_id)
        return paths.get(wanted, str(wanted))

    def __del__(self) -> None:
        if self.partial:
            return
        unused = self.unused()
        if unused:
            log.logger().warning(_UNRESTORED)
        for number in unused:
            log.logger().warning(
                "Value in checkpoint could not be found in the restored object: %s",
                self.path(number),
            )


def _kind(dtype: DType) -> str:
    names_in_kernels = {"float32": "float", "float64": "double", "float16": "half"}
    return names_in_kernels.get(dtype.name, dtype.name)
