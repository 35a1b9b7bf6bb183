"""A function of every replica of a strategy as one op, and what its graph says of the replicas.

The graph of a `_ReplicatedCall` is that of one replica. It gets values of all of them; of these
`_OfReplica` is the replica's own. `_ToReplicas` gives what each has to the outside. Collectives
bring values together. XLA carries the graph out once on each device of a mesh; elsewhere its nodes
become a node for each replica (`ir/replicas.py`).
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.base.errors import ShapeError
from intaglio.base.shapes import join
from intaglio.ir.replicas import expanded
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


@op
class _ReplicatedCall(Op):
    """output = f(args) where `f` runs once on each of the devices, for a replica each."""

    signature = "args: *Tin; f: func, devices: list(str), Tout: list(type) -> output: *Tout"
    internal = True
    stateful = True
    control_flow = "replicas"
    differentiable = False

    def infer(self, args, f: Any, Tout) -> Any:
        return [list(f.output_specs)]

    def kernel(self, args, f, devices, run):
        return run(expanded(f, len(devices)), args)


@op
class _OfReplica(Op):
    """The value, among those of all replicas, of the one that runs."""

    T = dtypes.ALL
    signature = "values: N*T -> value: T"
    internal = True
    differentiable = False

    def infer(self, values: Spec) -> Any:
        specs: Any = values
        dims = specs[0].shape
        for spec in specs[1:]:
            dims = join(dims, spec.shape)
        return Spec(
            specs[0].dtype, dims, specs[0].value if specs[0].dtype is dtypes.resource else None
        )


@op
class _ToReplicas(Op):
    """What each of `N` replicas has of a value, for the graph that calls the replicas."""

    T = dtypes.ALL
    signature = "value: T; N: int -> values: N*T"
    internal = True
    differentiable = False

    def infer(self, value: Spec, N: int) -> Any:
        return [[Spec(value.dtype, value.shape)] * N]


class Collective(Op):
    """One value of what `count` replicas have; all get the same."""

    T = dtypes.ALL
    internal = True


@op
class _SumOfReplicas(Collective):
    """The sum of the replicas' values."""

    T = dtypes.NUMERIC
    signature = "input: T; count: int -> output: T"

    def infer(self, input: Spec) -> Any:
        return Spec(input.dtype, input.shape)

    def gradient(self, doutput, count):
        return raw._SumOfReplicas(doutput, count=count, name="Collective")


@op
class _FirstOfReplicas(Collective):
    """The value of the first replica."""

    signature = "input: T; count: int -> output: T"
    differentiable = False

    def infer(self, input: Spec) -> Any:
        return Spec(input.dtype, input.shape)


@op
class _GatherOfReplicas(Collective):
    """The replicas' values concatenated along an axis, in their order."""

    signature = "input: T; axis: int, count: int -> output: T"
    differentiable = False

    def infer(self, input: Spec, axis: int, count: int) -> Any:
        if input.shape is None:
            return Spec(input.dtype, None)
        rank = len(input.shape)
        if not -rank <= axis < rank:
            raise ShapeError(f"axis {axis} is out of range for {rank} dimensions")
        dims = list(input.shape)
        size = dims[axis]
        dims[axis] = None if size is None else size * count
        return Spec(input.dtype, tuple(dims))
