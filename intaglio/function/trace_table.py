"""The traces of a function as a table: `f.traces`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from intaglio.base import origins
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame
from intaglio.function.explanation import signature_of

if TYPE_CHECKING:
    from intaglio.function.concrete import ConcreteFunction

HEADS = (
    "trace",
    "signature",
    "general calls",
    "traced in ms",
    "nodes",
    "bytes",
    "runs as",
    "called at",
)


class TraceRow(NamedTuple):
    """One trace.

    `general_calls` are those that went through binding and the cache: repeated calls of one form go
    past both, uncounted. `milliseconds` is what tracing took, `bytes` an estimate of its memory,
    `state` whether it is interpreted or machine code, `where` the user's line that had it traced.
    """

    number: int
    signature: str
    general_calls: int
    milliseconds: float
    nodes: int
    bytes: int
    state: str
    where: Frame | None


class Traces(ShownInNotebooks, tuple[TraceRow, ...]):
    """The traces of a function, oldest first; printed, a table."""

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """An estimate of what they take in memory."""
        return sum([row.bytes for row in self])

    def cells(self) -> list[list[str]]:
        """The table, as texts."""
        return [
            [
                *(str(r.number), r.signature, str(r.general_calls), f"{r.milliseconds:.1f}"),
                *(str(r.nodes), str(r.bytes), r.state, "" if r.where is None else r.where.short),
            ]
            for r in self
        ]

    def __str__(self) -> str:
        rows = [list(HEADS), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            ["  ".join([c.ljust(w) for c, w in zip(r, widths, strict=True)]).rstrip() for r in rows]
        )

    __repr__ = __str__


def traces_of(found: Sequence[ConcreteFunction]) -> Traces:
    """The table of these traces."""
    return Traces([_row(i, trace) for i, trace in enumerate(found, 1)])


def _row(number: int, trace: ConcreteFunction) -> TraceRow:
    where = next(iter(origins.frames(trace.origin[:1])), None)
    return TraceRow(
        number,
        signature_of(trace.traced),
        trace.general_calls,
        trace.seconds * 1e3,
        len(trace.graph.nodes),
        trace.bytes,
        "machine code" if trace.runs_native else "interpreted",
        where,
    )
