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
DistributedVariable = _absent("DistributedVariable", _ONE_DEVICE)
MirroredVariable = _absent("MirroredVariable", _ONE_DEVICE)
PartitionedVariable = _absent("PartitionedVariable", "variables are whole")
_EVALUATION = "loops of evaluation in sessions are not there: write the loop with Session.run"
EvaluateOnce = _absent("evaluate_once", _EVALUATION)
EvaluationStep = _absent("get_or_create_eval_step", _EVALUATION)
ReaderBase = _absent("ReaderBase", "files are read by tf.data")
StopAfterNEvalsHook = _absent("StopAfterNEvalsHook", _EVALUATION)
SyncOnReadVariable = _absent("SyncOnReadVariable", _ONE_DEVICE)
TPUVariableMixin = _absent("TPUVariableMixin", _ONE_DEVICE)


def kmeans_plus_plus_initialization(*_: Any, **__: Any) -> Any:
    """Raises NotImplementedError: the op type is missing."""
    raise NotImplementedError(
        "KmeansPlusPlusInitialization is an op that Intaglio has not: choose the first centroids "
        "with another initialization."
    )


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
