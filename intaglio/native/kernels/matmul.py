"""Matrix products in machine code: register tiles over panels that are packed in cache."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from intaglio.base import later
from intaglio.native.kernels.batches import products_by
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import (
    TILE_ROWS,
    TILE_VECTORS,
    Left,
    Right,
    Tiles,
    tiles_for,
)
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Kind
from intaglio.native.runtime import entry
from intaglio.native.runtime.thread_pool import thread_count

if TYPE_CHECKING:
    from intaglio.native.kernels import vector_products
else:  # products of large matrices do not wait for this module
    vector_products = later.Module("intaglio.native.kernels.vector_products")

# The most of the inner dimension in a block: a panel of a block stays in the second-level cache.
# The fewer blocks, the less often partial sums are stored and loaded.
BLOCK_BYTES = 1024
# The least rows for which a panel is packed; the second number where its rows are a multiple of a
# page apart, which map to few sets of the caches.
MIN_PACKED_ROWS, MIN_PACKED_ROWS_FAR, PAGE_BYTES = 96, 24, 4096
# The least multiplications for several threads; and the most, above which the left matrix exceeds
# every cache and OpenBLAS is used.
MIN_SHARED_MULTIPLICATIONS = 1 << 20
MAX_MULTIPLICATIONS = 1 << 36
# The most multiplications of a part, since threads claim parts one by one: a preempted thread
# delays the others by one part.
PARTS_PER_THREAD = 1 << 20
# The most rows of a group: their part of the left matrix stays in the last-level cache.
ROWS_PER_GROUP = 2048
# The most rows or columns that are taken as vectors, of each of which a sum is in a register; what adding
# the lanes of a sum takes, in multiplications of a vector, and what the transposition of an element takes.
MAX_VECTORS = 12 if jit.WIDTH == 64 else 8
ADDING_LANES, TRANSPOSING = 4, 3
# The dims of the kernel: the parts that threads divide, which are panels of columns times groups of
# rows; rows, columns, inner dimension; and the strides of the left matrix from row to row and from
# column to column.
DIMS = ("parts", "panels", "groups", "rows", "columns", "inner", "row_step", "column_step")


def _pack(tiles: Tiles) -> Code:
    """Packs a panel: copies `depth` rows of `columns` elements to consecutive rows."""
    code = Code(
        "pack",
        ["ptr %from", "i64 %row", "ptr %to", "i64 %depth", "i64 %columns"],
        "internal fastcc void",
    )
    firsts = [str(v * tiles.lanes) for v in range(TILE_VECTORS)]
    masks = [tiles.mask(code, first, "%columns") for first in firsts]
    with code.loop("0", "%depth") as index:
        source = tiles.step(code, "%from", index, "%row")
        target = tiles.step(code, "%to", index, tiles.width)
        sources = tiles.pointers(code, source, TILE_VECTORS)
        targets = tiles.pointers(code, target, TILE_VECTORS)
        for there, here, mask in zip(sources, targets, masks, strict=True):
            tiles.write(code, tiles.read(code, there, mask), here)
    code.do("ret void")
    return code


def _pack_transposed(tiles: Tiles) -> Code:
    """Packs a panel of a transposed matrix, whose `columns` are rows of `depth` elements.

    Square blocks of vectors are transposed in registers.
    """
    code, lanes = (
        Code(
            "pack_turned",
            ["ptr %from", "i64 %row", "ptr %to", "i64 %depth", "i64 %columns"],
            "internal fastcc void",
        ),
        tiles.lanes,
    )
    with code.loop("0", "%columns", lanes) as j, code.loop("0", "%depth", lanes) as k:
        pointer = code.at(tiles.kind.llvm, tiles.step(code, "%from", j, "%row"), k)
        count = code.integer("sub", "%columns", j)
        along = tiles.mask(code, k, "%depth")
        vectors = tiles.read_transposed(code, pointer, "%row", count, along)
        for c, vector in enumerate(vectors):
            target = tiles.step(code, "%to", code.integer("add", k, c), tiles.width)
            tiles.write(code, vector, code.at(tiles.kind.llvm, target, j))
    code.do("ret void")
    return code


def _product(tiles: Tiles, name: str, transposed: bool) -> Code:
    """The kernel: parts of a product, each a group of rows in a panel of columns.

    The right matrix may be transposed.
    """
    code, kind = Code(name, entry.KERNEL), tiles.kind.llvm
    # Transposed blocks may reach beyond the last row.
    size = (BLOCK_BYTES + tiles.lanes) * tiles.width
    panel = code.let(f"alloca [{size} x {kind}], align 64")
    a, b = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    c = code.load("ptr", "%outs", 8)
    dims = entry.load_dims(code, DIMS)
    columns, inner = dims["columns"], dims["inner"]
    block = _block(code, tiles, inner)
    with code.loop("%from", "%to") as part:
        rows = group_of(code, dims, part, TILE_ROWS)
        j = code.integer("mul", code.integer("srem", part, dims["panels"]), tiles.width)
        width = code.least(tiles.width, code.integer("sub", columns, j))
        target = Right(code.at(kind, c, j), columns)
        with code.loop("0", inner, block) as k:
            depth = code.least(block, code.integer("sub", inner, k))
            start = tiles.step(code, a, k, dims["column_step"])
            left = Left(start, dims["row_step"], dims["column_step"])
            first = code.integer("icmp eq", k, 0)
            across, down, row = (j, k, inner) if transposed else (k, j, columns)
            source = Right(code.at(kind, tiles.step(code, b, across, row), down), row)
            if transposed:
                _copy(code, "pack_turned", source, panel, depth, width)
                right, rest = Right(panel, str(tiles.width)), rows
            else:
                sides = left, source, target
                right, rest = _packed(code, tiles, rows, sides, (width, depth), first, panel)
            tiles.product(code, rest, left, right, target, (width, depth, "1"), first)
    code.do("ret void")
    return code


def _packed(
    code: Code,
    tiles: Tiles,
    rows: tuple[str, str],
    sides: tuple[Left, Right, Right],
    sizes: tuple[str, str],
    first: str,
    panel: str,
) -> tuple[Right, tuple[str, str]]:
    """The right matrix, in a packed panel where that pays, and the remaining rows to compute.

    Where the panel is as wide as a tile, the first tile packs it: loading it from memory takes
    longer than its multiplications.
    """
    left, source, target = sides
    width, depth = sizes
    begin, end = rows
    count = code.integer("sub", end, begin)
    apart = code.integer("urem", source.row, PAGE_BYTES // tiles.kind.bytes)
    far = code.integer("icmp eq", apart, 0)
    least = code.let(f"select i1 {far}, i64 {MIN_PACKED_ROWS_FAR}, i64 {MIN_PACKED_ROWS}")
    packed = code.integer("icmp sge", count, least)
    whole = code.integer("icmp eq", width, tiles.width)
    narrow = code.let(f"xor i1 {whole}, true")
    with code.when(code.let(f"and i1 {packed}, {narrow}")):
        _copy(code, "pack", source, panel, depth, width)
    by_tile = code.let(f"and i1 {packed}, {whole}")
    with code.when(by_tile):
        tiles.copying(code, begin, left, source, target, depth, first, panel)
    done = code.let(f"select i1 {by_tile}, i64 {TILE_ROWS}, i64 0")
    right = Right(
        code.let(f"select i1 {packed}, ptr {panel}, ptr {source.start}"),
        code.let(f"select i1 {packed}, i64 {tiles.width}, i64 {source.row}"),
    )
    return right, (code.integer("add", begin, done), end)


def _copy(code: Code, pack: str, source: Right, panel: str, depth: str, width: str) -> None:
    """Copies a panel."""
    code.do(
        f"call fastcc void @{pack}(ptr {source.start}, i64 {source.row}, ptr {panel}, "
        f"i64 {depth}, i64 {width})"
    )


def _block(code: Code, tiles: Tiles, inner: str) -> str:
    """The size of the blocks of the inner dimension, which are about equal: whole vectors."""
    count = code.integer("sdiv", code.integer("add", inner, BLOCK_BYTES - 1), BLOCK_BYTES)
    share = code.integer("sdiv", code.integer("sub", inner, 1), count)
    vectors = code.integer("sdiv", share, tiles.lanes)
    return code.integer("mul", code.integer("add", vectors, 1), tiles.lanes)


def group_of(code: Code, dims: dict[str, str], part: str, unit: int) -> tuple[str, str]:
    """The rows of a part: whole tiles of `unit` rows, except for the last group."""
    group = code.integer("sdiv", part, dims["panels"])
    tiles = code.integer("sdiv", code.integer("add", dims["rows"], unit - 1), unit)
    bounds: list[str] = []
    for at in (group, code.integer("add", group, 1)):
        share = code.integer("sdiv", code.integer("mul", tiles, at), dims["groups"])
        bounds.append(code.least(code.integer("mul", share, unit), dims["rows"]))
    return bounds[0], bounds[1]


def _source(kind: Kind) -> Source:
    tiles = Tiles(kind)
    kernels: list[Kernel] = []
    for name in ("matmul", "matmul_turned"):
        kernels.append(Kernel(_product(tiles, name, name == "matmul_turned"), 2))
        kernels.append(Kernel(products_by(name, kind.llvm, kind.llvm), 2))
    copying = tiles.tile(TILE_ROWS, TILE_VECTORS, copies=True)
    called = [copying, _pack(tiles), _pack_transposed(tiles)]
    return Source(kernels, called, table=tiles.table())


# By the types of the elements.
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}
LIBRARIES = {dtype: Library(functools.partial(_source, kind)) for dtype, kind in KINDS.items()}


def name_of(transpose_b: bool) -> str:
    return "matmul_turned" if transpose_b else "matmul"


def product(
    a: tuple[int, ...],
    b: tuple[int, ...],
    transpose_a: bool = False,
    transpose_b: bool = False,
    dtype: Any = np.float32,
    shape: tuple[int, ...] | None = None,
) -> Callable[[Any, Any], Any] | None:
    """The product of matrices of floats of these shapes; None where OpenBLAS is faster.

    With a `shape` the result has it, and the arguments may have any shape of the same layout.
    """
    rows, inner = a[::-1] if transpose_a else a
    depth, columns = b[::-1] if transpose_b else b
    work = rows * inner * columns
    if not entry.AVAILABLE or inner != depth or not 0 < work <= MAX_MULTIPLICATIONS:
        return None
    shared = work >= MIN_SHARED_MULTIPLICATIONS
    size = Size(rows, inner, columns)
    plan = _plan(size, (transpose_a, transpose_b), thread_count() if shared else 1, dtype)
    function = plan.library.entry(plan.kernel, shared, plan.tiles)
    kernel = function.for_dims(plan.dims, work // PARTS_PER_THREAD if shared else 0)
    return _composed(plan, size, kernel, (1, 1, 1), shape or (rows, columns), dtype)


class Size(NamedTuple):
    """The sizes of a product."""

    rows: int
    inner: int
    columns: int


class _Plan(NamedTuple):
    """How a product is computed: by a kernel of a library, with these dims and tiles.

    The operand `before` is transposed before it, where that is not None; and the kernel may compute the
    transposed result, from the operands in the opposite order.
    """

    library: Library
    kernel: str
    dims: tuple[int, ...]
    tiles: Collection[int] = ()
    before: int | None = None
    reversed: bool = False


def _plan(size: Size, transposed: tuple[bool, bool], threads: int, dtype: Any) -> _Plan:
    few = _by_vectors(size, transposed, threads, dtype)
    if few is not None:
        return few
    rows, inner, columns = size
    kind, library = KINDS[np.dtype(dtype)], LIBRARIES[np.dtype(dtype)]
    if transposed[0] and _is_taller(size, dtype):
        steps = (inner, 1) if transposed[1] else (1, columns)
        dims = (*_parts(columns, rows, threads, dtype), columns, rows, inner, *steps)
        return _Plan(library, "matmul", dims, tiles_for(rows, kind, columns), reversed=True)
    steps = (1, rows) if transposed[0] else (inner, 1)
    dims = (*_parts(rows, columns, threads, dtype), rows, columns, inner, *steps)
    return _Plan(library, name_of(transposed[1]), dims, tiles_for(columns, kind, rows))


def _is_taller(size: Size, dtype: Any) -> bool:
    """True if the vectors of the transposed result are so much fewer that its transposition pays."""
    lanes = jit.WIDTH // np.dtype(dtype).itemsize
    rows, inner, columns = size
    saved = rows * -(-columns // lanes) - columns * -(-rows // lanes)
    return saved * inner > TRANSPOSING * rows * columns


def _by_vectors(
    size: Size, transposed: tuple[bool, bool], threads: int, dtype: Any
) -> _Plan | None:
    """The plan of a product with so few rows or columns that they are taken as vectors."""
    if min(size.rows, size.columns) > MAX_VECTORS:
        return None
    matrix, kind = int(size.rows < size.columns), KINDS[np.dtype(dtype)]
    vectors, count = sorted((size.rows, size.columns))
    is_along = transposed[1] if matrix else not transposed[0]
    if not is_along and count > 1:
        if vectors > 1:
            return None
        form = vector_products.across(count, size.inner, matrix, threads)
    elif _is_few(vectors, count, size.inner, dtype):
        form = vector_products.along(count, size.inner, vectors, matrix)
    else:
        return None
    ready = vectors == 1 or (not transposed[0] if matrix else transposed[1])
    dims = (form.parts, form.elements, form.length, form.matrix, form.part)
    library = vector_products.library(kind, form.kernel)
    return _Plan(library, form.kernel, dims, before=None if ready else 1 - matrix)


def _is_few(vectors: int, count: int, inner: int, dtype: Any) -> bool:
    """True if rows along vectors are faster than tiles of few columns."""
    if vectors == 1:
        return True
    lanes = jit.WIDTH // np.dtype(dtype).itemsize
    along = vectors * (-(-inner // lanes) + ADDING_LANES)
    return along * count + TRANSPOSING * vectors * inner < -(-vectors // lanes) * inner * count


def _composed(
    plan: _Plan,
    size: Size,
    kernel: Callable[..., Any],
    counts: tuple[int, int, int],
    shape: tuple[int, ...],
    dtype: Any,
) -> Callable[[Any, Any], Any]:
    """The function of two arrays; `counts` are the numbers of matrices of the operands and of the
    result."""
    if plan.before is None and not plan.reversed:
        return entry.filling(kernel, shape, dtype)
    dtype, few = np.dtype(dtype), min(size.rows, size.columns)
    transposition = vector_products.transposition(KINDS[dtype]).entry("transposed", False)
    if plan.reversed:
        across = (counts[2], size.columns, size.rows)
        result = entry.filling(transposition.for_dims(across), shape, dtype)
        return vector_products.transposed_after(entry.filling(kernel, across, dtype), result)
    assert plan.before is not None
    stored = (counts[plan.before], size.inner, few)
    operand = entry.filling(transposition.for_dims(stored), (stored[0], few, size.inner), dtype)
    product = entry.filling(kernel, shape, dtype)
    return vector_products.transposed_before(product, operand, plan.before)


def product_of(
    dtype: Any, a: tuple[int, ...], b: tuple[int, ...], transposed_a: bool, transposed_b: bool
) -> Callable[[Any, Any], Any] | None:
    """`product` for the shapes of the matrices before they are transposed."""
    left, right = a[::-1] if transposed_a else a, b[::-1] if transposed_b else b
    return product(left, right, transposed_a, transposed_b, dtype)


def _parts(rows: int, columns: int, threads: int, dtype: Any) -> tuple[int, int, int]:
    """How a product is divided: parts, panels of columns, groups of rows.

    A panel is packed again for each group: there are as few groups as give every thread a part.
    """
    wide = TILE_VECTORS * jit.WIDTH // np.dtype(dtype).itemsize
    panels = -(-columns // wide)
    wanted = -(-entry.TASKS_PER_THREAD * threads // panels) if threads > 1 else 1
    groups = min(max(wanted, -(-rows // ROWS_PER_GROUP)), -(-rows // TILE_ROWS))
    return panels * groups, panels, groups


def products(
    a: tuple[int, ...],
    b: tuple[int, ...],
    transpose_a: bool = False,
    transpose_b: bool = False,
    dtype: Any = np.float32,
) -> Callable[[Any, Any], Any] | None:
    """The products of matrices of floats in batches of one shape; one operand may be a single
    matrix."""
    rows, inner = a[:-3:-1] if transpose_a else a[-2:]
    depth, columns = b[:-3:-1] if transpose_b else b[-2:]
    batches = [s for s in (a[:-2], b[:-2]) if math.prod(s) != 1]
    if not entry.AVAILABLE or inner != depth or len({*batches}) != 1:
        return None
    count = math.prod(batches[0])
    work = rows * inner * columns
    if not count * work or work > MAX_MULTIPLICATIONS:
        return None
    shape = (*np.broadcast_shapes(a[:-2], b[:-2]), rows, columns)
    if math.prod(b[:-2]) == 1 and not transpose_a:  # the rows of all are those of one product
        return product((count * rows, inner), b[-2:], False, transpose_b, dtype, shape)
    size, transposed = Size(rows, inner, columns), (transpose_a, transpose_b)
    plan = _plan(size, transposed, 1, dtype)
    steps = [0 if math.prod(s[:-2]) == 1 else s[-1] * s[-2] for s in (a, b)]
    steps = steps[::-1] if plan.reversed else steps
    dims = (count, *steps, rows * columns, *plan.dims)
    function = plan.library.entry(f"{plan.kernel}_batch", table_entries=plan.tiles)
    counts = (math.prod(a[:-2]), math.prod(b[:-2]), count)
    return _composed(plan, size, function.for_dims(dims), counts, shape, dtype)


def products_of(dtype: Any, *description: Any) -> Callable[[Any, Any], Any] | None:
    """`products` of a dtype."""
    return products(*description, dtype=dtype)
