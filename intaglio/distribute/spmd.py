"""Runs a function of replicas as one SPMD program: it is traced once, for whichever replica runs.

What is recorded is the graph of a `_ReplicatedCall`. In it a value of all replicas is the replica's own,
a variable is a copy that only the program knows, and what brings replicas together is a collective.
What no such graph says raises `NotOneProgram`: the replicas are recorded one by one then.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from intaglio import xla
from intaglio.base import nest
from intaglio.base.dtypes import int32, resource
from intaglio.base.options import OPTIONS
from intaglio.distribute.contexts import (
    Context,
    ReduceOp,
    ReplicaContext,
    current,
    merge_in_inner_graph,
    pushed,
)
from intaglio.distribute.cross_device_ops import mean_of
from intaglio.distribute.cross_replica import CrossReplica, Update
from intaglio.distribute.values import DistributedValues, Lane, MirroredLane, regrouped
from intaglio.ir import resources, walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.replicas import NotOneProgram
from intaglio.opdef import convert, door, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.state import one_device
from intaglio.state.variable import BoundVariable, UnreadVariable, Variable
from intaglio.trace import control_flow

_numbers = itertools.count()


def is_possible() -> bool:
    """Whether XLA compiles functions with `jit_compile=True`, outside of replicas, and not to be saved."""
    is_chosen = OPTIONS.backend == "xla" and xla.is_installed()
    return is_chosen and not current().replicas.are_one_program and not one_device.is_traced_for()


def is_wanted() -> bool:
    """Whether replicas that are recorded here become one program: in a compiled function, by XLA."""
    return is_whole() and is_possible()


def is_whole() -> bool:
    """Whether the function that is recorded here is compiled whole, with `jit_compile=True`."""
    graph = control_flow.recording()
    return graph is not None and getattr(graph, "compiled_whole", False)


class LocalVariable(BoundVariable):
    """The copy of a variable that the running replica has."""

    def __init__(self, variable: Any, handle: Tensor) -> None:
        super().__init__(handle, variable._dims, variable._dtype, variable._trainable)
        self._name = variable._values[0]._name
        self._constraint = variable._constraint
        self._distributed_container = weakref.ref(variable)

    def accessed(self) -> None:
        here = door.level()
        for watcher in here.watchers:
            watcher.watch_variable(self)
        watch = getattr(getattr(here, "graph", None), "watch_variable", None)
        if watch is not None:  # a function that the replica calls uses it
            watch(self)


class SpmdReplica(ReplicaContext, CrossReplica):
    """Whichever replica runs, while its function is traced for all of them."""

    are_one_program = True

    def __init__(self, strategy: Any, graph: Any, outer: Any, variables: list[Any]) -> None:
        super().__init__(strategy, None)
        self.count = len(strategy.extended.worker_devices)
        self.graph = graph
        self._outer = outer
        self._local: dict[int, tuple[Any, LocalVariable]] = {}
        self._variables, self._created = variables, 0
        # Results of merged functions, which are one tensor for all replicas.
        self._single: dict[int, Tensor] = {}
        self._level: Any = None

    def start(self) -> None:
        """Called once the graph is being recorded."""
        self._level = door.level()
        ids = self._strategy.extended._replica_ids
        self._replica_id = raw._OfReplica(
            [convert.to_tensor(i, int32) for i in ids], name="OfReplica"
        )

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of the replica, which the program knows only when it runs."""
        if door.level().eager:
            raise NotOneProgram("Python code depends on which replica it runs for")
        return self._replica_id

    @property
    def is_first(self) -> bool:
        """Raises NotOneProgram: code is the same for all replicas."""
        raise NotOneProgram("Python code depends on which replica it runs for")

    @property
    def devices(self) -> list[Any]:
        """Raises NotOneProgram: each replica has its own."""
        raise NotOneProgram("Python code asks for the devices of a replica")

    # -- values ------------------------------------------------------------------------------

    def own(self, values: DistributedValues) -> Any:
        """The running replica's value of a value of all replicas."""
        if isinstance(values, (Variable, Lane)):
            return values._of(0)
        parts = values._values
        flat = [nest.flatten(v, expand_composites=True) for v in parts]
        if len({len(row) for row in flat}) != 1:
            raise NotOneProgram("the replicas have values of unlike structures")
        columns = [self._own_leaf(column) for column in zip(*flat, strict=True)]
        return nest.pack_sequence_as(parts[0], columns, expand_composites=True)

    def _own_leaf(self, column: Sequence[Any]) -> Any:
        first = column[0]
        if all(v is first for v in column):
            return first
        if not all(isinstance(v, Tensor) for v in column):
            raise NotOneProgram("the replicas have Python values of their own")
        known = [v.dims for v in column if v.dims is not None and None not in v.dims]
        if any(d != known[0] for d in known) or len({v.dtype for v in column}) != 1:
            shown = ", ".join([str(v.shape) for v in column])
            raise NotOneProgram(f"the replicas have tensors of unlike shapes: {shown}")
        with self._at_the_top():
            return raw._OfReplica(list(column), name="OfReplica")

    def _at_the_top(self) -> Any:
        """Ops of the block are recorded in the replica's graph, also in the trace of a nested one."""
        return door.pushed(self._level)

    def local(self, variable: Any) -> Any:
        """The running replica's copy of a variable. Raises NotOneProgram outside of the graph."""
        if variable._distribute_strategy is not self._strategy:
            return variable._values[0]
        if door.level().eager:
            raise NotOneProgram(f"Python code uses the value of variable {variable._name}")
        here = current()
        if here.replica is None and here.updating is None:
            raise NotOneProgram(
                f"merge_call reads the copy of the first replica of {variable._name}"
            )
        found = self._local.get(id(variable))
        if found is None:
            with self._at_the_top(), door.unwatched():
                handle = raw._OfReplica([v._handle for v in variable._values], name="OfReplica")
            for copy in variable._values:
                self._outer.watch_variable(copy)
            found = self._local[id(variable)] = (variable, LocalVariable(variable, handle))
        return found[1]

    def copies(self, variable: Any) -> Sequence[LocalVariable]:
        """The running replica's copy alone: collectives bring it together with the others."""
        return [self._copy_of(variable)]

    def _copy_of(self, variable: Any) -> LocalVariable:
        with pushed(Context(self._strategy, None, 0, self)):
            return self.local(variable)

    def updated(self, update: Update) -> Any:
        """`StrategyExtended.update`: of the copy of the replica that runs."""
        variable = update.variable
        copy = self._copy_of(variable) if isinstance(variable, DistributedValues) else variable
        with pushed(Context(self._strategy, None, 0, self)):
            found = update.of(copy, self._own_parts)
        if not update.group:
            return (found,) * self.count
        return nest.map_structure(lambda v: MirroredLane(v) if self._is_inside(v) else v, found)

    def _own_parts(self, arguments: Any) -> Any:
        """A structure with the running replica's values of those of all replicas."""
        return nest.map_structure(
            lambda v: self.own(v) if isinstance(v, DistributedValues) else v, arguments
        )

    def created(self, create: Callable[[], Any]) -> Any:
        """A variable that the replicas create: one of all of them."""
        number, self._created = self._created, self._created + 1
        if number == len(self._variables):
            self._variables.append(create())
        return self._variables[number]

    # -- together ----------------------------------------------------------------------------

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args)`, for the values of all replicas: of the one that runs.

        Raises RuntimeError in the trace of another function or control flow.
        """
        if door.level() is not self._level:
            raise merge_in_inner_graph()
        here = Context(self._strategy, None, None, self)
        with pushed(here), door.unwatched():
            result = merge_fn(
                self._strategy, *self._of_all(tuple(args)), **self._of_all(kwargs or {})
            )
        for value in nest.flatten(result):
            if isinstance(value, Tensor):
                self._single[id(value)] = value
        return nest.map_structure(
            lambda v: v._of(0) if isinstance(v, DistributedValues) else v, result
        )

    def _of_all(self, structure: Any) -> Any:
        def lane(value: Any) -> Any:
            if isinstance(value, LocalVariable):
                return value._distributed_container()
            if isinstance(value, IndexedSlices):
                return Lane(_of_tensors(value))
            return Lane(value) if self._is_inside(value) else value

        return nest.map_structure(lane, structure)

    def _is_inside(self, value: Any) -> bool:
        parts = nest.flatten(value, expand_composites=True)
        return any(isinstance(v, SymbolicTensor) and v.graph is self.graph for v in parts)

    def single(self, why: str) -> None:
        """Raises NotOneProgram."""
        raise NotOneProgram(why)

    def reduced(self, op: ReduceOp, values: Sequence[Any]) -> Any:
        """The sum or mean of what the replicas have; `values` has that of the one that runs."""
        (value,) = values
        if isinstance(value, IndexedSlices):
            rows = convert.to_tensor(value.values)
            rows = rows / self.count if op is ReduceOp.MEAN else rows
            return IndexedSlices(
                self.gathered([rows], 0), self.gathered([value.indices], 0), value.dense_shape
            )
        total = raw._SumOfReplicas(convert.to_tensor(value), count=self.count, name="Collective")
        return mean_of(total, self.count) if op is ReduceOp.MEAN else total

    def gathered(self, values: Sequence[Any], axis: int) -> Any:
        """What the replicas have, along an axis."""
        (value,) = values
        return raw._GatherOfReplicas(
            convert.to_tensor(value), axis=axis, count=self.count, name="Collective"
        )

    def of_first(self, values: Sequence[Any]) -> Any:
        """What the first replica has."""
        (value,) = values
        return raw._FirstOfReplicas(convert.to_tensor(value), count=self.count, name="Collective")

    def of_each(self, values: Sequence[Any]) -> DistributedValues:
        return Lane(*values)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        return MirroredLane(tensor) if isinstance(destinations, DistributedValues) else tensor

    # -- results -----------------------------------------------------------------------------

    def to_replicas(self, result: Any) -> Any:
        """The results, with a list of `count` values of the graph for each of the replica's tensors."""
        return nest.map_structure(self._result, result)

    def _result(self, value: Any) -> Any:
        if isinstance(value, LocalVariable):
            return value._distributed_container()
        if isinstance(value, UnreadVariable):
            value = value.value()
        if isinstance(value, Node):
            raise NotOneProgram("a replica returns an operation")
        if isinstance(value, IndexedSlices):
            value = _of_tensors(value)
        if isinstance(value, (Variable, DistributedValues)) or not self._is_inside(value):
            return value
        flat = nest.flatten(value, expand_composites=True)
        columns = [self._column(v) if isinstance(v, Tensor) else [v] * self.count for v in flat]
        return _Results(value, columns)

    def _column(self, value: Tensor) -> Sequence[Any]:
        found = raw._ToReplicas(value, N=self.count, name="ToReplicas")
        return [found[0]] * self.count if id(value) in self._single else found


def _of_tensors(slices: IndexedSlices) -> IndexedSlices:
    """Slices whose parts are tensors, which lists may be, too."""
    shape = slices.dense_shape
    return IndexedSlices(
        convert.to_tensor(slices.values),
        convert.to_tensor(slices.indices),
        None if shape is None else convert.to_tensor(shape),
    )


class _Results:
    """A result of all replicas as values of their graph: by component, then by replica."""

    def __init__(self, value: Any, columns: list[Any]) -> None:
        self.value = value
        self.columns = columns


def run(
    strategy: Any, function: Callable[..., Any], args: Any, kwargs: Any, variables: list[Any]
) -> Any:
    """`function(*args, **kwargs)` of all replicas as one op of the graph that is being recorded.

    `variables` are those that the replicas have created. Raises NotOneProgram.
    """
    outer = control_flow.recording()
    graph = control_flow.new_graph(f"replica_{next(_numbers)}")
    replica = SpmdReplica(strategy, graph, outer, variables)
    with graph.as_default(), pushed(Context(strategy, replica, None, replica)):
        replica.start()
        own_args, own_kwargs = nest.map_structure(
            lambda v: replica.own(v) if isinstance(v, DistributedValues) else v, (args, kwargs)
        )
        result = replica.to_replicas(function(*own_args, **own_kwargs))
    found = [v for v in nest.flatten(result) if isinstance(v, _Results)]
    tensors = [t for r in found for c in r.columns for t in c if isinstance(t, SymbolicTensor)]
    inner = list({id(t): t for t in tensors}.values())
    graph.outputs = inner
    frozen = graph.freeze_function()
    _check(frozen)
    with door.unwatched():
        outputs = raw._ReplicatedCall(
            graph.external_captures,
            f=frozen,
            devices=list(strategy.extended.worker_devices),
            Tout=[v.dtype for v in frozen.outputs],
            name="ReplicatedCall",
        )
    for variable in graph.variables:
        if not isinstance(variable, LocalVariable):
            outer.watch_variable(variable)
    outside = dict(zip(map(id, inner), outputs if inner else (), strict=True))
    return nest.map_structure(lambda v: _outside(v, outside), result)


def _outside(value: Any, outside: dict[int, Any]) -> Any:
    """A result with the call's outputs in the place of its graph's."""
    if not isinstance(value, _Results):
        return value
    rows = zip(*value.columns, strict=True)
    each = [
        nest.pack_sequence_as(
            value.value, [outside.get(id(v), v) for v in row], expand_composites=True
        )
        for row in rows
    ]
    return regrouped(each)


def _check(graph: Graph) -> None:
    """Raises NotOneProgram for what replicas do one after the other."""
    for part in (graph, *walk.nested(graph)):
        for node in part.nodes:
            op = node.op
            if op.reaches_outside:
                raise NotOneProgram(f"{op.name}{_line(node)} reaches what is not in the program")
            if op.is_random:
                raise NotOneProgram(
                    f"{op.name}{_line(node)} draws random numbers that differ by replica: stateless ops, "
                    "which have a seed, do not"
                )
    written: set[int] = set()
    used: set[int] = set()
    for node in graph.nodes:
        if node.op is raw._OfReplica:
            continue
        for index, value in enumerate(node.inputs):
            if value.dtype is not resource:
                continue
            source = resources.origin(value)
            own = source.node.op is raw._OfReplica
            copies = source.node.inputs if own else (source,)
            if resources.writes(node, index):
                if not own:
                    raise NotOneProgram(
                        f"{node.op.name}{_line(node)} writes what all replicas share: make the variable in "
                        "strategy.scope()"
                    )
                written.update(map(id, copies))
            elif not own:
                used.add(id(source))
    if written & used:
        raise NotOneProgram("a copy of a variable is used besides the variable, which is written")


def _line(node: Node) -> str:
    return f" (line {node.frames[0].lineno})" if node.frames else ""


__all__ = ["LocalVariable", "SpmdReplica", "is_wanted", "run"]
