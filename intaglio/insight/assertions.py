"""Assertions about tracing, for tests: how often a function is traced, and what is in its graph.

They raise AssertionError with the reasons that `explain` gives. The pytest plugin
(`intaglio/tools/pytest_plugin.py`) hands them out as fixtures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from intaglio.function import registry
from intaglio.function.polymorphic import Function
from intaglio.insight.graphs import graphs_of
from intaglio.ir import walk


def _checked(function: Any) -> Function:
    if not isinstance(function, Function):
        raise TypeError(f"expected a tf.function, not {type(function).__name__}")
    return function


def assert_traces(function: Any, count: int) -> None:
    """Raises AssertionError unless the function has been traced `count` times, with the reasons."""
    found = _checked(function).experimental_get_tracing_count()
    if found != count:
        raise AssertionError(
            f"{function.name} was traced {found} times, not {count}\n{function.explain()}"
        )


@contextmanager
def assert_no_retrace(*functions: Any) -> Generator[None]:
    """Raises AssertionError if a function is traced in the block that had a trace before it.

    These functions, or all of the process: those that are new in the block may have one trace each.
    """
    watched = [_checked(f) for f in functions] or registry.functions()
    before = {id(f): f.experimental_get_tracing_count() for f in watched}
    yield
    after = watched if functions else registry.functions()
    lines: list[str] = []
    for function in after:
        allowed = max(before.get(id(function), 0), 0 if functions else 1)
        found = function.experimental_get_tracing_count()
        if found > allowed:
            why = function.explain()
            new = "\n".join(map(str, why[len(why) - (found - allowed) :]))
            lines.append(f"{function.name} was traced again, {found - allowed} times:\n{new}")
    if lines:
        raise AssertionError("\n".join(lines))


def assert_graph_ops(target: Any, **counts: int) -> None:
    """Raises AssertionError unless the graph has so many ops of these types: `MatMul=2, Relu=0`.

    `target` is a trace, or a function, of which that is the last trace; nested graphs count. Raises
    ValueError for a function without traces.
    """
    graph = graphs_of(target)[-1].graph
    found = Counter([n.op.name for g in [*walk.nested(graph), graph] for n in g.nodes])
    wrong = [
        f"{n} {name}, not {count}" for name, count in counts.items() if (n := found[name]) != count
    ]
    if wrong:
        every = ", ".join([f"{n} {name}" for name, n in sorted(found.items())])
        raise AssertionError(f"the graph has {'; '.join(wrong)}. It has {every}")


def assert_no_stale_captures(*functions: Any) -> None:
    """Raises AssertionError if a value has changed that a trace has read of Python's state.

    Of these functions, or of all in the process.
    """
    lines: list[str] = []
    for function in [_checked(f) for f in functions] or registry.functions():
        for trace in function.all_traces():
            for read in () if trace.reads is None else trace.reads.all:
                if not read.is_unchanged():
                    lines.append(
                        f"{function.name}: {read.name} was {read.before()}, now {read.now()}"
                    )
    if lines:
        raise AssertionError("\n".join(["traces have old values:", *dict.fromkeys(lines)]))
