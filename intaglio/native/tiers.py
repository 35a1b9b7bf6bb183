"""Tiered compilation: functions without `jit_compile` become native code where that pays.

What gives the same bits natively as interpreted, be it a graph or parts of one, changes over as soon as
the code is there, which is compiled in the background: only the time differs. The time that the interpreter
has spent on the graph decides whether it is worth it. Other ops may differ in the last bits (products,
sums, exponentials). Graphs that give something else with every call, as steps of training do, change
over at a call whose number follows from the graph alone, not from the time, unless the compiler is late: a
program gives the same numbers nearly every time it is run, and no call waits. Those that two calls may give the same are compiled as a whole before
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
from intaglio.base.shapes import Dims
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
# The calls that a compilation in the background is given: the estimate times this factor, as it shares the
# interpreter's lock with them.
COMPILATION_MARGIN = 3
MIN_CALLS, MAX_CALLS = 12, 320
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
    if all(shapes.known(v.dims) for v in graph.inputs):
        return Counted(graph, run, make, calls_of_compilation(graph, seconds))
    return Shapes(graph, run, make)


def calls_of_compilation(graph: Graph, seconds: float) -> int:
    """The number of interpreted calls, of so many seconds each, that the compilation of a graph is given."""
    estimate = compiler_seconds(graph) / seconds
    return min(max(int(COMPILATION_MARGIN * estimate), MIN_CALLS), MAX_CALLS)


def is_profitable(graph: Graph) -> bool:
    """Whether compiling a graph takes no longer than what code may save of some interpreted calls of it."""
    most = MAX_BREAK_EVEN_CALLS * replaceable_seconds(graph)
    return most >= PER_GRAPH and most >= compiler_seconds(graph)


def calls_before_compilation(calls: int) -> int:
    """The number of calls before the compilation of a graph begins, which is given `calls` calls.

    A function that is called once or twice is not compiled.
    """
    return max(calls // 8, min(calls, 2))


def calls_between_looks(calls: int) -> int:
    """The number of calls between two looks at whether the code is compiled, or checked."""
    return max(calls // 4, min(calls, 4))


def calls_before_native(calls: int) -> int:
    """The number of calls after which a graph changes over, if it is compiled in `calls` calls and checked in time."""
    return calls_before_compilation(calls) + calls + calls_between_looks(calls) - 1


# The graphs that are being compiled in the background.
_compiling: weakref.WeakSet[Background] = weakref.WeakSet()


def _forked() -> None:
    for one in [*_compiling]:
        one.after_fork()
    _compiling.clear()


after_fork(_forked)


class Background:
    """A graph as a function that is interpreted until there is native code for it, which another thread has checked.

    No call waits: the code is compiled, and compared with an interpreted call, in the background.
    """

    def __init__(self, graph: Graph, run: Run, make: Make) -> None:
        self.run = self._interpreted = run
        # The thread that compiles or checks, or the last one that did.
        self.compiling: threading.Thread | None = None
        self.agreed = False  # whether the code has given what the interpreter gave
        self._graph: Graph | None = graph  # until it is compiled
        self._make = make
        self.code: Run | None = None  # once it is compiled
        self._unchecked: Graph | None = graph  # the graph until its code is checked
        self._is_recorded = False  # whether a call is taken for the check
        self._checking = lasting_lock()

    @property
    def native(self) -> bool:
        """True once the function is the code."""
        return self.agreed

    def compile(self) -> None:
        """Starts the compilation in a thread."""
        self._in_background(self._compiled)

    def _in_background(self, work: Callable[[], None]) -> None:
        # Not a daemon thread: the process must not exit while LLVM runs.
        self.compiling = threading.Thread(target=work, name="native-compiler")
        _compiling.add(self)
        self.compiling.start()

    def after_fork(self) -> None:
        """Lets a child process, which does not have the thread, start its work again."""
        self.compiling, self._is_recorded = None, False
        if self.code is not None and self._unchecked is not None:
            self._ready(self.code)

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
            self.code = run
            self._ready(run)

    def _failed(self, graph: Graph, error: Exception) -> None:
        """Handles a failure of the compiler in the background thread: an exception is raised by the next call."""
        try:
            fallback.failed(graph.name, error)
        except Exception as e:
            self.run = functools.partial(_raise, e)

    def _ready(self, run: Run) -> None:
        """Lets the next call be recorded, for the check of the code."""
        self.run = functools.partial(self._record, run)

    def _record(self, run: Run, *arrays: Any) -> tuple[Any, ...]:
        """An interpreted call, with which a thread compares what the code computes."""
        graph = self._unchecked
        if graph is None or not self._checking.acquire(blocking=False):
            return self._interpreted(*arrays)  # another thread's call is recorded
        try:
            if self._is_recorded:
                return self._interpreted(*arrays)
            call = first_call.Recorded(graph, self._interpreted, arrays, streams(graph))
            self._is_recorded = True
            self.run = self._interpreted
        finally:
            self._checking.release()
        self._in_background(functools.partial(self._check, call, run))
        return call.results

    def _check(self, call: first_call.Recorded, run: Run) -> None:
        try:
            if call.agrees(run):
                self._change_over(run)
        except first_call.Exiting:
            pass
        except Exception as e:
            self.run = functools.partial(_raise, e)
        finally:
            self._unchecked = None
            _compiling.discard(self)

    def _change_over(self, run: Run) -> None:
        """Lets later calls run the code, which agrees with the interpreter."""
        self.run, self.agreed = run, True


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

    def _ready(self, run: Run) -> None:
        self.run = functools.partial(self._first, run)

    def _first(self, run: Run, *arrays: Any) -> tuple[Any, ...]:
        """A call before which the code is checked; if it differs, the graph stays interpreted."""
        with self._checking:
            graph = self._unchecked
            if graph is not None:  # else another thread has checked the code meanwhile
                agreed = first_call.agrees(graph, run, self._interpreted, arrays, streams(graph))
                if agreed is None:  # the program's own error: this call raises it, with its effects
                    return self._interpreted(*arrays)
                self.agreed, self._unchecked = agreed, None
                self.run = run if agreed else self._interpreted
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
    """Changes over at a number of calls that follows from the graph: runs of a program give the same numbers.

    Where the compiler takes longer than estimated, as on a loaded machine, the change is later, by a multiple
    of a number of calls that follows from the graph, too.
    """

    def __init__(self, graph: Graph, run: Run, make: Make, calls: int) -> None:
        super().__init__(graph, run, make)
        self._agreed_run: Run | None = None
        self._lock = lasting_lock()
        self._budget, self._period = calls, calls_between_looks(calls)
        # The number of interpreted calls before the first of the code.
        self.change = calls_before_native(calls)
        # The number of calls until something is to be done.
        self._left = calls_before_compilation(calls)

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        if self.native:
            return f"compiled, after {self.change} calls"
        if not self._left:
            return "interpreted, for it could not be compiled"
        return f"interpreted, and compiled from call {self.change + 1} on"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self._left:
            self._count()
        return self.run(*arrays)

    def _count(self) -> None:
        with self._lock:
            self._left = max(self._left - 1, 0)
            if not self._left:
                self._left = self._proceed()

    def _proceed(self) -> int:
        """Does what is next, if the background is ready; the number of calls until what follows, 0 if nothing does."""
        if self.compiling is None and self._graph is not None:
            self.compile()
            return self._budget
        if self._graph is None:  # it is compiled, if it can be
            if self.code is None:
                return 0
            if not self._is_recorded:
                super()._ready(self.code)  # this call is recorded
                return self._period
        if self._unchecked is not None:
            self.change += self._period
            return self._period
        if self._agreed_run is not None:
            super()._change_over(self._agreed_run)
        return 0

    def _ready(self, run: Run) -> None:
        pass  # the count decides which call is recorded

    def _change_over(self, run: Run) -> None:
        self._agreed_run = run


class Shapes:
    """A graph with open input shapes: each of the first shapes has its own count of calls."""

    def __init__(self, graph: Graph, run: Run, make: Make) -> None:
        self.run = run
        self._graph, self._make = graph, make
        self._open = [i for i, v in enumerate(graph.inputs) if not shapes.known(v.dims)]
        self._found: dict[Any, Counted] = {}  # by the shapes of the inputs with open ones

    @property
    def native(self) -> bool:
        """Whether there is code for any shape."""
        return any(f.native for f in self.counted)

    @property
    def counted(self) -> list[Counted]:
        """The functions for the shapes so far."""
        return [*self._found.copy().values()]

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        found = self.counted
        some = sum(f.native for f in found)
        calls = " or ".join(map(str, sorted({f.change for f in found})))
        return f"compiled for {some} of {len(found)} shapes, each after {calls} calls"

    def _calls(self, key: tuple[Any, ...]) -> int:
        """The number of calls that the compilation for some shapes takes."""
        largest = max([d for dims in key for d in dims], default=0)
        seconds = interpreted_seconds(self._graph, open_dim=largest)
        return calls_of_compilation(self._graph, seconds)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        key = tuple([arrays[i].shape for i in self._open])
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= MAX_COUNTED_SHAPES:
                return self.run(*arrays)
            dims: list[Dims] = [None] * len(arrays)
            for i, shape in zip(self._open, key, strict=True):
                dims[i] = shape
            make = functools.partial(self._make, dims=dims)
            counted = Counted(self._graph, self.run, make, self._calls(key))
            found = self._found.setdefault(key, counted)
        return found(*arrays)
