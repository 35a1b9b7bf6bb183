"""Runs inputs in child processes, many in each, and says what became of them.

A child notes the number of the input in shared memory before it begins with it. If the child is
killed by a signal, or by its parent because it takes too long, that input is to blame, and another
child goes on with the next one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import mmap
import os
import pathlib
import pickle
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.base.errors import OpError

# Seconds of an input's own time after which it hangs; of waiting for something, more.
CPU_SECONDS, WALL_SECONDS = 5.0, 30.0
# Bytes that an input may add to the largest size of its process, and the address space it gets.
MAX_GROWTH = 512 << 20
ADDRESS_SPACE = 4 << 30
PROPER = (OpError, ValueError, TypeError)
# The inputs of a format are run in so many parts, of at least so many inputs.
PARTS, MIN_PART = 8, 200
VERDICTS = ("fine", "error", "other", "crash", "hang", "memory")
WRONG = VERDICTS[2:]
# In shared memory: the number of the input, when it began (s), then the counts of VERDICTS.
_STATE = struct.Struct("<qd6q")


class Format:
    """A kind of input: how one is made of seeds, and what reads it."""

    name = ""
    # Inputs per million; exceptions that are documented besides those of `PROPER`.
    share = 10_000
    allowed: tuple[type[BaseException], ...] = ()

    def __init__(self, folder: pathlib.Path) -> None:
        """`folder` is the process's own."""
        self.folder = folder

    def seeds(self) -> Any:
        """Valid inputs, which can be pickled."""
        raise NotImplementedError

    def prepare(self, seeds: Any) -> None:
        """Gets ready for `make` and `run`."""
        self.known = seeds

    def make(self, rng: random.Random) -> Any:
        """An input, determined by the generator."""
        raise NotImplementedError

    def valid(self) -> Any:
        """An input that nothing is wrong with."""
        raise NotImplementedError

    def run(self, value: Any) -> None:
        """Reads the input."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Finding:
    """An input that is to blame for something."""

    format: str
    index: int
    verdict: str
    what: str
    where: str

    @property
    def kind(self) -> tuple[str, ...]:
        """What findings of one cause have in common."""
        return self.format, self.verdict, self.what.partition(":")[0], self.where


def generator(seed: int, name: str, index: int) -> random.Random:
    """The generator of an input."""
    return random.Random(f"{seed}/{name}/{index}")


# -- the child -----------------------------------------------------------------------------


def ready(kind: type[Format], shared: pathlib.Path, own: pathlib.Path) -> Format:
    """The format with its seeds, which the first process to need them writes down."""
    made = kind(own)
    kept = shared / f"{kind.name}.seeds"
    if not kept.exists():
        beside = own / "seeds"
        beside.write_bytes(pickle.dumps(made.seeds()))
        beside.replace(kept)
    made.prepare(pickle.loads(kept.read_bytes()))
    return made


def judged(made: Format, rng: random.Random) -> tuple[str, str, str]:
    """The verdict on one input, what happened and where."""
    before = _peak()
    try:
        made.run(made.make(rng))
        verdict, what, where = "fine", "", ""
    except MemoryError as e:
        return "memory", "MemoryError", _place(e)
    except (*PROPER, *made.allowed) as e:
        verdict, what, where = "error", type(e).__name__, _place(e)
    except Exception as e:
        return "other", f"{type(e).__name__}: {str(e)[:200]}", _place(e)
    if _peak() - before > MAX_GROWTH:
        return "memory", f"{(_peak() - before) >> 20} MiB", where
    return verdict, what, where


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _place(error: BaseException) -> str:
    """The innermost line of the package that an exception came through."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = frame.f_code.co_filename
        if f"{os.sep}intaglio{os.sep}" in path and "fuzzing" not in path:
            found = f"{path.rpartition(f'{os.sep}intaglio{os.sep}')[2]}:{line}"
    return found


