"""Branches, loops and calls: ONNX' If and Loop, whose graphs see the values of those around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from intaglio.base.shapes import Dims
from intaglio.export.onnx import types
from intaglio.export.onnx.builder import BOOL, INT64, Builder
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import (
    Operand,
    Unexportable,
    Value,
    Variable,
    dims_of,
    is_complex,
    is_known,
)
from intaglio.ir.graph import Graph
from intaglio.opdef import raw


def value_info(value: Value, dims: Dims = None) -> onnx.ValueInfoProto:
    """The declaration of a value: its type, and its shape as far as it is known."""
    kind = helper.make_tensor_type_proto(types.element_type(value.dtype), dims)
    if value.is_sequence:
        kind = helper.make_sequence_type_proto(
            helper.make_tensor_type_proto(types.element_type(value.dtype), None)
        )
    return helper.make_value_info(value.name, kind)


def _graph(builder: Builder, name: str, inputs: Sequence[Any], outputs: Sequence[Value]) -> Any:
    declared = [value_info(v, None if v.is_sequence else v.dims) for v in outputs]
    return helper.make_graph(builder.nodes, builder.model.name(name), list(inputs), declared)


def _returned(builder: Builder, operand: Operand) -> Value:
    """A result of a branch or body: a value that a node of its own graph makes."""
    if isinstance(operand, Variable):
        raise Unexportable("a branch or body that returns the handle of a variable")
    if is_complex(operand):
        raise Unexportable("a branch or body that returns complex numbers")
    if isinstance(operand, Value) and any(operand.name in n.output for n in builder.nodes):
        return operand
    value = builder.add("Identity", operand, dtype=operand.dtype, dims=dims_of(operand))
    return value._replace(is_sequence=getattr(operand, "is_sequence", False))


# -- calls and branches ------------------------------------------------------------------------


@onnx_rule(raw.PartitionedCall, raw.StatefulPartitionedCall)
def _call(lowering, args, f: Graph) -> Any:
    return [lowering.run(f, args)]


def holds(builder: Builder, condition: Operand) -> Operand:
    """A condition as a bool: numbers but 0 hold, and arrays with elements."""
    dims = dims_of(condition)
    if dims != () and dims is not None:
        size = builder.add("Size", condition, dtype=INT64)
        return builder.add("Greater", size, np.array(0), dtype=BOOL)
    if np.dtype(condition.dtype) == BOOL:
        return condition
    zero = builder.scalar(0, condition)
    return builder.add("Not", builder.add("Equal", condition, zero, dtype=BOOL))


def _chosen(
    lowering: Any, condition: Operand, branches: Sequence[Callable[[Any], Sequence[Operand]]]
) -> list[Value]:
    graphs: list[Any] = []
    results: list[list[Value]] = []
    for branch, name in zip(branches, ("then", "else"), strict=True):
        inner = lowering.within()
        results.append([_returned(inner.builder, v) for v in branch(inner)])
        graphs.append(_graph(inner.builder, name, [], results[-1]))
    outputs: list[Value] = []
    for one, other in zip(*results, strict=True):
        alike = one.dims if one.dims == other.dims else None
        name = lowering.builder.model.name(lowering.builder.label)
        outputs.append(Value(name, one.dtype, alike, one.is_sequence))
    names = [v.name for v in outputs]
    condition_name = lowering.builder.name_of(condition)
    chosen = {"then_branch": graphs[0], "else_branch": graphs[1]}
    if outputs:
        lowering.builder.node("If", [condition_name], names, **chosen)
    return outputs


@onnx_rule(raw.If, raw.StatelessIf)
def _if(lowering, builder, cond, input, then_branch: Graph, else_branch: Graph) -> Any:
    if is_known(cond):
        taken = bool(np.size(cond)) if np.ndim(cond) else bool(cond)
        return [lowering.run(then_branch if taken else else_branch, input)]

    def run(graph: Graph) -> Callable[[Any], Sequence[Operand]]:
        return lambda inner: inner.run(graph, input)

    branches = (run(then_branch), run(else_branch))
    return [_chosen(lowering, holds(builder, cond), branches)]


@onnx_rule(raw.Case, raw.StatelessCase)
def _case(lowering, branch_index, input, branches) -> Any:
    last = len(branches) - 1
    if is_known(branch_index):
        index = int(branch_index)
        return [lowering.run(branches[index if 0 <= index <= last else last], input)]

    def choose(inner: Any, number: int) -> Sequence[Operand]:
        if number == last:
            return inner.run(branches[last], input)
        builder = inner.builder
        here = builder.add("Equal", branch_index, builder.scalar(number, branch_index), dtype=BOOL)
        taken = (lambda i: i.run(branches[number], input), lambda i: choose(i, number + 1))
        return _chosen(inner, here, taken)

    return [[*choose(lowering, 0)]]


# -- loops -------------------------------------------------------------------------------------


@onnx_rule(raw.While, raw.StatelessWhile)
def _while(lowering, builder, input, cond: Graph, body: Graph) -> Any:
    # What the body returns as it got it is not carried: the body sees it where it is.
    carried = [
        i
        for i, (argument, result) in enumerate(zip(body.inputs, body.outputs, strict=True))
        if result is not argument
    ]
    if any(isinstance(input[i], Variable) for i in carried):
        raise Unexportable("a loop that changes the handle of a variable")
    if any(is_complex(input[i]) for i in carried):
        raise Unexportable("a loop that carries complex numbers")
    inner = lowering.within()
    model = builder.model
    formals: list[Value] = []
    for i in carried:
        start, dims = input[i], _lasting(input[i], body.outputs[i].dims)
        sequence = getattr(start, "is_sequence", False)
        formals.append(Value(model.name("carried"), np.dtype(start.dtype), dims, sequence))
    values = list(input)
    for i, place in zip(carried, formals, strict=True):
        values[i] = place
    following = inner.run(body, values)
    results = [_returned(inner.builder, following[i]) for i in carried]
    for i, result in zip(carried, results, strict=True):
        following[i] = result
    again = holds(inner.builder, inner.run(cond, following)[0])
    again = _returned(inner.builder, again)
    # An iteration's number is a tensor of one element in a body's declaration.
    number = Value(model.name("iteration"), INT64, ())
    goes_on = Value(model.name("condition"), BOOL, ())
    inputs = [value_info(v, v.dims) for v in (number, goes_on, *formals)]
    results = [r._replace(dims=p.dims) for r, p in zip(results, formals, strict=True)]
    graph = _graph(inner.builder, "body", inputs, [again._replace(dims=()), *results])
    first = holds(builder, lowering.run(cond, input)[0])
    operands = ["", builder.name_of(first), *[builder.name_of(input[i]) for i in carried]]
    outputs = [p._replace(name=model.name(builder.label)) for p in formals]
    found = list(input)
    if carried:
        builder.node("Loop", operands, [v.name for v in outputs], body=graph)
    for i, output in zip(carried, outputs, strict=True):
        found[i] = output
    return [found]


def _lasting(start: Operand, after: Dims) -> Dims:
    """What is known of the shape of a carried value in all iterations."""
    dims = dims_of(start)
    if dims is None or after is None or len(dims) != len(after):
        return None
    return tuple([a if a == b else None for a, b in zip(dims, after, strict=True)])
