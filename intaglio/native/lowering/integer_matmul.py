"""Products of matrices of integers and float64: a few rows at a time, as many columns as fit a vector."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Lanes, Unsupported
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry

# Rows that are computed together, to hide the latency of multiplications.
ROWS_PER_STEP = 5
# Of more multiplications NumPy's products of float64 are faster.
MAX_MULTIPLICATIONS = 1 << 15


def product(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """MatMul without transposing."""
    a, b = inputs
    kind = a.kind
    if kind.bits not in (32, 64) or kind.letter not in "iuf":
        raise Unsupported(f"MatMul of {node.outputs[0].dtype.name}")
    if node.attrs["transpose_a"] or node.attrs["transpose_b"] or a.shape[1] != b.shape[0]:
        raise Unsupported(f"MatMul of transposed {node.outputs[0].dtype.name}")
    (rows, inner), columns = a.shape, b.shape[1]
    if not rows * inner * columns or (
        kind.letter == "f" and rows * inner * columns > MAX_MULTIPLICATIONS
    ):
        raise Unsupported("MatMul of no elements, or of many float64")
    name = f"product_{kind.letter}{kind.bits}"
    if name not in w.functions:
        w.functions[name] = _kernel(name, kind)
    result = w.allocate(node.outputs[0], kind, (rows, columns))
    pointers = [w.pointer(a), w.pointer(b)]
    w.call_function(name, pointers, [result.pointer], (rows, inner, columns))
    w.how = "kernel"
    return [result]


def _kernel(name: str, kind: Kind) -> Code:
    code = Code(name, entry.KERNEL, "internal void")
    dims = entry.load_dims(code, ("rows", "inner", "columns"))
    a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    c = code.load("ptr", "%outs", 8)
    count = code.integer("sub", "%to", "%from")
    blocks = code.integer("mul", code.integer("sdiv", count, ROWS_PER_STEP), ROWS_PER_STEP)
    middle = code.integer("add", "%from", blocks)
    for start, stop, step in (("%from", middle, ROWS_PER_STEP), (middle, "%to", 1)):
        with code.loop(start, stop, step) as i:
            _rows(code, kind, (a, b, c), dims, i, step)
    code.do("ret void")
    return code


def _rows(
    code: Code,
    kind: Kind,
    arrays: tuple[str, str, str],
    dims: dict[str, str],
    first: str,
    count: int,
) -> None:
    """Some rows of the result, vector by vector."""
    a, b, c = arrays
    lanes = jit.WIDTH // kind.bytes
    vector, inner, columns = f"<{lanes} x {kind.llvm}>", dims["inner"], dims["columns"]
    suffix = f"v{lanes}{'f' if kind.letter == 'f' else 'i'}{kind.bits}"
    rows = [code.integer("add", first, r) for r in range(count)]
    lefts = [code.at(kind.llvm, a, code.integer("mul", r, inner)) for r in rows]
    results = [code.at(kind.llvm, c, code.integer("mul", r, columns)) for r in rows]
    with code.loop("0", columns, lanes) as j:
        mask = code.call(
            f"<{lanes} x i1>",
            f"llvm.get.active.lane.mask.v{lanes}i1.i64",
            ("i64", j),
            ("i64", columns),
        )
        tested = (f"<{lanes} x i1>", mask)
        zeros = [(vector, "zeroinitializer")] * count
        with code.carrying("0", inner, 1, *zeros) as sums:
            there = code.at(kind.llvm, b, code.integer("mul", sums.index, columns))
            right = code.call(
                vector,
                f"llvm.masked.load.{suffix}.p0",
                (f"ptr align {kind.bytes}", code.at(kind.llvm, there, j)),
                tested,
                (vector, "zeroinitializer"),
            )
            for left, total in zip(lefts, sums.values, strict=True):
                one = code.load(kind.llvm, code.at(kind.llvm, left, sums.index), kind.bytes)
                wide = code.splat(lanes, kind.llvm, one)
                sums.following.append(_added(code, kind, vector, wide, right, total))
        for result, total in zip(results, sums.values, strict=True):
            code.call(
                "void",
                f"llvm.masked.store.{suffix}.p0",
                (vector, total),
                (f"ptr align {kind.bytes}", code.at(kind.llvm, result, j)),
                tested,
            )


def _added(code: Code, kind: Kind, vector: str, x: str, y: str, total: str) -> str:
    letter = "f" if kind.letter == "f" else ""
    product = code.let(f"{letter}mul {vector} {x}, {y}")
    return code.let(f"{letter}add {vector} {total}, {product}")


__all__ = ["Lanes", "product"]
