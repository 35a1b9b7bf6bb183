"""Where a run's time goes, by the user's lines and by ops: `with intaglio.profile() as p`.

A thread looks at the stacks of the others some hundred times a second. A frame of a graph's code
leads to its node, so to the op and to the line of the traced function that made it; fused loops
and machine code are named by the ops that they are made of. A sample stands for the time since the
last one. Nothing in the program is changed: what a profile costs is the samples alone, and where they
are slow there are fewer of them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from intaglio.base import origins
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.origins import Frame
from intaglio.function.polymorphic import Function
from intaglio.insight.machine_code import steps_of
from intaglio.insight.step_names import name_of
from intaglio.ir.graph import Node
from intaglio.opdef.op import Op

INTERVAL = 0.002  # seconds between two samples, or more
# The share of the time that the sampler's thread may take of a processor, as long as the interval is no longer than
# `MAX_INTERVAL`, or the one that is asked for.
MAX_SAMPLER_SHARE = 0.01
MAX_INTERVAL = 0.02
# While a profile runs, threads give way to it after so many seconds: Python's default is 5 ms.
SWITCH_INTERVAL = 0.0005
MAX_SHOWN_LINES = 30
MAX_DEPTH = 200
_CALLS = {Function.__call__.__code__: "function", Op.__call__.__code__: "op"}


class Step(NamedTuple):
    """A level of a stack: the user's line, and what ran there if it is the innermost level."""

    where: Frame | None
    name: str


class Sample(NamedTuple):
    """What a thread did: nanoseconds since the profile began, their number, the stack outermost first."""

    thread: int
    at: int
    weight: int
    stack: tuple[Step, ...]


class Time(NamedTuple):
    """The time of a line, or of an op in a line: seconds, and their share of all."""

    where: Frame | None
    name: str
    seconds: float
    share: float


