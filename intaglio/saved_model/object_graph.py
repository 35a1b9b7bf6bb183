"""The objects that saving reaches from a root, by the names of attributes and elements.

Follows https://www.tensorflow.org/guide/checkpoint, "Loading mechanics": attributes of
modules, elements of lists, tuples and dicts; for saved models also functions, their traces
and what those capture.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from intaglio.function.concrete import ConcreteFunction
from intaglio.function.polymorphic import Function
from intaglio.graphdef.saved_messages import TrackableObjectGraph
from intaglio.saved_model import names
from intaglio.saved_model.slots import Slot, slots_of
from intaglio.state.module import Module
from intaglio.state.tracking import AutoTrackable, acts_as_variable, has_children, is_trackable
from intaglio.state.variable import Variable

Children = Callable[[Any], Mapping[str, Any]]


def children(value: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
    """The named trackable objects that an object has, functions of its class left out.

    `save_type` is "savedmodel" for saved models, of which some objects leave out more. What else is
    given, such as the `cache` of one saving, is for the objects themselves.
    """
    if isinstance(value, (Variable, Function, ConcreteFunction)):
        return {}
    if isinstance(value, (list, tuple)):
        found = {str(i): v for i, v in enumerate(value) if is_trackable(v)}
    elif isinstance(value, Mapping):
        found = _of_mapping(value)
    elif has_children(value):
        found = value._trackable_children(save_type, **kwargs)
    else:
        found = {n: v for n, v in vars(value).items() if is_trackable(v)}
    return {n: v.value if _holds_variable(v) else v for n, v in found.items()}


def _holds_variable(value: Any) -> bool:
    """True for an object with a variable in its attribute `value`; a variable's own `value` is a method."""
    return acts_as_variable(value) and not isinstance(value, Variable)


def _of_mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    found = {k: v for k, v in value.items() if is_trackable(v)}
    if not all(isinstance(k, str) for k in found):
        raise ValueError(
            f"Unable to save the object {value!r} (a dictionary wrapper constructed automatically on attribute assignment). "
            "The wrapped dictionary contains a non-string key which maps to a trackable object or mutable data "
            "structure.\n\nIf you don't need this dictionary checkpointed, wrap it in a non-trackable object; it will be "
            "subsequently ignored."
        )
    return found


def functions_of(value: Any) -> dict[str, Any]:
    """The `tf.function`s that an object's class defines, bound to the object."""
    found: dict[str, Any] = {}
    if not isinstance(value, (AutoTrackable, Module)):
        return found
    for name in dir(type(value)):
        for owner in type(value).__mro__:
            if name in vars(owner):
                if isinstance(vars(owner)[name], (Function, ConcreteFunction)):
                    found[name] = getattr(value, name)
                break
    return found


class ObjectGraph:
    """All objects below a root, numbered breadth first; `find` returns an object's children."""

    def __init__(self, root: Any, find: Children = children) -> None:
        self.objects: list[Any] = []
        self.children: list[list[tuple[str, int]]] = []
        self.paths: list[tuple[str, ...]] = []
        self.numbers: dict[int, int] = {}
        # The names of what has been kept of an object other than a variable.
        self.value_names: dict[int, list[str]] = {}
        # The slots that optimizers have, with the numbers of their variables.
        self.slots: list[tuple[Slot, int]] = []
        self._find = find
        self._queue: deque[int] = deque()
        self._number(root, ())
        self.finish()

    def finish(self) -> None:
        """Follows what has been added since."""
        while self._queue:
            number = self._queue.popleft()
            for name, child in self._find(self.objects[number]).items():
                self.add(number, name, child)

    def add(self, parent: int, name: str, child: Any) -> int:
        """Gives an object a child; returns the child's number."""
        found = self._number(child, (*self.paths[parent], name))
        if (name, found) not in self.children[parent]:
            self.children[parent].append((name, found))
        return found

    def append(self, value: Any) -> int:
        """An object that no other leads to; returns its number."""
        return self._number(value, ())

    def _number(self, value: Any, path: tuple[str, ...]) -> int:
        found = self.numbers.get(id(value))
        if found is None:
            found = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.children.append([])
            self.paths.append(path)
            self._queue.append(found)
        return found

    def add_slots(self) -> None:
        """Adds the variables that optimizers keep for others, which no name leads to."""
        self.slots = [(slot, self.append(slot.variable)) for slot in slots_of(self.objects)]

    def variables(self) -> Iterator[tuple[int, Variable]]:
        """The variables and their numbers."""
        for number, value in enumerate(self.objects):
            if isinstance(value, Variable):
                yield number, value

    def holders(self) -> Iterator[tuple[int, Any]]:
        """The objects that define their own checkpoint values, and their numbers.

        They have `_checkpoint_values()`, arrays by name, and `_restore_checkpoint_values`. What
        precedes a hyphen in a name is the attribute, of which there are several values.
        """
        for number, value in enumerate(self.objects):
            if hasattr(type(value), "_checkpoint_values"):
                yield number, value

    def key(self, number: int, attribute: str = names.VALUE) -> str:
        """Where a checkpoint keeps a variable's value, or what else an object has."""
        slot = next((s for s, n in self.slots if n == number and not self.paths[n]), None)
        if slot is None:
            return f"{self._path(number)}/.ATTRIBUTES/{attribute}"
        kept = f"{self._path(slot.optimizer)}/{_escaped(slot.name)}"
        return f"{self._path(slot.original)}/.OPTIMIZER_SLOT/{kept}/.ATTRIBUTES/{attribute}"

    def _path(self, number: int) -> str:
        return "/".join(map(_escaped, self.paths[number]))

    def fill_children(self, number: int, field: Any) -> None:
        """Writes an object's children as messages."""
        for name, child in self.children[number]:
            field.add(node_id=child, local_name=name)

    def message(self) -> Any:
        """The graph as checkpoints keep it."""
        proto = TrackableObjectGraph()
        for number, value in enumerate(self.objects):
            node = proto.nodes.add()
            self.fill_children(number, node.children)
            node.has_checkpoint_values.SetInParent()
            if isinstance(value, Variable):
                node.attributes.add(
                    name=names.VALUE, full_name=value._shared_name, checkpoint_key=self.key(number)
                )
            # `table-keys` and `table-values` are two values of the attribute `table`.
            for name in dict.fromkeys(
                n.partition("-")[0] for n in self.value_names.get(number, ())
            ):
                node.attributes.add(name=name, checkpoint_key=self.key(number, name))
        for slot, number in self.slots:
            proto.nodes[slot.optimizer].slot_variables.add(
                original_variable_node_id=slot.original,
                slot_name=slot.name,
                slot_variable_node_id=number,
            )
        for number in self._having_values():
            proto.nodes[number].has_checkpoint_values.value = True
        return proto

    def _having_values(self) -> set[int]:
        parents: dict[int, list[int]] = {}
        for number, found in enumerate(self.children):
            for _, child in found:
                parents.setdefault(child, []).append(number)
        having: set[int] = set()
        work = [number for number, _ in self.variables()] + [*self.value_names]
        while work:
            number = work.pop()
            if number not in having:
                having.add(number)
                work += parents.get(number, [])
        return having


def _escaped(name: str) -> str:
    return name.replace(".", "..").replace("/", ".S")
