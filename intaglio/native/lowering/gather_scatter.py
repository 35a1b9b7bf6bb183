"""Gather and scatter: rows at dynamic indices; one-hot vectors.

Indices are first converted to row numbers, which also checks the bounds; where one is outside, a
guard fails, and the interpreter raises the error.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, Kind, Lanes, Unsupported
from intaglio.native.lowering import variables
from intaglio.native.lowering.data_movement import copied, zeroed
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.guards import all_below
from intaglio.native.lowering.half import as_single
from intaglio.native.lowering.index_maps import UNITS
from intaglio.native.lowering.operands import ArrayOperand, Variable, constant, takes
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw

WORD = Kind("i64", 64, "i")
# Numbers of rows that fit a vector.
LANES = jit.WIDTH // WORD.bytes


# -- numbers of rows ------------------------------------------------------------------------


def numbered(
    w: FunctionLowering,
    indices: ArrayOperand,
    lengths: Sequence[int],
    value: SymbolicTensor | None = None,
) -> ArrayOperand:
    """The row numbers (i64) of coordinates; a guard fails if one is out of bounds.

    The coordinates of a row are consecutive, one for each of `lengths`. `value` is the graph's
    value of the indices: it is checked once.
    """
    if indices.kind.letter not in "iu":
        raise Unsupported("indices that are no integers")
    key = (id(value), tuple(lengths))
    known = value is not None and key in w.checked_indices
    if value is not None and len(w.scopes) == 1:  # elsewhere the check need not dominate later uses
        w.checked_indices.add(key)
    if len(lengths) == 1 and indices.kind == WORD:
        if not known:
            w.guard(all_below(w, indices, lengths[0]))
        return indices
    dims = [indices.count // len(lengths), len(lengths), *lengths]
    depth = len(lengths)
    write = functools.partial(_numbering, depth)
    return _checked_indices(w, f"numbered_{depth}", write, indices, dims, not known)


@lowering(raw._CheckIndices)
def checked(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_CheckIndices: the guard of a later scatter."""
    (indices,) = inputs
    numbered(w, indices, node.attrs["lengths"], node.inputs[0])
    return []


def _checked_indices(
    w: FunctionLowering,
    name: str,
    write: Callable[[str, Kind], Code],
    indices: ArrayOperand,
    dims: Sequence[int],
    guarded: bool = True,
) -> ArrayOperand:
    """The row numbers that a function computes from `dims[0]` indices; guarded by its check of the
    bounds."""
    checked = ArrayOperand(WORD, (dims[0],), pointer=w.scratch(8 * dims[0]))
    name = w.kernel(name, write, indices.kind)
    wrong = w.scratch(8)
    w.call_function(name, [w.pointer(indices)], [checked.pointer, wrong], list(dims))
    if guarded:
        w.guard(w.code.integer("icmp eq", w.code.load("i64", wrong, 8), 0))
    return checked


def _beginning(name: str) -> tuple[Code, str, str, str]:
    """The start of such a function: its code, the indices, the target, and the pointer of the flag."""
    code = Code(name, entry.KERNEL, "internal void")
    target, answer = (code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in (0, 1))
    return code, code.load("ptr", "%ins", 8), target, answer


def _numbering(depth: int, name: str, kind: Kind) -> Code:
    """Vectors of rows, whose coordinates are deinterleaved in registers."""
    code, source, target, answer = _beginning(name)
    lengths = [code.load("i64", code.at("i64", "%dims", str(2 + i)), 8) for i in range(depth)]

    def number(start: str, stop: str, lanes: int, before: str) -> str:
        vector, memory = f"<{lanes} x i64>", VectorMemory(code, lanes)
        limits = [code.splat(lanes, "i64", length) for length in lengths]
        with code.carrying(start, stop, lanes, ("i1", before)) as state:
            at = code.at(kind.llvm, source, code.integer("mul", state.index, depth))
            wrong, row = state.values[0], ""
            for index, limit in zip(memory.read_apart(kind, at, depth), limits, strict=True):
                if kind.bits < 64:
                    word = "sext" if kind.letter == "i" else "zext"
                    index = code.let(f"{word} <{lanes} x {kind.llvm}> {index} to {vector}")
                outside = code.let(f"icmp uge {vector} {index}, {limit}")
                some = f"llvm.vector.reduce.or.v{lanes}i1"
                outside = code.call("i1", some, (f"<{lanes} x i1>", outside))
                wrong = code.let(f"or i1 {wrong}, {outside}")
                whole = row and code.let(f"mul {vector} {row}, {limit}")
                row = code.let(f"add {vector} {whole}, {index}") if whole else index
            code.do(f"store {vector} {row}, ptr {code.at('i64', target, state.index)}, align 8")
            state.following.append(wrong)
        return state.values[0]

    middle = _vector_loop_end(code, "0", "%to")
    wrong = number(middle, "%to", 1, number("0", middle, LANES, "false"))
    wide = code.let(f"zext i1 {wrong} to i64")
    code.do(f"store i64 {wide}, ptr {answer}, align 8")
    code.do("ret void")
    return code


