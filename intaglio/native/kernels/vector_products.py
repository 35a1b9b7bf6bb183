"""Products of a matrix and one or a few vectors in machine code.

The tiles of `microkernel` have a column of the result in each lane, and most lanes of few columns have
none. Here lanes are elements of the matrix that are adjacent in memory. Where its rows lie along the
vectors, each row is multiplied with each vector lane by lane, and the lanes are added at the end; where
they lie along the result of a single vector, the rows are added up, each multiplied by an element of the
vector. No element of the matrix is loaded twice, nor packed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.native.kernels.batches import products_by
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind
from intaglio.native.runtime import entry

# The bytes of a vector, on every processor: the order of additions is the same, and results differ by no more
# than rounding products. Processors with narrower registers take several for one.
WIDTH = 64
# The sums that are in registers: of so many rows with each vector, but at least one row.
SUMS = 16 if jit.WIDTH == WIDTH else 8
# The sums of a single product, of which each takes every fourth vector of a row: they hide the latency of additions.
SINGLE_SUMS = 4
# The most rows that are multiplied together: their sums hide the latency of additions.
MAX_ROWS = 8
# Up to so many rows are multiplied with a single vector one by one.
MAX_SINGLE = 3
# The vectors of a result whose sums stay in registers, and the rows of the matrix that are added to a result
# at a time.
VECTORS, TERMS = 4, 8
# The least and the most elements of a longer result that are computed together: the most stay in the
# first-level cache.
MIN_PANEL, MAX_PANEL = 128, 1024
# The dims of the kernels: the parts that threads divide, the elements of a vector's result, those of
# the vector, which of the operands is the matrix, and the elements of a part.
DIMS = ("parts", "count", "length", "matrix", "part")
# The dims of the transposition: the number of matrices, and the rows and columns of one.
TRANSPOSED_DIMS = ("parts", "rows", "columns")


class Form(NamedTuple):
    """A kernel, and its dims."""

    kernel: str
    parts: int
    elements: int
    length: int
    matrix: int
    part: int


def along(count: int, length: int, vectors: int, matrix: int) -> Form:
    """The form of the products of `count` rows with vectors that lie along them.

    `matrix` is the number of the operand that has the rows: 0 gives a result of `count` rows, 1 one of
    `count` columns.
    """
    if vectors == 1 and count <= MAX_SINGLE:
        return Form("dot", count, count, length, matrix, 1)
    rows, across = _rows(vectors), matrix and vectors > 1
    name = f"dots{vectors}{'_across' if across else ''}"
    return Form(name, -(-count // rows), count, length, matrix, rows)


def _rows(vectors: int) -> int:
    """The rows that are multiplied with so many vectors together: a power of 2."""
    return min(1 << (max(SUMS // vectors, 1).bit_length() - 1), MAX_ROWS)


def across(count: int, length: int, matrix: int, threads: int) -> Form:
    """The form of the sum of `length` rows of `count` elements, each multiplied by an element of a
    vector."""
    share = -(-count // (entry.TASKS_PER_THREAD * threads)) if threads > 1 else count
    part = min(-(-share // MIN_PANEL) * MIN_PANEL, MAX_PANEL)
    return Form("sums", -(-count // part), count, length, matrix, part)


class _Operands(NamedTuple):
    """The parameters of a kernel: pointers, and the elements of the result, the vector and a part."""

    matrix: str
    vector: str
    result: str
    elements: str
    length: str
    part: str


def _operands(code: Code) -> _Operands:
    dims = entry.load_dims(code, DIMS)
    which = dims["matrix"], code.integer("sub", 1, dims["matrix"])
    matrix, vector = (code.load("ptr", code.at("ptr", "%ins", i), 8) for i in which)
    result = code.load("ptr", "%outs", 8)
    return _Operands(matrix, vector, result, dims["count"], dims["length"], dims["part"])


def _dots(tiles: Tiles, vectors: int, across: bool = False) -> Code:
    """The products of rows with vectors that lie along them.

    The result has a row for each row of the matrix, or with `across` a column.
    """
    rows, name = _rows(vectors), f"dots{vectors}{'_across' * across}"
    code, kind = Code(name, entry.KERNEL), tiles.kind.llvm
    x = _operands(code)
    last = code.integer("sub", x.elements, 1)
    others = [tiles.step(code, x.vector, v, x.length) for v in range(vectors)]
    whole = code.integer("and", x.length, -tiles.lanes)
    mask = tiles.mask(code, whole, x.length)
    with code.loop("%from", "%to") as part:
        first = code.integer("mul", part, rows)
        # Rows beyond the last one are repetitions of it, which are not stored.
        numbers = [code.least(code.integer("add", first, r), last) for r in range(rows)]
        starts = [tiles.step(code, x.matrix, n, x.length) for n in numbers]

        def added(index: str, mask: str, sums: list[str], starts=starts) -> list[str]:
            factors = _read(tiles, code, others, index, mask)
            seen = _read(tiles, code, starts, index, mask)
            pairs = [(f, s) for f in factors for s in seen]
            if not across:
                pairs = [(f, s) for s in seen for f in factors]
            return [tiles.fma(code, *p, s) for p, s in zip(pairs, sums, strict=True)]

        sums = ["zeroinitializer"] * (rows * vectors)
        with code.carrying("0", whole, tiles.lanes, *_carried(tiles, sums)) as loop:
            loop.following = added(loop.index, "", loop.values)
        with code.carrying(whole, x.length, tiles.lanes, *_carried(tiles, loop.values)) as loop:
            loop.following = added(loop.index, mask, loop.values)
        results = _added_lanes(tiles, code, loop.values)
        count = code.integer("sub", x.elements, first)
        if across:
            allowed = tiles.mask(code, "0", code.least(count, rows))
            for v in range(vectors):
                column = code.at(kind, tiles.step(code, x.result, v, x.elements), first)
                number, lane = divmod(v * rows, tiles.lanes)
                tiles.write(code, _moved(tiles, code, results[number], lane), column, allowed)
        else:
            target = tiles.step(code, x.result, first, vectors)
            seen = code.integer("mul", code.least(count, rows), vectors)
            _store(tiles, code, results, target, seen)
    code.do("ret void")
    return code


def _carried(tiles: Tiles, sums: Sequence[str]) -> list[tuple[str, str]]:
    return [(tiles.vector, s) for s in sums]


def _read(tiles: Tiles, code: Code, pointers: Sequence[str], index: str, mask: str) -> list[str]:
    """The vectors that begin at an index of several rows."""
    return [tiles.read(code, code.at(tiles.kind.llvm, p, index), mask) for p in pointers]


def _added_lanes(tiles: Tiles, code: Code, sums: list[str]) -> list[str]:
    """The sums of the lanes of each vector, one after the other in the lanes of as few vectors.

    Two vectors become one, in which each has half the lanes, until a vector has one lane; where
    there are fewer vectors than lanes, the lanes of a single one are halved too.
    """
    sums = [*sums, *["poison"] * (-len(sums) % tiles.lanes)]
    share = tiles.lanes
    while share > 1:
        pairs = zip(sums[::2], sums[1::2], strict=True)
        sums = [_halved(tiles, code, x, y, share) for x, y in pairs]
        share //= 2
    return sums


def _store(tiles: Tiles, code: Code, vectors: Sequence[str], target: str, count: str) -> None:
    """Stores the first `count` lanes of vectors."""
    for number, vector in enumerate(vectors):
        first = str(number * tiles.lanes)
        pointer = code.at(tiles.kind.llvm, target, first)
        tiles.write(code, vector, pointer, tiles.mask(code, first, count))


def _moved(tiles: Tiles, code: Code, vector: str, first: int) -> str:
    """A vector whose first lanes are those from `first` on of another."""
    order = ", ".join([f"i32 {(first + i) % tiles.lanes}" for i in range(tiles.lanes)])
    operands = f"{tiles.vector} {vector}, {tiles.vector} poison"
    return code.let(f"shufflevector {operands}, <{tiles.lanes} x i32> <{order}>")


def _halved(tiles: Tiles, code: Code, x: str, y: str, share: int) -> str:
    """Two vectors of sums of `share` adjacent lanes as one vector of sums of half as many."""
    if x == y == "poison":
        return x
    firsts = [i for i in range(2 * tiles.lanes) if i % share < share // 2]
    halves: list[str] = []
    for lanes in (firsts, [i + share // 2 for i in firsts]):
        order = ", ".join([f"i32 {i}" for i in lanes])
        operands = f"{tiles.vector} {x}, {tiles.vector} {y}, <{tiles.lanes} x i32> <{order}>"
        halves.append(code.let(f"shufflevector {operands}"))
    return code.let(f"fadd {tiles.vector} {halves[0]}, {halves[1]}")


def _sums(tiles: Tiles) -> Code:
    """The product of a matrix whose rows lie along the result."""
    code = Code("sums", entry.KERNEL)
    x = _operands(code)
    with code.loop("%from", "%to") as part:
        first = code.integer("mul", part, x.part)
        count = code.least(x.part, code.integer("sub", x.elements, first))
        before = code.integer("sdiv", code.integer("sub", count, 1), tiles.lanes)
        left = code.integer("sub", count, code.integer("mul", before, tiles.lanes))
        kind = tiles.kind.llvm
        there = x._replace(
            matrix=code.at(kind, x.matrix, first), result=code.at(kind, x.result, first)
        )
        # The order of additions follows from the length of the whole result, not from the parts.
        short = code.integer("icmp sle", x.elements, VECTORS * tiles.lanes)
        with code.when(code.let(f"xor i1 {short}, true")):
            _in_memory(tiles, code, there, before, left)
        for vectors in range(1, VECTORS + 1):
            fits = code.integer("icmp eq", before, vectors - 1)
            with code.when(code.let(f"and i1 {short}, {fits}")):
                _in_registers(tiles, code, there, vectors, left)
    code.do("ret void")
    return code


def _in_registers(tiles: Tiles, code: Code, x: _Operands, vectors: int, left: str) -> None:
    """A result of few vectors, of which the last has `left` lanes.

    Several rows are added to sums of their own: additions to one sum would wait for each other.
    """
    at_once = TERMS // vectors
    firsts = [str(v * tiles.lanes) for v in range(vectors)]
    masks = [*[""] * (vectors - 1), tiles.mask(code, "0", left)]

    def added(row: str, sums: Sequence[str]) -> list[str]:
        factor = _element(tiles, code, x.vector, row)
        start = tiles.step(code, x.matrix, row, x.elements)
        found: list[str] = []
        for first, mask, total in zip(firsts, masks, sums, strict=True):
            vector = tiles.read(code, code.at(tiles.kind.llvm, start, first), mask)
            found.append(tiles.fma(code, factor, vector, total))
        return found

    groups = code.integer("sdiv", x.length, at_once)
    whole = code.integer("mul", groups, at_once)
    zeros = ["zeroinitializer"] * (at_once * vectors)
    with code.carrying("0", whole, at_once, *_carried(tiles, zeros)) as loop:
        for n in range(at_once):
            row = code.integer("add", loop.index, n)
            loop.following += added(row, loop.values[n * vectors : (n + 1) * vectors])
    sums = loop.values
    with code.carrying(whole, x.length, 1, *_carried(tiles, sums[:vectors])) as loop:
        loop.following = added(loop.index, loop.values)
    sums[:vectors] = loop.values
    for v, (first, mask) in enumerate(zip(firsts, masks, strict=True)):
        total = _added_up(tiles, code, sums[v::vectors])
        tiles.write(code, total, code.at(tiles.kind.llvm, x.result, first), mask)


def _element(tiles: Tiles, code: Code, pointer: str, index: str) -> str:
    """An element of the vector, in all lanes."""
    kind = tiles.kind
    value = code.load(kind.llvm, code.at(kind.llvm, pointer, index), kind.bytes)
    return code.splat(tiles.lanes, kind.llvm, value)


def _added_up(tiles: Tiles, code: Code, sums: list[str]) -> str:
    """The sum of a few vectors."""
    while len(sums) > 1:
        pairs = list(zip(sums[::2], sums[1::2], strict=False))
        rest = sums[2 * len(pairs) :]
        sums = [*[code.let(f"fadd {tiles.vector} {x}, {y}") for x, y in pairs], *rest]
    return sums[0]


def _in_memory(tiles: Tiles, code: Code, x: _Operands, before: str, left: str) -> None:
    """A result of `before` vectors and `left` more elements: several rows at a time are added to it."""
    kind = tiles.kind
    whole = code.integer("mul", before, tiles.lanes)
    last = tiles.mask(code, "0", left)
    count = code.integer("add", whole, left)
    code.zero(x.result, code.integer("mul", count, kind.bytes))
    done = code.integer("and", x.length, -TERMS)
    for start, stop, terms in (("0", done, TERMS), (done, x.length, 1)):
        with code.loop(start, stop, terms) as row:
            numbers = [code.integer("add", row, n) for n in range(terms)]
            factors = [_element(tiles, code, x.vector, n) for n in numbers]
            starts = [tiles.step(code, x.matrix, n, x.elements) for n in numbers]

            def add(index: str, mask: str, factors=factors, starts=starts) -> None:
                target = code.at(kind.llvm, x.result, index)
                total = tiles.read(code, target, mask)
                for factor, vector in zip(
                    factors, _read(tiles, code, starts, index, mask), strict=True
                ):
                    total = tiles.fma(code, factor, vector, total)
                tiles.write(code, total, target, mask)

            with code.loop("0", whole, tiles.lanes) as index:
                add(index, "")
            add(whole, last)


def _dot(tiles: Tiles) -> Code:
    """As `_dots`, one row at a time, of which several vectors are added to sums of their own."""
    code = Code("dot", entry.KERNEL)
    x = _operands(code)
    group = SINGLE_SUMS * tiles.lanes
    firsts = [v * tiles.lanes for v in range(SINGLE_SUMS)]
    with code.loop("%from", "%to") as number:
        row = tiles.step(code, x.matrix, number, x.length)

        def added(index: str, total: str, mask: str = "", row=row) -> str:
            vector, factor = _read(tiles, code, [row, x.vector], index, mask)
            return tiles.fma(code, vector, factor, total)

        groups = code.integer("mul", code.integer("sdiv", x.length, group), group)
        zeros = ["zeroinitializer"] * SINGLE_SUMS
        with code.carrying("0", groups, group, *_carried(tiles, zeros)) as loop:
            indices = [code.integer("add", loop.index, first) for first in firsts]
            loop.following = [added(*pair) for pair in zip(indices, loop.values, strict=True)]
        total = _added_up(tiles, code, loop.values)
        with code.carrying(groups, x.length, tiles.lanes, (tiles.vector, total)) as rest:
            mask = tiles.mask(code, rest.index, x.length)
            rest.following = [added(rest.index, rest.values[0], mask)]
        target = code.at(tiles.kind.llvm, x.result, number)
        _store(tiles, code, _added_lanes(tiles, code, rest.values), target, "1")
    code.do("ret void")
    return code


def _transposed(tiles: Tiles) -> Code:
    """Transposed matrices of few rows or columns."""
    code, kind = Code("transposed", entry.KERNEL), tiles.kind
    dims = entry.load_dims(code, TRANSPOSED_DIMS)
    source, target = code.load("ptr", "%ins", 8), code.load("ptr", "%outs", 8)
    rows, columns = dims["rows"], dims["columns"]
    size = code.integer("mul", rows, columns)
    with code.loop("%from", "%to") as number:
        first = code.integer("mul", number, size)
        old, new = (code.at(kind.llvm, pointer, first) for pointer in (source, target))
        with code.loop("0", columns) as j, code.loop("0", rows) as i:
            there = code.at(kind.llvm, tiles.step(code, old, i, columns), j)
            here = code.at(kind.llvm, tiles.step(code, new, j, rows), i)
            value = code.load(kind.llvm, there, kind.bytes)
            code.do(f"store {kind.llvm} {value}, ptr {here}, align {kind.bytes}")
    code.do("ret void")
    return code


def _written(kind: Kind, name: str) -> Code:
    """The kernel of a name."""
    tiles = Tiles(kind, width=WIDTH)
    if name in ("dot", "sums"):
        return _dot(tiles) if name == "dot" else _sums(tiles)
    vectors, across = name.removeprefix("dots").removesuffix("_across"), name.endswith("_across")
    return _dots(tiles, int(vectors), across)


def _source(kind: Kind, name: str) -> Source:
    code = _written(kind, name)
    return Source([Kernel(code, 2), Kernel(products_by(name, kind.llvm, kind.llvm), 2)])


@functools.cache
def library(kind: Kind, name: str) -> Library:
    """The kernel of a form for elements of a type, and that of batches."""
    return Library(functools.partial(_source, kind, name))


@functools.cache
def transposition(kind: Kind) -> Library:
    """The kernel that transposes matrices of few rows or columns."""
    return Library(lambda: Source([Kernel(_transposed(Tiles(kind, width=WIDTH)), 1)]))


def transposed_before(product: Any, transposition: Any, operand: int) -> Chain:
    """A product of which one operand is transposed first."""
    chain, operands = Chain(2), [0, 1]
    (operands[operand],) = chain.then(transposition, operand)
    (result,) = chain.then(product, *operands)
    return chain.returning(result)


def transposed_after(product: Any, transposition: Any) -> Chain:
    """A product of the operands in the opposite order, whose result is transposed."""
    chain = Chain(2)
    (result,) = chain.then(transposition, *chain.then(product, 1, 0))
    return chain.returning(result)
