"""Index maps: the source of each element of a result, found by running the op's NumPy kernel.

A kernel that only copies elements gets distinct numbers instead of data, and returns them in its
order. The numbers are random: a result that is none of them was computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import is_small
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported, literal
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry
from intaglio.runtime import interpreter

# The largest index maps, in elements.
MAX_MAP_ELEMENTS = 1 << 22
# The code of an element that is zero. Else the input's index is above these bits.
ZERO, BITS = -1, 40
# From so many runs of zeros for each other one, the result is zeroed first.
MIN_ZEROS_PER_RUN = 4
# The largest runs and rows that are copied as one integer, in bytes.
UNITS = (1, 2, 4, 8, 16)


def index_map_of(node: Node, arrays: Sequence[Any]) -> list[Any]:
    """The results of the node's kernel. Raises Unsupported if it fails."""
    try:
        results = interpreter.call_kernel(node.op, arrays, node.attrs)
    except Exception:
        raise Unsupported(f"{node.op.name} that fails") from None
    return [np.asarray(a) for a in interpreter.flat_result(node.op, results)]


def index_maps_of(node: Node, inputs: Sequence[ArrayOperand], data: Sequence[int]) -> list[Any]:
    """For each result the codes of its elements' sources: `input << BITS | index`, or `ZERO`.

    Raises Unsupported if the kernel does more than to copy elements of the `data` inputs.
    """
    counts = [inputs[i].count for i in data]
    total = sum(counts)
    if total > MAX_MAP_ELEMENTS:
        raise Unsupported(f"{node.op.name} of {total} elements")
    numbers = _distinct_numbers(total)
    codes = np.concatenate([np.arange(c) | (which << BITS) for which, c in enumerate(counts)])
    arrays = [h.known for h in inputs]
    starts = np.cumsum([0, *counts])
    for which, i in enumerate(data):
        part = numbers[starts[which] : starts[which + 1]]
        zeros = _is_zero(inputs[i].known)
        arrays[i] = np.zeros(inputs[i].shape, np.int64) if zeros else part.reshape(inputs[i].shape)
    return [_codes_of(node, a, numbers, codes) for a in index_map_of(node, arrays)]


def _is_zero(known: Any) -> bool:
    """True if an operand is a constant without any bit set."""
    return known is not None and not np.frombuffer(known.tobytes(), np.uint8).any()


def _distinct_numbers(count: int) -> Any:
    """Distinct random numbers, none of which is a sum of others."""
    return np.random.default_rng(count).integers(1, 1 << 62, count)


def _codes_of(node: Node, result: Any, numbers: Any, codes: Any) -> Any:
    if result.dtype != np.int64 or result.size > MAX_MAP_ELEMENTS:
        raise Unsupported(f"{node.op.name} of {result.size} elements")
    ranks = np.argsort(numbers)
    there = numbers[ranks]
    flat = result.reshape(-1)
    at = np.minimum(np.searchsorted(there, flat), len(there) - 1)
    known = there[at] == flat if len(there) else np.zeros(flat.shape, bool)
    if not np.all(known | (flat == 0)):
        raise Unsupported(f"{node.op.name} that computes")
    found = np.where(known, codes[ranks[at]], ZERO) if len(there) else np.full(flat.shape, ZERO)
    return found.reshape(result.shape)


def permuted(
    w: FunctionLowering, value: Any, sources: Sequence[ArrayOperand], order: Any
) -> ArrayOperand:
    """The result of an index map: a small one in registers, another one in memory."""
    kind = sources[0].kind
    if not order.size:
        raise Unsupported("no elements")
    if is_small(order.shape) and all(h.small for h in sources):
        return w.in_registers(_picked(w, sources, order), order.shape)
    result = w.allocate(value, kind, order.shape)
    _copied_in_runs(w, kind, sources, result, order.reshape(-1))
    w.how = "copy"
    return result


