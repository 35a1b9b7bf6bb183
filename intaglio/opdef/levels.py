"""Levels, the executors of op calls, and each thread's stack of them.

A level executes ops eagerly, or records them into a graph, or into a graph that a pass rewrites.
Each thread has a stack of levels. A tape belongs to the level on which it was opened, and records the ops
executed there. `STATE.unusual` counts the levels and tapes of all threads, so that the fast eager path has
a single check.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from intaglio.base import tracebacks
from intaglio.base.devices import is_of_accelerator
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.opdef.hooks import HOOKS

if TYPE_CHECKING:
    from intaglio.opdef.op import Op
    from intaglio.opdef.tensor import Tensor


class Watcher(Protocol):
    """A tape or forward accumulator, which is notified of every op executed on its level."""

    def record(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        """Called for every executed op."""
        ...

    def record_function(
        self,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        backward: Callable[[Sequence[Any]], Sequence[Any]],
    ) -> None:
        """Called for a computation whose gradient is a function."""
        ...

    def depends(self, inputs: Sequence[Tensor]) -> bool:
        """True if the watcher must be notified of a call of a graph with these inputs."""
        ...

    def extended(self, node: Any) -> None:
        """Called when a recorded call of a graph has got further outputs."""
        ...

    def watch_variable(self, variable: Any) -> None:
        """Called when a variable is read on the watcher's level."""
        ...


class Level:
    """An executor of ops: eager, recording or rewriting."""

    eager = False
    # Whether ops may go straight to their kernels, without `execute`.
    direct = True
    # Whether an executor other than the host's kernels computes.
    is_elsewhere = False

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        """Executes the op; returns its outputs as a flat sequence."""
        raise NotImplementedError

    def quick(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The op's only output if the level can go straight to the kernel, else None."""
        return None

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        """The array as a tensor of this level."""
        raise NotImplementedError

    def finish(self, op: Op, outputs: Sequence[Tensor]) -> Any:
        """The result of a call of an op without outputs."""
        return None

    @contextmanager
    def scoped(self, name: str | None) -> Generator[str]:
        """A name scope: node names in the block begin with `name/`; no effect on eager levels."""
        yield f"{name}/"


class State:
    """The counter `unusual`, which is not 0 while any thread has a level or a tape open."""

    __slots__ = ("_lock", "unusual")

    def __init__(self) -> None:
        self.unusual = 0
        self._lock = lasting_lock()

    def shift(self, by: int) -> None:
        """Adds to the count of levels and tapes of all threads."""
        with self._lock:
            self.unusual += by


STATE = State()
if is_of_accelerator(OPTIONS.default_device):  # threads start on the level of a device
    STATE.unusual = 1


class _Stack(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = [HOOKS.first_level()]
        self.top: Level = self.levels[0]

    def begin_with(self, first: Level) -> None:
        """Sets the bottom level of this thread."""
        self.levels[0] = first
        self.top = self.levels[-1]


_stack: Any = None


def stack() -> Any:
    """This thread's stack of levels: `.top`, `.levels`."""
    global _stack
    if _stack is None:
        _stack = _Stack()
    return _stack


def level() -> Level:
    """The level that executes ops of this thread now."""
    return (_stack or stack()).top


class pushed:
    """A context in which `new` executes ops of this thread; yields `result`, or else `new`."""

    __slots__ = ("_here", "_new", "_result")

    def __init__(self, new: Level, result: Any = None) -> None:
        self._new, self._result = new, new if result is None else result

    def __enter__(self) -> Any:
        here = self._here = stack()
        here.levels.append(self._new)
        here.top = self._new
        STATE.shift(+1)
        return self._result

    def __exit__(self, *error: object) -> None:
        here = self._here
        STATE.shift(-1)
        here.levels.pop()
        here.top = here.levels[-1]


def leave_out_package(error: Exception) -> None:
    """Removes this package's frames from the traceback of an error that leaves a public function.

    They stay while a graph is recorded: errors of tracing are worded by the whole traceback.
    """
    if all([here.eager for here in stack().levels]):
        tracebacks.leave_out_package(error)


def eagerly() -> Any:
    """A context in which ops are executed eagerly, and no outer tape records them."""
    return pushed(HOOKS.eager_level())


def watch(watcher: Watcher, here: Level | None = None) -> Level:
    """Adds a watcher to a level, by default the current one. Returns that level."""
    here = here or level()
    here.watchers = [*here.watchers, watcher]
    STATE.shift(+1)
    return here


def unwatch(watcher: Watcher, here: Level) -> None:
    """Removes a watcher from the level that `watch` returned."""
    if watcher in here.watchers:
        here.watchers = [w for w in here.watchers if w is not watcher]
        STATE.shift(-1)


@contextmanager
def unwatched() -> Generator[None]:
    """Hides the ops of the block from the tapes and accumulators of this level."""
    here = level()
    kept, here.watchers = here.watchers, []
    try:
        yield
    finally:
        here.watchers = [*kept, *here.watchers]
