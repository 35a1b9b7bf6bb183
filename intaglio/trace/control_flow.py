"""Branches and loops as graphs: what `tf.cond` and `tf.while_loop` record.

Follows https://www.tensorflow.org/api_docs/python/tf/cond and
https://www.tensorflow.org/api_docs/python/tf/while_loop.

Each branch or body is traced into a FuncGraph of its own. What it uses of the outside is
captured; all graphs of one op take the same captures in the same order, as its last inputs,
and a loop's body passes them on unchanged.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import errors, nest, shapes
from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import bool_, int32, int64, resource
from intaglio.base.shapes import Dims, TensorShape, as_dims
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import FuncGraph

_numbers = itertools.count()


def recording() -> Any:
    """The graph being recorded, or None where ops run eagerly."""
    here = door.level()
    return None if here.eager else getattr(here, "graph", None)


# -- branches ----------------------------------------------------------------------------


def cond(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None
) -> Any:
    """Records an If; returns what the branches return, as tensors.

    Raises TypeError or ValueError if the branches' results differ in structure or dtype.
    """
    label = name or "cond"
    pred = convert.to_tensor(pred)
    graphs = [
        trace_branch(fn, f"{label}_{kind}_{next(_numbers)}")
        for fn, kind in ((true_fn, "true"), (false_fn, "false"))
    ]
    _check_alike(graphs, ("true_fn", "false_fn"), "cond")
    return choose(pred, graphs, label)


def choose(pred: Tensor, graphs: Sequence[FuncGraph], label: str) -> Any:
    """Records an If on two branches whose outputs are alike; returns its outputs."""
    pred = as_scalar(pred)
    inputs = share_captures(graphs)
    frozen = [g.freeze_function() for g in graphs]
    op = raw.If if any(f.stateful for f in frozen) else raw.StatelessIf
    outputs = op(
        pred,
        inputs,
        then_branch=frozen[0],
        else_branch=frozen[1],
        Tout=[v.dtype for v in frozen[0].outputs],
        name=label,
    )
    return _structured(graphs[0], outputs, label)


def as_scalar(condition: Tensor) -> Tensor:
    """A condition of one element as a scalar; the graph refuses others when it runs.

    Raises InvalidArgumentError if it surely has another number of elements.
    """
    if condition.dims == ():
        return condition
    if any(d not in (1, None) for d in condition.dims or ()):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"A condition is a scalar, not of shape {condition.shape}: say which element "
            "decides, or take tf.reduce_all or tf.reduce_any of it.",
        )
    return raw.Reshape(condition, [])


def switch(index: Any, branches: Sequence[Callable[[], Any]], name: str | None = None) -> Any:
    """Records a Case; an index out of range takes the last branch."""
    label = name or "indexed_case"
    graphs = [
        trace_branch(fn, f"{label}_branch{i}_{next(_numbers)}") for i, fn in enumerate(branches)
    ]
    _check_alike(graphs, [f"branches[{i}]" for i in range(len(graphs))], "switch_case")
    inputs = share_captures(graphs)
    frozen = [g.freeze_function() for g in graphs]
    op = raw.Case if any(f.stateful for f in frozen) else raw.StatelessCase
    outputs = op(
        convert.to_tensor(index, int32),
        inputs,
        branches=frozen,
        Tout=[v.dtype for v in frozen[0].outputs],
        name=label,
    )
    return _structured(graphs[0], outputs, label)


def trace_branch(function: Callable[[], Any], name: str) -> FuncGraph:
    """The graph of a branch; its `structured_outputs` hold what the function returned."""
    graph = new_graph(name)
    with graph.as_default():
        set_outputs(graph, function())
    hand_on_variables(graph)
    return graph


def branch_graph(label: str, kind: str) -> FuncGraph:
    """A graph for a branch that the caller records; `set_outputs` completes it."""
    return new_graph(f"{label}_{kind}_{next(_numbers)}")


def set_outputs(graph: FuncGraph, result: Any) -> None:
    """Sets the outputs of a branch's graph, which is being recorded, to the branch's result."""
    result = nest.map_structure(_as_output, result)
    graph.structured_outputs = result
    flat = nest.flatten(result, expand_composites=True)
    graph.outputs = [raw.Identity(_inside(v)) for v in flat if isinstance(v, Tensor)]


def new_graph(name: str) -> FuncGraph:
    """A graph for a part of the one being recorded, which has the collections in common with it."""
    graph = FuncGraph(name.replace("/", "_"))
    outer: Any = recording()
    graph.seed = getattr(outer, "seed", None)
    if outer is not None:
        graph._collections = outer._collections
    return graph


def hand_on_variables(graph: FuncGraph) -> None:
    """Notes in the outer graph the variables that the inner one uses, and notifies the outer tapes."""
    for watcher in door.level().watchers:
        for variable in graph.variables:
            watcher.watch_variable(variable)
    outer = recording()
    if outer is not None and outer.building_function:
        for variable in graph.variables:
            outer.watch_variable(variable)


def _as_output(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Node):  # an operation has no result: a constant depends on it
        return convert.to_tensor(True)
    return value if is_composite(value) else _inside(convert.to_tensor(value))


def is_composite(value: Any) -> bool:
    """True for composite values, which branches and loops return as such.

    Variables are composite too, but a branch that returns one returns its tensor.
    """
    if isinstance(value, TensorInParts):
        return True
    return nest.composite_spec(value) is not None and not hasattr(value, "__tf_tensor__")


def _inside(value: Tensor) -> SymbolicTensor:
    """A tensor as a value of the graph being recorded."""
    graph = recording()
    if isinstance(value, SymbolicTensor) and value.graph is graph:
        return value
    return graph.capture(value)


def _check_alike(graphs: Sequence[FuncGraph], names: Sequence[str], kind: str) -> None:
    """Raises TypeError or ValueError unless all branches return the same."""
    _widen_indices(graphs)
    first = graphs[0]
    for graph, name in zip(graphs[1:], names[1:], strict=True):
        if (first.structured_outputs is None) != (graph.structured_outputs is None):
            raise ValueError(
                f"Lengths of branch outputs of {kind} must match.\nlen(graphs[0].outputs): {len(first.outputs)}\n"
                f"len(graphs[{graphs.index(graph)}].outputs): {len(graph.outputs)}\n"
            )
        try:
            nest.assert_same_structure(
                first.structured_outputs, graph.structured_outputs, True, True
            )
            for a, b in zip(first.outputs, graph.outputs, strict=True):
                if a.dtype is not b.dtype:
                    raise TypeError(f"{a} and {b} have different types")
        except (ValueError, TypeError) as e:
            raise TypeError(
                f"{names[0]} and {name} arguments to tf.{kind} must have the same number, type, and overall structure "
                f"of return values.\n\n{names[0]} output: {first.structured_outputs}\n{name} output: "
                f"{graph.structured_outputs}\n\nError details:\n{e}"
            ) from None


def _widen_indices(graphs: Sequence[FuncGraph]) -> None:
    """Slices that have int32 indices in one branch and int64 ones in another get int64."""
    columns = zip(*[nest.flatten(g.structured_outputs) for g in graphs], strict=False)
    slices = [c for c in columns if all(isinstance(v, IndexedSlices) for v in c)]
    if all(len({v.indices.dtype for v in column}) == 1 for column in slices):
        return

    def wide(value: Any) -> Any:
        if not isinstance(value, IndexedSlices):
            return value
        indices = raw.Cast(value.indices, DstT=int64)
        return IndexedSlices(value.values, indices, value.dense_shape)

    for graph in graphs:
        with graph.as_default():
            set_outputs(graph, nest.map_structure(wide, graph.structured_outputs))


def share_captures(graphs: Sequence[FuncGraph], keep: int = 0) -> list[Tensor]:
    """Gives all graphs the same captures, in the same order, behind their first `keep` inputs."""
    outside: dict[int, Tensor] = {}
    for graph in graphs:
        for outer, _ in graph.captures:
            outside.setdefault(id(outer), outer)
    for graph in graphs:
        own = {id(outer): inner for outer, inner in graph.captures}
        inputs = graph.inputs[:keep]
        for number, outer in outside.items():
            inner = own.get(number)
            inputs.append(_stand_in(graph, outer) if inner is None else inner)
        graph.inputs = inputs
    return list(outside.values())


def _stand_in(graph: FuncGraph, outer: Tensor) -> SymbolicTensor:
    """A placeholder for a capture that this graph does not use."""
    return graph.placeholder(outer.dtype, outer.dims, "unused", contents_of(outer))


def contents_of(tensor: Any) -> Any:
    """The Spec of a resource's contents as far as it is known, or None."""
    if tensor.dtype is not resource:
        return None
    if isinstance(tensor, SymbolicTensor):
        return tensor.spec.value
    return getattr(tensor._array, "spec", None)