class Profile(ShownInNotebooks):
    """A profile, while it runs and when it has ended. `intaglio.profile` makes one."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.seconds = 0.0
        self.began = 0  # nanoseconds since 1970
        self.samples: list[Sample] = []
        self.threads: dict[int, str] = {}
        self._start = 0
        self._running = (
            threading.Lock()
        )  # locked until the end: to wait for it costs less than for an event
        self._sampler: threading.Thread | None = None
        self._switch = 0.0
        self._own = 0
        self._functions: dict[str, Function] = {}

    # -- running ---------------------------------------------------------------------------

    def __enter__(self) -> Profile:
        if self._sampler is not None:
            raise RuntimeError("this profile has run: make another with intaglio.profile()")
        self._own = threading.get_ident()
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch, SWITCH_INTERVAL))
        self.began, self._start = time.time_ns(), time.perf_counter_ns()
        self._running.acquire()
        self._sampler = threading.Thread(target=self._run, name="intaglio-profile", daemon=True)
        self._sampler.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        assert self._sampler is not None
        self._running.release()
        self._sampler.join()
        sys.setswitchinterval(self._switch)
        self.seconds = (time.perf_counter_ns() - self._start) / 1e9

    def _run(self) -> None:
        me = threading.get_ident()
        last = self._start
        pause, longest = self.interval, max(self.interval, MAX_INTERVAL)
        spent = time.thread_time()
        while not self._running.acquire(timeout=pause):
            now = time.perf_counter_ns()
            for thread, frame in sys._current_frames().items():
                if thread == me:
                    continue
                stack = _stack(frame, self._functions)
                if stack and (thread == self._own or any([s.name for s in stack])):
                    self.samples.append(Sample(thread, last - self._start, now - last, stack))
            last = now
            before, spent = spent, time.thread_time()
            pause = min(max(self.interval, (spent - before) / MAX_SAMPLER_SHARE), longest)
        self.threads = {t.ident or 0: t.name for t in threading.enumerate()}

    # -- results ---------------------------------------------------------------------------

    @property
    def lines(self) -> tuple[Time, ...]:
        """The time of each of the user's lines, with what it calls there, the longest first.

        Of several lines of a stack that is the innermost one.
        """
        return self._times(lambda step: (step.where, ""))

    @property
    def ops(self) -> tuple[Time, ...]:
        """The time of each op, fused loop or compiled function in each line, the longest first."""
        return self._times(lambda step: (step.where, step.name or "Python"))

    @property
    def machine_code(self) -> dict[str, tuple[Time, ...]]:
        """The kernels and fused loops of functions that ran as machine code, by the name in `ops`.

        Inside of such a function no sample sees what runs: its steps have no times of their own. The
        functions' own lines are those of the calls.
        """
        found: dict[str, tuple[Time, ...]] = {}
        for name, function in self._functions.items():
            traces = function._list_all_concrete_functions()
            rows = [row for trace in traces for row in steps_of(trace)]
            if rows:
                found[name] = tuple([Time(row.node.frame, row.how, 0.0, 0.0) for row in rows])
        return found

    def _times(self, key: Callable[[Any], tuple[Frame | None, str]]) -> tuple[Time, ...]:
        found: dict[tuple[Frame | None, str], int] = defaultdict(int)
        for sample in self.samples:
            found[key(sample.stack[-1])] += sample.weight
        total = sum(found.values()) or 1
        times = [Time(where, name, ns / 1e9, ns / total) for (where, name), ns in found.items()]
        return tuple(sorted(times, key=lambda t: -t.seconds))

    def __str__(self) -> str:
        rows = [f"{self.seconds:.3f} s, {len(self.samples)} samples", ""]
        rows.append(f"{'seconds':>9}  {'share':>6}  what, and the line")
        for found in self.ops[:MAX_SHOWN_LINES]:
            where = "" if found.where is None else f"{found.where.short} {found.where.source}"
            rows.append(f"{found.seconds:9.3f}  {found.share:6.1%}  {found.name}  {where}".rstrip())
        for name, steps in self.machine_code.items():
            rows += ["", f"{name} is machine code:"]
            for step in dict.fromkeys(steps[:MAX_SHOWN_LINES]):
                where = "" if step.where is None else f"  {step.where.short} {step.where.source}"
                rows.append(f"  {step.name}{where}")
        return "\n".join(rows)

    __repr__ = __str__


def profile(interval: float = INTERVAL) -> Profile:
    """A profile of a block: `with intaglio.profile() as p: ...`, then `print(p)`.

    `p.lines` and `p.ops` are its times, notebooks show a table, `intaglio.save_profile(p, path)` writes
    HTML, speedscope's or Chrome's JSON, or `xplane.pb` for TensorBoard. `interval` is the seconds
    between two samples; they are up to 20 ms where samples would take over 1 % of a processor. Raises ValueError for one that is not positive.

    >>> import intaglio
    >>> with intaglio.profile() as p:
    ...     _ = tf.linalg.matmul(tf.ones([64, 64]), tf.ones([64, 64]))
    >>> p.seconds > 0
    True
    """
    if not interval > 0:
        raise ValueError(f"interval is a positive number of seconds, not {interval!r}")
    return Profile(interval)


def _stack(frame: FrameType | None, functions: dict[str, Function]) -> tuple[Step, ...]:
    """The user's lines of a stack, outermost first; the innermost says what runs in it."""
    found: list[Step] = []  # innermost first
    name = ""
    depth = 0
    while frame is not None and depth < MAX_DEPTH:
        depth += 1
        code = frame.f_code
        is_own = origins.is_ours(code) or code.co_filename.startswith("<frozen ")
        if is_own:  # it waits for a thread of its own, say, in Python's library
            while (
                found
                and found[-1].where is not None
                and origins.is_of_standard_library(found[-1].where.filename)
            ):
                found.pop()
        generated = GeneratedCode.of(frame)
        if generated is not None:
            line = generated.at(frame.f_lineno or 0)
            node = getattr(line, "node", None)
            if isinstance(node, Node) and not (name and found):
                name = name or name_of(node)
                frames = origins.frames(node.origin)
                found += [Step(f, "" if i else name) for i, f in enumerate(frames[:1])]
        elif code in _CALLS:
            if not name and not found:
                name = _called(frame, code, functions)
        elif not is_own:
            found.append(Step(origins.running(frame), "" if found else name))
        frame = frame.f_back
    return tuple(reversed(found))


def _called(frame: FrameType, code: CodeType, functions: dict[str, Function]) -> str:
    """What a call of the package's runs: an op by name, or a function."""
    owner = frame.f_locals.get("self")
    name = str(getattr(owner, "name", ""))
    if isinstance(owner, Function):
        name = f"{name} (traced function)"
        functions[name] = owner
    return name
