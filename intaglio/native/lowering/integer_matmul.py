"""Products of matrices of integers and float64: a few rows at a time, as many columns as fit a vector."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Unsupported
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry

# The rows that are computed together, to hide the latency of multiplications; the vectors of
# columns; and the terms of each sum: their part of the right matrix stays in the cache for all
# rows.
ROWS_PER_STEP, VECTORS_PER_STEP, TERMS_PER_BLOCK = 5, 4, 256
# For more multiplications of float64 NumPy is faster.
MAX_MULTIPLICATIONS = 1 << 15
# For so many multiplications threads divide the rows.
MIN_PARALLEL_MULTIPLICATIONS = 1 << 18


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
    lanes = jit.WIDTH // kind.bytes
    vectors = min(VECTORS_PER_STEP, -(-columns // lanes))
    name = w.kernel("product", _kernel, kind, vectors)
    if rows * inner * columns >= MIN_PARALLEL_MULTIPLICATIONS:
        name = w.on_all_threads(name, ROWS_PER_STEP)
        w.long = True
    result = w.allocate(node.outputs[0], kind, (rows, columns))
    pointers = [w.pointer(a), w.pointer(b)]
    w.call_function(name, pointers, [result.pointer], (rows, inner, columns))
    w.how = "kernel"
    return [result]


def _kernel(name: str, kind: Kind, vectors: int) -> Code:
    code = Code(name, entry.KERNEL, "internal void")
    dims = entry.load_dims(code, ("rows", "inner", "columns"))
    a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    c = code.load("ptr", "%outs", 8)
    count = code.integer("sub", "%to", "%from")
    blocks = code.integer("mul", code.integer("sdiv", count, ROWS_PER_STEP), ROWS_PER_STEP)
    middle = code.integer("add", "%from", blocks)
    memory = VectorMemory(code, jit.WIDTH // kind.bytes)
    with code.loop("0", dims["columns"], memory.lanes * vectors) as j:
        columns = [code.integer("add", j, v * memory.lanes) for v in range(vectors)]
        masks = [memory.mask(column, dims["columns"]) for column in columns]
        with code.loop("0", dims["inner"], TERMS_PER_BLOCK) as k:
            last = code.least(code.integer("add", k, TERMS_PER_BLOCK), dims["inner"])
            for start, stop, step in (("%from", middle, ROWS_PER_STEP), (middle, "%to", 1)):
                with code.loop(start, stop, step) as i:
                    tile = _Tile(memory, kind, dims, columns, masks)
                    tile.write(
                        (a, b, c), [code.integer("add", i, r) for r in range(step)], (k, last)
                    )
    code.do("ret void")
    return code


class _Tile:
    """Emits the sums of some rows and vectors of columns over a block of terms."""

    def __init__(
        self,
        memory: VectorMemory,
        kind: Kind,
        dims: dict[str, str],
        columns: list[str],
        masks: list[str],
    ) -> None:
        self.memory, self.code, self.kind = memory, memory.code, kind
        self.dims = dims
        self.columns, self.masks = columns, masks

    def write(self, arrays: tuple[str, str, str], rows: list[str], terms: tuple[str, str]) -> None:
        """Adds to the results; the first block stores its sums."""
        code, kind, memory = self.code, self.kind, self.memory
        a, b, c = arrays
        vector = f"<{memory.lanes} x {kind.llvm}>"
        lefts = [code.at(kind.llvm, a, code.integer("mul", r, self.dims["inner"])) for r in rows]
        tops = [code.at(kind.llvm, c, code.integer("mul", r, self.dims["columns"])) for r in rows]
        targets = [code.at(kind.llvm, top, column) for top in tops for column in self.columns]
        later = code.integer("icmp ne", terms[0], 0)
        every = code.splat(memory.lanes, "i1", later)
        masks = self.masks * len(rows)
        sums = [
            (vector, memory.read(kind, t, code.let(f"and {memory.test} {every}, {m}")))
            for t, m in zip(targets, masks, strict=True)
        ]
        with code.carrying(*terms, 1, *sums) as totals:
            line = code.at(kind.llvm, b, code.integer("mul", totals.index, self.dims["columns"]))
            rights = [
                memory.read(kind, code.at(kind.llvm, line, column), mask)
                for column, mask in zip(self.columns, self.masks, strict=True)
            ]
            before = iter(totals.values)
            for left in lefts:
                wide = memory.splat(kind, code.at(kind.llvm, left, totals.index))
                for right in rights:
                    totals.following.append(_added(code, kind, vector, wide, right, next(before)))
        for target, total, mask in zip(targets, totals.values, masks, strict=True):
            memory.write(kind, target, total, mask)


def _added(code: Code, kind: Kind, vector: str, x: str, y: str, total: str) -> str:
    letter = "f" if kind.letter == "f" else ""
    product = code.let(f"{letter}mul {vector} {x}, {y}")
    return code.let(f"{letter}add {vector} {total}, {product}")