def _structured(graph: FuncGraph, outputs: Sequence[Tensor], label: str) -> Any:
    """The op's outputs in the structure of what a branch returned."""
    results = [raw.Identity(v, name=f"{label}/Identity") for v in outputs]
    if not results:
        return graph.structured_outputs
    source = iter(results)
    flat = [
        next(source) if isinstance(v, Tensor) else v
        for v in nest.flatten(graph.structured_outputs, expand_composites=True)
    ]
    return nest.pack_sequence_as(graph.structured_outputs, flat, expand_composites=True)


# -- loops -------------------------------------------------------------------------------


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    maximum_iterations: Any = None,
    parallel_iterations: int = 10,
    name: str | None = None,
) -> Any:
    """Records a While; returns the loop variables as they are after the last iteration.

    Raises TypeError or ValueError if the body changes the structure, a dtype or a shape.
    """
    label = name or "while"
    loop_vars = nest.map_structure(_as_variable, loop_vars)
    start = nest.flatten(loop_vars, expand_composites=True)
    form, allowed = _invariants(loop_vars, start, shape_invariants)
    counted = maximum_iterations is not None
    limit: Any = None
    if counted:
        limit = convert.to_tensor(maximum_iterations, int32)
        start, allowed = [convert.to_tensor(0), *start], [(), *allowed]

    def unpacked(state: Sequence[Tensor]) -> Any:
        return nest.pack_sequence_as(form, list(state[counted:]), expand_composites=True)

    def more(*state: Tensor) -> list[Tensor]:
        if not counted:
            return [_as_condition(cond(*unpacked(state)))]
        in_time = raw.Less(state[0], limit)
        condition = cond(*unpacked(state))
        if not isinstance(condition, Tensor):
            condition = convert.to_tensor(condition, bool_)
        return [raw.LogicalAnd(in_time, _as_condition(condition))]

    def iteration(*state: Tensor) -> list[Tensor]:
        following = _after_iteration(body(*unpacked(state)), loop_vars, start[counted:])
        return [raw.AddV2(state[0], 1), *following] if counted else following

    graphs = [
        _trace_part(fn, f"{label}_{part}_{next(_numbers)}", start, allowed)
        for fn, part in ((more, "cond"), (iteration, "body"))
    ]
    _check_shapes(graphs[1], start, allowed)
    extra = share_captures(graphs, len(start))
    graphs[1].outputs += graphs[1].inputs[len(start) :]
    frozen = [g.freeze_function() for g in graphs]
    op = raw.While if any(f.stateful for f in frozen) else raw.StatelessWhile
    outputs = op(
        [*start, *extra],
        cond=frozen[0],
        body=frozen[1],
        parallel_iterations=parallel_iterations,
        name=label,
    )
    return unpacked(outputs[: len(start)])


