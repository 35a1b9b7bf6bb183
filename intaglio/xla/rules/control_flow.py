"""Branches, loops and calls: `lax.cond`, `lax.switch`, `lax.while_loop`, or the graph itself.

What a branch or body writes is a result of it: the state's values go in and come back. A loop
whose condition follows from known values has a known number of iterations; its counters stay
known after it, and lists that it pushes to get their memory before it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.opdef import late, raw
from intaglio.ops.control_flow.xla_modules import check_call
from intaglio.runtime import interpreter
from intaglio.xla import kernels
from intaglio.xla.lists import List
from intaglio.xla.modules import exported_module
from intaglio.xla.registry import xla
from intaglio.xla.state import FAILED, Variable
from intaglio.xla.values import Untraceable, is_traced

# A loop is run beforehand, to count its iterations, for at most so many of its counters' steps.
MAX_COUNTED_STEPS = 1 << 16
# A loop that XLA has no loop for becomes its iterations, if they have at most so many nodes.
MAX_UNROLLED_NODES = 4096
# So often the carried values of a loop may change their form until they keep it.
MAX_FORMS = 4


# -- calls -----------------------------------------------------------------------------------


@xla(raw.PartitionedCall, raw.StatefulPartitionedCall)
def _call(args, f: Graph, evaluator) -> Any:
    return [evaluator.run(f, args)]


@xla(late.XlaCallModule)
def _module(args, version, module, Sout, Tout, platforms, function_list) -> Any:
    check_call(version, function_list)
    taken = tuple((tuple(a.shape), np.dtype(a.dtype)) for a in args)
    returned = tuple((dims, d.numpy) for dims, d in zip(Sout, Tout, strict=True))
    called = exported_module(module, version, tuple(platforms), taken, returned)
    return [list(called.call(*args))]


@xla(raw._FusedElementwise, raw._FusedReduction, raw._FusedRows, raw._FusedLayers, raw._FusedCell)
def _fused(inputs, body: Graph, evaluator) -> Any:
    return [evaluator.run(body, inputs)]


# -- branches --------------------------------------------------------------------------------


@xla(raw.If, raw.StatelessIf)
def _if(cond, input, then_branch: Graph, else_branch: Graph, evaluator) -> Any:
    if np.ndim(cond):
        return [evaluator.run(then_branch if np.size(cond) else else_branch, input)]
    if not is_traced(cond):
        return [evaluator.run(then_branch if cond else else_branch, input)]

    def choose(branches: Sequence[Callable[[], Any]]) -> Any:
        return lax.cond(jnp.not_equal(cond, np.zeros((), cond.dtype)), *branches)

    return [_branches(evaluator, (then_branch, else_branch), input, choose)]


@xla(raw.Case, raw.StatelessCase)
def _case(branch_index, input, branches, evaluator) -> Any:
    last = len(branches) - 1
    if not is_traced(branch_index):
        index = int(branch_index)
        return [evaluator.run(branches[index if 0 <= index <= last else last], input)]
    index = jnp.where((branch_index < 0) | (branch_index > last), last, branch_index)
    return [_branches(evaluator, branches, input, lambda fs: lax.switch(index, fs))]


def _branches(
    evaluator: Any,
    graphs: Sequence[Graph],
    inputs: Sequence[Any],
    choose: Callable[[Sequence[Callable[[], Any]]], Any],
) -> list[Any]:
    """The outputs of one of the graphs; the state is what that one makes of it."""
    forms, written = [], dict[Hashable, None]()
    for graph in graphs:
        outputs, keys = _tried(evaluator, graph, inputs)
        forms.append(outputs)
        written.update(keys)
    capacities = [_capacity(column) for column in zip(*forms, strict=True)]

    def branch(graph: Graph) -> Callable[[], Any]:
        def run() -> Any:
            inner = evaluator.within()
            outputs = inner.run(graph, inputs)
            values = [_uniform(v, c) for v, c in zip(outputs, capacities, strict=True)]
            return values, [jnp.asarray(inner.state.read(k)) for k in written]

        return run

    try:
        outputs, states = choose([branch(g) for g in graphs])
    except TypeError as e:
        raise Untraceable(f"its branches give values of different forms: {e}") from e
    for key, value in zip(written, states, strict=True):
        evaluator.state.take(key, value)
    return outputs


def _tried(
    evaluator: Any, graph: Graph, inputs: Sequence[Any]
) -> tuple[list[Any], dict[Hashable, None]]:
    """The forms of a graph's outputs, and what it writes; nothing of it becomes part of the program."""
    inner = evaluator.within()
    outputs = jax.eval_shape(lambda: _forms(inner.run(graph, inputs)))
    return outputs, inner.state.written


def _forms(values: Sequence[Any]) -> list[Any]:
    return [v if isinstance(v, (List, Variable)) else jnp.asarray(v) for v in values]


