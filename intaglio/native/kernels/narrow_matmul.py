"""Products of matrices of 8 and 16 bits, in the processor's matrix registers.

As in `matmul` both matrices are packed in blocks that stay in cache, here in the layout of the
registers: a row of the left register is a row of the matrix, one of the right register has the same
columns of as many rows as fill 32 bits. Sums are float32 or int32, and rounded once. Blocks of 32
by 32 results take four registers; they are stored when they are complete.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.native.kernels import matmul
from intaglio.native.kernels.batches import products_by
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm import matrix_registers
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.matrix_registers import ROW_BYTES, ROWS
from intaglio.native.llvm.vectors import BFLOAT, FLOAT, KINDS, Builder, Kind, Lanes, kind_of
from intaglio.native.runtime import entry
from intaglio.native.runtime.thread_pool import thread_count

# The registers of a block of results along each axis.
SIDE = 2 * ROWS
REGISTER_BYTES = ROWS * ROW_BYTES
# The columns of a panel of the right matrix, and the bytes of a block of the inner dimension: the
# panel stays in the second-level cache.
PANEL_COLUMNS, BLOCK_BYTES = 256, 2048
# Padding of the rows of a packed left block, in cache lines: lines that are a multiple of a page
# apart map to the same set of the cache.
LEFT_STEP = BLOCK_BYTES + 3 * ROW_BYTES
# The rows whose sums are kept in memory where the inner dimension has several blocks.
WAITING_ROWS = 256
# The least multiplications for which another thread is woken.
MIN_SHARED_MULTIPLICATIONS = 1 << 23
INT32 = Kind("i32", 32, "i")
# The bytes of a row of a register.
_WORDS = f"<{ROWS} x i32>"


class Form(NamedTuple):
    """The dtypes of a product: of the elements of both matrices, of the sums and of the result; and
    the instruction, with LLVM's name of the processor's feature."""

    left: Kind
    right: Kind
    sums: Kind
    result: Kind
    instruction: str
    feature: str

    @property
    def per_word(self) -> int:
        """The elements in 32 bits, whose products one lane sums."""
        return 4 // self.left.bytes

    @property
    def chunk(self) -> int:
        """The terms that one instruction sums: the elements of a row of a register."""
        return ROW_BYTES // self.left.bytes

    @property
    def block(self) -> int:
        """The terms of a block of the inner dimension."""
        return BLOCK_BYTES // self.left.bytes


_HALF = KINDS.get(np.dtype(np.float16), BFLOAT)
_S8, _U8 = KINDS[np.dtype(np.int8)], KINDS[np.dtype(np.uint8)]
_BFLOAT16, _FLOAT16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
FORMS = {
    (_BFLOAT16, _BFLOAT16): Form(BFLOAT, BFLOAT, FLOAT, BFLOAT, "tdpbf16ps", "amx-bf16"),
    (_FLOAT16, _FLOAT16): Form(_HALF, _HALF, FLOAT, _HALF, "tdpfp16ps", "amx-fp16"),
    **{
        (np.dtype(a), np.dtype(b)): Form(KINDS[np.dtype(a)], KINDS[np.dtype(b)], INT32, INT32,
                                         f"tdpb{x}{y}d", "amx-int8")
        for a, x in ((np.int8, "s"), (np.uint8, "u"))
        for b, y in ((np.int8, "s"), (np.uint8, "u"))
    },
}  # fmt: skip


def form_of(left: Any, right: Any, result: Any) -> Form | None:
    """The form of a product of these dtypes; None if the processor has no instruction for it."""
    form = FORMS.get((np.dtype(left), np.dtype(right)))
    if form is None or not (entry.AVAILABLE and matrix_registers.available(form.feature)):
        return None
    return form if kind_of(result) == form.result else None


def lane_bits(code: Code, lanes: int, count: str) -> str:
    """A mask with a bit for each of the first `count` lanes; `count` may be any number."""
    below = code.integer("icmp sgt", count, 0)
    some = code.let(f"select i1 {below}, i64 {count}, i64 0")
    bits = code.integer("sub", code.integer("shl", 1, code.least(some, lanes - 1)), 1)
    whole = code.integer("icmp sge", some, lanes)
    bits = code.let(f"select i1 {whole}, i64 -1, i64 {bits}")
    return code.let(f"trunc i64 {bits} to i{lanes}") if lanes < 64 else bits


def first_lanes(code: Code, lanes: int, count: str) -> str:
    """A mask of the first `count` lanes."""
    bits = lane_bits(code, lanes, count)
    return code.let(f"bitcast i{lanes} {bits} to <{lanes} x i1>")


class Packing(NamedTuple):
    """Emits the function that packs the lines of a matrix as rows of registers.

    With `across` consecutive elements belong to different results, not to the terms of one: lines
    are interleaved to words. `transposes` exchanges rows and columns of words. So many adjacent
    `registers` are packed at a time, of whole lines.
    """

    kind: Kind
    across: bool
    transposes: bool
    registers: int = 1

    @property
    def name(self) -> str:
        """The name of the function."""
        lines = "lines" if self.across else "terms"
        return f"pack_{lines}{'_transposed' * self.transposes}_{self.registers}_{self.kind.letter}"

    def code(self) -> Code:
        """Packs `count` results (at most 16) and `depth` terms, with zeros behind them.

        The strides are `step` elements from line to line; `row` bytes from row to row of the packed
        registers, which are `chunk` bytes apart, and `beside` bytes from those of the next results.
        """
        parameters = ["ptr %from", "i64 %step", "ptr %to", "i64 %row", "i64 %chunk"]
        parameters += ["i64 %beside", "i64 %count", "i64 %depth"]
        code = Code(self.name, parameters, "internal fastcc void")
        terms = ROW_BYTES // self.kind.bytes
        with code.loop("0", "%depth", terms) as k:
            left = code.integer("sub", "%depth", k)
            first = code.integer("mul", code.integer("sdiv", k, terms), "%chunk")
            target = code.at("i8", "%to", first)
            if self.across:
                start = code.at(self.kind.memory, "%from", code.integer("mul", k, "%step"))
                bits = lane_bits(code, ROWS * self.registers, "%count")
                row = functools.partial(self._interleaved, code, start, bits, left)
            else:
                start = code.at(self.kind.memory, "%from", k)
                row = functools.partial(self._row, code, start, lane_bits(code, terms, left))
            self._write(code, target, row)
        code.do("ret void")
        return code

    def _write(self, code: Code, target: str, row: Callable[[str], list[str]]) -> None:
        """Stores the rows of the registers; those that are not transposed in order."""
        if not self.transposes:
            with code.loop("0", str(ROWS)) as r:
                for number, word in enumerate(row(r)):
                    there = code.at("i8", target, code.integer("mul", "%beside", number))
                    there = code.at("i8", there, code.integer("mul", "%row", r))
                    code.do(f"store {_WORDS} {word}, ptr {there}, align 4")
            return
        words = [word for r in range(ROWS) for word in row(str(r))]
        for r, word in enumerate(Tiles(INT32).transposed(code, words)):
            there = code.at("i8", target, code.integer("mul", "%row", r))
            code.do(f"store {_WORDS} {word}, ptr {there}, align 4")

    def call(
        self,
        code: Code,
        source: str,
        step: str,
        target: str,
        distances: tuple[int, int, str],
        sizes: tuple[str, str],
    ) -> None:
        """Emits a call; the distances are `row`, `chunk` and `beside`, the sizes `count` and
        `depth`."""
        (row, chunk, beside), (count, depth) = distances, sizes
        code.do(
            f"call fastcc void @{self.name}(ptr {source}, i64 {step}, ptr {target}, i64 {row}, "
            f"i64 {chunk}, i64 {beside}, i64 {count}, i64 {depth})"
        )

    def _row(self, code: Code, start: str, bits: str, r: str) -> list[str]:
        """The words of one result."""
        terms = ROW_BYTES // self.kind.bytes
        there = code.integer("icmp slt", r, "%count")
        pointer = code.at(self.kind.memory, start, code.integer("mul", "%step", r))
        return self._words(code, self._loaded(code, pointer, terms, bits, there), terms)

    def _interleaved(self, code: Code, start: str, bits: str, left: str, w: str) -> list[str]:
        """The words of all results, each of elements of as many lines as a word has elements."""
        per_word, size = 4 // self.kind.bytes, ROWS * self.registers
        lines: list[str] = []
        for e in range(per_word):
            line = code.integer("add", code.integer("mul", w, per_word), e)
            there = code.integer("icmp slt", line, left)
            pointer = code.at(self.kind.memory, start, code.integer("mul", "%step", line))
            lines.append(self._loaded(code, pointer, size, bits, there))
        while len(lines) > 1:
            half = len(lines) // 2
            pairs = zip(lines[:half], lines[half:], strict=True)
            lines = [self._merged(code, a, b, size) for a, b in pairs]
            size *= 2
        return self._words(code, lines[0], size)

    def _merged(self, code: Code, a: str, b: str, size: int) -> str:
        """The interleaved elements of two vectors."""
        order = ", ".join([f"i32 {i // 2 + (i % 2) * size}" for i in range(2 * size)])
        vector = f"<{size} x i{self.kind.bits}>"
        return code.let(f"shufflevector {vector} {a}, {vector} {b}, <{2 * size} x i32> <{order}>")

    def _loaded(self, code: Code, pointer: str, lanes: int, bits: str, there: str) -> str:
        """The elements whose bit is set, zeros elsewhere; all zeros if `there` is false."""
        vector, test = f"<{lanes} x i{self.kind.bits}>", f"<{lanes} x i1>"
        some = code.let(f"select i1 {there}, i{lanes} {bits}, i{lanes} 0")
        return code.call(
            vector,
            f"llvm.masked.load.v{lanes}i{self.kind.bits}.p0",
            (f"ptr align {self.kind.bytes}", pointer),
            (test, code.let(f"bitcast i{lanes} {some} to {test}")),
            (vector, "zeroinitializer"),
        )

    def _words(self, code: Code, vector: str, lanes: int) -> list[str]:
        """The words of a vector, one row of a register each."""
        per_row, bits = ROW_BYTES // self.kind.bytes, self.kind.bits
        rows: list[str] = []
        for first in range(0, lanes, per_row):
            order = ", ".join([f"i32 {first + i}" for i in range(per_row)])
            whole = f"<{lanes} x i{bits}>"
            row = code.let(
                f"shufflevector {whole} {vector}, {whole} poison, <{per_row} x i32> <{order}>"
            )
            rows.append(code.let(f"bitcast <{per_row} x i{bits}> {row} to {_WORDS}"))
        return rows


def _register(code: Code, instruction: str, *operands: tuple[str, str]) -> None:
    """An instruction on matrix registers, whose numbers are immediate."""
    types = ", ".join([f"{t} immarg" if t == "i8" else t for t, _ in operands])
    code.declarations.add(f"declare void @llvm.x86.{instruction}({types})")
    shown = ", ".join([f"{t} {v}" for t, v in operands])
    code.do(f"call void @llvm.x86.{instruction}({shown})")


class BlockProduct:
    """Emits the functions of blocks: sums in registers, and their results in memory."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def multiply(self, rows: int, columns: int) -> Code:
        """Sums of `rows` by `columns` registers, = or += the products of `chunks` registers.

        Rows of the left block are `step` bytes apart; the registers of the right one follow each
        other, `apart` bytes from those of the next columns.
        """
        parameters = ["ptr %a", "i64 %step", "ptr %b", "i64 %apart", "ptr %sums"]
        parameters += ["i64 %chunks", "i1 %first"]
        code = Code(f"multiply_{rows}x{columns}", parameters, "internal fastcc void")
        tiles = [(r, c) for r in range(rows) for c in range(columns)]
        line = SIDE * self.form.sums.bytes

        def place(r: int, c: int) -> str:
            return code.at("i8", "%sums", str(r * ROWS * line + c * ROW_BYTES))

        later = code.let("xor i1 %first, true")
        with code.when("%first"):
            for r, c in tiles:
                _register(code, "tilezero", ("i8", str(2 * r + c)))
        with code.when(later):
            for r, c in tiles:
                self._load(code, 2 * r + c, place(r, c), str(line))
        below = code.at("i8", "%a", code.integer("mul", "%step", ROWS))
        beside = code.at("i8", "%b", "%apart")
        with code.loop("0", "%chunks") as chunk:
            offsets = (
                code.integer("mul", chunk, ROW_BYTES),
                code.integer("mul", chunk, REGISTER_BYTES),
            )
            for r, start in enumerate(["%a", below][:rows]):
                self._load(code, 4 + r, code.at("i8", start, offsets[0]), "%step")
            for c, start in enumerate(["%b", beside][:columns]):
                self._load(code, 6 + c, code.at("i8", start, offsets[1]), str(ROW_BYTES))
            for r, c in tiles:
                numbers = [("i8", str(n)) for n in (2 * r + c, 4 + r, 6 + c)]
                _register(code, self.form.instruction, *numbers)
        for r, c in tiles:
            operands = ("i8", str(2 * r + c)), ("ptr", place(r, c)), ("i64", str(line))
            _register(code, "tilestored64", *operands)
        code.do("ret void")
        return code

    def _load(self, code: Code, number: int, pointer: str, step: str) -> None:
        _register(code, "tileloadd64", ("i8", str(number)), ("ptr", pointer), ("i64", step))

    def finish(self) -> Code:
        """Stores `rows` by `columns` results from their sums, rounded; rows are `step` elements
        apart."""
        parameters = ["ptr %sums", "ptr %to", "i64 %step", "i64 %rows", "i64 %columns"]
        code = Code("finish", parameters, "internal fastcc void")
        form, s = self.form, Builder(code, ROWS, 1)
        tiles = Tiles(form.sums)
        bits = form.result.bits
        vector, test = f"<{ROWS} x i{bits}>", f"<{ROWS} x i1>"
        masks = [tiles.mask(code, first, "%columns") for first in ("0", str(ROWS))]
        with code.loop("0", "%rows") as r:
            line = code.at("i8", "%sums", code.integer("mul", r, SIDE * form.sums.bytes))
            target = code.at(form.result.memory, "%to", code.integer("mul", r, "%step"))
            for v, mask in enumerate(masks):
                seen = tiles.read(code, code.at("i8", line, str(v * ROW_BYTES)), "")
                (value,) = s.converted(Lanes(form.sums, (seen,)), form.result).names
                whole = code.let(f"bitcast <{ROWS} x {form.result.llvm}> {value} to {vector}")
                code.call(
                    "void",
                    f"llvm.masked.store.v{ROWS}i{bits}.p0",
                    (vector, whole),
                    (f"ptr align {bits // 8}", code.at(form.result.memory, target, str(v * ROWS))),
                    (test, mask),
                )
        code.do("ret void")
        return code

    def blocks(self) -> Code:
        """All blocks of some rows: the packed left ones times a packed panel of the right matrix.

        The sums of a block are at `sums`; with `apart` those of the next one are so many bytes
        further. With `last` they are complete.
        """
        parameters = ["ptr %a", "i64 %step", "ptr %panel", "i64 %chunks", "ptr %sums", "i64 %apart"]
        parameters += ["i1 %first", "i1 %last", "ptr %to", "i64 %row", "i64 %rows", "i64 %columns"]
        code = Code("blocks", parameters, "internal fastcc void")
        tall = code.integer("icmp sgt", "%rows", ROWS)
        size = code.integer("mul", "%chunks", REGISTER_BYTES)
        with code.loop("0", "%columns", SIDE) as j:
            columns = code.least(SIDE, code.integer("sub", "%columns", j))
            wide = code.integer("icmp sgt", columns, ROWS)
            low, high = (
                code.let(f"select i1 {wide}, ptr @multiply_{r}x2, ptr @multiply_{r}x1")
                for r in (1, 2)
            )
            function = code.let(f"select i1 {tall}, ptr {high}, ptr {low}")
            number = code.integer("sdiv", j, SIDE)
            sums = code.at("i8", "%sums", code.integer("mul", number, "%apart"))
            b = code.at("i8", "%panel", code.integer("mul", code.integer("mul", number, 2), size))
            code.do(
                f"call fastcc void {function}(ptr %a, i64 %step, ptr {b}, i64 {size}, "
                f"ptr {sums}, i64 %chunks, i1 %first)"
            )
            with code.when("%last"):
                to = code.at(self.form.result.memory, "%to", j)
                code.do(
                    f"call fastcc void @finish(ptr {sums}, ptr {to}, i64 %row, i64 %rows, "
                    f"i64 {columns})"
                )
        code.do("ret void")
        return code

    def functions(self) -> list[Code]:
        """The functions that kernels of the form call."""
        sizes = [(r, c) for r in (1, 2) for c in (1, 2)]
        return [*[self.multiply(r, c) for r, c in sizes], self.finish(), self.blocks()]


