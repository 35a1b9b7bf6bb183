"""Measures a program: every mode of both libraries, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from typing import NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.programs.registry import Program
from benchmarks.programs.worker import Job

LIBRARIES = ("intaglio", "tensorflow")
Key = tuple[str, str]
# Seconds for one answer: what takes longer is an error.
LIMIT = 90.0


class Effort(NamedTuple):
    """Seconds of calls before the measurement and of one burst, and the bursts."""

    warm: float
    burst: float
    rounds: int


FULL, QUICK = Effort(1.0, 0.2, 5), Effort(0.3, 0.08, 2)


class Options(NamedTuple):
    """How all programs are measured."""

    seed: int
    effort: Effort
    tiny: bool = False


class Figures(NamedTuple):
    """What was measured of one library in one mode: seconds and bytes."""

    first: float
    steady: float
    peak: float


class Measured(NamedTuple):
    """(library, mode) -> figures or the text of an error; what differs between the libraries;
    mode -> seconds of a first call that finds its compiled code on disk."""

    program: Program
    figures: dict[Key, Figures | str]
    differences: list[str]
    cached: dict[str, float]

    def of(self, library: str, mode: str) -> Figures | None:
        """The figures, or None after an error."""
        found = self.figures.get((library, mode))
        return found if isinstance(found, Figures) else None

    def best(self, library: str) -> tuple[str, Figures] | None:
        """The mode with the shortest steady call, and its figures."""
        rows = [(m, f) for m in self.program.modes if (f := self.of(library, m))]
        return min(rows, key=lambda row: row[1].steady) if rows else None

    def ratio(self) -> float | None:
        """Best mode against best mode."""
        own, other = self.best("intaglio"), self.best("tensorflow")
        return own[1].steady / other[1].steady if own and other else None


class Library:
    """The process of a library, from which those of the programs are forked."""

    def __init__(self, name: str, folder: pathlib.Path) -> None:
        python = peers.python_of(name)
        if python is None:
            raise SystemExit("run `python -m benchmarks --peers tensorflow` first")
        self.path = str(folder / f"{name}.socket")
        environment = dict(os.environ, PYTHONPATH=str(peers.ROOT))
        # Compiled bytecode is there, as an installation has it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            [str(python), "-m", "benchmarks.programs.worker", name, self.path],
            cwd=peers.ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        if not self.process.stdout.readline():
            raise RuntimeError(f"the process of {name} died")

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


class Worker:
    """A process that runs one program in one mode; it is stopped while it is not asked."""

    def __init__(self, library: Library, job: Job) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(library.path)
        self.stream = self.socket.makefile("rw")
        self.alive = True
        print(json.dumps(job._asdict()), file=self.stream, flush=True)
        self.process = int(self.stream.readline())

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, number)

    def ask(self, request: str) -> float | str:
        """A number, or the text of an error."""
        if not self.alive:
            return "the process ended"
        self._signal(signal.SIGCONT)
        print(request, file=self.stream, flush=True)
        reading, _, _ = select.select([self.socket], [], [], LIMIT)
        line = self.stream.readline() if reading else ""
        if line:
            self._signal(signal.SIGSTOP)
            return json.loads(line)
        self.close()
        return "the process died" if reading else f"no answer within {LIMIT:.0f} s"

    def close(self) -> None:
        """Ends the process."""
        if self.alive:
            self._signal(signal.SIGKILL)
            self.stream.close()
            self.socket.close()
            self.alive = False


class Measurement:
    """The measurement of one program."""

    def __init__(self, program: Program, options: Options, libraries: dict[str, Library]) -> None:
        self.program = program
        self.options = options
        self.libraries = libraries
        self.errors: dict[Key, str] = {}

    def worker(self, key: Key, folder: pathlib.Path) -> Worker:
        """A new process for a library and a mode, with a folder for compiled code by mode."""
        library, mode = key
        cache, options = str(folder / f"cache-{mode}"), self.options
        job = Job(self.program.name, mode, options.seed, options.tiny, cache)
        return Worker(self.libraries[library], job)

    def run(self) -> Measured:
        """The figures."""
        with tempfile.TemporaryDirectory(prefix="program-") as name:
            folder = pathlib.Path(name)
            keys = [(library, mode) for mode in self.program.modes for library in LIBRARIES]
            workers = {key: self.worker(key, folder) for key in keys}
            firsts = self.numbers(
                {k: w.ask(f"first {folder / '-'.join(k)}.npz") for k, w in workers.items()}
            )
            cached = self.cached(firsts, folder)
            steady = self.steady(firsts, workers)
            peaks = self.numbers({k: workers[k].ask("peak") for k in steady})
            for worker in workers.values():
                worker.close()
            figures: dict[Key, Figures | str] = dict(self.errors)
            figures |= {k: Figures(firsts[k], steady[k], peaks[k]) for k in peaks}
            return Measured(self.program, figures, differences(self.program, folder), cached)

    def numbers(self, answers: dict[Key, float | str]) -> dict[Key, float]:
        """The answers that are numbers; the others are kept as errors."""
        self.errors |= {k: a for k, a in answers.items() if isinstance(a, str)}
        return {k: a for k, a in answers.items() if not isinstance(a, str)}

    def steady(self, firsts: dict[Key, float], workers: dict[Key, Worker]) -> dict[Key, float]:
        """Medians of the rounds, in which the processes alternate."""
        effort = self.options.effort
        # A slow call is not called as often as the time would allow for a quick one.
        rounds = effort.rounds if max(firsts.values(), default=0.0) < 20 else 1
        self.numbers({k: workers[k].ask(f"warm {effort.warm}") for k in firsts})
        times: dict[Key, list[float]] = {key: [] for key in firsts}
        for _ in range(rounds):
            asked = {k: workers[k].ask(f"time {effort.burst}") for k in firsts}
            for key, found in self.numbers(asked).items():
                times[key].append(found)
        return {k: statistics.median(t) for k, t in times.items() if k not in self.errors}

    def cached(self, firsts: dict[Key, float], folder: pathlib.Path) -> dict[str, float]:
        """First calls of new processes that find what the others left on disk."""
        found: dict[str, float] = {}
        for library, mode in firsts:
            if library == "intaglio":
                worker = self.worker((library, mode), folder)
                first = worker.ask(f"first {folder / 'again'}.npz")
                worker.close()
                if not isinstance(first, str):
                    found[mode] = first
        return found


def differences(program: Program, folder: pathlib.Path) -> list[str]:
    """Where results differ: every mode is compared with TensorFlow's eager results."""
    expected = _loaded(folder / "tensorflow-eager.npz")
    found: list[str] = []
    for mode in program.modes:
        for library in LIBRARIES:
            results = _loaded(folder / f"{library}-{mode}.npz")
            other_numbers = program.random and (library, mode) == ("tensorflow", "jit")
            if expected is None or results is None or other_numbers:
                continue
            text = difference(expected, results, program.tolerance)
            if text:
                found.append(f"{library} {mode}: {text}")
    return found


