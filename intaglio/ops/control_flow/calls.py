"""Calls of graphs from graphs: a `tf.function` called while another one is traced."""

from __future__ import annotations

from typing import Any

from intaglio.ir import implementations
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.graph_arguments import check_arguments, check_results


class Call(Op):
    """output = f(args): runs the graph `f`."""

    signature = (
        "args: *Tin; f: func, Tout: list(type), config: str = '', config_proto: str = '',"
        " executor_type: str = '' -> output: *Tout"
    )
    control_flow = "call"
    native_exact = True

    def infer(self, args, f: Any, Tout) -> Any:
        check_arguments(f, args, "Function")
        check_results(f, Tout, "Function")
        if implementations.siblings(
            f
        ):  # another function may run: what this one gives is not known
            return [[Spec(s.dtype, s.shape) for s in f.output_specs]]
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
