"""Cost against size: graphs of 10 to 10^5 nodes, calls with 1 to 1000 arguments.

    python -m benchmarks.curves

prints the table. What is linear costs the same for each node, however many there are.
"""

from __future__ import annotations

import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from intaglio import native, tf
from intaglio.optimize.pipeline import optimize

NODES = (10, 100, 1000, 10_000, 100_000)
ARGUMENTS = (1, 3, 10, 30, 100, 300, 1000)
# The ops of a chain: arithmetic alone, or with some data movement.
CHAINS = ("arithmetic", "mixed")


class Curve(NamedTuple):
    """A line of the picture: seconds by size."""

    title: str
    seconds: dict[int, float]


def _chain(count: int, kind: str) -> Callable[[Any], Any]:
    def work(x: Any) -> Any:
        for i in range(count // 2):
            x = tf.tanh(x) * 1.01 if kind == "mixed" and i % 3 else x * 1.01 + 0.1
            if kind == "mixed" and not i % 5:
                x = tf.reverse(x, [0])
        return x

    return work


def graphs(kind: str, sizes: tuple[int, ...] = NODES) -> list[Curve]:
    """Trace, optimise, compile and run graphs of a kind; nothing is read from disk."""
    steps: dict[str, dict[int, float]] = {s: {} for s in ("trace", "optimise", "compile", "run")}
    before = os.environ.get("INTAGLIO_CACHE")
    os.environ["INTAGLIO_CACHE"] = ""
    try:
        for size in sizes:
            for step, seconds in _stages(_chain(size, kind)).items():
                steps[step][size] = seconds
    finally:
        if before is None:
            del os.environ["INTAGLIO_CACHE"]
        else:
            os.environ["INTAGLIO_CACHE"] = before
    return [Curve(step, seconds) for step, seconds in steps.items()]


def _stages(work: Callable[[Any], Any]) -> dict[str, float]:
    x = tf.ones([100])
    traced = tf.function(work, autograph=False)
    gc.collect()  # the graphs before are no cost of this one
    times = [time.perf_counter()]
    graph = traced.get_concrete_function(x).frozen
    times.append(time.perf_counter())
    optimized = optimize(graph)
    times.append(time.perf_counter())
    run = native.compiled(optimized)
    times.append(time.perf_counter())
    array = x.numpy()
    run(array)
    found = [b - a for a, b in itertools.pairwise(times)]
    return dict(
        zip(
            ("trace", "optimise", "compile", "run"),
            [*found, _best(lambda: run(array))],
            strict=True,
        )
    )


def _best(call: Callable[[], Any]) -> float:
    """Seconds of a call, the least of a few bursts."""
    bursts: list[float] = []
    for _ in range(5):
        count, start = 0, time.perf_counter()
        while time.perf_counter() < start + 0.01:
            call()
            count += 1
        bursts.append((time.perf_counter() - start) / count)
    return min(bursts)


def arguments(sizes: tuple[int, ...] = ARGUMENTS) -> list[Curve]:
    """The first and later calls of functions of so many tensors, traced and compiled."""
    found = {"first call": {}, "call": {}, "call, compiled": {}}
    x = tf.ones([2])
    for size in sizes:
        values = [x] * size
        for compiled in (False, True):
            function = tf.function(
                lambda *args: args[0] + args[-1], autograph=False, jit_compile=compiled
            )
            start = time.perf_counter()
            function(*values)
            first = time.perf_counter() - start
            for _ in range(5):
                function(*values)
            call = _best(lambda f=function, a=values: f(*a))
            if compiled:
                found["call, compiled"][size] = call
            else:
                found["first call"][size], found["call"][size] = first, call
    return [Curve(title, seconds) for title, seconds in found.items()]


def measured() -> dict[str, list[Curve]]:
    """All curves, by what grows."""
    _stages(_chain(10, "mixed"))  # what is loaded once
    return {**{f"nodes, {kind}": graphs(kind) for kind in CHAINS}, "arguments": arguments()}


def table(curves: dict[str, list[Curve]]) -> list[str]:
    """Lines of a page: seconds for each node or argument, by size."""
    lines: list[str] = []
    for what, rows in curves.items():
        sizes = [*rows[0].seconds]
        lines += [
            "",
            f"| us for each of so many {what} | {' | '.join([f'{s:,}' for s in sizes])} |",
            "| --- |" + " ---: |" * len(sizes),
        ]
        for curve in rows:
            each = [f"{curve.seconds[s] / s * 1e6:.3g}" for s in sizes]
            lines.append(f"| {curve.title} | {' | '.join(each)} |")
    return lines


def growth(curve: Curve) -> float:
    """How many times more a node costs in the largest graph than in the cheapest one."""
    each = [seconds / size for size, seconds in curve.seconds.items()]
    return each[-1] / statistics.median(sorted(each)[:3])


if __name__ == "__main__":
    print("\n".join(table(measured())))
