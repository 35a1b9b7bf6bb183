"""Reverse-mode gradients of loops: values of each iteration are stacked, a backward loop pops them.

The forward loop pushes the values that an iteration's gradient needs onto lists, and counts its iterations.
The backward loop has the same trip count, pops the lists and carries the gradients of the loop variables.
Loop-invariant values are passed directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.autodiff.backward import gradient_of
from intaglio.autodiff.derivative import Backward, Derivative, derivative_of, gradient_spec
from intaglio.autodiff.plan import filled_like, trainable
from intaglio.autodiff.replay import replay
from intaglio.autodiff.surgery import Draft, extend, insert_before
from intaglio.base.dtypes import int32, variant
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.keys import key
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.trace.graph import record

COUNTER = "_trip_count"  # the attribute with the index of the output that counts the iterations
_LIST = Spec(variant, ())
_NUMBER = Spec(int32, ())


@gradient_of("loop")
def while_gradient(node: Node, wanted: tuple[int, ...], grads: Sequence[Any]) -> list[Any]:
    """The gradients of the inputs `wanted` of a recorded While."""
    body: Graph = node.attrs["body"]
    carried = _carried(body, wanted)
    derivative = derivative_of(body, carried)
    outs = [derivative.value(v) for v in body.outputs]
    backward = derivative.backward(
        [outs[j] for j in carried], frozenset(range(len(carried))), dense=True
    )
    fixed, stacked = _sorted_needs(node, derivative, outs, backward)
    lists = _lists(node, derivative, outs, stacked)
    trip_count = node.outputs[node.attrs[COUNTER]]
    start = [_start(node.outputs[j], grads[j]) for j in carried]
    ends = _backward_loop(trip_count, lists, stacked, fixed, start, backward)
    return [ends[carried.index(j)] for j in wanted]


def _carried(body: Graph, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The loop variables that depend on the wanted ones after any number of iterations."""
    reached = set(wanted)
    while True:
        derivative = derivative_of(body, tuple(sorted(reached)))
        watched = derivative.tape.watched
        grown = reached | {
            j
            for j, v in enumerate(body.outputs)
            if trainable(v) and key(derivative.value(v)) in watched
        }
        if grown == reached:
            return tuple(sorted(reached))
        reached = grown


def _sorted_needs(
    node: Node, derivative: Derivative, outs: Sequence[SymbolicTensor], backward: Backward
) -> tuple[dict[int, Tensor], list[SymbolicTensor]]:
    """The loop-invariant needs (by id), and those that have to be stacked."""
    fixed: dict[int, Tensor] = {}
    stacked: list[SymbolicTensor] = []
    for need in backward.needs:
        index = derivative.input_numbers.get(id(need))
        if index is not None and outs[index] is derivative.inputs[index]:
            fixed[id(need)] = node.inputs[index]
        elif derivative.owns(need):
            stacked.append(need)  # type: ignore[arg-type]  # a value of the forward graph
        else:
            fixed[id(need)] = need
    return fixed, stacked


def _start(output: SymbolicTensor, gradient: Any) -> Tensor:
    """The initial value of a gradient that the backward loop carries: zeros if the final value is unused."""
    if gradient is not None:
        return convert.to_tensor(gradient)
    return filled_like(gradient_spec(output), 0)


# -- the forward loop ----------------------------------------------------------------


def _lists(
    node: Node,
    derivative: Derivative,
    outs: Sequence[SymbolicTensor],
    stacked: Sequence[SymbolicTensor],
) -> list[SymbolicTensor]:
    """The loop's outputs that are the lists of stacked values; lists that it lacks are added."""
    have: dict[int, int] = {}
    for j, out in enumerate(outs):
        push = out.node
        if push.op is raw.TensorListPushBack and push.inputs[0] is derivative.inputs[j]:
            have[id(push.inputs[1])] = j
    missing = [v for v in stacked if id(v) not in have]
    first = len(node.outputs) + (COUNTER not in node.attrs)
    _stack(node, derivative, outs, missing)
    have.update({id(v): first + i for i, v in enumerate(missing)})
    return [node.outputs[have[id(v)]] for v in stacked]


def _stack(
    node: Node,
    derivative: Derivative,
    outs: Sequence[SymbolicTensor],
    stacked: Sequence[SymbolicTensor],
) -> None:
    """Changes the recorded loop to count its iterations and push these values onto lists."""
    counts = COUNTER not in node.attrs
    if not stacked and not counts:
        return
    n = len(node.outputs)
    body = Draft(derivative.nodes, derivative)
    inputs, outputs = list(derivative.inputs), list(outs)
    if counts:
        iteration = body.placeholder(_NUMBER, "iteration")
        one = body.constant(np.asarray(1, np.int32), _NUMBER, "one")
        inputs.append(iteration)
        outputs += body.node(raw.AddV2, [iteration, one], {}, "next_turn")
    for value in stacked:
        handle = body.placeholder(_LIST, "list")
        inputs.append(handle)
        outputs += body.node(
            raw.TensorListPushBack, [handle, value], {}, raw.TensorListPushBack.name
        )
    specs = [*[_NUMBER] * counts, *[_LIST] * len(stacked)]
    name = node.attrs["body"].name
    attrs: dict[str, Any] = {
        "body": body.graph(name, inputs, outputs),
        "cond": _with_inputs(node.attrs["cond"], specs),
    }
    if counts:
        attrs[COUNTER] = n
    extend(node, attrs, specs, _initial(node, counts, stacked))


