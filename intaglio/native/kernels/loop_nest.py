"""A graph of elementwise ops as one loop nest: every element is loaded once and stored once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.ir.graph import Graph, Node
from intaglio.native.kernels import reroll
from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Builder, Kind, Lanes, Unsupported, kind_of, literal
from intaglio.native.runtime import entry
from intaglio.native.vector_math import division
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw

# Bodies of more instructions are emitted once, not once more for the remainder.
MAX_BODY_INSTRUCTIONS = 1000
# The most iterations of an innermost loop that is unrolled. Deinterleaving as many elements takes
# instructions: from the second number of iterations on, only bodies of so many instructions are
# worth it.
MAX_UNROLLED_ITERATIONS, MANY_UNROLLED_ITERATIONS, MIN_UNROLLED_INSTRUCTIONS = 12, 9, 16
# The calls of functions from which on a body is a chain of dependent calls.
MIN_CHAINED_CALLS = 4


# The dtypes of constants that are arguments of the code, and the most that there may be.
NUMBER_DTYPES, MAX_NUMBERS = (np.dtype(np.float32), np.dtype(np.float64)), 12


class Pattern(NamedTuple):
    """The strides of the operands in the loop nest.

    `rank` loops; for each input the loops in which it advances (in the others it is broadcast).
    Outputs advance in all of them. `unrolled` is the length of an innermost loop that may be
    unrolled.
    """

    rank: int
    moves: tuple[tuple[bool, ...], ...]
    unrolled: int = 0
    # Inputs whose strides are arguments, behind the lengths of the loops; the innermost is 1, or 0.
    strided: tuple[int, ...] = ()


def numbers_of(graph: Graph) -> list[Any]:
    """The constants of the graph that are arguments of its code, which then does not depend on
    them.

    None where there are many, because they stay in registers.
    """
    found: dict[bytes, Any] = {}
    for node in graph.nodes:
        if node.op is raw.Const and node.attrs["value"].dtype in NUMBER_DTYPES:
            value = node.attrs["value"].reshape(-1)[0]
            found.setdefault(value.tobytes(), value)
    repeated = any(isinstance(part, reroll.Repeat) for part in reroll.periods(graph))
    return [] if repeated or len(found) > MAX_NUMBERS else list(found.values())


def evaluate(
    s: Functions, graph: Graph, inputs: Sequence[Lanes], numbers: Sequence[Any] = ()
) -> list[Lanes]:
    """Emits the graph's nodes with a builder; the last inputs are some of its constants.

    Raises Unsupported where a node has no code.
    """
    count = len(graph.inputs)
    values = {id(v): x for v, x in zip(graph.inputs, inputs[:count], strict=True)}
    known = {n.tobytes(): x for n, x in zip(numbers, inputs[count:], strict=True)}
    for node in graph.nodes:
        # Arrays are axes; an array that is an operand must be an input.
        if node.op is raw.Const and node.attrs["value"].size == 1:
            value = node.attrs["value"].reshape(-1)[0]
            shared = known.get(value.tobytes()) if value.dtype in NUMBER_DTYPES else None
            kind = kind_of(value.dtype)
            values[id(node.outputs[0])] = shared or s.constant(value, kind)
    for part in reroll.periods(graph):
        if isinstance(part, reroll.Repeat):
            _iterations(s, part, values)
        else:
            operands = [values[id(v)] for v in part.inputs]
            values[id(part.outputs[0])] = apply(s, part, operands)
    return [values[id(v)] for v in graph.outputs]


def _iterations(s: Functions, part: reroll.Repeat, values: dict[int, Lanes]) -> None:
    """Emits a repeated subgraph as a loop that carries its values in registers."""
    code, first = s.code, list[tuple[str, str]]()
    for node_index, depth, begun in part.carried:
        vector = s.vector(kind_of(part.nodes[node_index].outputs[0].dtype.numpy))
        names = ("poison",) * s.vectors
        if begun:
            names = values[id(part.value_of(node_index, -depth))].names
        first += [(vector, name) for name in names]

    def lanes(names: Sequence[str]) -> dict[tuple[int, int], Lanes]:
        return {
            (node_index, depth): Lanes(
                kind_of(part.nodes[node_index].outputs[0].dtype.numpy),
                tuple(names[i * s.vectors : (i + 1) * s.vectors]),
            )
            for i, (node_index, depth, _) in enumerate(part.carried)
        }

    with code.carrying("0", str(part.iterations), 1, *first) as iteration:
        before = lanes(iteration.values)
        here: dict[int, Lanes] = {}
        for node_index, node in enumerate(part.nodes[: part.period]):
            inputs: list[Lanes] = []
            for number, value in enumerate(node.inputs):
                if (node_index, number) in part.sources:
                    there, depth = part.sources[node_index, number]
                    inputs.append(before[there, depth] if depth else here[there])
                elif value.node.op is raw.Const:
                    inputs.append(_constant(s, part, node_index, number, iteration.index))
                else:
                    inputs.append(values[id(value)])
            here[node_index] = apply(s, node, inputs)
        for node_index, depth, _ in part.carried:
            written = before[node_index, depth - 1] if depth > 1 else here[node_index]
            iteration.following += written.names
    for (node_index, depth), written in lanes(iteration.values).items():
        values[id(part.value_of(node_index, part.iterations - depth))] = written


def _constant(
    s: Functions, part: reroll.Repeat, node_index: int, number: int, iteration: str
) -> Lanes:
    """A constant of each iteration: an element of a table, if they differ."""
    kind = kind_of(part.nodes[node_index].inputs[number].dtype.numpy)
    found = part.constants(node_index, number)
    texts = [literal(value, kind) for value in found]
    if len({*texts}) == 1:
        return s.constant(found[0], kind)
    name, line = reroll.table(texts, kind.llvm)
    s.code.declarations.add(line)
    there = s.code.at(kind.llvm, name, iteration)
    one = s.code.load(kind.llvm, there, kind.bytes)
    return Lanes(kind, (s.code.splat(s.lanes, kind.llvm, one),) * s.vectors)


def apply(s: Functions, node: Node, inputs: Sequence[Lanes]) -> Lanes:
    """Emits one node by its op's `scalar` rule, or by the rule for quotients."""
    op = node.op
    rule = op.rules.get("scalar")
    wanted = kind_of(node.outputs[0].dtype.numpy)
    if op in division.OPS and (rule is None or wanted.letter in "iu"):
        return division.divided(s, op, *inputs)
    if rule is None:
        raise Unsupported(op.name)
    wide = op.computes_wide and wanted.short
    if wide:
        inputs = [s.widened(x) for x in inputs]
    grouped = op.sig.group(list(inputs), node.attrs) if op.has_lists else inputs
    known: dict[str, Any] = dict(zip(op.input_names, grouped, strict=True))
    result: Lanes = rule(s=s, **known, **node.attrs)
    if result is NotImplemented:
        raise Unsupported(f"{op.name} with these attributes")
    if wide:
        result = s.converted(result, wanted)
    if result.kind != wanted:
        raise Unsupported(f"{op.name} with a result of {wanted.name}")
    return result


