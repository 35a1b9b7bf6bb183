"""Recurrent cells: tiles of a matrix product with the gates' elementwise ops as an epilogue in registers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.kernels.loop_nest import apply
from intaglio.native.kernels.microkernel import ACCUMULATORS, Tiles
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, Lanes
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.ops.array.slicing import is_index

TILE_SHAPES = Tiles(FLOAT)
# The most rows of a tile, by its vectors.
MAX_TILE_ROWS = {1: 12, 2: 8, 3: 8, 4: 6}
# The dims of a cell's code: tiles of rows, those that are whole, the inner dimension, blocks of
# columns, columns of the product and of a gate.
DIMS = ("tiles", "whole", "inner", "blocks", "wide", "columns")


# The most gates that fit into registers, and the least multiplications for which a cell pays.
MOST_GATES, WORTH = 4, 1 << 14


class Form(NamedTuple):
    """The sizes of a cell: rows, inner dimension, gates, columns of a gate."""

    rows: int
    inner: int
    gates: int
    columns: int

    @property
    def wide(self) -> tuple[int, int]:
        """The shape of the product."""
        return self.rows, self.gates * self.columns

    @property
    def narrow(self) -> tuple[int, int]:
        """The shape of a gate."""
        return self.rows, self.columns


def form_of(node: Node, users: dict[int, list[Node]]) -> Form | None:
    """The sizes of a product's cell; None where they are not known, or small."""
    (rows, inner), (_, wide) = (v.dims or (None, None) for v in node.inputs)
    if not rows or not inner or not wide or rows * inner * wide < WORTH:
        return None
    gates = _gates(node, wide, users)
    return Form(rows, inner, gates, wide // gates)


def _gates(node: Node, wide: int, users: dict[int, list[Node]]) -> int:
    """The number of slices of a product, after additions; 1 if it is not sliced, or into too many."""
    waiting, seen = [node.outputs[0]], set[int]()
    while waiting:
        value = waiting.pop()
        for user in users.get(id(value), []):
            output = user.outputs[0]
            width = output.dims[-1] if output.dims else None
            if starts_of(user, wide) is not None and width and wide % width == 0:
                return wide // width if wide // width <= MOST_GATES else 1
            if "scalar" in user.op.rules and output.dims == value.dims and id(output) not in seen:
                seen.add(id(output))
                waiting.append(output)
    return 1


class Plan(NamedTuple):
    """The tiles of a cell: their rows, and the vectors of each gate."""

    rows: int
    inner: int
    gates: int
    columns: int
    tall: int
    vectors: int

    @property
    def step(self) -> int:
        """The columns of a gate in a tile."""
        return self.vectors * TILE_SHAPES.lanes

    @property
    def masked(self) -> bool:
        """True if the last tile has fewer columns."""
        return bool(self.columns % self.step)

    @property
    def blocks(self) -> int:
        """The number of tiles in a block."""
        return -(-self.columns // self.step)

    @property
    def bytes(self) -> int:
        """The size of the packed weights."""
        return self.blocks * self.inner * self.gates * self.step * FLOAT.bytes

    @property
    def layout(self) -> tuple[int, int]:
        """The key of packed weights among others of the same matrix."""
        return self.gates, self.vectors

    @property
    def dims(self) -> tuple[int, ...]:
        """The dims of the code, in the order of `DIMS`."""
        tiles = -(-self.rows // self.tall)
        whole, wide = self.rows // self.tall, self.gates * self.columns
        return tiles, whole, self.inner, self.blocks, wide, self.columns

    @property
    def pack_dims(self) -> tuple[int, ...]:
        """The dims of the code that packs."""
        return self.blocks, self.inner, self.gates * self.columns, self.columns


def planned(rows: int, inner: int, gates: int, columns: int) -> Plan:
    """Tiles for a cell of these sizes, which fill the registers and leave a small remainder of
    rows."""
    vectors = (
        2 if gates < 3 and columns > TILE_SHAPES.lanes and gates * 2 <= len(MAX_TILE_ROWS) else 1
    )
    most = max(min(MAX_TILE_ROWS[gates * vectors], ACCUMULATORS // (gates * vectors)), 1)
    whole = [n for n in range(most // 2 + 1, most + 1) if rows % n == 0]
    tall = whole[-1] if whole else -(-rows // -(-rows // most))
    return Plan(rows, inner, gates, columns, tall, vectors)


def starts_of(node: Node, wide: int) -> list[int] | None:
    """The first columns of a node's results in its input; None if they are no slices of columns."""
    if node.op in (raw.Split, raw.SplitV):
        at = 0 if node.op is raw.Split else 2
        axis = node.inputs[at].node
        if axis.op is not raw.Const or int(axis.attrs["value"]) not in (1, -1):
            return None
        widths = [v.dims[1] if v.dims else None for v in node.outputs]
        if None in widths or len({*widths}) != 1:
            return None
        return [i * (wide // len(widths)) for i in range(len(widths))]
    if node.op is not raw.StridedSlice or any(v.node.op is not raw.Const for v in node.inputs[1:]):
        return None
    source, output = node.inputs[0].dims, node.outputs[0].dims
    if source is None or output is None or len(source) != 2 or len(output) != 2:
        return None
    if source[0] != output[0] or is_index(node.attrs, 0):
        return None
    row = np.arange(wide).reshape(1, wide)
    begin, end, strides = (v.node.attrs["value"] for v in node.inputs[1:])
    if begin.size != 2 or node.attrs["shrink_axis_mask"] or node.attrs["new_axis_mask"]:
        return None
    if node.attrs["ellipsis_mask"] or (strides != 1).any():
        return None
    first = None if node.attrs["begin_mask"] & 2 else int(begin[1])
    last = None if node.attrs["end_mask"] & 2 else int(end[1])
    return [int(row[0, first:last][0])]


def value_of(node: Node) -> int:
    """The index of the input that a node slices."""
    return 1 if node.op is raw.Split else 0


def pack(plan: Plan) -> Code:
    """Packs weights in the order of the tiles: for each block of columns, rows of all gates side by
    side."""
    code, tiles = Code("pack", entry.KERNEL), TILE_SHAPES
    source, target = code.load("ptr", "%ins", 8), code.load("ptr", "%outs", 8)
    dims = entry.load_dims(code, ("blocks", "inner", "wide", "columns"))
    width = plan.gates * plan.step
    with code.loop("%from", "%to") as block:
        first = code.integer("mul", block, plan.step)
        columns = code.integer("sub", dims["columns"], first)
        masks = [tiles.mask(code, str(v * tiles.lanes), columns) for v in range(plan.vectors)]
        with code.loop("0", dims["inner"]) as k:
            row = code.at("float", tiles.step(code, source, k, dims["wide"]), first)
            done = code.integer("mul", block, dims["inner"])
            to = tiles.step(code, target, code.integer("add", done, k), width)
            for gate in range(plan.gates):
                there = tiles.step(code, row, gate, dims["columns"])
                here = code.at("float", to, str(gate * plan.step))
                for pointer, to_, mask in zip(
                    tiles.pointers(code, there, plan.vectors),
                    tiles.pointers(code, here, plan.vectors),
                    masks,
                    strict=True,
                ):
                    tiles.write(code, tiles.read(code, pointer, mask), to_)
    code.do("ret void")
    return code


def cell(body: Graph, product: Node, plan: Plan) -> Code:
    """The kernel: tiles of rows from `from` to `to`, in all columns.

    Inputs are the rows, the packed weights, and the other inputs of the cell's graph.
    """
    return _Cell(body, product, plan).write()


def others(body: Graph, product: Node) -> list[SymbolicTensor]:
    """The inputs of a cell's graph other than those of its product; some may be the same."""
    users = walk.uses(body)
    return [v for v in body.inputs if any(n is not product for n in users[id(v)])]


class _Cell:
    def __init__(self, body: Graph, product: Node, plan: Plan) -> None:
        self.body = body
        self.product = product
        self.plan = plan
        self.code = code = Code("cell", entry.KERNEL)
        self.dims = entry.load_dims(code, DIMS)
        self.others = others(body, product)
        count = 2 + len(self.others)
        self.ins = [self._pointer("%ins", i) for i in range(count)]
        self.outs = [self._pointer("%outs", i) for i in range(len(body.outputs))]

    def _pointer(self, table: str, index: int) -> str:
        return self.code.load("ptr", self.code.at("ptr", table, str(index)), 8)

    def write(self) -> Code:
        """The function."""
        code, plan, dims = self.code, self.plan, self.dims
        size = plan.gates * plan.step
        with code.loop("0", dims["blocks"]) as block:
            depth = code.integer("mul", block, dims["inner"])
            panel = TILE_SHAPES.step(code, self.ins[1], depth, size)
            column = code.integer("mul", block, plan.step)
            left = code.integer("sub", dims["columns"], column)
            masks = [
                TILE_SHAPES.mask(code, str(v * TILE_SHAPES.lanes), left) if plan.masked else ""
                for v in range(plan.vectors)
            ]
            whole = code.least("%to", dims["whole"])
            with code.loop("%from", whole) as number:
                self._tile(panel, column, masks, number, plan.tall)
            rest = plan.rows % plan.tall
            if rest:
                with code.when(code.integer("icmp sgt", "%to", dims["whole"])):
                    self._tile(panel, column, masks, dims["whole"], rest)
        code.do("ret void")
        return code

    def _tile(self, panel: str, column: str, masks: list[str], number: str, tall: int) -> None:
        """A tile of the product, and its elementwise ops."""
        code, plan = self.code, self.plan
        first = code.integer("mul", number, plan.tall)
        rows = [code.integer("add", first, r) for r in range(tall)]
        sums = self._sums(panel, rows)
        s = Functions(code, TILE_SHAPES.lanes, tall * plan.vectors)
        gates = [
            Lanes(
                FLOAT,
                tuple(
                    [
                        sums[r][g * plan.vectors + v]
                        for r in range(tall)
                        for v in range(plan.vectors)
                    ]
                ),
            )
            for g in range(plan.gates)
        ]
        values: dict[int, list[Lanes]] = {id(self.product.outputs[0]): gates}
        for value, pointer in zip(self.others, self.ins[2:], strict=True):
            values[id(value)] = self._read(value.dims, pointer, rows, column, masks)
        known = {id(v.node) for v in self.body.inputs}
        for node in self.body.nodes:
            if id(node) not in known and node is not self.product:
                self._node(s, node, values)
        for value, pointer in zip(self.body.outputs, self.outs, strict=True):
            self._write(values[id(value)], pointer, rows, column, masks)

    def _sums(self, panel: str, rows: list[str]) -> list[list[str]]:
        """The sums of products: for each row the vectors of all gates."""
        code, plan = self.code, self.plan
        vectors_per_row = plan.gates * plan.vectors
        tops = [TILE_SHAPES.step(code, self.ins[0], r, self.dims["inner"]) for r in rows]
        start = [(TILE_SHAPES.vector, "zeroinitializer")] * (len(rows) * vectors_per_row)
        with code.carrying("0", self.dims["inner"], 1, *start) as iteration:
            right = TILE_SHAPES.step(
                code, panel, iteration.index, vectors_per_row * TILE_SHAPES.lanes
            )
            vectors = [
                TILE_SHAPES.read(code, p, "")
                for p in TILE_SHAPES.pointers(code, right, vectors_per_row)
            ]
            for r, top in enumerate(tops):
                value = code.load("float", code.at("float", top, iteration.index), 4)
                factor = code.splat(TILE_SHAPES.lanes, "float", value)
                iteration.following += [
                    TILE_SHAPES.fma(code, factor, v, iteration.values[r * vectors_per_row + i])
                    for i, v in enumerate(vectors)
                ]
        return [
            iteration.values[r * vectors_per_row : (r + 1) * vectors_per_row]
            for r in range(len(rows))
        ]

    def _node(self, s: Functions, node: Node, values: dict[int, list[Lanes]]) -> None:
        """A node of the cell's graph, once for each gate if it is of the whole product."""
        if node.op is raw.Const:
            value = node.attrs["value"]
            if value.size == 1 and node.outputs[0].dtype.is_floating:
                values[id(node.outputs[0])] = [s.constant(value.reshape(-1)[0], FLOAT)]
            return
        plan = self.plan
        starts = starts_of(node, plan.gates * plan.columns) if plan.gates > 1 else None
        if starts is not None:
            source = values[id(node.inputs[value_of(node)])]
            for value, start in zip(node.outputs, starts, strict=True):
                values[id(value)] = [source[start // plan.columns]]
            return
        operands = [values[id(v)] for v in node.inputs]
        count = max(map(len, operands))
        values[id(node.outputs[0])] = [
            apply(s, node, [o[g] if len(o) > 1 else o[0] for o in operands]) for g in range(count)
        ]

    # -- memory --------------------------------------------------------------------------------

    def _gates(self, width: int) -> int:
        """The number of gates in a value of so many columns."""
        return self.plan.gates if width == self.plan.gates * self.plan.columns else 1

    def _vector_pointers(
        self, pointer: str, row: str, gate: int, width: int, column: str
    ) -> list[str]:
        """Pointers to the vectors of a gate in a row."""
        code = self.code
        wide = self.dims["wide" if self._gates(width) > 1 else "columns"]
        start = code.at("float", TILE_SHAPES.step(code, pointer, row, wide), column)
        there = TILE_SHAPES.step(code, start, gate, self.dims["columns"])
        return TILE_SHAPES.pointers(code, there, self.plan.vectors)

    def _read(
        self, dims: Any, pointer: str, rows: list[str], column: str, masks: list[str]
    ) -> list[Lanes]:
        """Loads an operand other than the product: an element for each row, for all rows, or a
        number."""
        code = self.code
        if not dims:
            number = code.splat(TILE_SHAPES.lanes, "float", code.load("float", pointer, 4))
            return [Lanes(FLOAT, (number,) * (len(rows) * self.plan.vectors))]
        each = len(dims) == 2 and dims[0] == self.plan.rows
        found: list[Lanes] = []
        for gate in range(self._gates(dims[-1])):
            names: list[str] = []
            for row in rows if each else ["0"]:
                pointers = self._vector_pointers(pointer, row, gate, dims[-1], column)
                names += [
                    TILE_SHAPES.read(code, p, m) for p, m in zip(pointers, masks, strict=True)
                ]
            found.append(Lanes(FLOAT, tuple(names if each else names * len(rows))))
        return found

    def _write(
        self, gates: list[Lanes], pointer: str, rows: list[str], column: str, masks: list[str]
    ) -> None:
        """Stores a result."""
        width = len(gates) * self.plan.columns
        for gate, lanes in enumerate(gates):
            names = iter(lanes.names)
            for row in rows:
                pointers = self._vector_pointers(pointer, row, gate, width, column)
                for address, mask in zip(pointers, masks, strict=True):
                    TILE_SHAPES.write(self.code, next(names), address, mask)