def _with_inputs(graph: Graph, specs: Sequence[Spec]) -> Graph:
    """The condition with further loop variables, which it does not use."""
    draft = Draft(graph.nodes, graph)
    more = [draft.placeholder(s, "unused") for s in specs]
    return draft.graph(graph.name, [*graph.inputs, *more], graph.outputs)


def _initial(node: Node, counts: bool, stacked: Sequence[SymbolicTensor]) -> list[SymbolicTensor]:
    """The initial values of the counter and the lists, as nodes before the loop."""
    draft = Draft(())
    initial: list[SymbolicTensor] = []
    base = node.name
    if counts:
        zero = np.asarray(0, np.int32)
        initial.append(draft.constant(zero, Spec(int32, (), zero), f"{base}/trip_count"))
    if not stacked:
        insert_before(node, draft.nodes)
        return initial
    limit = np.asarray(-1, np.int32)
    most = draft.constant(limit, Spec(int32, (), limit), f"{base}/max_num_elements")
    for value in stacked:
        form = element_form(value.spec)
        shape = draft.constant(form, Spec(int32, form.shape, form), f"{base}/element_shape")
        attrs = {"element_dtype": value.dtype}
        initial += draft.node(raw.EmptyTensorList, [shape, most], attrs, f"{base}/EmptyTensorList")
    insert_before(node, draft.nodes)
    return initial


# -- the backward loop ---------------------------------------------------------------


def _backward_loop(
    trip_count: Tensor,
    lists: Sequence[Tensor],
    stacked: Sequence[SymbolicTensor],
    fixed: dict[int, Tensor],
    start: Sequence[Tensor],
    backward: Backward,
) -> list[Tensor]:
    """Runs the backward graph once for each iteration, last iteration first."""
    loop = [trip_count, *lists, *fixed.values(), *start]
    first, second = 1 + len(lists), 1 + len(lists) + len(fixed)
    indices = {id(v): i for i, v in enumerate(stacked)}
    kept = {number: i for i, number in enumerate(fixed)}

    def body(*state: Tensor) -> list[Tensor]:
        handles: list[Tensor] = []
        popped: list[Tensor] = []
        for handle, value in zip(state[1:first], stacked, strict=True):
            rest, item = raw.TensorListPopBack(
                handle, element_form(value.spec), element_dtype=value.dtype
            )
            item.spec = Spec(value.dtype, value.dims)
            handles.append(rest)
            popped.append(item)
        constant = state[first:second]
        needs = [
            popped[indices[id(n)]] if id(n) in indices else constant[kept[id(n)]]
            for n in backward.needs
        ]
        found = replay(backward.graph, [*state[second:], *needs])
        return [raw.Sub(state[0], 1), *handles, *constant, *found]

    def more(*state: Tensor) -> list[Tensor]:
        return [raw.Greater(state[0], 0)]

    graphs = [
        _recorded(function, f"{backward.graph.name}_{part}", loop)
        for function, part in ((more, "cond"), (body, "body"))
    ]
    op = raw.While if any(g.stateful for g in graphs) else raw.StatelessWhile
    attrs = {
        **op.defaults,
        "cond": graphs[0],
        "body": graphs[1],
        "T": tuple([t.dtype for t in loop]),
    }
    outputs = door.carry_out(op, loop, attrs, None)
    return list(outputs[second:])


def _recorded(function: Any, name: str, state: Sequence[Any]) -> Graph:
    """A condition or body as a recorded graph, with the specs of resources' contents."""
    specs = [(t.dtype, t.dims, f"state_{i}") for i, t in enumerate(state)]

    def with_contents(*tensors: Any) -> Any:
        for placeholder, tensor in zip(tensors, state, strict=True):
            known = _resource_spec(tensor)
            if known is not None:
                placeholder.spec = known
        return function(*tensors)

    graph, result = record(with_contents, name, specs)
    graph.outputs = [v if v.graph is graph else graph.capture(v) for v in result]
    return graph.freeze_function()


def _resource_spec(tensor: Any) -> Spec | None:
    """The spec of a resource, with the spec of its contents; None for other tensors."""
    spec = getattr(tensor, "spec", None)
    if spec is not None and isinstance(spec.value, Spec):
        return spec
    return None
