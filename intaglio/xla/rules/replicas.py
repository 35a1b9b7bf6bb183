"""Replicas of a strategy: one SPMD program by `jax.shard_map` over a mesh with a device for each.

The values of all replicas are one array whose first dimension the mesh divides; so are the copies of a
variable. Collectives are those of XLA. Replicas whose shapes differ, or for which there are too few devices, are
carried out one beside the other in the program of one device (`ir/replicas.py`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from intaglio.base.log import logger
from intaglio.ir.graph import Graph, Node
from intaglio.ir.replicas import expanded
from intaglio.opdef import late, raw
from intaglio.ops.control_flow.python_call import function_of
from intaglio.xla import meshes
from intaglio.xla.registry import xla
from intaglio.xla.state import FAILED, Cell, State, Variable
from intaglio.xla.values import Untraceable

AXIS = "replica"
_EACH, _ALL = PartitionSpec(AXIS), PartitionSpec()


@xla(raw._ReplicatedCall)
def _replicated(args, f: Graph, devices, node, evaluator) -> Any:
    count = len(devices)
    try:
        mesh = meshes.mesh(((AXIS, count),), tuple(devices))
        evaluator.state.divide(mesh)
        found = _Spmd(args, f, mesh, node, evaluator).run()
    except (Untraceable, meshes.NoDevice) as e:
        if isinstance(e, meshes.NoDevice):  # the program is to blame, not the step
            logger().warning("strategy.run is no SPMD program: %s", e)
        evaluator.note(node, f"a copy for each of {count} replicas, for {e}")
        return [evaluator.run(expanded(f, count), args)]
    evaluator.note(node, f"one SPMD program of {count} devices")
    return [found]


@xla(raw._OfReplica)
def _own(values, node, evaluator) -> Any:
    if id(node) not in evaluator.own:
        raise Untraceable("it is not in the graph of a replica")
    return evaluator.own[id(node)]


@xla(raw._ToReplicas)
def _to_replicas(value, N) -> Any:
    return [[value] * N]


@xla(raw._SumOfReplicas)
def _sum(input) -> Any:
    return lax.psum(jnp.asarray(input), AXIS)


@xla(raw._FirstOfReplicas)
def _first(input) -> Any:
    return lax.all_gather(jnp.asarray(input), AXIS)[0]


@xla(raw._GatherOfReplicas)
def _gather(input, axis) -> Any:
    x = jnp.asarray(input)
    return lax.all_gather(x, AXIS, axis=axis % x.ndim, tiled=True)


@xla(late._Exchange)
def _exchange(input, token, evaluator) -> Any:
    if not evaluator.state.spans:
        raise Untraceable("the processes of the cluster exchange it")
    together: Any = function_of(token).function
    return [together.traced([jnp.asarray(v) for v in input])]


class _Spmd:
    """The graph of a replica, carried out once on each device of a mesh."""

    def __init__(
        self, args: Sequence[Any], f: Graph, mesh: Any, call: Node, evaluator: Any
    ) -> None:
        self._graph, self._call = f, call
        self._mesh = mesh
        self._evaluator = evaluator
        self._args = list(args)
        # Of the nodes `_OfReplica`: the values of all replicas, or the variable whose copies they are.
        self._stacked: dict[int, Any] = {}
        self._variables: dict[int, Variable] = {}
        self._copies: dict[Hashable, Any] = {}
        outside: dict[int, tuple[Any, Any]]
        outside = {id(v): (a, w) for v, a, w in zip(f.inputs, args, call.inputs, strict=True)}
        for node in f.nodes:
            if node.op is raw.Const:
                outside[id(node.outputs[0])] = node.attrs["value"], None
            elif node.op is raw._OfReplica:
                if any(id(v) not in outside for v in node.inputs):
                    raise Untraceable("values of all replicas are computed in a replica")
                self._take(node, [outside[id(v)] for v in node.inputs])
        self._written: list[Hashable] = []

    def _take(self, node: Node, columns: Sequence[tuple[Any, Any]]) -> None:
        values = [value for value, _ in columns]
        if all(isinstance(v, Variable) for v in values):
            variable = self._variables[id(node)] = _local(values)
            self._copies[variable.key] = self._copies_of(variable.key, [v.key for v in values])
            return
        if not all(isinstance(v, (jax.Array, np.ndarray, np.generic)) for v in values):
            raise Untraceable("replicas have values that are no arrays")
        whole = self._evaluator.stacked.get(tuple([id(outer) for _, outer in columns]))
        self._stacked[id(node)] = _stacked(values, "values") if whole is None else whole

    def _copies_of(self, key: Hashable, keys: Sequence[Hashable]) -> Any:
        state = self._evaluator.state
        if key in state.values:
            return state.values[key]
        return _stacked([state.read(k) for k in keys], "copies of a variable")

    def run(self) -> list[Any]:
        """The outputs, of each replica; the state has what they write."""
        state = self._evaluator.state
        arrays = {i: a for i, a in enumerate(self._args) if isinstance(a, jax.Array)}
        shared = {
            v.key: state.read(v.key)
            for v in self._args
            if isinstance(v, Variable) and state.has(v.key)
        }
        function = jax.shard_map(
            self._body,
            mesh=self._mesh,
            in_specs=(_EACH, _EACH, _ALL, _ALL),
            out_specs=(_EACH, _EACH),
            check_vma=False,
        )
        results, changed = function(self._stacked, self._copies, shared, arrays)
        of_checks = dict[Cell, Any]()
        for key, value in zip(self._written, changed, strict=True):
            if isinstance(key, Cell):
                of_checks[key] = value
            else:
                self._write(key, value)
        self._take_checks(of_checks)
        for number in range(len(results)):
            rows = [
                v
                for v, (n, _) in zip(self._call.outputs, self._positions, strict=True)
                if n == number
            ]
            self._evaluator.stacked[tuple(map(id, rows))] = results[number]
        # Values of single replicas: what takes them is computed on every device.
        return [results[i][row] for i, row in self._positions]

    def _body(self, stacked: Any, copies: Any, shared: Any, arrays: Any) -> Any:
        own = {k: v[0] for k, v in copies.items()}
        inner = self._evaluator.within(State({**shared, **own}))
        inner.state.checks = self._evaluator.state.checks
        inner.own = {**self._variables, **{k: v[0] for k, v in stacked.items()}}
        inputs = [arrays.get(i, a) for i, a in enumerate(self._args)]
        found = inner.run(self._graph, inputs)
        results = self._results(found)
        self._written = list(inner.state.written)
        if any(k not in self._copies and not isinstance(k, Cell) for k in self._written):
            raise Untraceable("a replica writes a variable that all of them share")
        return [jnp.asarray(v)[None] for v in results], [
            jnp.asarray(inner.state.read(k))[None] for k in self._written
        ]

    def _results(self, found: Sequence[Any]) -> list[Any]:
        """The outputs without repetition; `_positions` says which of them, and whose, each output is."""
        numbers: dict[int, int] = {}
        results: list[Any] = []
        self._positions: list[tuple[int, int]] = []
        for value, result in zip(self._graph.outputs, found, strict=True):
            if value.node.op is not raw._ToReplicas or not hasattr(result, "dtype"):
                raise Untraceable("a result of the replicas is no array")
            number = numbers.setdefault(id(value.node), len(results))
            if number == len(results):
                results.append(result)
            self._positions.append((number, value.value_index))
        return results

    def _take_checks(self, rows: dict[Cell, Any]) -> None:
        """The check that failed in the first replica in which one did is that of the program."""
        if FAILED not in rows:
            return
        state = self._evaluator.state
        replica = jnp.argmax(rows[FAILED] != 0)
        is_first = state.read(FAILED) == 0
        for cell, values in rows.items():
            state.take(cell, jnp.where(is_first, values[replica], state.read(cell)))

    def _write(self, key: Any, value: Any) -> None:
        state = self._evaluator.state
        if key in state.values:
            state.write(key, value)
            return
        for row, copy in enumerate(key[1:]):
            state.write(copy, value[row])


def _local(copies: Sequence[Variable]) -> Variable:
    """The copy of the replica that runs."""
    keys = [v.key for v in copies]
    if len(set(keys)) != len(keys):
        raise Untraceable("replicas share a copy of a variable")
    return Variable(group_key(keys), copies[0].spec)


def group_key(keys: Sequence[Hashable]) -> Hashable:
    """The key of the copies of a variable with these keys, as one array."""
    return (AXIS, *keys)


def _stacked(values: Sequence[Any], what: str) -> Any:
    if len({np.shape(v) for v in values}) != 1:
        shown = ", ".join([str(np.shape(v)) for v in values])
        raise Untraceable(f"the replicas have {what} of unlike shapes: {shown}")
    return jnp.stack([jnp.asarray(v) for v in values])


class Group(NamedTuple):
    """Inputs of a graph, by number, that are the values of all replicas; and how a mesh divides them."""

    inputs: tuple[int, ...]
    sharding: Any


def groups(graph: Graph) -> list[Group]:
    """The inputs of a graph that its replicas get, each by one of the groups."""
    numbers = {id(v): i for i, v in enumerate(graph.inputs)}
    found: dict[tuple[int, ...], Group] = {}
    calls = [n.attrs["devices"] for n in graph.nodes if n.op.control_flow == "replicas"]
    chosen = calls[0] if calls else None  # a program has one mesh
    for call in graph.nodes:
        if call.op.control_flow != "replicas":
            continue
        devices = call.attrs["devices"]
        if devices != chosen:
            continue
        try:
            mesh = meshes.mesh(((AXIS, len(devices)),), tuple(devices))
        except meshes.NoDevice:
            continue
        inner: Graph = call.attrs["f"]
        outer = {id(v): numbers.get(id(w)) for v, w in zip(inner.inputs, call.inputs, strict=True)}
        for node in inner.nodes:
            if node.op is raw._OfReplica:
                positions: Any = tuple([outer.get(id(v)) for v in node.inputs])
                if None not in positions and len(set(positions)) == len(positions):
                    found.setdefault(positions, Group(positions, NamedSharding(mesh, _EACH)))
    taken: dict[int, int] = {}
    for group in found.values():
        for place in group.inputs:
            taken[place] = taken.get(place, 0) + 1
    return [g for g in found.values() if all(taken[p] == 1 for p in g.inputs)]


__all__ = ["AXIS", "Group", "group_key", "groups"]
