"""Slots: variables that an optimizer keeps for other variables, as checkpoints have them.

A slot has no name of its own among an optimizer's parts: it is found by the variable that it is kept for,
by the optimizer and the slot's name. Follows https://www.tensorflow.org/guide/checkpoint, "Manually
inspecting checkpoints", where such keys are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from intaglio.base.shapes import TensorShape
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names
from intaglio.state.variable import Variable

if TYPE_CHECKING:
    from intaglio.saved_model.restoration import Restoration


class Slot(NamedTuple):
    """A slot of a live optimizer; the objects by their numbers."""

    optimizer: int
    original: int
    name: str
    variable: Any


def has_slots(value: Any) -> bool:
    """True for an optimizer that is asked for its slots."""
    return hasattr(type(value), "get_slot_names") and hasattr(type(value), "get_slot")


def slots_of(objects: Sequence[Any]) -> Iterator[Slot]:
    """The slots that optimizers among the objects keep for variables among them."""
    variables = [(n, v) for n, v in enumerate(objects) if isinstance(v, Variable)]
    for number, optimizer in enumerate(objects):
        if not has_slots(optimizer):
            continue
        for name in optimizer.get_slot_names():
            for original, variable in variables:
                try:
                    found = optimizer.get_slot(variable, name)
                except (AttributeError, KeyError):
                    continue
                if isinstance(found, Variable):
                    yield Slot(number, original, name, found)


class SlotPosition:
    """The value that a checkpoint has of one slot, as it is handed to an optimizer.

    The optimizer makes a variable that begins with it, or keeps the position until it has one.
    """

    def __init__(self, restoration: Restoration, reference: Any) -> None:
        self._restoration = restoration
        self._number = reference.slot_variable_node_id
        self.restore_uid = 0

    @property
    def _key(self) -> str:
        node = self._restoration.nodes[self._number]
        return next(a.checkpoint_key for a in node.attributes if a.name == names.VALUE)

    def is_simple_variable(self) -> bool:
        """True if the value is that of one variable."""
        node = self._restoration.nodes[self._number]
        return not node.children and [a.name for a in node.attributes] == [names.VALUE]

    def value_shape(self) -> TensorShape:
        """The shape of the value."""
        return TensorShape(self._restoration.bundle.dims(self._key))

    def value(self) -> Any:
        """The value."""
        return from_array(self._restoration.bundle.array(self._key))

    def restore(self, variable: Any) -> None:
        """Gives a variable the value. Raises ValueError for another shape, InvalidArgumentError for a dtype."""
        self._restoration.restore_object(variable, self._number)


class CheckpointInitialValueCallable:
    """An initializer that gives the value at a position of a checkpoint."""

    def __init__(self, checkpoint_position: SlotPosition) -> None:
        self._position = checkpoint_position

    @property
    def checkpoint_position(self) -> SlotPosition:
        """Where the value is."""
        return self._position

    def __call__(self, shape: Any = None, dtype: Any = None, shard_info: Any = None) -> Any:
        return self._position.value()
