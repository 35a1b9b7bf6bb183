"""Kernels over the rows of large arrays: fused elementwise ops and reductions along rows.

A normalisation reads a row for its mean, for its variance and for its results. Here all of that
happens while the row is in cache, and only values with other users are stored. The body of such a
kernel is a graph of float32 values of three forms: `wide` ones have an element for each of the
array's, `narrow` ones one for each row, and `columns` one for each element of a row, for all rows.

The elements of a row are visited in passes: a user of a reduction's result is computed in a later
pass. Sums over rows are sums of the sums of blocks of rows, whose size follows from the shape; rows
are summed in the order of `native/kernels/reductions.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node
from intaglio.native.kernels import reductions
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.loop_nest import apply
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.reductions import VECTORS_PER_STEP, Joining
from intaglio.native.kernels.sequence import Chain
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, Lanes, Unsupported, literal
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw

Form = str
Compute = Callable[[Functions, Sequence[Lanes]], Lanes]

# The most rows of a block, and the most elements of a row.
BLOCK_BYTES = 256
MAX_ROW_BYTES = 4096
# The most elements of a row for which operands of the form `columns` fit into registers.
MIN_FLAT_ROWS = VECTORS_PER_STEP * jit.WIDTH // 4
# Results of so many bytes are written by streaming stores: the cache would load the old contents
# first, and evict the results before they are read. They are aligned to cache lines.
MIN_STREAMED_BYTES, CACHE_LINE_BYTES = 1 << 25, 64
DIMS = ("blocks", "rows", "block")


def form_of(dims: shapes.Dims, shape: tuple[int, ...]) -> Form:
    """The form of a value relative to arrays of a shape: wide, narrow, columns, number, or "" for
    none."""
    if not shapes.known(dims) or len(dims) > len(shape):
        return ""
    if dims == shape:
        return "wide"
    if math.prod(dims) == 1:
        return "number"
    if dims == (*shape[:-1], 1):
        return "narrow"
    return "columns" if math.prod(dims) == shape[-1] == dims[-1] else ""


class Value:
    """A value of the body: its form, and the first pass in which it is available."""

    def __init__(self, form: Form, stage: int) -> None:
        self.form = form
        self.stage = stage
        # The index of the input or output whose memory has the value, and whether a later pass
        # reads it.
        self.input = self.output = -1
        self.kept = False


class Step:
    """One computation: an elementwise result from values, or a reduction of one."""

    def __init__(
        self,
        result: Value,
        inputs: list[Value],
        compute: Compute | None = None,
        kind: str = "",
        divisor: int = 1,
    ) -> None:
        self.result = result
        self.inputs = inputs
        self.compute = compute
        self.kind = kind
        self.divisor = divisor


class Plan:
    """The computation of a kernel on arrays of a shape: steps, in order."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape, self.length = shape, shape[-1]
        self.rows = math.prod(shape[:-1])
        self.steps: list[Step] = []
        self.inputs: list[Value] = []
        # Results: their values, and their forms and shapes.
        self.outputs: list[tuple[Value, Form]] = []
        self.dims: list[tuple[int, ...]] = []

    @property
    def streamed(self) -> bool:
        """True if results are too large for caches."""
        return 4 * self.rows * self.length >= MIN_STREAMED_BYTES

    @property
    def flat(self) -> bool:
        """True if nothing is reduced along short rows: then operands of the form `columns` stay in
        registers.

        Large results may be written by cached or by streaming stores; sums by cached ones only.
        """
        results = [s.result for s in self.steps]
        alone = len({v.form for v, _ in self.outputs}) == 1
        rows = any(v.form == "narrow" for v in (*self.inputs, *results))
        return alone and not rows and self.length <= MIN_FLAT_ROWS

    def new_input(self, form: Form) -> Value:
        """The next input."""
        value = Value(form, 0)
        value.input = len(self.inputs)
        self.inputs.append(value)
        return value

    def number(self, number: float) -> Value:
        """A number, as a step without inputs."""
        value = Value("number", 0)
        self.steps.append(Step(value, [], lambda s, operands: s.constant(number, FLOAT)))
        return value

    def map(self, compute: Compute, *inputs: Value) -> Value:
        """The result of an elementwise computation."""
        wide = any(v.form in ("wide", "columns") for v in inputs)
        result = Value("wide" if wide else "narrow", max([v.stage for v in inputs]))
        self.steps.append(Step(result, [*inputs], compute))
        return result

    def reduce(self, kind: str, value: Value, divisor: int = 1) -> Value:
        """A reduction along every row."""
        result = Value("narrow", value.stage + 1)
        self.steps.append(Step(result, [value], None, kind, divisor))
        return result

    def columns(self, value: Value) -> Value:
        """The sum over all rows."""
        result = Value("columns", value.stage)
        self.steps.append(Step(result, [value], None, "sum"))
        return result

    def softmax(self, x: Value, logarithm: bool) -> Value:
        """The softmax of every row, or its logarithm."""
        most = self.reduce("maximum", x)
        shifted = self.map(lambda s, operands: s.sub(*operands), x, most)
        grown = self.map(lambda s, operands: s.exp(operands[0]), shifted)
        total = self.reduce("sum", grown)
        if not logarithm:
            return self.map(lambda s, operands: s.div(*operands), grown, total)
        less = self.map(lambda s, operands: s.log(operands[0]), total)
        return self.map(lambda s, operands: s.sub(*operands), shifted, less)

    def result(self, value: Value, dims: tuple[int, ...], form: Form = "") -> None:
        """Appends a value to the results; `dims` determine its form if nothing else does."""
        if value.form == "number":
            raise Unsupported("a result that is the same everywhere")
        self.outputs.append((value, form or form_of(dims, self.shape)))
        self.dims.append(dims)

    def finish(self) -> None:
        """Marks the values that later passes read; called after the last step and result."""
        self.stages = 1 + max([s.result.stage for s in self.steps], default=0)
        for step in self.steps:
            for value in step.inputs:
                value.kept |= value.form == "wide" and value.stage < self._stage(step)

    def _stage(self, step: Step) -> int:
        """The pass that computes a step; results of reductions are available in the next."""
        return step.result.stage - (bool(step.kind) and step.result.form == "narrow")

    def steps_of(self, stage: int) -> list[Step]:
        """The steps of a pass, in order; without the narrow values that are computed before it."""
        return [
            s
            for s in self.steps
            if (s.result.form != "narrow" or s.kind) and self._stage(s) == stage
        ]

    def narrow(self, stage: int) -> list[Step]:
        """The narrow values that are computed before a pass."""
        return [
            s
            for s in self.steps
            if s.result.form in ("narrow", "number") and not s.kind and s.result.stage == stage
        ]