def _vector_loop_end(code: Code, start: str, stop: str) -> str:
    """The bound of the vector loop, where the scalar remainder begins."""
    count = code.integer("sdiv", code.integer("sub", stop, start), LANES)
    return code.integer("add", start, code.integer("mul", count, LANES))


# -- taking -----------------------------------------------------------------------------------


def gathered(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """GatherV2 and Gather, along any axis, with batch dimensions."""
    source, indices = inputs[:2]
    axis, batch = 0, node.attrs.get("batch_dims", 0)
    if len(inputs) > 2:
        if inputs[2].known is None:
            raise Unsupported("a gather along an axis that is data")
        axis = int(inputs[2].known)
    rank = len(source.shape)
    axis, batch = axis % max(rank, 1), batch % (len(indices.shape) + 1) if batch < 0 else batch
    return [taken(w, node, source, indices, axis, batch)]


def taken(
    w: FunctionLowering,
    node: Node,
    source: ArrayOperand,
    indices: ArrayOperand,
    axis: int,
    batch: int,
) -> ArrayOperand:
    """The rows of a value at indices along an axis."""
    lead, middle, rest = (source.shape[:batch], source.shape[batch:axis], source.shape[axis + 1 :])
    shape = (*lead, *middle, *indices.shape[batch:], *rest)
    if not math.prod(shape) or not source.count or indices.shape[:batch] != lead:
        raise Unsupported(f"{node.op.name} of no elements")
    rows = numbered(w, indices, source.shape[axis : axis + 1], node.inputs[1])
    pointers = [w.pointer(source), w.pointer(rows)]
    result = w.allocate(node.outputs[0], source.kind, shape)
    size = math.prod(rest) * source.kind.bytes
    every, each = math.prod((*lead, *middle)), math.prod(indices.shape[batch:])
    dims = [every, math.prod(middle), each, source.shape[axis], size]
    flat = every == 1
    if flat:
        dims = [each, size]
    name = w.kernel("take", _taking, flat, size if size in UNITS else 0, source.kind.bytes)
    if result.count >= entry.MIN_PARALLEL_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    w.call_function(name, pointers, [result.pointer], dims)
    w.how = "gather"
    return result


def _taking(name: str, flat: bool, size: int, element: int) -> Code:
    """A kernel that copies rows, of a static size or of any."""
    code = Code(name, entry.KERNEL, "internal void")
    source, rows = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    target = code.load("ptr", "%outs", 8)
    names = ("every", "size") if flat else ("every", "middle", "each", "length", "size")
    dims = entry.load_dims(code, names)

    def copy(to: str, row_index: str, first: str) -> None:
        row = code.integer("add", code.load("i64", code.at("i64", rows, row_index), 8), first)
        here = code.at("i8", source, code.integer("mul", row, dims["size"]))
        there = code.at("i8", target, code.integer("mul", to, dims["size"]))
        move(code, here, there, dims["size"], size, element)

    def gather(to: str, row_index: str, first: str) -> None:
        kind, memory = Kind(f"i{8 * size}", 8 * size, "u"), VectorMemory(code, LANES)
        vector = f"<{LANES} x i64>"
        row = code.load(vector, code.at("i64", rows, row_index), 8)
        row = code.let(f"add {vector} {row}, {code.splat(LANES, 'i64', first)}")
        pointers = code.let(f"getelementptr {kind.llvm}, ptr {source}, {vector} {row}")
        found = memory.gather(kind, pointers, "splat (i1 true)")
        memory.write(kind, code.at(kind.llvm, target, to), found)

    def copies(start: str, stop: str, base: str, row_base: str, first: str) -> None:
        parts = [(start, stop, 1, copy)]
        if size == element and size in (4, 8):
            middle = _vector_loop_end(code, start, stop)
            parts = [(start, middle, LANES, gather), (middle, stop, 1, copy)]
        for begin, end, step, write in parts:
            with code.loop(begin, end, step) as j:
                write(code.integer("add", base, j), code.integer("add", row_base, j), first)

    if flat:
        copies("%from", "%to", "0", "0", "0")
    else:
        with code.loop("%from", "%to") as i:
            ahead = code.integer("mul", i, dims["each"])
            lead = code.integer("sdiv", i, dims["middle"])
            first = code.integer("mul", i, dims["length"])
            start = code.integer("mul", lead, dims["each"])
            copies("0", dims["each"], ahead, start, first)
    code.do("ret void")
    return code


def move(code: Code, here: str, there: str, bytes_: str, size: int, element: int) -> None:
    """Copies a row; one of few bytes in one instruction."""
    if size:
        whole = f"i{8 * size}"
        value = code.load(whole, here, element)
        code.do(f"store {whole} {value}, ptr {there}, align {element}")
    else:
        code.copy(there, here, bytes_)


def gathered_nd(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """GatherNd: a slice for each row of coordinates."""
    source, indices = inputs
    if not indices.shape or node.attrs["bad_indices_policy"] == "IGNORE":
        raise Unsupported("GatherNd that leaves indices out")
    depth = indices.shape[-1]
    rest = source.shape[depth:]
    if not depth or depth > len(source.shape) or not indices.count or not source.count:
        raise Unsupported("GatherNd of no elements")
    rows = numbered(w, indices, source.shape[:depth], node.inputs[1])
    flat = source.reshaped((math.prod(source.shape[:depth]), *rest))
    result = taken_rows(w, node, flat, rows)
    return [result.reshaped((*indices.shape[:-1], *rest))]


def taken_rows(
    w: FunctionLowering, node: Node, source: ArrayOperand, rows: ArrayOperand
) -> ArrayOperand:
    """Rows of the first axis, by row numbers within bounds."""
    rest = source.shape[1:]
    size = math.prod(rest) * source.kind.bytes
    pointers = [w.pointer(source), w.pointer(rows)]
    result = w.allocate(node.outputs[0], source.kind, (rows.count, *rest))
    name = w.kernel("take", _taking, True, size if size in UNITS else 0, source.kind.bytes)
    w.call_function(name, pointers, [result.pointer], [rows.count, size])
    w.how = "gather"
    return result


# -- writing ----------------------------------------------------------------------------------

# The combination of an element and its update, by the trait `combines`.
STEPS = {
    "update": lambda s, old, new: new,
    "add": lambda s, old, new: s.add(old, new),
    "sub": lambda s, old, new: s.sub(old, new),
    "mul": lambda s, old, new: s.mul(old, new),
    # NaN replaces nothing and is not replaced, as in TensorFlow.
    "max": lambda s, old, new: s.select(s.lt(old, new), new, old),
    "min": lambda s, old, new: s.select(s.lt(new, old), new, old),
    "div": lambda s, old, new: s.div(old, new),
    # Those of segments, which do not depend on the order and have NaN.
    "greatest": lambda s, old, new: s.greatest(old, new),
    "least": lambda s, old, new: s.least(old, new),
}
OF_SEGMENTS = {"max": "greatest", "min": "least"}


@lowering(
    raw.ScatterNdNonAliasingAdd,
    raw.TensorScatterAdd,
    raw.TensorScatterMax,
    raw.TensorScatterMin,
    raw.TensorScatterSub,
)
def scattered(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """TensorScatterUpdate and its siblings: a copy of the value, updated at rows of coordinates."""
    source, indices, updates = inputs
    rows = _rows(w, node, source.shape, indices, updates)
    pointers = [w.pointer(source), w.pointer(updates)]
    result = w.allocate(node.outputs[0], source.kind, source.shape)
    if result.pointer != pointers[0]:
        w.copy(pointers[0], result.pointer, result.bytes)
    _write_rows(w, node.op.combines, result, rows, updates, pointers[1])
    return [result]


RESOURCE_SCATTERS = (
    raw.ResourceScatterAdd,
    raw.ResourceScatterSub,
    raw.ResourceScatterMul,
    raw.ResourceScatterDiv,
    raw.ResourceScatterMin,
    raw.ResourceScatterMax,
    raw.ResourceScatterUpdate,
)
RESOURCE_SCATTERS_ND = (
    raw.ResourceScatterNdAdd,
    raw.ResourceScatterNdSub,
    raw.ResourceScatterNdMin,
    raw.ResourceScatterNdMax,
    raw.ResourceScatterNdUpdate,
)


@lowering(*RESOURCE_SCATTERS, *RESOURCE_SCATTERS_ND)
@takes(Variable)
def scattered_in_variable(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[Any]:
    """ResourceScatterAdd and its siblings, with rows of coordinates or of indices: in place."""
    variable, indices, updates = inputs
    table = variables.written(w, variable)
    if not all(isinstance(h, ArrayOperand) for h in (indices, updates)):
        raise Unsupported(f"{node.op.name} of lists")
    if node.op in RESOURCE_SCATTERS:
        indices = indices.reshaped((*indices.shape, 1))
    if updates.kind != table.kind or table.kind.letter == "c":
        raise Unsupported(f"{node.op.name} of {updates.kind.name}")
    if node.op.combines == "div" and table.kind.letter != "f":
        raise Unsupported(f"{node.op.name} of integers")
    if not indices.count or (not updates.shape and table.shape[indices.shape[-1] :]):
        raise Unsupported(f"{node.op.name} of no elements, or of one for whole rows")
    rows = _rows(w, node, table.shape, indices, updates)
    variables.write_in_place(w, variable)
    _write_rows(w, node.op.combines, table, rows, updates, w.pointer(updates))
    return []


def scattered_nd(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """ScatterNd: the updates added to zeros."""
    indices, updates, shape = inputs
    if shape.known is None:
        raise Unsupported("ScatterNd of a shape that is data")
    dims = tuple(shape.known.tolist())
    rows = _rows(w, node, dims, indices, updates)
    pointer = w.pointer(updates)
    result = w.allocate(node.outputs[0], updates.kind, dims)
    zeroed(w, result)
    step = "max" if updates.kind == BOOL else "add"
    _write_rows(w, step, result, rows, updates, pointer)
    return [result]


def _rows(
    w: FunctionLowering,
    node: Node,
    shape: tuple[int, ...],
    indices: ArrayOperand,
    updates: ArrayOperand,
) -> ArrayOperand:
    if not indices.shape or node.attrs.get("bad_indices_policy") == "IGNORE":
        raise Unsupported(f"{node.op.name} that leaves indices out")
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *shape[depth:])
    if not depth or not math.prod(shape) or not updates.count or updates.shape != wanted:
        raise Unsupported(f"{node.op.name} of no elements, or of updates of another shape")
    by_name = dict(zip(node.op.input_names, node.inputs, strict=True))
    return numbered(w, indices, shape[:depth], by_name["indices"])


def segments(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """UnsortedSegmentSum and its siblings; rows with negative numbers are dropped."""
    data, ids, number = inputs
    rank = len(ids.shape)
    if number.known is None or data.shape[:rank] != ids.shape or not data.count:
        raise Unsupported(f"{node.op.name} of segments that are data")
    count, step = int(number.known), node.op.combines
    if count <= 0 or data.kind.short:
        raise Unsupported(f"{node.op.name} of no segments, or of short floats")
    rows = _numbers_below(w, ids, count)
    pointer = w.pointer(data)
    result = w.allocate(node.outputs[0], data.kind, (count, *data.shape[rank:]))
    if step == "add":
        zeroed(w, result)
    else:
        first = constant(np.asarray(_first(step, node.outputs[0].dtype.numpy)))
        copied(
            w,
            data.kind,
            w.pointer(first),
            result.pointer,
            result.shape,
            (0,) * len(result.shape),
            None,
        )
    step = OF_SEGMENTS.get(step, step)
    _write_rows(w, step, result, rows, data, pointer, drops=True)
    return [result]


def _numbers_below(w: FunctionLowering, ids: ArrayOperand, count: int) -> ArrayOperand:
    """Segment numbers, as i64; a guard fails if one is too large."""
    return _checked_indices(w, "segments", _segmenting, ids, [ids.count, count])


def _segmenting(name: str, kind: Kind) -> Code:
    code, source, target, answer = _beginning(name)
    count = code.load("i64", code.at("i64", "%dims", "1"), 8)
    with code.carrying("0", "%to", 1, ("i64", "0")) as state:
        index = code.load(kind.llvm, code.at(kind.llvm, source, state.index), kind.bytes)
        if kind.bits < 64:
            index = code.let(f"sext {kind.llvm} {index} to i64")
        code.do(f"store i64 {index}, ptr {code.at('i64', target, state.index)}, align 8")
        beyond = code.let(f"zext i1 {code.integer('icmp sge', index, count)} to i64")
        state.following.append(code.integer("or", state.values[0], beyond))
    code.do(f"store i64 {state.values[0]}, ptr {answer}, align 8")
    code.do("ret void")
    return code


def _first(step: str, dtype: Any) -> Any:
    """The value of an empty segment."""
    if step == "mul":
        return dtype.type(1)
    limits = np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)
    return dtype.type(limits.min if step == "max" else limits.max)


def _write_rows(
    w: FunctionLowering,
    step: str,
    target: ArrayOperand,
    rows: ArrayOperand,
    updates: ArrayOperand,
    pointer: str,
    drops: bool = False,
) -> None:
    kind = target.kind
    size = updates.count // rows.count
    single = size == 1
    name = w.kernel("scatter", _scattering, step, kind, single, drops)
    w.call_function(name, [w.pointer(rows), pointer], [target.pointer], [rows.count, size])
    w.how = "scatter"


def _scattering(name: str, step: str, kind: Kind, single: bool, drops: bool) -> Code:
    """A kernel that visits the rows in order, because indices may repeat.

    It may drop rows with negative indices.
    """
    code = Code(name, entry.KERNEL, "internal void")
    rows, updates = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    target = code.load("ptr", "%outs", 8)
    size = code.load("i64", code.at("i64", "%dims", "1"), 8)
    kept = Kind("i8", 8, "u") if kind == BOOL else kind
    lanes = 1 if single else max(jit.WIDTH // kept.width, 1)

    def change(there: str, here: str, width: int) -> None:
        vector = f"<{width} x {kept.llvm}>"
        s = Functions(code, width, 1)
        new = Lanes(kept, (code.load(vector, here, kept.bytes),))
        if step != "update":
            old = Lanes(kept, (code.load(vector, there, kept.bytes),))
            new = STEPS[step](s, old, new)
        code.do(f"store {vector} {new.names[0]}, ptr {there}, align {kept.bytes}")

    def written(row: str, i: str) -> None:
        if single:
            change(code.at(kept.llvm, target, row), code.at(kept.llvm, updates, i), 1)
        else:
            there = code.at(kept.llvm, target, code.integer("mul", row, size))
            here = code.at(kept.llvm, updates, code.integer("mul", i, size))
            whole = code.integer("mul", code.integer("sdiv", size, lanes), lanes)
            for start, stop, width in (("0", whole, lanes), (whole, size, 1)):
                with code.loop(start, stop, width) as j:
                    change(code.at(kept.llvm, there, j), code.at(kept.llvm, here, j), width)

    with code.loop("%from", "%to") as i:
        row = code.load("i64", code.at("i64", rows, i), 8)
        if drops:
            with code.when(code.integer("icmp sge", row, 0)):
                written(row, i)
        else:
            written(row, i)
    code.do("ret void")
    return code


# -- marks --------------------------------------------------------------------------------------


@lowering(raw.OneHot)
def one_hot(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """OneHot; an index out of bounds sets no element."""
    indices, depth, on, off = inputs
    if depth.known is None or indices.kind.letter not in "iu":
        raise Unsupported("OneHot of a depth that is data")
    axis = node.attrs["axis"]
    at = len(indices.shape) if axis == -1 else axis
    shape = (*indices.shape[:at], int(depth.known), *indices.shape[at:])
    if not math.prod(shape) or on.shape or off.shape:
        raise Unsupported("OneHot of no elements")
    kind = off.kind
    pointers = [w.pointer(indices), w.pointer(on)]
    result = w.allocate(node.outputs[0], kind, shape)
    if off.known is not None and not np.any(off.known):
        zeroed(w, result)
    else:
        copied(w, kind, w.pointer(off), result.pointer, shape, (0,) * len(shape), None)
    name = w.kernel("one_hot", _marking, indices.kind, kind)
    dims = [math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])]
    w.call_function(name, pointers, [result.pointer], dims)
    w.how = "kernel"
    return [result]


def _marking(name: str, index: Kind, kind: Kind) -> Code:
    code = Code(name, entry.KERNEL, "internal void")
    indices, on = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    target = code.load("ptr", "%outs", 8)
    dims = entry.load_dims(code, ("outer", "depth", "inner"))
    element = f"i{8 * kind.bytes}"
    mark = code.load(element, on, kind.bytes)
    with code.loop("%from", "%to") as i, code.loop("0", dims["inner"]) as j:
        at = code.integer("add", code.integer("mul", i, dims["inner"]), j)
        class_index = code.load(index.llvm, code.at(index.llvm, indices, at), index.bytes)
        if index.bits < 64:
            word = "sext" if index.letter == "i" else "zext"
            class_index = code.let(f"{word} {index.llvm} {class_index} to i64")
        with code.when(code.integer("icmp ult", class_index, dims["depth"])):
            row = code.integer("add", code.integer("mul", i, dims["depth"]), class_index)
            there = code.integer("add", code.integer("mul", row, dims["inner"]), j)
            code.do(
                f"store {element} {mark}, ptr {code.at(element, target, there)}, align {kind.bytes}"
            )
    code.do("ret void")
    return code


lowering(raw.UnsortedSegmentSum, raw.UnsortedSegmentProd)(as_single(segments))
lowering(raw.UnsortedSegmentMax, raw.UnsortedSegmentMin)(segments)
