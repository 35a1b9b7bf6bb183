"""`intaglio.generalise`: traces that serve more calls: open dimensions, and Python numbers as inputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

from intaglio.base.options import OPTIONS
from intaglio.base.origins import Frame
from intaglio.function import explanation
from intaglio.function.number_inputs import MAX_INT, Needs, Number
from intaglio.function.trace_types import Container
from intaglio.function.trace_types import Literal as LiteralType
from intaglio.type_specs.trace_type import TraceType

What = Literal["dimensions", "numbers", "functions", "objects"]
WHAT = ("dimensions", "numbers", "functions", "objects")


class Policy:
    """What the process generalises: dimensions, numbers, functions, objects."""

    def __init__(self, what: Sequence[str]) -> None:
        self.choose(what)

    def choose(self, what: Sequence[str]) -> None:
        """Sets what is generalised from now on."""
        self.dimensions = "dimensions" in what
        self.numbers = "numbers" in what
        self.functions = "functions" in what
        OPTIONS.structural_objects = "objects" in what

    @property
    def objects(self) -> bool:
        """Whether objects are compared by their contents."""
        return OPTIONS.structural_objects


def _checked(what: Sequence[str]) -> Sequence[str]:
    unknown = [w for w in what if w not in WHAT]
    if unknown:
        raise ValueError(f"generalise takes {', '.join(map(repr, WHAT))}, not {unknown[0]!r}")
    return what


def _of_environment() -> Policy:
    text = os.environ.get("INTAGLIO_GENERALISE", "")
    if text in ("", "0"):
        return Policy(())
    return Policy(WHAT if text in ("1", "all") else _checked([w.strip() for w in text.split(",")]))


POLICY = _of_environment()


class generalise:
    """Makes traces from then on serve more calls, by `"dimensions"`, `"numbers"`, `"functions"`, `"objects"`, or all.

    Dimensions: from the second shape on a dimension that differs is left open, as with `reduce_retracing=True`.
    Numbers: ints and floats among the arguments are inputs of the graph, so that all share one trace, with the
    dtype that Python numbers take. A number whose value the function needs while it is traced (`if n > 3`,
    `range(n)`, a size) stays part of the trace: `f.generalised` names the line. The function may be traced twice then,
    with its Python side effects.

    Functions: one with the same code, closure and options as an earlier one uses its traces, if these had no side
    effects, created no variables, draw no random numbers, and have read nothing that has changed. What libraries have
    read of Python's state is not known (docs/captures.md).

    Objects: frozen data classes, those without a hash, and frozen sets are compared by their contents, as named
    tuples are; tensors in them are inputs, and the function gets a copy. TensorFlow compares such objects by `==` as
    long as the first one lives, and refuses data classes without a hash.

    It holds in the whole process from the call on; as a context manager, up to the end of the block.
    INTAGLIO_GENERALISE=dimensions,numbers in the environment (or 1 for all) sets the same. TensorFlow traces each number,
    each function and, by default, each shape. Raises ValueError for another choice.

    >>> f = tf.function(lambda x, rate: x * rate)
    >>> with intaglio.generalise():
    ...     for n in range(1, 13):
    ...         _ = f(tf.ones([3]), n / 10)
    >>> f.experimental_get_tracing_count()
    1
    """

    def __init__(self, *what: What) -> None:
        self._before = [what for what in WHAT if getattr(POLICY, what)]
        POLICY.choose(_checked(what) or WHAT)

    def __enter__(self) -> generalise:
        return self

    def __exit__(self, *error: object) -> None:
        POLICY.choose(self._before)


class Decision(NamedTuple):
    """An argument or dimension, whether it is general, the reason, and the line that needs its value."""

    path: str
    general: bool
    reason: str
    where: Frame | None = None

    def __str__(self) -> str:
        line = "" if self.where is None else f" ({self.where.short}: {self.where.source})"
        return f"{self.path}: {self.reason}{line}"


class Decisions:
    """The decisions about the arguments of one function."""

    def __init__(self) -> None:
        self.found: dict[str, Decision] = {}

    def _is_literal(self, path: str) -> bool:
        known = self.found.get(path)
        return known is not None and not known.general

    def promoted(
        self, names: Sequence[str], types: Sequence[TraceType], needs: Needs
    ) -> list[TraceType]:
        """The types of a call with numbers as inputs, except those whose values a trace has needed."""
        return [self._promoted(n, t, needs) for n, t in zip(names, types, strict=True)]

    def _promoted(self, path: str, kind: TraceType, needs: Needs) -> TraceType:
        if isinstance(kind, Container):
            steps = explanation.steps(kind)
            parts = [
                self._promoted(path + step, part, needs)
                for step, part in zip(steps, kind.parts, strict=True)
            ]
            return (
                kind
                if all(a is b for a, b in zip(parts, kind.parts, strict=True))
                else kind._with(parts)
            )
        value = kind.value if isinstance(kind, LiteralType) else None
        if type(value) is int and abs(value) >= MAX_INT:
            return kind
        if type(value) not in (int, float) or self._is_literal(path):
            return kind
        return Number(type(value), path, needs)

    def decide(self, names: Sequence[str], types: Sequence[TraceType]) -> None:
        """Notes the numbers that a trace takes as inputs."""
        for name, kind in zip(names, types, strict=True):
            for number in _numbers(kind):
                reason = f"any {number.kind.__name__} has the trace of the others"
                self.found.setdefault(number.path or name, Decision(number.path, True, reason))

    def refuse(self, needs: Needs, types: Sequence[TraceType]) -> None:
        """Notes the numbers whose values a trace has needed; all of them if it is not known which."""
        for path, where in needs.lines.items():
            reason = "each value has a trace of its own, for this line needs it"
            self.found[path] = Decision(path, False, reason, where)
        if not needs.lines:
            for number in (n for t in types for n in _numbers(t)):
                reason = "each value has a trace of its own, for tracing failed without it"
                self.found[number.path] = Decision(number.path, False, reason)

    def open(
        self, names: Sequence[str], before: Sequence[TraceType], after: Sequence[TraceType]
    ) -> None:
        """Notes the dimensions that are known in the call but left open in its trace."""
        old, new = (dict(zip(names, types, strict=True)) for types in (before, after))
        for change in explanation.changed(old, new):
            if change.now == "None":
                reason = "left open from the second size on"
                self.found.setdefault(change.path, Decision(change.path, True, reason))


def _numbers(kind: TraceType) -> list[Number]:
    if isinstance(kind, Container):
        return [n for part in kind.parts for n in _numbers(part)]
    return [kind] if isinstance(kind, Number) else []


__all__ = ["generalise"]