def _as_variable(value: Any) -> Any:
    return value if is_composite(value) else convert.to_tensor(value)


def _as_condition(value: Any) -> Tensor:
    tensor = convert.to_tensor(value)
    if tensor.dtype is not bool_:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The condition of a loop is a bool, not {tensor.dtype.name}: compare it with something.",
        )
    return as_scalar(tensor)


def _invariants(
    loop_vars: Any, start: Sequence[Tensor], shape_invariants: Any
) -> tuple[Any, list[Dims]]:
    """The structure of the loop variables in an iteration, and the shapes that they may take."""
    if shape_invariants is None:
        return loop_vars, [v.dims for v in start]
    invariants = nest.flatten_up_to(list(loop_vars), list(shape_invariants))
    pairs = [general_form(v, i) for v, i in zip(nest.flatten(loop_vars), invariants, strict=True)]
    form = nest.pack_sequence_as(loop_vars, [part for part, _ in pairs])
    flat = [shape for _, dims in pairs for shape in dims]
    allowed: list[Dims] = []
    for value, invariant in zip(start, flat, strict=True):
        dims = as_dims(invariant)
        if not shapes.is_subshape(value.dims, dims) and not shapes.compatible(value.dims, dims):
            raise ValueError(
                f"The shape invariant specified for {_label(value)} is not compatible with the initial shape of the "
                f"loop variable. It enters the loop with shape {shapes.text(value.dims)}, but the specified shape "
                f"invariant is {shapes.text(dims)}."
            )
        allowed.append(dims)
    return form, allowed


