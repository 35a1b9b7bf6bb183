"""Elementwise ops of a native function: small values in registers, others by loop nests over
memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.ir.operand_shapes import refused
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.native.analysis.sizes import is_small
from intaglio.native.kernels.elementwise import MAX_CACHED_SHAPES, canonical_axes, strided_axes
from intaglio.native.kernels.loop_nest import LoopNest, Pattern, apply, evaluate, numbers_of
from intaglio.native.kernels.reroll import form
from intaglio.native.llvm import object_cache
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Lanes, Unsupported
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec

# The least instructions of a loop over few elements that is worth several threads.
MIN_PARALLEL_INSTRUCTIONS = 1 << 15


def elementwise(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """One op with a `scalar` rule."""
    if "scalar" not in node.op.rules or not all(isinstance(h, ArrayOperand) for h in inputs):
        raise Unsupported(node.op.name)
    shape = broadcast(inputs)
    dims = [h.shape for h in inputs]
    alike = all(s == shape for s in dims) or node.op.batching == "broadcast"
    if not alike and refused(node, dims):
        raise Unsupported(f"{node.op.name} of shapes that it refuses")
    if is_small(shape):
        return _small(w, shape, inputs, lambda s, args: [apply(s, node, args)])
    return loop(w, node.outputs, alone(node), inputs, shape)


def fused(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_FusedElementwise: the ops of a cluster (`passes/elementwise_fusion.py`)."""
    return carried_out(w, node.outputs, node.attrs["body"], inputs)


def carried_out(
    w: FunctionLowering,
    values: Sequence[SymbolicTensor | None],
    body: Graph,
    inputs: Sequence[ArrayOperand],
) -> list[ArrayOperand]:
    """The results of a graph of such ops, for the values of the node."""
    body, inputs = _viewed(body, inputs)
    shape = broadcast(inputs)
    if is_small(shape):
        return _small(w, shape, inputs, lambda s, args: evaluate(s, body, args))
    return loop(w, values, body, inputs, shape)


class View(NamedTuple):
    """A slice of a value in memory, as an operand of a loop; strides and offset are in elements."""

    source: ArrayOperand
    offset: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]


def _viewed(body: Graph, inputs: Sequence[ArrayOperand]) -> tuple[Graph, Sequence[Any]]:
    """The body without its views, and its operands: values and views of them."""
    graph, operands = _without_views(body)
    return graph, [inputs[i] if view is None else View(inputs[i], *view) for i, view in operands]


@memoized
def _without_views(body: Graph) -> tuple[Graph, list[tuple[int, Any]]]:
    """A body whose views are inputs; for each input the index of the old input, and the view if it
    is one."""
    numbers = {id(v): i for i, v in enumerate(body.inputs)}
    views = [n for n in body.nodes if n.op is raw._View]
    if not views:
        return body, [(i, None) for i in range(len(body.inputs))]
    taken = {id(v) for n in body.nodes if n.op is not raw._View for v in n.inputs}
    taken |= {id(v) for v in body.outputs}
    new = Rewriter(body)
    inputs: list[SymbolicTensor] = []
    operands: list[tuple[int, Any]] = []
    for node in body.nodes:
        if node.op is raw._View:
            spec = node.outputs[0].spec
            attrs = {"dtype": spec.dtype, "shape": spec.shape}
            placeholder = derived(node, [], op=raw.Placeholder, attrs=attrs)
            inputs += new.keep(node, placeholder).outputs
            view = node.attrs["offset"], node.attrs["strides"], node.attrs["shape"]
            operands.append((numbers[id(node.inputs[0])], view))
        elif node.outputs and id(node.outputs[0]) in numbers:
            if id(node.outputs[0]) in taken:
                new.keep(node)
                inputs += node.outputs
                operands.append((numbers[id(node.outputs[0])], None))
            else:
                new.drop(node)
        else:
            new.keep(node)
    return Graph(body.name, inputs, new.nodes, new.values(body.outputs)), operands


def broadcast(inputs: Sequence[Any]) -> tuple[int, ...]:
    """The shape of the result. Raises Unsupported for shapes that do not broadcast, or are empty."""
    try:
        shape = np.broadcast_shapes(*[h.shape for h in inputs])
    except ValueError:
        raise Unsupported("shapes that do not fit together") from None
    if 0 in shape:
        raise Unsupported("no elements")
    return shape


def _small(
    w: FunctionLowering,
    shape: tuple[int, ...],
    inputs: Sequence[ArrayOperand],
    write: Callable[[Any, Sequence[Lanes]], list[Lanes]],
) -> list[ArrayOperand]:
    args = [w.broadcast_lanes(h, shape) for h in inputs]
    s = w.builder(int(np.prod(shape)))
    return [w.in_registers(lanes, shape) for lanes in write(s, args)]


