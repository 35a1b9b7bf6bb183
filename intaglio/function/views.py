"""The public views of a traced function: its traces, their captures, side effects and constants."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

from intaglio.autograph.access_paths import CLASS, Read
from intaglio.autograph.side_effects import SideEffect
from intaglio.base.origins import Frame
from intaglio.function import captures, control
from intaglio.function.cache import TraceCache
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.explanation import CompileReport, Explanation
from intaglio.function.generalisation import Decision, Decisions
from intaglio.function.hooks import HOOKS
from intaglio.function.inspection import Inspected
from intaglio.function.kinds import PolymorphicFunction
from intaglio.function.trace_table import Traces, traces_of


class LargeConstant(NamedTuple):
    """A large constant: the user's line, its size in bytes, and how many traces contain it."""

    where: Frame | None
    bytes: int
    traces: int

    def __str__(self) -> str:
        where = "" if self.where is None else f"{self.where.short}: "
        return f"{where}{self.bytes / 1e6:.1f} MB, in {self.traces} traces"


class TraceViews(Inspected, PolymorphicFunction):
    """The views of a function's traces. They change nothing."""

    _cache: TraceCache
    _decisions: Decisions
    _removed: int
    _traced: int

    def experimental_get_tracing_count(self) -> int:
        """How many traces of the function have succeeded."""
        return self._traced

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        """All traces, oldest first."""
        return list(self._cache)

    @property
    def _concrete_variable_creation_fn(self) -> ConcreteFunction | None:
        """The first trace, or None: Keras 2 reads its graph."""
        return next(iter(self._list_all_concrete_functions()), None)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, oldest first."""
        between = "\n\n" if verbose else "\n"
        return between.join([c.pretty_printed_signature(verbose) for c in self._cache])

    @property
    def generalised(self) -> tuple[Decision, ...]:
        """The decisions of `generalise`: open dimensions, numbers that are inputs or cannot be.

        Each has a `path` such as `x.shape[0]`, `general`, the `reason`, and `where` a value is needed. TensorFlow
        has no such attribute.
        """
        return tuple(self._decisions.found.values())

    def explain(self) -> Explanation:
        """The cause of each trace: how its arguments differ from those of earlier ones.

        A sequence with an item for each trace, oldest first; printed, it has where each was
        made, how long that took, what changed since the nearest one, and what to write instead.
        The stance and budgets of this thread, the traces that were removed, what was generalised and the captured values
        that have changed are its `notes`. TensorFlow has no such method.
        """
        removed = [f"removed: {self._removed} traces, for trace_cache"] if self._removed else []
        dead = self._cache.dead
        if dead:
            removed.append(f"removed: {dead} traces of objects that are gone")
        general = [f"generalised: {d}" for d in self.generalised]
        slow = [
            f"slow calls: {c.bound_anew} is converted or compared at each of them, {c.general_calls} so far; "
            "pass a tensor or an array"
            for c in self._cache
            if c.bound_anew is not None
        ]
        stale: list[str] = []
        if captures.POLICY.mode != "retrace":  # that mode returns to earlier traces
            stale = [f"stale: {captures.change(r)}" for r in self.captures if not r.is_unchanged()]
        notes = [*control.notes(self), *removed, *general, *slow, *stale]
        return self._cache.explanation(notes)

    def compile_report(self) -> str:
        """A report on each trace: which steps are machine code, which are not, and why.

        TensorFlow has no such method. Functions that were not called are not listed.
        """
        return CompileReport("\n\n".join([c.compile_report() for c in self._cache]))

    @property
    def traces(self) -> Traces:
        """A table of the traces: signature, calls, cost, size, and where each was called for.

        TensorFlow has no such attribute.
        """
        return traces_of(self._list_all_concrete_functions())

    def trace_profile(self, trace: ConcreteFunction | None = None) -> Any:
        """The cost of tracing by line: ops, milliseconds, bytes, how often it ran; of the last trace.

        Loops of Python that unroll into many nodes are named, with what to write instead. `save(path)`
        writes it for speedscope. Raises ValueError for a function without traces. TensorFlow has no such method.
        """
        return HOOKS.trace_profile(self if trace is None else trace)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The trace for arguments or specs as the first of three stages: `f.trace(spec).optimize().compile()`.

        Each is printed as the graph that it is, has a `cost()`, can be called and pickled: see
        `intaglio/insight/stages.py`. Raises as `get_concrete_function`. TensorFlow has no such method.
        """
        return HOOKS.stage(self.get_concrete_function(*args, **kwargs))

    def graph(self, level: str = "lines", trace: ConcreteFunction | None = None) -> Any:
        """A picture of the last trace's graph, or of that of `trace`: see `intaglio.picture`.

        TensorFlow has no such method.
        """
        return HOOKS.picture(self if trace is None else trace, level)

    @property
    def trace_bytes(self) -> int:
        """An estimate of what the traces take in memory, in bytes. TensorFlow has no such attribute."""
        return sum([c.bytes for c in self._cache])

    @property
    def captures(self) -> tuple[Read, ...]:
        """What the traces have read of Python's state: values that are part of them.

        Each has a `name` as in the program, `where` it was read, `before()` and `now()`. TensorFlow has
        no such attribute.
        """
        reads = [r for c in self._cache if c.reads is not None for r in c.reads.all]
        found = {r.ident: r for r in reads if r.aspect != CLASS and not r.is_lost}
        return tuple(found.values())

    @property
    def side_effects(self) -> tuple[SideEffect, ...]:
        """What the function did to Python's world when it was traced, which no call repeats.

        Each has a `kind` and `where`; printed, it says what it was. TensorFlow has no such attribute.
        """
        return tuple(dict.fromkeys([e for c in self._cache for e in c.effects.found]))

    @property
    def constants(self) -> tuple[LargeConstant, ...]:
        """The constants of a megabyte and more that are part of traces.

        Each has a `where`, its `bytes`, and the number of `traces` that have it: they share its memory.
        TensorFlow has no such attribute.
        """
        found = collections.Counter([c for trace in self._cache for c in set(trace.constants)])
        return tuple([LargeConstant(where, size, n) for (where, size), n in found.items()])
