"""The tape: records the ops executed on a level, and the values that their gradients need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intaglio.autodiff.plan import Plan, plan_of, trainable
from intaglio.autodiff.registered import ATTRIBUTE, REGISTERED, registered_backward
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef.keys import key
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor

Backward = Callable[[Sequence[Any]], Sequence[Any]]


class Entry:
    """One op on a tape. Keys are 0 for tensors through which no gradient flows.

    `kept` are the values that the gradient rule needs (see `plan.Plan`). An entry with a `backward`
    function is no op: the function maps output gradients to input gradients.
    """

    __slots__ = ("attrs", "backward", "inputs", "kept", "op", "outputs", "plan")

    def __init__(
        self,
        op: Op | None,
        attrs: dict[str, Any],
        inputs: Sequence[int],
        outputs: Sequence[int],
        kept: Any,
        backward: Backward | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.plan = plan
        self.op = op
        self.attrs = attrs
        self.inputs = inputs
        self.outputs = outputs
        self.kept = kept
        self.backward = backward

    def cover(self, outputs: Sequence[Tensor]) -> list[int]:
        """Adds outputs that the op has got since it was recorded. Returns their keys."""
        have = len(self.outputs)
        keys = [key(t) if trainable(t) else 0 for t in outputs[have:]]
        self.outputs = [*self.outputs, *keys]
        return keys


# Memoized by op: (its plan or None, the plan's `keep`).
_handling: dict[Op, Any] = {}
_IGNORED = (None, None)
_WITHOUT_RULE = (None, False)


def _handled(op: Op) -> Any:
    plan = plan_of(op)
    if not op.differentiable:
        handling: Any = _IGNORED
    else:
        handling = _WITHOUT_RULE if plan is None else (plan, plan.keep)
    _handling[op] = handling
    return handling


class Tape:
    """Records the ops that depend on watched tensors. A `door.Watcher`."""

    def __init__(self, watch_variables: bool = True, persistent: bool = False) -> None:
        self.persistent = persistent
        self.watched: set[int] = set()
        self.entries: list[Entry] = []
        self.variables: dict[int, Any] = {}
        self.calls: dict[int, Entry] = {}  # recorded calls of graphs, by their node's id
        self.watch_variables = watch_variables

    def watch(self, tensor: Tensor) -> None:
        """Records ops that depend on the tensor from now on."""
        if trainable(tensor):
            self.watched.add(key(tensor))

    def watch_variable(self, variable: Any) -> None:
        """Watches the variable if it is trainable; called for each variable read on the tape's level."""
        if self.watch_variables and variable.trainable:
            self.watch_handle(variable)

    def watch_handle(self, variable: Any) -> None:
        """Watches a variable by its resource."""
        number = key(variable.handle)
        self.watched.add(number)
        self.variables.setdefault(number, variable)

    def depends(self, inputs: Iterable[Any]) -> bool:
        """True if one of the tensors depends on a watched one."""
        watched = self.watched
        return any(getattr(t, "_key", 0) in watched for t in inputs)

    def record(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        """Records one op, if it depends on a watched tensor."""
        watched = self.watched
        keys = [k if (k := getattr(t, "_key", 0)) in watched else 0 for t in inputs]
        if not any(keys):
            return
        handling = _handling.get(op) or _handled(op)
        if handling is _IGNORED:
            return
        output_keys = [key(t) if trainable(t) else 0 for t in outputs]
        if not any(output_keys):
            return
        watched.update(output_keys)
        watched.discard(0)
        if ATTRIBUTE in attrs or op.name in REGISTERED:
            backward = registered_backward(op, attrs, inputs, outputs)
            self.entries.append(Entry(None, attrs, keys, output_keys, None, backward))
            return
        plan, keep = handling
        if plan is not None:
            if plan.partial and 0 in keys:
                keep = plan.keeper(tuple([k > 0 for k in keys]))
            kept = keep(inputs, outputs, attrs)
            self.entries.append(Entry(op, attrs, keys, output_keys, kept, None, plan))
            return
        entry = Entry(op, attrs, keys, output_keys, None)
        first: Any = outputs[0]
        if type(first) is SymbolicTensor:
            entry.kept = first.node.name
            if op.has_graphs:
                entry.kept = node = first.node
                self.calls[id(node)] = entry
                # A watcher that was notified before may have added outputs already.
                watched.update([k for k in entry.cover(node.outputs) if k])
        self.entries.append(entry)

    def extended(self, node: Any) -> None:
        """Adds further outputs of a recorded call of a graph."""
        entry = self.calls.get(id(node))
        if entry is not None:
            self.watched.update([k for k in entry.cover(node.outputs) if k])

    def record_function(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], backward: Backward
    ) -> None:
        """Records a computation whose gradient is a Python function."""
        watched = self.watched
        keys = [k if (k := getattr(t, "_key", 0)) in watched else 0 for t in inputs]
        if not any(keys):
            return
        output_keys = [key(t) if trainable(t) else 0 for t in outputs]
        watched.update([k for k in output_keys if k])
        self.entries.append(Entry(None, {}, keys, output_keys, None, backward))