def _picked(w: FunctionLowering, sources: Sequence[ArrayOperand], order: Any) -> Lanes:
    """Elements of small operands as one vector."""
    kind, flat = sources[0].kind, order.reshape(-1).tolist()
    if len(sources) == 1 and ZERO not in flat:
        return w.shuffled(w.lanes(sources[0]), sources[0].count, flat)
    vectors = [w.lanes(h).names[0] for h in sources]
    vector = f"<{len(flat)} x {kind.llvm}>"
    elements = f"splat ({kind.llvm} {literal(0, kind)})"
    for at, source_code in enumerate(flat):
        if source_code == ZERO:
            continue
        which, lane = source_code >> BITS, source_code & ((1 << BITS) - 1)
        of = f"<{sources[which].count} x {kind.llvm}>"
        one = w.code.let(f"extractelement {of} {vectors[which]}, i64 {lane}")
        elements = w.code.let(f"insertelement {vector} {elements}, {kind.llvm} {one}, i64 {at}")
    return Lanes(kind, (elements,))


def _copied_in_runs(
    w: FunctionLowering,
    kind: Kind,
    sources: Sequence[ArrayOperand],
    target: ArrayOperand,
    order: Any,
) -> None:
    """Copies runs of consecutive elements; a table has the start of each run.

    Where most runs are zeros, a second table has the indices of the others.
    """
    length = _run_length(order)
    tables = [np.ascontiguousarray(order[::length])]
    (others,) = np.nonzero(tables[0] != ZERO)
    sparse = len(others) <= len(tables[0]) // MIN_ZEROS_PER_RUN
    if sparse:
        tables = [tables[0][others], others.astype(np.int64)]
        w.code.zero(target.pointer, str(target.bytes))
    w.keep += tables
    size = length * kind.bytes
    name = w.kernel("runs", _runs, size if size in UNITS else 0, kind.bytes, sparse)
    shares = length * len(tables[0]) >= entry.MIN_PARALLEL_ELEMENTS
    called = shared(w, name, 1) if shares else name
    w.long |= shares
    pointers = [*[w.word(t.ctypes.data) for t in tables], *[w.pointer(h) for h in sources]]
    w.call_function(called, pointers, [target.pointer], [len(tables[0]), size])


def _run_length(order: Any) -> int:
    """The greatest length that divides all runs."""
    step = np.diff(order)
    apart = ~((step == 1) & (order[:-1] != ZERO) | (step == 0) & (order[:-1] == ZERO))
    length = order.size
    for start in np.flatnonzero(apart) + 1:
        length = math.gcd(length, int(start))
        if length == 1:
            break
    return length


def _runs(name: str, size: int, element: int, sparse: bool) -> Code:
    """A kernel that copies runs, of a static size or of any.

    Its inputs are the table of sources, that of targets if they are `sparse`, and the sources.
    """
    code = Code(name, entry.KERNEL, "internal void")
    table, target = (code.load("ptr", p, 8) for p in ("%ins", "%outs"))
    numbers = code.load("ptr", code.at("ptr", "%ins", "1"), 8) if sparse else ""
    length = code.load("i64", code.at("i64", "%dims", "1"), 8)

    def copy(source_code: str, there: str) -> None:
        which = code.integer("add", code.integer("lshr", source_code, BITS), 1 + sparse)
        source = code.load("ptr", code.at("ptr", "%ins", which), 8)
        offset = code.integer("and", source_code, (1 << BITS) - 1)
        here = code.at("i8", source, code.integer("mul", offset, element))
        if size:
            value = code.load(f"i{8 * size}", here, element)
            code.do(f"store i{8 * size} {value}, ptr {there}, align {element}")
        else:
            code.copy(there, here, length)

    def zero(there: str) -> None:
        if size:
            code.do(f"store i{8 * size} 0, ptr {there}, align {element}")
        else:
            code.zero(there, length)

    with code.loop("%from", "%to") as i:
        source_code = code.load("i64", code.at("i64", table, i), 8)
        number = code.load("i64", code.at("i64", numbers, i), 8) if sparse else i
        there = code.at("i8", target, code.integer("mul", number, length))
        if sparse:
            copy(source_code, there)
        else:
            _copy_or_zero(code, source_code, there, copy, zero)
    code.do("ret void")
    return code


def _copy_or_zero(
    code: Code,
    source_code: str,
    there: str,
    copy: Callable[[str, str], None],
    zero: Callable[[str], None],
) -> None:
    """Emits a branch by the code of the source: a copy, or zeros."""
    labels = [code.new_label(word) for word in ("zero", "copy", "next")]
    code.branch(code.integer("icmp slt", source_code, 0), *labels[:2])
    code.label(labels[0])
    zero(there)
    code.jump(labels[2])
    code.label(labels[1])
    copy(source_code, there)
    code.jump(labels[2])
    code.label(labels[2])
