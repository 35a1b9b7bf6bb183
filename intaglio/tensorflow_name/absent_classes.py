"""Classes that libraries test for, and that nothing here is an instance of.

Variables of several devices, TensorFlow 1's partitioned variables: code for them stays unused. Each raises
NotImplementedError where it is called.
"""

from __future__ import annotations

from typing import Any


def _absent(name: str, why: str) -> type:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"{name}: {why}")

    return type(name, (), {"__init__": refuse, "__doc__": f"Nothing is one: {why}."})


_ONE_DEVICE = "there is one device, and a variable is a tf.Variable"
AggregatingVariable = _absent("AggregatingVariable", _ONE_DEVICE)
CheckpointInitialValue = _absent("CheckpointInitialValue", "values of checkpoints are tensors")
DistributedVariable = _absent("DistributedVariable", _ONE_DEVICE)
MirroredVariable = _absent("MirroredVariable", _ONE_DEVICE)
OpSharding = _absent("OpSharding", "arrays of modules are on one device")
PartitionedVariable = _absent("PartitionedVariable", "variables are whole")
ReaderBase = _absent("ReaderBase", "files are read by tf.data")
SyncOnReadVariable = _absent("SyncOnReadVariable", _ONE_DEVICE)
TPUVariableMixin = _absent("TPUVariableMixin", _ONE_DEVICE)


class _Cell:
    """A number that is only written."""

    def set(self, value: Any) -> None:
        """Nothing reads it."""

    increase_by = add = set

    def value(self) -> int:
        """0."""
        return 0


class Gauge:
    """A metric of TensorFlow's own monitoring. Nothing reads it."""

    def __init__(self, name: str, description: str, *labels: str) -> None:
        self.name = name

    def get_cell(self, *labels: str) -> _Cell:
        """What is written to."""
        return _Cell()