def _capacity(column: Sequence[Any]) -> Any:
    """The capacity that the lists of all branches get, and the form of their elements."""
    if not isinstance(column[0], List):
        return None
    dims = next((v.dims for v in column if v.buffer is not None), column[0].dims)
    return max([v.capacity for v in column]), dims


def _uniform(value: Any, capacity: Any) -> Any:
    if not isinstance(value, List):
        return value if isinstance(value, Variable) else jnp.asarray(value)
    size, dims = capacity
    if dims is not None and None not in dims and value.element.is_numpy_compatible:
        value = value.of_elements(dims)
    return value.reserved(size)


# -- loops -----------------------------------------------------------------------------------


@xla(raw.While, raw.StatelessWhile)
def _while(input, cond: Graph, body: Graph, evaluator) -> Any:
    counted = _counted(cond, body, input)
    if counted is not None and not counted[0]:
        return [list(input)]
    carried = [i for i, v in enumerate(body.outputs) if v is not body.inputs[i]]
    if any(isinstance(input[i], Variable) for i in carried):
        raise Untraceable("a loop changes which variable it works on")
    trips = counted[0] if counted else None
    try:
        results = _Loop(evaluator, cond, body, list(input), carried, trips).run()
    except Untraceable:
        if trips is None or trips * len(body.nodes) > MAX_UNROLLED_NODES:
            raise
        return [_unrolled(evaluator, body, list(input), trips)]
    for index, value in (counted[1] if counted else {}).items():
        results[index] = value
    return [results]


def _unrolled(evaluator: Any, body: Graph, values: list[Any], trips: int) -> list[Any]:
    """The iterations one after the other, for values that change their form: the counters are known."""
    for _ in range(trips):
        values = evaluator.run(body, values)
    return values


class _Loop:
    """A loop of a program. `carried` are the numbers of the loop variables that change."""

    def __init__(
        self,
        evaluator: Any,
        cond: Graph,
        body: Graph,
        inputs: list[Any],
        carried: list[int],
        trips: int | None,
    ) -> None:
        self.evaluator = evaluator
        self.cond = cond
        self.body = body
        self.inputs = inputs
        self.carried = carried
        self.trips = trips
        self.start = [
            v if isinstance(v, List) else jnp.asarray(v) for v in [inputs[i] for i in carried]
        ]
        self.written: tuple[Hashable, ...] = ()

    def run(self) -> list[Any]:
        """The values of the loop variables after the loop."""
        growth = self._stage_to_fixpoint()
        state = self.evaluator.state
        before = [jnp.asarray(state.read(k)) for k in self.written]
        try:
            values, states = lax.while_loop(
                lambda carry: self._condition(*carry),
                lambda carry: self._step(*carry),
                (self.start, before),
            )
        except TypeError as e:
            raise Untraceable(f"its values change their form: {e}") from e
        for key, value in zip(self.written, states, strict=True):
            state.take(key, value)
        results = list(self.inputs)
        for index, value, grown in zip(self.carried, values, growth, strict=True):
            results[index] = self._after(self.inputs[index], value, grown)
        return results

    def _after(self, before: Any, value: Any, grown: int) -> Any:
        """A list after the loop has a known size if it had one, and the iterations are known."""
        if not isinstance(value, List) or value.base is None or self.trips is None:
            return value
        return value.like(base=before.base, size=before.size + self.trips * grown)

    def _inputs(self, values: Sequence[Any]) -> list[Any]:
        inputs = list(self.inputs)
        for index, value in zip(self.carried, values, strict=True):
            inputs[index] = value
        return inputs

    def _within(self, states: Sequence[Any]) -> Any:
        inner = self.evaluator.within()
        inner.state.values.update(zip(self.written, states, strict=True))
        return inner

    def _condition(self, values: Sequence[Any], states: Sequence[Any]) -> Any:
        inner = self._within(states)
        result = jnp.asarray(inner.run(self.cond, self._inputs(values))[0]).reshape(())
        if FAILED not in self.written:
            return result
        return jnp.logical_and(result, inner.state.read(FAILED) == 0)

    def _step(self, values: Sequence[Any], states: Sequence[Any]) -> Any:
        inner = self._within(states)
        outputs = inner.run(self.body, self._inputs(values))
        results = [self._next(v, outputs[i]) for i, v in zip(self.carried, values, strict=True)]
        return results, [jnp.asarray(inner.state.read(k)) for k in self.written]

    @staticmethod
    def _next(before: Any, value: Any) -> Any:
        if not isinstance(value, List):
            return jnp.asarray(value)
        if before.base is None:
            return value
        return value.like(base=jnp.asarray(value.length, jnp.int32), size=0)

    def _stage_to_fixpoint(self) -> list[int]:
        """Gives the carried values the form that the body keeps; returns by how much lists grow."""
        for _ in range(MAX_FORMS):
            outputs = self._tried()
            results = [outputs[i] for i in self.carried]
            new = [self._formed(s, r) for s, r in zip(self.start, results, strict=True)]
            if all(a is b for a, b in zip(new, self.start, strict=True)):
                return [self._growth(s, r) for s, r in zip(self.start, results, strict=True)]
            self.start = new
        raise Untraceable("its values change their form with each iteration")

    def _tried(self) -> list[Any]:
        """The forms of the body's outputs; nothing of it becomes part of the program."""
        inner = self.evaluator.within()

        def once(start: list[Any]) -> list[Any]:
            return _forms(inner.run(self.body, self._inputs(start)))

        outputs = jax.eval_shape(once, self.start)
        self.written = tuple(inner.state.written)
        return outputs

    def _formed(self, start: Any, result: Any) -> Any:
        if not isinstance(start, List):
            if start.shape != result.shape:
                raise Untraceable(
                    f"a loop variable of shape {start.shape} becomes one of {result.shape}"
                )
            return start
        found = start
        if found.buffer is None and result.buffer is not None:
            found = found.of_elements(result.dims)
        if found.base is None and (result.base is not None or result.size != found.size):
            found = found.like(base=jnp.asarray(found.size, jnp.int32), size=0)
        capacity = self._capacity_of_loop(start, result)
        return found.reserved(capacity) if capacity > found.capacity else found

    def _capacity_of_loop(self, start: List, result: List) -> int:
        """The capacity that a list needs for all iterations."""
        grown = self._growth(start, result)
        if grown <= 0 or start.limit >= 0:
            return max(result.capacity, 0) if result.base is None else 0
        if self.trips is None:
            raise Untraceable(
                "a list grows in a loop whose number of iterations is known only when it runs: "
                "give TensorArray its size, or max_num_elements"
            )
        index = next(i for i, s in zip(self.carried, self.start, strict=True) if s is start)
        before = self.inputs[index]
        if before.base is not None:  # the outer loop has made room
            return 0
        return before.size + self.trips * grown

    @staticmethod
    def _growth(start: Any, result: Any) -> int:
        return result.size - start.size if isinstance(start, List) else 0