class _RowKernelBuilder:
    """Emits the kernel of a plan."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan = plan
        self.code = Code(name, entry.KERNEL)
        self.tiles = Tiles(FLOAT)
        self.joinings = {k: Joining(self.code, k) for k in ("sum", "maximum", "minimum")}
        # The values in registers: narrow values and numbers by their ids, as one vector.
        self.single: dict[int, str] = {}
        self.pointers: dict[int, str] = {}

    def write(self) -> Code:
        """The function: blocks of rows."""
        code, plan = self.code, self.plan
        dims = entry.load_dims(code, DIMS)
        ins = [self._pointer("%ins", i) for i in range(len(plan.inputs))]
        outs = [self._pointer("%outs", i) for i in range(len(plan.outputs))]
        for value in plan.inputs:
            if value.form == "columns":
                # Copied to an aligned buffer: they are loaded for every row, and a vector that crosses
                # a cache line takes two loads.
                self.pointers[id(value)] = self._row_buffer()
                self._copy(self.pointers[id(value)], ins[value.input])
            elif value.form == "number":
                self.single[id(value)] = self._splat(ins[value.input])
        for step in plan.steps:
            if step.result.kept or step.result.form == "columns":
                self.pointers[id(step.result)] = self._row_buffer()
        columns = [s.result for s in plan.steps if s.result.form == "columns"]
        with code.loop("%from", "%to") as block:
            for value in columns:
                self._clear(self.pointers[id(value)])
            first = code.integer("mul", block, dims["block"])
            last = code.least(code.integer("add", first, dims["block"]), dims["rows"])
            self._rows(first, last, ins, outs)
            for (value, _), out in zip(plan.outputs, outs, strict=True):
                if value.form == "columns":
                    self._copy(self._at_row(out, block), self.pointers[id(value)])
        code.do("ret void")
        return code

    def _rows(self, first: str, last: str, ins: list[str], outs: list[str]) -> None:
        """The rows of a block; large results are written by streaming stores if they are aligned."""
        code, plan = self.code, self.plan
        wide = [out for (_, form), out in zip(plan.outputs, outs, strict=True) if form == "wide"]
        self.streamed = plan.streamed and bool(wide) and plan.length % self.tiles.lanes == 0
        if self.streamed:
            addresses = [code.let(f"ptrtoint ptr {out} to i64") for out in wide]
            bits = functools.reduce(lambda x, y: code.integer("or", x, y), addresses)
            even = code.integer("icmp eq", code.integer("and", bits, CACHE_LINE_BYTES - 1), 0)
            with code.when(even):
                self._each_row(first, last, ins, outs)
                # A fence after the streaming stores, before other threads read the rows.
                code.do("fence seq_cst")
            first = code.let(f"select i1 {even}, i64 {last}, i64 {first}")
            self.streamed = False
        self._each_row(first, last, ins, outs)

    def _each_row(self, first: str, last: str, ins: list[str], outs: list[str]) -> None:
        """All rows of a range."""
        if self.plan.flat:
            self._down(first, last, ins, outs)
            return
        with self.code.loop(first, last) as row:
            self._row(row, ins, outs)

    # -- columns ------------------------------------------------------------------------

    def _down(self, first: str, last: str, ins: list[str], outs: list[str]) -> None:
        """Whole vectors of columns, then the remainder, through all rows of a range; operands of
        the form `columns` stay in registers."""
        plan, tiles = self.plan, self.tiles
        for value in plan.inputs:
            if value.form == "wide":
                self.pointers[id(value)] = self._at_row(ins[value.input], first)
        self.targets = [
            (value, self._at_row(out, first))
            for (value, form), out in zip(plan.outputs, outs, strict=True)
            if form == "wide"
        ]
        for step in plan.narrow(0):  # numbers
            assert step.compute is not None
            lanes = step.compute(Functions(self.code, tiles.lanes, 1), [])
            self.single[id(step.result)] = lanes.names[0]
        rows = self.code.integer("sub", last, first)
        whole = plan.length // tiles.lanes * tiles.lanes
        if whole:
            self._group_down(rows, "0", whole // tiles.lanes, "")
        if whole < plan.length:
            mask = tiles.mask(self.code, str(whole), str(plan.length))
            self._group_down(rows, str(whole), 1, mask)

    def _group_down(self, rows: str, at: str, vectors: int, mask: str) -> None:
        """Some vectors of columns, from one of their elements on."""
        plan, code, tiles = self.plan, self.code, self.tiles
        s = Functions(code, tiles.lanes, vectors)
        columns = [v for v in plan.inputs if v.form == "columns"]
        kept = {id(v): self._read(self.pointers[id(v)], at, vectors, mask) for v in columns}
        for key, single in self.single.items():
            kept[key] = Lanes(FLOAT, (single,) * vectors)
        wide = [v for v in plan.inputs if v.form == "wide"]
        sums = [step for step in plan.steps if step.result.form == "columns"]
        zeros = [(tiles.vector, "zeroinitializer")] * (len(sums) * vectors)
        with code.carrying("0", rows, 1, *zeros) as iteration:
            here = {**kept}
            step_at = code.integer("add", code.integer("mul", iteration.index, plan.length), at)
            for value in wide:
                here[id(value)] = self._read(self.pointers[id(value)], step_at, vectors, mask)
            totals = iter(range(0, len(zeros), vectors))
            iteration.following = []
            for step in plan.steps:
                operands = [here[id(v)] for v in step.inputs]
                if step.result.form == "columns":
                    first_total = next(totals)
                    before = Lanes(
                        FLOAT, tuple(iteration.values[first_total : first_total + vectors])
                    )
                    iteration.following += s.add(before, operands[0]).names
                elif step.compute is not None and id(step.result) not in here:
                    here[id(step.result)] = step.compute(s, operands)
            for value, target in self.targets:
                self._write(here[id(value)], target, step_at, mask, self.streamed)
        for i, step in enumerate(sums):
            total = Lanes(FLOAT, tuple(iteration.values[i * vectors : (i + 1) * vectors]))
            self._write(total, self.pointers[id(step.result)], at, mask)

    # -- memory -------------------------------------------------------------------------

    def _pointer(self, array: str, index: int) -> str:
        return self.code.load("ptr", self.code.at("ptr", array, str(index)), 8)

    def _splat(self, pointer: str) -> str:
        return self.code.splat(self.tiles.lanes, "float", self.code.load("float", pointer, 4))

    def _row_buffer(self) -> str:
        """Memory for the elements of a row."""
        return self.code.let(f"alloca [{self.plan.length} x float], align 64")

    def _at_row(self, start: str, row: str) -> str:
        return self.tiles.step(self.code, start, row, self.plan.length)

    def _clear(self, pointer: str) -> None:
        size = str(4 * self.plan.length)
        self.code.zero(pointer, size)

    def _copy(self, pointer: str, source: str) -> None:
        size = str(4 * self.plan.length)
        self.code.copy(pointer, source, size)

    # -- rows ---------------------------------------------------------------------------

    def _row(self, row: str, ins: list[str], outs: list[str]) -> None:
        code, plan = self.code, self.plan
        self.targets: list[tuple[Value, str]] = []
        for value in plan.inputs:
            if value.form == "wide":
                self.pointers[id(value)] = self._at_row(ins[value.input], row)
            elif value.form == "narrow":
                pointer = code.at("float", ins[value.input], row)
                self.single[id(value)] = self._splat(pointer)
        for (value, form), out in zip(plan.outputs, outs, strict=True):
            if form == "wide":
                self.targets.append((value, self._at_row(out, row)))
        for stage in range(plan.stages):
            for step in plan.narrow(stage):
                s = Functions(code, self.tiles.lanes, 1)
                operands = [Lanes(FLOAT, (self.single[id(v)],)) for v in step.inputs]
                assert step.compute is not None
                self.single[id(step.result)] = step.compute(s, operands).names[0]
            self._pass(stage)
        for (value, form), out in zip(plan.outputs, outs, strict=True):
            if form == "narrow":
                one = code.let(
                    f"extractelement {self.tiles.vector} {self.single[id(value)]}, i64 0"
                )
                code.do(f"store float {one}, ptr {code.at('float', out, row)}, align 4")

    def _pass(self, stage: int) -> None:
        """All elements of the row, once, with the accumulators of `Joining.row`."""
        plan, tiles = self.plan, self.tiles
        steps = plan.steps_of(stage)
        stores = [t for t in self.targets if t[0].stage == stage]
        if not steps and not stores:
            return
        found = [s for s in steps if s.kind and s.result.form == "narrow"]
        identities = [self.joinings[s.kind].identity for s in found]
        group = tiles.lanes * VECTORS_PER_STEP
        middle = plan.length // group * group
        sums = [x for x in identities for _ in range(VECTORS_PER_STEP)]
        sums = self._range(0, middle, VECTORS_PER_STEP, "", sums, found, (steps, stores))
        sums = [
            self._halved(step.kind, sums[i * VECTORS_PER_STEP : (i + 1) * VECTORS_PER_STEP])
            for i, step in enumerate(found)
        ]
        whole = plan.length // tiles.lanes * tiles.lanes
        sums = self._range(middle, whole, 1, "", sums, found, (steps, stores))
        if whole < plan.length:
            mask = tiles.mask(self.code, str(whole), str(plan.length))
            sums = self._range(whole, plan.length, 1, mask, sums, found, (steps, stores))
        for step, total in zip(found, sums, strict=True):
            self.single[id(step.result)] = self._result(step, total)

    def _range(
        self,
        start: int,
        stop: int,
        vectors: int,
        mask: str,
        sums: list[str],
        found: list[Step],
        stage: tuple[list[Step], list[tuple[Value, str]]],
    ) -> list[str]:
        """Groups of `vectors` from `start` to `stop`: the steps of a pass, and its accumulators."""
        step = self.tiles.lanes * vectors
        if start >= stop:
            return sums
        if stop - start <= step:
            return self._group(str(start), vectors, mask, sums, found, stage)
        carried = [(self.tiles.vector, s) for s in sums]
        with self.code.carrying(str(start), str(stop), step, *carried) as iteration:
            iteration.following = self._group(
                iteration.index, vectors, mask, iteration.values, found, stage
            )
        return iteration.values

    def _group(
        self,
        at: str,
        vectors: int,
        mask: str,
        sums: list[str],
        found: list[Step],
        stage: tuple[list[Step], list[tuple[Value, str]]],
    ) -> list[str]:
        s = Functions(self.code, self.tiles.lanes, vectors)
        steps, stores = stage
        here: dict[int, Lanes] = {}

        def value_of(value: Value) -> Lanes:
            lanes = here.get(id(value))
            if lanes is None:
                single = self.single.get(id(value))
                if single is not None:
                    lanes = Lanes(FLOAT, (single,) * vectors)
                else:
                    lanes = self._read(self.pointers[id(value)], at, vectors, mask)
                here[id(value)] = lanes
            return lanes

        for step in steps:
            operands = [value_of(v) for v in step.inputs]
            if step.compute is not None:
                here[id(step.result)] = result_here = step.compute(s, operands)
                if step.result.kept:
                    self._write(result_here, self.pointers[id(step.result)], at, mask)
            elif step.result.form == "columns":
                pointer = self.pointers[id(step.result)]
                total = s.add(self._read(pointer, at, vectors, mask), operands[0])
                self._write(total, pointer, at, mask)
        for value, target in stores:
            self._write(value_of(value), target, at, mask, self.streamed)
        joined: list[str] = []
        for i, step in enumerate(found):
            names = list(value_of(step.inputs[0]).names)
            joining = self.joinings[step.kind]
            if mask:
                names = [joining.filled(n, mask) for n in names]
            joined += joining.joined(sums[i * vectors : (i + 1) * vectors], names)
        return joined

    def _read(self, pointer: str, at: str, vectors: int, mask: str) -> Lanes:
        pointers = self.tiles.pointers(self.code, self.code.at("float", pointer, at), vectors)
        return Lanes(FLOAT, tuple([self.tiles.read(self.code, p, mask) for p in pointers]))

    def _write(
        self, value: Lanes, pointer: str, at: str, mask: str, streamed: bool = False
    ) -> None:
        first = self.code.at("float", pointer, at)
        pointers = self.tiles.pointers(self.code, first, len(value.names))
        for target, name in zip(pointers, value.names, strict=True):
            if streamed:
                kind, align = self.tiles.vector, jit.WIDTH
                self.code.do(f"store {kind} {name}, ptr {target}, align {align}, !nontemporal !0")
            else:
                self.tiles.write(self.code, name, target, mask)

    def _halved(self, kind: str, sums: list[str]) -> str:
        while len(sums) > 1:
            half = len(sums) // 2
            sums = self.joinings[kind].joined(sums[:half], sums[half:])
        return sums[0]

    def _result(self, step: Step, total: str) -> str:
        """A reduction's result in every lane."""
        code, tiles = self.code, self.tiles
        folded = self.joinings[step.kind].folded(total)
        if step.divisor != 1:
            divisor = f"splat (float {literal(step.divisor, FLOAT)})"
            folded = code.let(f"fdiv {tiles.vector} {folded}, {divisor}")
        one = code.let(f"extractelement {tiles.vector} {folded}, i64 0")
        return code.splat(tiles.lanes, "float", one)