def _child(kind: type[Format], seed: int, span: range, state: Any, folder: pathlib.Path) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    warnings.simplefilter("ignore")
    own = pathlib.Path(tempfile.mkdtemp(dir=folder))
    os.chdir(own)
    log = os.open(folder / "findings", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    counts = [0] * len(VERDICTS)
    # Nothing hangs before the first input, for which nothing is left to import.
    _STATE.pack_into(state, 0, span.start - 1, 0.0, *counts)
    made = ready(kind, folder, own)
    made.run(made.valid())
    for index in span:
        _STATE.pack_into(state, 0, index, time.time(), *counts)
        verdict, what, where = judged(made, generator(seed, kind.name, index))
        counts[VERDICTS.index(verdict)] += 1
        if verdict in WRONG:
            finding = Finding(kind.name, index, verdict, what, where)
            os.write(log, json.dumps(dataclasses.asdict(finding)).encode() + b"\n")
        if verdict == "memory":
            gc.collect()
            break  # the largest size of a process never shrinks
    _STATE.pack_into(state, 0, index, time.time(), *counts)


# -- the parent ----------------------------------------------------------------------------


class Worker:
    """A child process at work on a range of inputs of one format."""

    def __init__(self, kind: type[Format], seed: int, span: range, folder: pathlib.Path) -> None:
        self.kind, self.span = kind, span
        self.state = mmap.mmap(-1, _STATE.size)
        sys.stdout.flush()
        self.begun = time.time()
        self.process = os.fork()
        if not self.process:
            code = 1
            try:
                _child(kind, seed, span, self.state, folder)
                code = 0
            except BaseException:
                with open(folder / f"{kind.name}.failed", "w") as file:
                    traceback.print_exc(file=file)
            finally:
                os._exit(code)

    def ended(self) -> tuple[int, str, Counter[str]] | None:
        """The last input, what it is to blame for, and the counts; None while the child works."""
        pid, status = os.waitpid(self.process, os.WNOHANG)
        index, since, *counts = _STATE.unpack_from(self.state, 0)
        blame = ""
        if not pid:
            if not self._hangs(since):
                return None
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            blame = "hang"
        elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGTERM:
            return index, "", Counter(dict(zip(VERDICTS, counts, strict=True)))
        elif os.WIFSIGNALED(status):
            blame = f"crash: {signal.Signals(os.WTERMSIG(status)).name}"
        elif os.WEXITSTATUS(status):
            blame = "setup"
        return index, blame, Counter(dict(zip(VERDICTS, counts, strict=True)))

    def _hangs(self, since: float) -> bool:
        waited = time.time() - since
        if since <= 0 or waited < CPU_SECONDS:
            return False
        return waited > WALL_SECONDS or self._cpu_since(since) > CPU_SECONDS

    def _cpu_since(self, since: float) -> float:
        """An upper estimate of the processor time that the present input has taken."""
        with contextlib.suppress(OSError, ValueError):
            parts = (
                pathlib.Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
            )
            used = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
            mark = getattr(self, "mark", None)
            if mark is None or mark[0] != since:
                self.mark = (since, used)
                return 0.0
            return used - self.mark[1] + CPU_SECONDS - 1  # it was first seen after so long
        return WALL_SECONDS


@dataclasses.dataclass
class Row:
    """What became of the inputs of one format."""

    name: str
    seconds: float = 0.0
    counts: Counter[str] = dataclasses.field(default_factory=Counter)


def run(
    kinds: Sequence[type[Format]],
    counts: Sequence[int],
    seed: int,
    jobs: int,
    seconds: float = float("inf"),
) -> tuple[list[Row], list[Finding]]:
    """Runs so many inputs of each format, as far as it gets in so many seconds.

    Returns a row for each format, and the findings.
    """
    rows = {kind.name: Row(kind.name) for kind in kinds}
    findings: list[Finding] = []
    end = time.time() + seconds
    with tempfile.TemporaryDirectory(prefix="intaglio-fuzz-") as name:
        folder = pathlib.Path(name)
        waiting = _spans(kinds, counts)
        working: list[Worker] = []
        while waiting or working:
            if time.time() > end:
                waiting.clear()
                for worker in working:
                    os.kill(worker.process, signal.SIGTERM)
            while waiting and len(working) < jobs:
                kind, span = waiting.pop(0)
                working.append(Worker(kind, seed, span, folder))
            time.sleep(0.01)
            for worker in [*working]:
                outcome = worker.ended()
                if outcome is None:
                    continue
                working.remove(worker)
                rows[worker.kind.name].seconds += time.time() - worker.begun
                rows[worker.kind.name].counts += outcome[2]
                finding, rest = _followed(worker, outcome, folder)
                if finding is not None:
                    findings.append(finding)
                    rows[finding.format].counts[finding.verdict] += 1
                if rest and time.time() < end:
                    waiting.insert(0, (worker.kind, rest))
        findings += _logged(folder)
    return list(rows.values()), findings


def _spans(
    kinds: Sequence[type[Format]], counts: Sequence[int]
) -> list[tuple[type[Format], range]]:
    """The inputs in parts, those of all formats side by side, for a run that may be cut off."""
    found: list[tuple[float, type[Format], range]] = []
    for kind, count in zip(kinds, counts, strict=True):
        size = max(MIN_PART, -(-count // PARTS))
        for start in range(0, count, size):
            found.append((start / count, kind, range(start, min(start + size, count))))
    found.sort(key=lambda part: (part[0], -len(part[2])))
    return [(kind, span) for _, kind, span in found]


def _followed(
    worker: Worker, end: tuple[int, str, Counter[str]], folder: pathlib.Path
) -> tuple[Finding | None, range]:
    """What an ended child is to blame for, and the inputs that are left."""
    index, blame, _ = end
    name = worker.kind.name
    if blame == "setup" or (blame and index < worker.span.start):
        text = folder / f"{name}.failed"
        raise RuntimeError(f"{name}: {text.read_text() if text.exists() else blame}")
    rest = range(index + 1, worker.span.stop)
    if not blame:
        return None, rest
    verdict = blame.partition(":")[0]
    return Finding(name, index, verdict, blame, ""), rest


def _logged(folder: pathlib.Path) -> Iterator[Finding]:
    path = folder / "findings"
    for line in path.read_text().splitlines() if path.exists() else ():
        yield Finding(**json.loads(line))


def reproduce(kind: type[Format], seed: int, index: int, save: str | None) -> None:
    """Runs one input here; raises what it raises."""
    with tempfile.TemporaryDirectory(prefix="intaglio-fuzz-") as name:
        folder = pathlib.Path(name)
        made = ready(kind, folder, folder)
        value = made.make(generator(seed, kind.name, index))
        if save:
            pathlib.Path(save).write_bytes(
                value if isinstance(value, bytes) else repr(value).encode()
            )
        print(repr(value)[:2000])
        made.run(value)
        print("fine")
