"""Tiered compilation: functions without `jit_compile` become native code where that pays.

What gives the same bits natively as interpreted, be it a graph or parts of one, changes over as soon as
the code is there, which is compiled in the background: only the time differs. The time that the interpreter
has spent on the graph decides whether it is worth it. Other ops may differ in the last bits (products,
sums, exponentials). Graphs that give something else with every call, as steps of training do, change
over at a call whose number follows from the graph alone, not from the time: a program gives the
same numbers every time it is run. Those that two calls may give the same are compiled as a whole before
their first call or never, which follows from the graph alone, too.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from intaglio.base import later, shapes
from intaglio.base.errors import OpError
from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.log import logger
from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.native import fallback, first_call
from intaglio.native.analysis.exactness import keeps_bits
from intaglio.native.cost_model import (
    PER_GRAPH,
    compiler_seconds,
    interpreted_seconds,
    replaceable_seconds,
)
from intaglio.runtime.call_state import streams

Run = Callable[..., tuple[Any, ...]]
# Compiles a graph: with its shapes as they are, or specialised for these shapes of the inputs.
Make = Callable[..., Run | None]
# Seconds of interpretation after which a graph is compiled: a share of the compilation's time, and no more
# than a user waits for.
HOT_SHARE, MAX_HOT_SECONDS = 0.4, 0.3
MIN_CALLS, MAX_CALLS = 4, 160
# A graph is compiled before its first call if that takes no longer than this number of interpreted calls.
MAX_BREAK_EVEN_CALLS = 100
# Estimated seconds of a call below which the interpreter is as fast as native code.
MIN_INTERPRETED_SECONDS = 5e-6
# Maximum number of shapes with a count of calls, where a trace leaves dimensions open.
MAX_COUNTED_SHAPES = 16


def tiered(graph: Graph, run: Run, make: Make | None) -> Run:
    """A graph that is interpreted as `run`, or a function that changes over to native code once it is hot.

    `make` compiles a graph whose last bits may change; it is None for a graph that must keep its bits,
    such as one with strings, files or calls of Python.
    """
    nodes = [n for g in (*walk.nested(graph), graph) for n in g.nodes]
    seconds = interpreted_seconds(graph)
    # Graphs of one or two small ops are not timed, which would take a third of their call.
    has_loop = any([n.op.control_flow == "loop" for n in nodes])
    is_timed = has_loop or seconds >= MIN_INTERPRETED_SECONDS
    if is_timed and all(map(keeps_bits, nodes)) and not all([n.op.free for n in nodes]):
        return Timed(graph, run, _whole)
    interpreted: Callable[..., Run] = later.named("intaglio.native.interpreting:interpreted")
    if make is None or seconds < MIN_INTERPRETED_SECONDS:
        return interpreted(graph, run, in_parts=True)
    run = interpreted(graph, run)
    calls = min(max(int(compiler_seconds(graph) / seconds), MIN_CALLS), MAX_CALLS)
    if all(shapes.known(v.dims) for v in graph.inputs):
        return Counted(graph, run, make, calls)
    return Shapes(graph, run, make, calls)


def is_profitable(graph: Graph) -> bool:
    """Whether compiling a graph takes no longer than what code may save of some interpreted calls of it."""
    most = MAX_BREAK_EVEN_CALLS * replaceable_seconds(graph)
    return most >= PER_GRAPH and most >= compiler_seconds(graph)


def calls_before_native(calls: int) -> int:
    """The number of calls after which a graph changes over, if its compilation takes as long as `calls` calls.

    Compilation begins after a fifth of them: a function that is called once or twice is not compiled.
    """
    return calls + max(calls // 4, min(calls, 2))


# The graphs that are being compiled in the background.
_compiling: weakref.WeakSet[Background] = weakref.WeakSet()


def _forked() -> None:
    for one in [*_compiling]:
        one.after_fork()
    _compiling.clear()


after_fork(_forked)


class Background:
    """A graph as a function that is interpreted until there is native code for it."""

    def __init__(self, graph: Graph, run: Run, make: Make) -> None:
        self.run = self._interpreted = run
        self.compiling: threading.Thread | None = None
        self.agreed = False  # whether the first call of the code was right
        self._graph: Graph | None = graph
        self._make = make
        # The graph, until one thread has checked its code.
        self._unchecked: Graph | None = graph
        self._checking = lasting_lock()

    @property
    def native(self) -> bool:
        """True once the function is the code."""
        return self.agreed

    def compile(self) -> None:
        """Starts the compilation in a thread."""
        # Not a daemon thread: the process must not exit while LLVM runs.
        self.compiling = threading.Thread(target=self._compiled, name="native-compiler")
        _compiling.add(self)
        self.compiling.start()

    def after_fork(self) -> None:
        """Starts the compilation again in a child process, which does not have the thread."""
        self.compiling = None

    def _compiled(self) -> None:
        graph = self._graph
        if graph is not None:
            try:
                self._try(graph)
            finally:
                self._graph = None
                _compiling.discard(self)

    def _try(self, graph: Graph) -> None:
        try:
            run = self._make(graph)
        except ImportError:  # llvmlite is not installed
            return
        except (OpError, shapes.ShapeError):  # the interpreter raises the same error when it runs
            logger().debug("%s stays interpreted", graph.name, exc_info=True)
            return
        except Exception as e:
            self._failed(graph, e)
            return
        if run is not None:
            self._ready(run)

    def _failed(self, graph: Graph, error: Exception) -> None:
        """Handles a failure of the compiler in the background thread: an exception is raised by the next call."""
        try:
            fallback.failed(graph.name, error)
        except Exception as e:
            self.run = functools.partial(_raise, e)

    def _ready(self, run: Run) -> None:
        """Lets the next call run the code, and check it."""
        self.run = functools.partial(self._first, run)

    def _first(self, run: Run, *arrays: Any) -> tuple[Any, ...]:
        """A call that runs both the interpreter and the new code; if they differ, the graph stays interpreted."""
        with self._checking:
            graph = self._unchecked
            if graph is not None:
                results, self.agreed = first_call.call(
                    graph, run, self._interpreted, arrays, streams(graph)
                )
                self._unchecked = None
                self.run = run if self.agreed else self._interpreted
                return results
        # Another thread has checked the code meanwhile.
        self.run = run if self.agreed else self._interpreted
        return self.run(*arrays)


def _raise(error: Exception, *arrays: Any) -> tuple[Any, ...]:
    raise error


class AheadOfTime(Background):
    """Code that runs from the first call on, which checks it: all calls have the bits of the code."""

    def __init__(self, graph: Graph, run: Run, make: Make) -> None:
        super().__init__(graph, run, make)
        self._compiled()

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        if self.native:
            return "compiled, before its first call"
        if self._unchecked is None or self.run is self._interpreted:
            return "interpreted, for it could not be compiled"
        return "compiled, and checked by its first call"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return self.run(*arrays)


class Timed(Background):
    """Changes over as soon as there is code. For graphs whose code gives the interpreter's bits."""

    def __init__(self, graph: Graph, run: Run, make: Make) -> None:
        super().__init__(graph, run, make)
        self._left = min(HOT_SHARE * compiler_seconds(graph), MAX_HOT_SECONDS)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        if self.native:
            return "compiled, for it took long"
        return "interpreted, and compiled if it takes long"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self.compiling is not None:
            return self.run(*arrays)
        start = time.perf_counter()
        results = self.run(*arrays)
        self._left -= time.perf_counter() - start
        if self._left < 0:
            self.compile()
        return results


