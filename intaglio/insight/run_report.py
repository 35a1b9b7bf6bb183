"""One file about a whole run: `INTAGLIO_REPORT=out.html python app.py`, `intaglio report app.py`.

It has every traced function, why each was traced again, what of Python's state its traces have
read and has changed since, side effects that ran once, large constants, what is machine code,
where the time went (a profile of the run) and the memory. It is written when the process ends, in the
form that the name ends in: HTML, or JSON for tools.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import pathlib
import sys
from typing import Any, NamedTuple

from intaglio.function import registry
from intaglio.function.explanation import TraceReason
from intaglio.function.polymorphic import Function
from intaglio.insight.html import cell, html_of, table
from intaglio.insight.profiling import Profile, profile
from intaglio.insight.style import STYLE

try:
    import resource
except ImportError:  # Windows has none
    resource = None

VARIABLE, REDACT = "INTAGLIO_REPORT", "INTAGLIO_REPORT_REDACT"
# Seconds between two samples of a whole run: less than half as many as a profile takes.
INTERVAL = 0.005
MAX_LINES = 40
HIDDEN = "(redacted)"


class FunctionReport(NamedTuple):
    """What is listed of a function. `stale` are captured values that have changed since a trace read them."""

    name: str
    where: str
    traces: int
    trace_seconds: float
    bytes: int
    machine_code: int
    retraces: list[str]
    stale: list[str]
    side_effects: list[str]
    constants: list[str]


class RunReport:
    """A run so far. `html` and `json` are the report, `save(path)` writes it."""

    def __init__(self, times: Profile | None = None, redact: bool = False) -> None:
        self.command = HIDDEN if redact else " ".join(sys.argv)
        self.times = times
        self.redact = redact
        self.memory = _peak_memory()
        found = [_function_report(f, redact) for f in registry.functions() if f.all_traces()]
        self.functions = sorted(found, key=lambda f: -f.trace_seconds)

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        times = self.times
        lines = [] if times is None else times.ops[:MAX_LINES]
        return {
            "command": self.command,
            "seconds": None if times is None else times.seconds,
            "peak_memory_bytes": self.memory,
            "functions": [f._asdict() for f in self.functions],
            "times": [
                {
                    "line": "" if t.where is None else t.where.short,
                    "what": t.name,
                    "seconds": t.seconds,
                    "share": t.share,
                }
                for t in lines
            ],
        }

    @property
    def fragment(self) -> str:
        """The report as a part of a page."""
        rows = [
            (f.name, f.where, f.traces, f"{f.trace_seconds * 1e3:.1f}", f.machine_code, f.bytes)
            for f in self.functions
        ]
        heads = ("function", "defined at", "traces", "traced in ms", "machine code", "bytes")
        memory = "" if self.memory is None else f", {self.memory / 1e6:.0f} MB at most"
        seconds = "" if self.times is None else f", {self.times.seconds:.2f} s"
        parts = [
            f"<h1>{cell(self.command)}</h1><p>{len(rows)} traced function{'s' * (len(rows) != 1)}{seconds}{memory}</p>",
            table(heads, rows, (2, 3, 4, 5)),
        ]
        titles = {
            "retraces": "Traced again",
            "stale": "Captured values that have changed since",
            "side_effects": "Side effects that ran when it was traced, and not with each call",
            "constants": "Large constants",
        }
        for field, title in titles.items():
            listed = [(f.name, line) for f in self.functions for line in getattr(f, field)]
            if listed:
                parts.append(f"<h2>{title}</h2>{table(('function', 'what'), listed)}")
        if self.times is not None:
            parts.append(f"<h2>Time</h2>{html_of(self.times)}")
        return "".join(parts)

    def _repr_html_(self) -> str:
        return f'<div class="intaglio"><style>{STYLE}</style>{self.fragment}</div>'

    @property
    def html(self) -> str:
        """The report as a page that loads nothing."""
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Intaglio: a run</title>'
            f'<style>{STYLE}</style><body class="intaglio">{self.fragment}</body></html>'
        )

    def save(self, path: Any) -> None:
        """Writes the report: JSON if the name ends in `.json`, else HTML."""
        path = pathlib.Path(path)
        text = json.dumps(self.as_json(), indent=1) if path.suffix == ".json" else self.html
        path.write_text(text, encoding="utf-8")


def _function_report(function: Function, redact: bool) -> FunctionReport:
    traces = function.all_traces()
    shown = getattr(function.python_function, "__wrapped_method__", function.python_function)
    code = getattr(inspect.unwrap(shown), "__code__", None)
    where = "" if code is None else f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
    changed = [
        r for t in traces if t.reads is not None for r in t.reads.all if not r.is_unchanged()
    ]
    return FunctionReport(
        function.name,
        where,
        len(traces),
        sum([t.seconds for t in traces]),
        function.trace_bytes,
        sum([t.runs_native for t in traces]),
        [_because(reason, redact) for reason in function.explain() if reason.changes],
        [_changed(read, redact) for read in {r.ident: r for r in changed}.values()],
        [str(effect) for effect in function.side_effects],
        [str(constant) for constant in function.constants],
    )


def _because(reason: TraceReason, redact: bool) -> str:
    where = "" if reason.where is None else f" at {reason.where.short}"
    changes = "; ".join([f"{c.path}: {c.advice}" if redact else str(c) for c in reason.changes])
    return f"trace {reason.number}{where}, {reason.seconds * 1e3:.1f} ms: {changes}"


def _changed(read: Any, redact: bool) -> str:
    where = f" (read at {read.where.short})" if read.where is not None else ""
    values = HIDDEN if redact else f"{read.before()} -> {read.now()}"
    return f"{read.name}: {values}{where}"


def _peak_memory() -> int | None:
    """The most memory that the process has had, in bytes; None where the system does not say."""
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def report(times: Profile | None = None, *, redact: bool = False) -> RunReport:
    """A report on the process so far: all traced functions that live; with a profile, its times.

    With `redact` it has neither arguments nor values of the program, only names and lines.
    """
    return RunReport(times, redact)


def begin(path: str, redact: bool = False) -> None:
    """Writes a report on this process to `path` when it ends. Its children write none."""
    registry.keep()
    times = profile(INTERVAL)
    times.__enter__()
    process = os.getpid()

    def write() -> None:
        if os.getpid() == process:
            times.__exit__(None, None, None)
            report(times, redact=redact).save(path)

    atexit.register(write)


def begin_if_wanted() -> None:
    """Begins a report if INTAGLIO_REPORT names a file, which is for this process alone."""
    path = os.environ.pop(VARIABLE, "")
    if path:
        begin(path, os.environ.get(REDACT, "") not in ("", "0"))