def _counted(
    cond: Graph, body: Graph, inputs: Sequence[Any]
) -> tuple[int, dict[int, np.ndarray]] | None:
    """The number of iterations and the last values of the counters, if they are known.

    Counters are the loop variables that the condition follows from. None if one is a tracer, or
    follows from one.
    """
    tested = _sources(cond, cond.outputs[:1])
    if tested is None:
        return None
    counters, left = set[int](), set(tested.inputs)
    while left:
        index = left.pop()
        counters.add(index)
        step = _sources(body, [body.outputs[index]])
        if step is None:
            return None
        left |= step.inputs - counters
    if not all([isinstance(inputs[i], (np.ndarray, np.generic)) for i in counters]):
        return None
    order = sorted(counters)
    advance = _sources(body, [body.outputs[i] for i in order])
    if advance is None:
        return None
    values = {i: np.asarray(inputs[i]) for i in order}
    trips = 0
    while bool(np.asarray(tested.run(values)[0])[()]):
        values = dict(zip(order, advance.run(values), strict=True))
        trips += 1
        if trips * (len(advance.nodes) + len(tested.nodes)) > MAX_COUNTED_STEPS:
            return None
    return trips, values


class _Part:
    """The nodes of a graph that some of its values follow from."""

    def __init__(self, graph: Graph, nodes: list[Any], wanted: Sequence[SymbolicTensor]) -> None:
        self.graph = graph
        self.nodes = nodes
        self.wanted = wanted
        numbers = {id(v): i for i, v in enumerate(graph.inputs)}
        used = [*wanted, *[v for n in nodes for v in n.inputs]]
        self.inputs = {numbers[id(v)] for v in used if id(v) in numbers}

    def run(self, inputs: dict[int, Any]) -> list[Any]:
        """The values for the graph's inputs by number."""
        found = {id(self.graph.inputs[i]): v for i, v in inputs.items()}
        for node in self.nodes:
            if node.op is raw.Const:
                found[id(node.outputs[0])] = node.attrs["value"]
                continue
            operands = [found[id(v)] for v in node.inputs]
            result = interpreter.call_kernel(node.op, operands, node.attrs, node)
            flat = [np.asarray(v) for v in interpreter.flat_result(node.op, result)]
            found.update(zip(map(id, node.outputs), flat, strict=True))
        return [found[id(v)] for v in self.wanted]


def _sources(graph: Graph, wanted: Sequence[SymbolicTensor]) -> _Part | None:
    """What values follow from; None where a node is no plain function of arrays."""
    inputs = {id(v) for v in graph.inputs}
    needed = {id(v) for v in wanted}
    nodes: list[Any] = []
    for node in reversed(graph.nodes):
        if not any(id(v) in needed and id(v) not in inputs for v in node.outputs):
            continue
        op = node.op
        plain = op is raw.Const or not (
            op.stateful or op.has_graphs or op.kernel_fn is None or kernels.services(op)
        )
        if not plain or any(not v.dtype.is_numpy_compatible for v in node.outputs):
            return None
        nodes.append(node)
        needed.update(id(v) for v in node.inputs)
    return _Part(graph, nodes[::-1], wanted)