def plan_of(body: Graph) -> Plan:
    """The plan of a graph. Raises Unsupported for graphs that a kernel of rows cannot compute."""
    plan = Plan(shape_of(body))
    values: dict[int, Value] = {}
    for value in body.inputs:
        values[id(value)] = plan.new_input(form_of(value.dims, plan.shape))
    for node in body.nodes:
        if node.op not in (raw.Placeholder, raw.Const):
            values[id(node.outputs[0])] = _written(plan, node, values)
    for value in body.outputs:
        assert shapes.known(value.dims)
        plan.result(values[id(value)], value.dims)
    plan.finish()
    return plan


def _written(plan: Plan, node: Node, values: dict[int, Value]) -> Value:
    """Adds a node to a plan."""
    op, inputs = node.op, list[Value]()
    for value in node.inputs:
        if id(value) not in values:
            number = value.node.attrs["value"].reshape(-1)[0]
            values[id(value)] = plan.number(float(number))
        inputs.append(values[id(value)])
    if op.reduces:
        if form_of(node.outputs[0].dims, plan.shape) == "columns":
            return plan.columns(inputs[0])
        if op.reduces == "mean":
            return plan.reduce("sum", inputs[0], plan.length)
        return plan.reduce(op.reduces, inputs[0], 1)
    if op is raw.BroadcastTo:
        return inputs[0]
    if op in (raw.Softmax, raw.LogSoftmax):
        return plan.softmax(inputs[0], op is raw.LogSoftmax)
    if op is raw.AddN:
        return functools.reduce(
            lambda x, y: plan.map(lambda s, operands: s.add(*operands), x, y), inputs
        )
    return plan.map(lambda s, operands: apply(s, node, operands), *inputs)