def general_form(value: Any, invariant: Any) -> tuple[Any, list[Any]]:
    """(the component of an iteration's structure for a loop variable, the shapes of its tensors).

    A composite is any value of the spec then: what it says of its own shape at the start may change.
    """
    convert_shape = getattr(value, "_shape_invariant_to_type_spec", None)
    if convert_shape is not None and not hasattr(invariant, "_component_specs"):
        invariant = convert_shape(TensorShape(as_dims(invariant)))
    if not hasattr(invariant, "_component_specs"):
        return value, [invariant]
    # A TensorArray has no shape that could change: the shape of its spec is that of its elements.
    form = value if convert_shape is None else invariant
    return form, [spec.shape for spec in invariant.flatten()]


def _trace_part(
    function: Callable[..., Any], name: str, start: Sequence[Tensor], allowed: Sequence[Dims]
) -> FuncGraph:
    graph = new_graph(name)
    with graph.as_default():
        inputs = [
            graph.placeholder(v.dtype, dims, "placeholder", contents_of(v))
            for v, dims in zip(start, allowed, strict=True)
        ]
        graph.inputs = list(inputs)
        graph.outputs = [_inside(v) for v in function(*inputs)]
    hand_on_variables(graph)
    return graph


def _after_iteration(result: Any, loop_vars: Any, start: Sequence[Tensor]) -> list[Tensor]:
    """What a body returned, as flat tensors. Raises ValueError or TypeError if it does not fit."""
    if not isinstance(result, (list, tuple)):
        result = [result]
    nest.assert_same_structure(list(result), list(loop_vars), False, True)
    values: list[Tensor] = []
    flat = nest.flatten(list(result), expand_composites=True)
    for value, before in zip(flat, start, strict=True):
        if value is None:
            raise ValueError(
                f"The body of a loop returned None for the loop variable {_label(before)}: return its next value."
            )
        tensor = convert.to_tensor(value, dtype_hint=before.dtype)
        if tensor.dtype is not before.dtype:
            named = _label(before)
            raise TypeError(
                f"Loop var {named} enters the loop with type {before.dtype!s} but has type {tensor.dtype!s} after 1 "
                f"iteration. {named} type should remain constant."
            )
        values.append(tensor)
    return values


def _check_shapes(body: FuncGraph, start: Sequence[Tensor], allowed: Sequence[Dims]) -> None:
    for before, dims, after in zip(start, allowed, body.outputs, strict=True):
        if not shapes.is_subshape(after.dims, dims):
            raise ValueError(
                f"Input tensor `{_label(before)}` enters the loop with shape {shapes.text(before.dims)}, but has shape "
                f"{shapes.text(after.dims)} after one iteration. To allow the shape to vary across iterations, use the "
                "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
            )


def _label(tensor: Any) -> str:
    return tensor.name if isinstance(tensor, SymbolicTensor) else repr(tensor)


__all__ = ["cond", "general_form", "recording", "switch", "trace_branch", "while_loop"]