_CONFIGURATION = "".join([f"\\{b:02X}" for b in matrix_registers.CONFIGURATION])
CONFIGURATION_TEXT = f'@configuration = private constant [64 x i8] c"{_CONFIGURATION}"\n'


@contextmanager
def registers(code: Code) -> Generator[None]:
    """A scope in which the registers are used; the system saves them for threads that do not
    release them."""
    _register(code, "ldtilecfg", ("ptr", "@configuration"))
    yield
    _register(code, "tilerelease")


# The dims of the kernel: those of `matmul`, and the columns of a panel.
DIMS = (*matmul.DIMS, "panel_columns")


def _product(form: Form, name: str, transposed: bool) -> Code:
    """The kernel: parts of a product, each a group of rows in a panel of columns."""
    code = Code(name, entry.KERNEL)
    panel = code.let(f"alloca [{PANEL_COLUMNS * BLOCK_BYTES} x i8], align 64")
    left = code.let(f"alloca [{SIDE * LEFT_STEP} x i8], align 64")
    waiting = WAITING_ROWS * PANEL_COLUMNS * form.sums.bytes
    sums = code.let(f"alloca [{waiting} x i8], align 64")
    a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    c = code.load("ptr", "%outs", 8)
    dims = entry.load_dims(code, DIMS)
    columns, inner = dims["columns"], dims["inner"]
    single = code.integer("icmp sle", inner, form.block)
    block_bytes = SIDE * SIDE * form.sums.bytes
    apart = code.let(f"select i1 {single}, i64 0, i64 {block_bytes}")
    with registers(code), code.loop("%from", "%to") as part:
        begin, end = matmul.group_of(code, dims, part, SIDE)
        number = code.integer("srem", part, dims["panels"])
        j = code.integer("mul", number, dims["panel_columns"])
        width = code.least(dims["panel_columns"], code.integer("sub", columns, j))
        with code.loop("0", inner, form.block) as k:
            depth = code.least(form.block, code.integer("sub", inner, k))
            chunks = code.integer("add", depth, form.chunk - 1)
            chunks = code.integer("sdiv", chunks, form.chunk)
            first = code.integer("icmp eq", k, 0)
            last = code.integer("icmp eq", code.integer("add", k, depth), inner)
            _pack_right(code, form, (b, panel), dims, (k, j, width, depth, chunks), transposed)
            with code.loop(begin, end, SIDE) as i:
                count = code.least(SIDE, code.integer("sub", end, i))
                _pack_left(code, form, (a, left), dims, (i, k, count, depth))
                before = code.integer("sdiv", code.integer("sub", i, begin), SIDE)
                before = code.integer("mul", before, PANEL_COLUMNS // SIDE)
                waiting = code.at("i8", sums, code.integer("mul", before, apart))
                to = code.integer("add", code.integer("mul", i, columns), j)
                code.do(
                    f"call fastcc void @blocks(ptr {left}, i64 {LEFT_STEP}, ptr {panel}, "
                    f"i64 {chunks}, ptr {waiting}, i64 {apart}, i1 {first}, i1 {last}, "
                    f"ptr {code.at(form.result.memory, c, to)}, i64 {columns}, i64 {count}, i64 {width})"
                )
    code.do("ret void")
    return code


def _pack_right(
    code: Code,
    form: Form,
    sides: tuple[str, str],
    dims: dict[str, str],
    at: tuple[str, str, str, str, str],
    transposed: bool,
) -> None:
    """Packs a panel of the right matrix, 16 columns at a time."""
    (source, target), (k, j, width, depth, chunks) = sides, at
    size = code.integer("mul", chunks, REGISTER_BYTES)
    start = code.integer("mul", *((j, dims["inner"]) if transposed else (k, dims["columns"])))
    start = code.at(form.right.memory, source, code.integer("add", start, k if transposed else j))
    if transposed:
        packing = Packing(form.right, False, True)
        with code.loop("0", width, ROWS) as column:
            line = code.integer("mul", column, dims["inner"])
            packing.call(
                code,
                code.at(form.right.memory, start, line),
                dims["inner"],
                code.at(
                    "i8", target, code.integer("mul", code.integer("sdiv", column, ROWS), size)
                ),
                (ROW_BYTES, REGISTER_BYTES, "0"),
                (code.integer("sub", width, column), depth),
            )
        return
    pack_lines(code, form, (start, target), dims["columns"], (width, depth, size))


def pack_lines(
    code: Code, form: Form, sides: tuple[str, str], step: str, sizes: tuple[str, str, str]
) -> None:
    """Packs a right matrix whose lines are `step` elements apart: (columns, terms) of it, and the
    stride in bytes from registers to adjacent ones.

    All terms of some lines are packed before the next lines, because memory is contiguous along
    them.
    """
    (source, target), (width, depth, size) = sides, sizes
    packing = Packing(form.right, True, False, 2)
    with code.loop("0", depth, form.chunk) as k, code.loop("0", width, SIDE) as column:
        first = code.integer("add", code.integer("mul", k, step), column)
        beside = code.integer("mul", code.integer("sdiv", column, ROWS), size)
        below = code.integer("mul", code.integer("sdiv", k, form.chunk), REGISTER_BYTES)
        packing.call(
            code,
            code.at(form.right.memory, source, first),
            step,
            code.at("i8", target, code.integer("add", beside, below)),
            (ROW_BYTES, REGISTER_BYTES, size),
            (
                code.integer("sub", width, column),
                code.least(form.chunk, code.integer("sub", depth, k)),
            ),
        )


def _pack_left(
    code: Code,
    form: Form,
    sides: tuple[str, str],
    dims: dict[str, str],
    at: tuple[str, str, str, str],
) -> None:
    """Packs up to 32 rows of the left matrix, which may be transposed."""
    (source, target), (i, k, rows, depth) = sides, at
    plain = code.integer("icmp eq", dims["column_step"], 1)
    down = code.integer("mul", k, dims["column_step"])
    with code.loop("0", rows, ROWS) as row:
        across = code.integer("mul", code.integer("add", i, row), dims["row_step"])
        start = code.at(form.left.memory, source, code.integer("add", across, down))
        to = code.at("i8", target, code.integer("mul", row, LEFT_STEP))
        count = code.integer("sub", rows, row)
        for lines, condition in ((False, plain), (True, code.let(f"xor i1 {plain}, true"))):
            step = dims["column_step" if lines else "row_step"]
            packing = Packing(form.left, lines, lines)
            with code.when(condition):
                packing.call(code, start, step, to, (LEFT_STEP, ROW_BYTES, "0"), (count, depth))


def _source(form: Form) -> Source:
    kernels: list[Kernel] = []
    for name in ("matmul", "matmul_turned"):
        kernels.append(Kernel(_product(form, name, name == "matmul_turned"), 2))
        kernels.append(Kernel(products_by(name, form.left.memory, form.result.memory), 2))
    packings = {
        Packing(form.left, False, False),
        Packing(form.left, True, True),
        Packing(form.right, True, False, 2),
        Packing(form.right, False, True),
    }
    called = [*[p.code() for p in sorted(packings)], *BlockProduct(form).functions()]
    return Source(kernels, called, text=CONFIGURATION_TEXT)


LIBRARIES = {form: Library(functools.partial(_source, form)) for form in FORMS.values()}


def product(
    a: tuple[int, ...],
    b: tuple[int, ...],
    transpose_a: bool,
    transpose_b: bool,
    form: Form,
    result: Any,
    shape: tuple[int, ...] | None = None,
) -> Callable[[Any, Any], Any] | None:
    """`matmul.product` of a form; `result` is the dtype of the result."""
    rows, inner = a[::-1] if transpose_a else a
    depth, columns = b[::-1] if transpose_b else b
    work = rows * inner * columns
    if inner != depth or not work:
        return None
    shared = work >= MIN_SHARED_MULTIPLICATIONS
    steps = (1, rows) if transpose_a else (inner, 1)
    *divided, panel = _parts(rows, columns, inner, thread_count() if shared else 1, form)
    function = LIBRARIES[form].entry(matmul.name_of(transpose_b), shared)
    tasks = work // (8 * matmul.PARTS_PER_THREAD) if shared else 0
    kernel = function.for_dims((*divided, rows, columns, inner, *steps, panel), tasks)
    return entry.filling(kernel, shape or (rows, columns), result)


def products(
    a: tuple[int, ...],
    b: tuple[int, ...],
    transpose_a: bool,
    transpose_b: bool,
    form: Form,
    result: Any,
) -> Callable[[Any, Any], Any] | None:
    """`matmul.products` of a form."""
    rows, inner = a[:-3:-1] if transpose_a else a[-2:]
    depth, columns = b[:-3:-1] if transpose_b else b[-2:]
    batches = [s for s in (a[:-2], b[:-2]) if math.prod(s) != 1]
    work = rows * inner * columns
    if inner != depth or len({*batches}) != 1 or not work * math.prod(batches[0]):
        return None
    steps = [0 if math.prod(s[:-2]) == 1 else s[-1] * s[-2] for s in (a, b)]
    within = (1, rows) if transpose_a else (inner, 1)
    *divided, panel = _parts(rows, columns, inner, 1, form)
    dims = (math.prod(batches[0]), *steps, rows * columns)
    dims += (*divided, rows, columns, inner, *within, panel)
    function = LIBRARIES[form].entry(f"{matmul.name_of(transpose_b)}_batch")
    shape = (*np.broadcast_shapes(a[:-2], b[:-2]), rows, columns)
    return entry.filling(function.for_dims(dims), shape, result)


def _parts(
    rows: int, columns: int, inner: int, threads: int, form: Form
) -> tuple[int, int, int, int]:
    """How a product is divided: parts, panels of columns, groups of rows, columns of a panel."""
    panels = -(-columns // PANEL_COLUMNS)
    blocks = -(-rows // SIDE)
    most = WAITING_ROWS if inner > form.block else matmul.ROWS_PER_GROUP
    wanted = -(-entry.TASKS_PER_THREAD * threads // panels) if threads > 1 else 1
    groups = min(max(wanted, -(-rows // most)), blocks)
    panel = SIDE * -(-columns // (SIDE * panels))
    return -(-columns // panel) * groups, -(-columns // panel), groups, panel


def product_of(
    dtype: Any, a: tuple[int, ...], b: tuple[int, ...], transposed_a: bool, transposed_b: bool
) -> Callable[[Any, Any], Any] | None:
    """`product` of a short dtype, for the shapes of the matrices before they are transposed."""
    form = short_form(dtype)
    if form is None:
        return None
    left, right = a[::-1] if transposed_a else a, b[::-1] if transposed_b else b
    return product(left, right, transposed_a, transposed_b, form, dtype)


def products_of(
    dtype: Any, a: tuple[int, ...], b: tuple[int, ...], transposed_a: bool, transposed_b: bool
) -> Callable[[Any, Any], Any] | None:
    """`products` of a short dtype."""
    form = short_form(dtype)
    if form is None:
        return None
    return products(a, b, transposed_a, transposed_b, form, dtype)


def integer_products(
    dtypes: tuple[Any, Any],
    a: tuple[int, ...],
    b: tuple[int, ...],
    transposed_a: bool,
    transposed_b: bool,
) -> Callable[[Any, Any], Any] | None:
    """Products of 8-bit integers, or batches of them, summed in 32 bits."""
    form = form_of(*dtypes, np.int32)
    if form is None:
        return None
    find = product if len(a) == len(b) == 2 else products
    return find(a, b, transposed_a, transposed_b, form, np.int32)


def short_form(dtype: Any) -> Form | None:
    """The form of products of a dtype of 16-bit floats."""
    return form_of(dtype, dtype, dtype)
