"""Replicas of a strategy: one SPMD program by `jax.shard_map` over a mesh with a device for each.

The values of all replicas are one array whose first dimension the mesh divides; so are the copies of a
variable. Collectives are those of XLA. Replicas whose shapes differ, or for which there are too few devices, are
carried out one beside the other in the program of one device (`ir/replicas.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from intaglio.ir.graph import Graph, Node
from intaglio.ir.replicas import expanded
from intaglio.opdef import raw
from intaglio.xla import meshes
from intaglio.xla.registry import xla
from intaglio.xla.state import State, Variable
from intaglio.xla.values import Untraceable

AXIS = "replica"
_EACH, _ALL = PartitionSpec(AXIS), PartitionSpec()


@xla(raw._ReplicatedCall)
def _replicated(args, f: Graph, count, node, evaluator) -> Any:
    try:
        found = _Spmd(args, f, count, evaluator).run()
    except Untraceable as e:
        evaluator.note(node, f"a copy for each of {count} replicas, for {e}")
        return [evaluator.run(expanded(f, count), args)]
    evaluator.note(node, f"one SPMD program of {count} devices")
    return [found]


class _Local:
    """A copy of a variable in the program: the key of that of the replica that runs."""

    def __init__(self, node: Node, keys: Sequence[Hashable], spec: Any) -> None:
        self.variable = Variable((AXIS, *keys), spec)
        self.keys = keys


class _Spmd:
    """The graph of a replica, carried out once on each device of a mesh."""

    def __init__(self, args: Sequence[Any], f: Graph, count: int, evaluator: Any) -> None:
        self._graph = f
        self._count = count
        self._evaluator = evaluator
        self._mesh = meshes.of_replicas(count, AXIS)
        values = {id(v): a for v, a in zip(f.inputs, args, strict=True)}
        for node in f.nodes:
            if node.op is raw.Const:
                values[id(node.outputs[0])] = node.attrs["value"]
        # By node `_OfReplica`: the stacked values, or the local copy of a variable.
        self._stacked: dict[int, Any] = {}
        self._locals: dict[int, _Local] = {}
        for node in f.nodes:
            if node.op is raw._OfReplica:
                self._take(node, [values.get(id(v)) for v in node.inputs])
        self._args = list(args)
        self._results = [_result(v) for v in f.outputs]
        self._written: tuple[Hashable, ...] = ()

    def _take(self, node: Node, values: Sequence[Any]) -> None:
        if all(isinstance(v, Variable) for v in values):
            keys = [v.key for v in values]
            local = self._locals[id(node)] = _Local(node, keys, values[0].spec)
            self._stacked.setdefault(
                id(local), None
            )
            return
        if not all(hasattr(v, "shape") for v in values):
            raise Untraceable("replicas have values that are no arrays")
        if len({v.shape for v in values}) != 1:
            shown = ", ".join([str(v.shape) for v in values])
            raise Untraceable(f"the replicas have arrays of unlike shapes: {shown}")
        self._stacked[id(node)] = jnp.stack([jnp.asarray(v) for v in values])

    def run(self) -> list[Any]:
        """The outputs, of each replica; the state has what they write."""
        state = self._evaluator.state
        stacked = {k: v for k, v in self._stacked.items() if v is not None}
        shared = {k: jnp.asarray(v) for k, v in state.values.items() if v is not None}
        locals_: dict[Hashable, Any] = {}
        for local in self._locals.values():
            key = local.variable.key
            if key not in locals_:
                copies = [jnp.asarray(state.read(k)) for k in local.keys]
                if len({c.shape for c in copies}) != 1:
                    raise Untraceable("the copies of a variable have unlike shapes")
                locals_[key] = jnp.stack(copies)
        arrays = {i: jnp.asarray(a) for i, a in enumerate(self._args) if jax.numpy.ndim(a) is not None and isinstance(a, jax.Array)}
        function = jax.shard_map(
            self._body,
            mesh=self._mesh,
            in_specs=(_EACH, _EACH, _ALL, _ALL),
            out_specs=(_EACH, _EACH),
            check_vma=False,
        )
        ...
