"""Softmax, its logarithm and the cross entropies of short rows, one lane for each row.

The elements of a row are in as many vectors, which are deinterleaved in registers from contiguous
memory: rows need no masked remainder, and sums no steps across lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, Kind, Lanes
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

# The most elements of a row.
MAX_CLASSES = 16
# Exponentials that are computed together.
GROUP = 8
LABEL = Kind("i64", 64, "i")


class _Step(NamedTuple):
    """The rows of one vector: the index of the first, its pointer, and the mask of existing rows."""

    row: str
    first: str
    mask: str


class ShortRows:
    """Emits a kernel over rows of so many elements, `stored` as a type."""

    def __init__(self, name: str, stored: Kind, classes: int) -> None:
        self.code = Code(name, entry.KERNEL)
        self.stored, self.classes = stored, classes
        self.kind = FLOAT if stored.short else stored
        self.lanes = jit.WIDTH // self.kind.bytes
        self.memory = VectorMemory(self.code, self.lanes)
        self.s = Functions(self.code, self.lanes, 1)

    def write(self, body: Callable[[ShortRows, _Step], None]) -> Code:
        """The function, whose body computes one vector of rows."""
        code = self.code
        for row, mask in self.memory.vectors("%from", "%to"):
            body(self, _Step(row, code.integer("mul", row, self.classes), mask))
        code.do("ret void")
        return code

    def array(self, table: str, index: int) -> str:
        """The data of an input or output."""
        return self.code.load("ptr", self.code.at("ptr", table, str(index)), 8)

    def columns(self, table: str, index: int, step: _Step) -> list[Lanes]:
        """The elements of some rows: a vector for each column."""
        pointer = self.code.at(self.stored.memory, self.array(table, index), step.first)
        found = self.memory.read_apart(self.stored, pointer, self.classes, step.mask)
        return [self.s.converted(Lanes(self.stored, (v,)), self.kind) for v in found]

    def put_columns(self, index: int, step: _Step, columns: Sequence[Lanes]) -> None:
        """Stores some rows of a result."""
        pointer = self.code.at(self.stored.memory, self.array("%outs", index), step.first)
        names = [self.s.converted(x, self.stored).names[0] for x in columns]
        self.memory.write_joined(self.stored, pointer, names, step.mask)

    def put(self, index: int, step: _Step, value: Lanes) -> None:
        """Stores a number for each row."""
        pointer = self.code.at(self.stored.memory, self.array("%outs", index), step.row)
        (name,) = self.s.converted(value, self.stored).names
        self.memory.write(self.stored, pointer, name, step.mask)

    def shifted(self, logits: Sequence[Lanes]) -> list[Lanes]:
        """The logits less the greatest of their row."""
        most = logits[0]
        for x in logits[1:]:
            most = self.s.maximum(most, x)
        return [self.s.sub(x, most) for x in logits]

    def exponential_columns(self, shifted: Sequence[Lanes]) -> tuple[list[Lanes], Lanes]:
        """Exponentials, and their sum in the order of the columns."""
        found: list[Lanes] = []
        for at in range(0, len(shifted), GROUP):
            names = [x.names[0] for x in shifted[at : at + GROUP]]
            s = Functions(self.code, self.lanes, len(names))
            found += [Lanes(self.kind, (n,)) for n in s.exp(Lanes(self.kind, tuple(names))).names]
        return found, self.sum(found)

    def sum(self, values: Sequence[Lanes]) -> Lanes:
        """The sum over the columns."""
        total = values[0]
        for x in values[1:]:
            total = self.s.add(total, x)
        return total


def _softmax(k: ShortRows, step: _Step) -> None:
    """exp(logits) / sum(exp(logits))"""
    grown, total = k.exponential_columns(k.shifted(k.columns("%ins", 0, step)))
    k.put_columns(0, step, [k.s.div(x, total) for x in grown])


def _log_softmax(k: ShortRows, step: _Step) -> None:
    """logits - log(sum(exp(logits)))"""
    shifted = k.shifted(k.columns("%ins", 0, step))
    less = k.s.log(k.exponential_columns(shifted)[1])
    k.put_columns(0, step, [k.s.sub(x, less) for x in shifted])


def _cross_entropy(k: ShortRows, step: _Step) -> None:
    """Inputs: logits and labels; outputs: the losses and their gradients with respect to the
    logits."""
    s, labels = k.s, k.columns("%ins", 1, step)
    shifted = k.shifted(k.columns("%ins", 0, step))
    grown, total = k.exponential_columns(shifted)
    less, none = s.log(total), s.const(0, total)
    # The limit of x log x at 0, which is 0.
    terms = [
        s.select(s.eq(label, none), none, s.mul(label, s.sub(less, x)))
        for x, label in zip(shifted, labels, strict=True)
    ]
    k.put(0, step, k.sum(terms))
    gradients = [s.sub(s.div(x, total), label) for x, label in zip(grown, labels, strict=True)]
    k.put_columns(1, step, gradients)


def _sparse_cross_entropy(k: ShortRows, step: _Step) -> None:
    """As `_cross_entropy`, for labels that are the index of the only 1 in each row."""
    s, code = k.s, k.code
    pointer = code.at(LABEL.memory, k.array("%ins", 1), step.row)
    label = Lanes(LABEL, (k.memory.read(LABEL, pointer, step.mask),))
    shifted = k.shifted(k.columns("%ins", 0, step))
    grown, total = k.exponential_columns(shifted)
    chosen, gradients = shifted[0], list[Lanes]()
    for column, (x, share) in enumerate(zip(shifted, grown, strict=True)):
        here = s.eq(label, s.constant(column, LABEL))
        chosen = s.select(here, x, chosen)
        one = s.select(here, s.const(1, total), s.const(0, total))
        gradients.append(s.sub(s.div(share, total), one))
    k.put(0, step, s.sub(s.log(total), chosen))
    k.put_columns(1, step, gradients)


BODIES = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "cross_entropy": _cross_entropy,
    "sparse_cross_entropy": _sparse_cross_entropy,
}


def code(name: str, stored: Kind, classes: int) -> Code:
    """The kernel of one of `BODIES` for rows of so many elements."""
    return ShortRows(name, stored, classes).write(BODIES[name])


def unit(stored: Kind) -> int:
    """The number of rows that are computed together."""
    return jit.WIDTH // (4 if stored.short else stored.bytes)