def kernel(plan: Plan) -> Chain:
    """The plan as a function from arrays to a list of arrays."""
    library = Library(lambda: _source(plan))
    block = min(BLOCK_BYTES, -(-plan.rows // 64))
    blocks = -(-plan.rows // block)
    compiled = library.entry("rows").for_dims((blocks, plan.rows, block))
    columns = [value.form == "columns" for value, _ in plan.outputs]
    results = [
        ((blocks, plan.length) if summed else dims, np.dtype(np.float32))
        for summed, dims in zip(columns, plan.dims, strict=True)
    ]
    chain = Chain(len(plan.inputs))
    found = chain.then(entry.filling_all(compiled, results), *range(len(plan.inputs)))
    total = reductions.reduction("sum", (blocks, plan.length), (0,), False)
    for i, summed in enumerate(columns):
        if summed:
            (found[i],) = chain.then(total, found[i], shape=plan.dims[i])
    return chain.returning(found)


def _source(plan: Plan) -> Source:
    code = _RowKernelBuilder(plan, "rows").write()
    kernel = Kernel(code, len(plan.inputs), len(plan.outputs))
    return Source([kernel], (), "!0 = !{i32 1}\n" if plan.streamed else "")


def shape_of(body: Graph) -> tuple[int, ...]:
    """The shape of a body's wide values: the operand of its reductions along rows."""
    for node in body.nodes:
        if node.op.reduces or node.op in (raw.Softmax, raw.LogSoftmax):
            dims = node.inputs[0].dims
            assert shapes.known(dims)
            return tuple(dims)
    raise Unsupported("a body without reductions")
