"""The objects below a root and what a checkpoint keeps of them, as Keras 2 and its tests ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from intaglio.lookup.mutable_tables import MutableTable
from intaglio.opdef import convert, raw
from intaglio.saved_model.names import VALUE
from intaglio.saved_model.object_graph import ObjectGraph
from intaglio.state.variable import Variable
from intaglio.trace import scopes

# TensorFlow's key of what an object saves by itself.
_TENSORS = ".TENSORS"


def list_objects(root_trackable: Any) -> list[Any]:
    """All objects below a root, itself first, breadth first; last the slots of optimizers."""
    graph = ObjectGraph(root_trackable)
    graph.add_slots()
    return graph.objects


def gather_initializers(root_trackable: Any) -> list[Any]:
    """The operations that initialize the objects below a root; eagerly none."""
    found = [getattr(value, "initializer", None) for value in list_objects(root_trackable)]
    return [operation for operation in found if operation is not None]


def streaming_restore(status: Any, session: Any = None) -> None:
    """Restores what a checkpoint's status has, variables of a plain graph that come later too.

    These get their values in the session when they become parts of the restored objects. Eagerly there is
    nothing to do.
    """
    if not scopes.executing_eagerly():
        status._stream_to(session)


class SaveSpec:
    """A tensor that is saved, under a name."""

    def __init__(self, tensor: Any, slice_spec: str, name: str) -> None:
        self.tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        self.dtype = tensor.dtype


class SaveableObject:
    """The tensors that are saved of an object, and how it takes them back."""

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        """Gives the object saved values: an operation in graphs."""
        raise NotImplementedError("a SaveableObject defines how its object takes values back")


class _OfVariable(SaveableObject):
    def __init__(self, variable: Any, name: str) -> None:
        super().__init__(variable, [SaveSpec(variable.read_value(), "", name)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        return self.op.assign(restored_tensors[0])


class _OfTable(SaveableObject):
    def __init__(self, table: MutableTable, name: str) -> None:
        parts = zip(("-keys", "-values"), table.export(), strict=True)
        super().__init__(table, [SaveSpec(t, "", name + part) for part, t in parts], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        table = self.op
        dtypes = (table.key_dtype, table.value_dtype)
        values = [convert.to_tensor(v, d) for v, d in zip(restored_tensors, dtypes, strict=True)]
        return raw.LookupTableImportV2(table.resource_handle, *values)


class _OfHolder(SaveableObject):
    """What an eager object gives by `_checkpoint_values`."""

    def __init__(self, holder: Any, values: Mapping[str, Any], name: str) -> None:
        specs = [SaveSpec(convert.to_tensor(v), "", f"{name}{n}") for n, v in values.items()]
        super().__init__(holder, specs, name)
        self._names = list(values)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        arrays = [convert.to_tensor(v)._array for v in restored_tensors]
        self.op._restore_checkpoint_values(dict(zip(self._names, arrays, strict=True)))


def saveable_objects_from_trackable(
    obj: Any, tf1_saver: bool = False
) -> dict[str, Callable[..., Any]]:
    """A function of a name that returns the SaveableObject, by TensorFlow's key; none if nothing is saved.

    An object of a program's class may define `_gather_saveables_for_checkpoint`, which is asked.
    """
    if isinstance(obj, Variable):
        return {_TENSORS: lambda name=VALUE: _OfVariable(obj, name)}
    if isinstance(obj, MutableTable):
        return {_TENSORS: lambda name="": _OfTable(obj, name)}
    if hasattr(type(obj), "_gather_saveables_for_checkpoint"):
        return obj._gather_saveables_for_checkpoint()
    if not hasattr(type(obj), "_checkpoint_values"):
        return {}
    return {_TENSORS: lambda name="": _OfHolder(obj, obj._checkpoint_values(), name)}