class Instructions(NamedTuple):
    """The instructions of a graph's code for one vector of each value."""

    written: int
    calls: int
    # including those of the functions that are called
    executed: int


def instructions_of(
    graph: Graph, kinds: Sequence[Kind], lanes: int, numbers: Sequence[Any]
) -> Instructions:
    """Counts the instructions of a graph; its inputs, then `numbers`, are of these types."""
    trial = Code("trial", [])
    inputs = [Lanes(kind, ("%x",)) for kind in kinds]
    evaluate(Functions(trial, lanes, 1), graph, inputs, numbers)
    text = trial.text()
    calls = {name: text.count(f"@{name}(") for name in trial.callees}
    called = sum([n * trial.callees[name].steps for name, n in calls.items()])
    return Instructions(trial.steps, sum(calls.values()), trial.steps + called)


class LoopNest:
    """Emits `void NAME(ptr inputs, ptr outputs, ptr dims, i64 from, i64 to)`.

    `inputs` and `outputs` are arrays of pointers, `dims` the lengths of the loops; the outermost
    loop goes from `from` to `to`, so that threads can divide it.
    """

    def __init__(
        self, graph: Graph, pattern: Pattern, name: str, numbers: Sequence[Any] = ()
    ) -> None:
        """`numbers` are constants of the graph that are inputs of the code, after the others."""
        self.graph = graph
        self.numbers = numbers
        stays = (False,) * pattern.rank
        self.pattern = pattern._replace(moves=(*pattern.moves, *[stays] * len(numbers)))
        self.code = Code(name, entry.KERNEL)
        dtypes = [*[v.dtype.numpy for v in graph.inputs], *[n.dtype for n in numbers]]
        self.kinds = [kind_of(dtype) for dtype in dtypes]
        self.results = [kind_of(v.dtype.numpy) for v in graph.outputs]
        widest = max([k.width for k in (*self.kinds, *self.results)])
        self.lanes = jit.WIDTH // widest
        self.memory = VectorMemory(self.code, self.lanes)
        self.vectors = self._vectors_per_step()
        if not self._unrolls(self.pattern.unrolled):
            self.pattern = self.pattern._replace(unrolled=0)
        if self.pattern.unrolled:
            self.vectors = 1
        # The granularity in which the outermost loop is best divided.
        alone = self.pattern.rank - bool(self.pattern.unrolled) == 1
        self.unit = self.lanes * self.vectors if alone else 1

    def _vectors_per_step(self) -> int:
        """The number of vectors of one iteration.

        Four vectors hide the latency of an exponential, eight that of a chain of dependent ones.
        Very large bodies are emitted once, with masks: more copies would take longer to compile
        than they save.
        """
        self.steps, calls, self.cost = instructions_of(
            self.graph, self.kinds, self.lanes, self.numbers
        )
        self.once = self.steps > MAX_BODY_INSTRUCTIONS
        if calls >= MIN_CHAINED_CALLS and not self.once:
            return 8
        return 4 if calls or self.steps > 8 * reroll.size(self.graph) else 2

    def _unrolls(self, count: int) -> bool:
        """True if a loop of so many iterations is better unrolled, and the one around it
        vectorised."""
        if count * self.steps > MAX_BODY_INSTRUCTIONS:
            return False
        odd = count // (count & -count) if count else 0
        large = self.cost >= MIN_UNROLLED_INSTRUCTIONS
        return count < MANY_UNROLLED_ITERATIONS or (large and odd <= MANY_UNROLLED_ITERATIONS)

    def write(self) -> Code:
        """The function."""
        code = self.code
        inputs = [self._pointer("%ins", i) for i in range(len(self.kinds))]
        outputs = [self._pointer("%outs", i) for i in range(len(self.results))]
        self.dims = [
            code.load("i64", code.at("i64", "%dims", str(i)), 8) for i in range(self.pattern.rank)
        ]
        rank = self.pattern.rank
        self.explicit_strides = {
            number: [
                code.load("i64", code.at("i64", "%dims", str(rank * (1 + i) + level)), 8)
                for level in range(rank)
            ]
            for i, number in enumerate(self.pattern.strided)
        }
        moves = [*self.pattern.moves, *[(True,) * rank] * len(outputs)]
        self._loops(0, [*inputs, *outputs], moves)
        code.do("ret void")
        return code

    def _pointer(self, array: str, index: int) -> str:
        return self.code.load("ptr", self.code.at("ptr", array, str(index)), 8)

    def _loops(self, level: int, pointers: list[str], moves: list[tuple[bool, ...]]) -> None:
        if level == self.pattern.rank - 1:
            self._innermost(pointers)
            return
        if self.pattern.unrolled and level == self.pattern.rank - 2:
            self._around_unrolled(pointers)
            return
        code = self.code
        start, stop = ("%from", "%to") if level == 0 else ("0", self.dims[level])
        kinds = [*self.kinds, *self.results]
        strides = [
            self.explicit_strides[i][level]
            if i in self.explicit_strides
            else self._stride(level, m)
            for i, m in enumerate(moves)
        ]
        with code.loop(start, stop) as index:
            inner = [
                code.at(kind.memory, pointer, code.let(f"mul nsw i64 {index}, {stride}"))
                if stride
                else pointer
                for kind, pointer, stride in zip(kinds, pointers, strides, strict=True)
            ]
            self._loops(level + 1, inner, moves)

    def _stride(self, level: int, moves: tuple[bool, ...]) -> str:
        """The elements by which an operand advances in one iteration of a loop; 0 if it is
        broadcast."""
        if not moves[level]:
            return ""
        stride = "1"
        for dim, advances in zip(self.dims[level + 1 :], moves[level + 1 :], strict=True):
            if advances:
                stride = self.code.let(f"mul nsw i64 {stride}, {dim}")
        return stride

    def _innermost(self, pointers: list[str]) -> None:
        code, rank = self.code, self.pattern.rank
        start, stop = ("%from", "%to") if rank == 1 else ("0", self.dims[-1])
        steady: dict[int, str] = {}
        for i, kind in enumerate(self.kinds):
            if not self.pattern.moves[i][-1]:
                steady[i] = self.memory.splat(kind, pointers[i])
        block = self.lanes * self.vectors
        count = code.let(f"sub i64 {stop}, {start}")
        blocks = code.let(f"sdiv i64 {count}, {block}")
        whole = code.let(f"mul nsw i64 {blocks}, {block}")
        middle = code.let(f"add nsw i64 {start}, {whole}")
        if self.once:
            middle = start
        else:
            with code.loop(start, middle, block) as index:
                s = Functions(code, self.lanes, self.vectors)
                index = code.opaque(index)
                self._body(s, pointers, steady, index, [""] * self.vectors)
        rest = self.vectors if self.once else 1
        with code.loop(middle, stop, self.lanes * rest) as index:
            index = code.opaque(index)
            masks = [self._mask(index, v, stop) for v in range(rest)]
            s = Functions(code, self.lanes, rest)
            self._body(s, pointers, steady, index, masks)

    def _around_unrolled(self, pointers: list[str]) -> None:
        """The loop around the innermost one, which is unrolled: a lane for each of its iterations."""
        code, count = self.code, self.pattern.unrolled
        start, stop = ("%from", "%to") if self.pattern.rank == 2 else ("0", self.dims[-2])
        steady: dict[int, list[str]] = {}
        for i, kind in enumerate(self.kinds):
            if not self.pattern.moves[i][-2]:
                every = range(count if self.pattern.moves[i][-1] else 1)
                steady[i] = [
                    self.memory.splat(kind, code.at(kind.memory, pointers[i], str(at)))
                    for at in every
                ]
        blocks = code.integer("sdiv", code.integer("sub", stop, start), self.lanes)
        middle = code.integer("add", start, code.integer("mul", blocks, self.lanes))
        for first, last, masked in ((start, middle, False), (middle, stop, True)):
            with code.loop(first, last, self.lanes) as index:
                mask = self.memory.mask(index, stop) if masked else ""
                self._unrolled(pointers, steady, code.opaque(index), mask)

    def _unrolled(
        self, pointers: list[str], steady: dict[int, list[str]], index: str, mask: str
    ) -> None:
        """Loads, computes and stores all iterations of the innermost loop for a vector of the
        other."""
        code, count = self.code, self.pattern.unrolled
        first = code.integer("mul", index, count)
        reads: list[list[str]] = []
        for i, kind in enumerate(self.kinds):
            if i in steady:
                reads.append(steady[i])
            elif self.pattern.moves[i][-1]:
                there = code.at(kind.memory, pointers[i], first)
                reads.append(self.memory.read_apart(kind, there, count, mask))
            else:
                reads.append(
                    [self.memory.read(kind, code.at(kind.memory, pointers[i], index), mask)]
                )
        results: list[list[str]] = [[] for _ in self.results]
        for iteration in range(count):
            s = Functions(code, self.lanes, 1)
            inputs = [
                Lanes(kind, (read[iteration % len(read)],))
                for kind, read in zip(self.kinds, reads, strict=True)
            ]
            for names, lanes in zip(
                results, evaluate(s, self.graph, inputs, self.numbers), strict=True
            ):
                names += lanes.names
        for kind, names, pointer in zip(
            self.results, results, pointers[len(self.kinds) :], strict=True
        ):
            self.memory.write_joined(kind, code.at(kind.memory, pointer, first), names, mask)

    def _mask(self, index: str, vector: int, stop: str) -> str:
        """The lanes of a vector that are before the end of the loop."""
        return self.memory.mask(self.code.integer("add", index, vector * self.lanes), stop)

    def _body(
        self,
        s: Functions,
        pointers: list[str],
        steady: dict[int, str],
        index: str,
        masks: Sequence[str],
    ) -> None:
        """Loads, computes and stores a group of vectors; of those with a mask only the lanes it
        allows."""
        inputs: list[Lanes] = []
        for i, kind in enumerate(self.kinds):
            if i in steady:
                inputs.append(Lanes(kind, (steady[i],) * s.vectors))
                continue
            names = [
                self.memory.read(kind, p, mask)
                for p, mask in zip(
                    self._vector_pointers(s, kind, pointers[i], index), masks, strict=True
                )
            ]
            inputs.append(Lanes(kind, tuple(names)))
        results = evaluate(s, self.graph, inputs, self.numbers)
        for kind, lanes, pointer in zip(
            self.results, results, pointers[len(self.kinds) :], strict=True
        ):
            addresses = self._vector_pointers(s, kind, pointer, index)
            for address, name, mask in zip(addresses, lanes.names, masks, strict=True):
                self.memory.write(kind, address, name, mask)

    def _vector_pointers(self, s: Builder, kind: Kind, pointer: str, index: str) -> list[str]:
        first = self.code.at(kind.memory, pointer, index)
        return [
            self.code.at(kind.memory, first, str(v * self.lanes)) if v else first
            for v in range(s.vectors)
        ]
