"""Calls of graphs from graphs: what a `tf.function` leaves in the graph that calls it."""

from __future__ import annotations

from typing import Any

from intaglio.base.errors import ShapeError
from intaglio.opdef.op import Op, op


class Call(Op):
    """output = f(args): runs the graph `f`."""

    signature = (
        "args: *Tin; f: func, Tout: list(type), config: str = '', config_proto: str = '',"
        " executor_type: str = '' -> output: *Tout"
    )
    control_flow = "call"
    native_exact = True

    def infer(self, args, f: Any, Tout) -> Any:
        if len(args) != len(f.inputs):
            raise ShapeError(
                f"Function {f.name} takes {len(f.inputs)} arguments but {len(args)} were given"
            )
        return [list(f.output_specs)]

    def kernel(self, args, f, run):
        return run(f, args)


@op
class PartitionedCall(Call):
    """Calls a graph that has no effects."""


@op
class StatefulPartitionedCall(Call):
    """Calls a graph that has effects or reads state."""

    stateful = True