def _whole(graph: Graph) -> Run | None:
    return later.named("intaglio.native.compilation:whole")(graph)


class Counted(Background):
    """Changes over at a fixed number of calls, so that every run of a program gives the same numbers."""

    def __init__(self, graph: Graph, run: Run, make: Make, calls: int) -> None:
        super().__init__(graph, run, make)
        self._compiled_run: Run | None = None
        self._lock = lasting_lock()
        self._begin = calls
        self._left = self._change = calls_before_native(calls)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        if self.native:
            return f"compiled, after {self._change} calls"
        if not self._left:
            return "interpreted, for it could not be compiled"
        return f"interpreted, and compiled from call {self._change + 1} on"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self._left:
            self._count()
        return self.run(*arrays)

    def _count(self) -> None:
        with self._lock:
            self._left = max(self._left - 1, 0)
            if self._left == self._begin:
                self.compile()
            elif not self._left:
                if self.compiling is None:  # the process was forked meanwhile
                    self.compile()
                if self.compiling is not None:
                    self.compiling.join()
                if self._compiled_run is not None:
                    super()._ready(self._compiled_run)

    def _ready(self, run: Run) -> None:
        self._compiled_run = run


class Shapes:
    """A graph with open input shapes: each of the first shapes has its own count of calls."""

    def __init__(self, graph: Graph, run: Run, make: Make, calls: int) -> None:
        self.run = run
        self._graph, self._make, self._calls = graph, make, calls
        self._found: dict[Any, Counted] = {}

    @property
    def native(self) -> bool:
        """Whether there is code for any shape."""
        return any(f.native for f in self._found.copy().values())

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        some = sum(f.native for f in self._found.copy().values())
        calls = calls_before_native(self._calls)
        return f"compiled for {some} of {len(self._found)} shapes, each after {calls} calls"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        key = tuple([a.shape for a in arrays])
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= MAX_COUNTED_SHAPES:
                return self.run(*arrays)
            make = functools.partial(self._make, dims=key)
            counted = Counted(self._graph, self.run, make, self._calls)
            found = self._found.setdefault(key, counted)
        return found(*arrays)