def alone(node: Node) -> Graph:
    """A graph of one node."""
    found = [
        Node(
            raw.Placeholder, (), {"dtype": v.dtype, "shape": v.dims}, f"input_{i}", [v.spec.like()]
        ).outputs[0]
        for i, v in enumerate(node.inputs)
    ]
    result = derived(node, found)
    return Graph(node.name, found, [*[v.node for v in found], result], result.outputs)


def loop(
    w: FunctionLowering,
    values: Sequence[SymbolicTensor | None],
    body: Graph,
    inputs: Sequence[Any],
    shape: tuple[int, ...],
) -> list[ArrayOperand]:
    """A loop nest over memory: a function of its own, which equal loop nests share."""
    pattern, dims, strides, starts = _operands(w, inputs)
    numbers = numbers_of(body)
    nest = _nest(body, pattern, numbers)
    name = named(w, "loop", nest.code)
    # A loop over elements may overwrite its input, if that is dead afterwards.
    pointers = [*starts, *w.numbers(numbers)]
    results: list[ArrayOperand] = []
    for value, result in zip(values, body.outputs, strict=True):
        results.append(w.allocate(value, w.kind(result), shape))
    count = int(np.prod(dims))
    if (
        count >= entry.MIN_PARALLEL_ELEMENTS
        or count // nest.lanes * nest.cost >= MIN_PARALLEL_INSTRUCTIONS
    ):
        name = shared(w, name, nest.unit)
        w.long = True
    w.call_function(name, pointers, [h.pointer for h in results], [*dims, *strides])
    w.how = "one loop"
    return results


def _operands(
    w: FunctionLowering, inputs: Sequence[Any]
) -> tuple[Pattern, tuple[int, ...], list[int], list[str]]:
    """The loops over some operands, the strides of views in them, and pointers to all operands.

    Raises Unsupported if the innermost loop would be over strided elements of a view.
    """
    forms = [h.shape for h in inputs]
    if not any(isinstance(h, View) for h in inputs):
        return *canonical_axes(forms), [], [w.pointer(h) for h in inputs]
    explicit = [h.strides if isinstance(h, View) else None for h in inputs]
    pattern, dims, strides = strided_axes(forms, explicit)
    if any(step > 1 for step in strides[pattern.rank - 1 :: pattern.rank]):
        raise Unsupported("a view whose elements are apart")
    pointers = [
        w.within(w.pointer(h.source), h.offset * h.source.kind.bytes)
        if isinstance(h, View)
        else w.pointer(h)
        for h in inputs
    ]
    return pattern, dims, strides, pointers


def add_to(w: FunctionLowering, dtype: DType, pointer: str, added: str, count: int | str) -> None:
    """Adds numbers of a dtype to those at a pointer; their count may be a run-time value."""
    spec = Spec(dtype, (None,))
    attrs = {"dtype": spec.dtype, "shape": spec.shape}
    x, y = (Node(raw.Placeholder, (), attrs, name, [spec]).outputs[0] for name in "xy")
    total = Node(raw.AddV2, [x, y], {}, "sum", [spec])
    body = Graph("sum", [x, y], [x.node, y.node, total], total.outputs)
    pattern = Pattern(1, ((True,), (True,)))
    name = named(w, "loop", LoopNest(body, pattern, "loop").write())
    w.call_over(name, [pointer, added], [pointer], count)
    w.how = "one loop"


def named(w: FunctionLowering, prefix: str, code: Any) -> str:
    """The name of a function in the module, which has each function once."""
    if code.name == prefix:  # an equal function may have another name already
        code.name = _name_of(code)
    w.functions.setdefault(code.name, code)
    return code.name


def _name_of(code: Code) -> str:
    """A name that is the same in all modules, and no other code's."""
    return f"{code.name}_{object_cache.name_of(code.text())[:16]}"


class _Nest(NamedTuple):
    """The code of a loop nest, without its graph."""

    code: Code
    lanes: int
    unit: int
    cost: int


_nests: dict[Any, _Nest] = {}


def _nest(body: Graph, pattern: Pattern, numbers: Sequence[Any]) -> _Nest:
    """The loop nest of a graph; graphs that differ in constants share it."""
    key = form(body, numbers)
    found = _nests.get((key, pattern)) if key is not None else None
    if found is None:
        nest = LoopNest(body, pattern, "loop", numbers)
        found = _Nest(nest.write(), nest.lanes, nest.unit, nest.cost)
        found.code.name = _name_of(found.code)
        if key is not None:
            if len(_nests) >= MAX_CACHED_SHAPES:
                _nests.clear()
            _nests[key, pattern] = found
    return found


def shared(w: FunctionLowering, name: str, unit: int) -> str:
    """The name of the function that runs a function of the module on all threads."""
    return w.on_all_threads(name, unit)