def _loaded(path: pathlib.Path) -> dict[str, np.ndarray] | None:
    if not path.exists():
        return None
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def difference(a: dict[str, np.ndarray], b: dict[str, np.ndarray], tolerance: float) -> str:
    """What is different, or nothing: elements may be off by the tolerance times the scale."""
    if a.keys() != b.keys():
        return f"{len(b)} results instead of {len(a)}"
    for name, x in a.items():
        y = b[name]
        if x.shape != y.shape:
            return f"result {name} has shape {y.shape} instead of {x.shape}"
        if x.dtype.kind in "SUb" or not x.size:
            if not np.array_equal(x, y):
                return f"result {name} differs"
            continue
        wide = "complex128" if x.dtype.kind == "c" else "float64"
        x, y = x.astype(wide), y.astype(wide)
        scale = float(np.max(np.abs(np.where(np.isfinite(x), x, 0)))) + 1e-6
        off = ~np.isclose(x, y, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
        # Ties and thresholds may decide otherwise where the last bits differ.
        if np.mean(off) > 0.02 or (x.size < 50 and off.any()):
            return f"result {name}: {np.mean(off):.1%} of its elements differ"
    return ""


def line(found: Measured, seconds: float) -> str:
    """A line for the terminal."""
    ratio = found.ratio()
    text = (
        f"{found.program.name:24} {ratio:7.3f} " if ratio else f"{found.program.name:24}       - "
    )
    for mode in found.program.modes:
        own, other = found.of("intaglio", mode), found.of("tensorflow", mode)
        if own and other:
            text += f" {mode} {own.steady / other.steady:.2f} first {own.first / other.first:.2f}"
    errors = [f"{k}: {e}" for k, e in found.figures.items() if isinstance(e, str)]
    return "\n    ".join([f"{text}  ({seconds:.0f} s)", *errors, *found.differences])


def measure_all(programs: list[Program], options: Options) -> list[Measured]:
    """The programs one after the other, with a line each."""
    found: list[Measured] = []
    peers.install()
    with tempfile.TemporaryDirectory(prefix="programs-") as folder:
        libraries = {name: Library(name, pathlib.Path(folder)) for name in LIBRARIES}
        for one in programs:
            start = time.perf_counter()
            found.append(Measurement(one, options, libraries).run())
            print(line(found[-1], time.perf_counter() - start), flush=True)
        for library in libraries.values():
            library.close()
    return found
