"""Runs programs with one library: a process for each program and mode, on request.

    python -m benchmarks.programs.worker LIBRARY SOCKET

The library is imported once; every connection to the socket is answered by a fork of that process,
in which no program has run yet. The first line is a `Job`, each other line a request, the answers
are lines of JSON. `first PATH` builds the program, calls its step twice, writes what the calls
return to PATH and answers with the seconds that the first call took; `warm SECONDS` calls it for so
long; `time SECONDS` answers with the median time of a call; `peak` with the bytes of memory that
the process had at most.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import signal
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.programs.families import PROGRAMS
from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import stepper
from benchmarks.worker import burst

MODULES = {"intaglio": "intaglio.tf", "tensorflow": "tensorflow"}


def arrays_of(result: Any) -> Iterator[np.ndarray]:
    """The arrays of what a step returns, in order."""
    if isinstance(result, dict):
        for key in sorted(result):
            yield from arrays_of(result[key])
    elif isinstance(result, (list, tuple)):
        for one in result:
            yield from arrays_of(one)
    elif hasattr(result, "flat_values"):
        yield from arrays_of([result.flat_values, *result.nested_row_splits])
    elif result is not None:
        array = np.asarray(result)
        if array.dtype == object:
            yield np.array([bytes(a) for a in array.ravel()]).reshape(array.shape)
        else:
            yield array if array.dtype.kind in "biufcSU" else array.astype("float32")


class Job(NamedTuple):
    """What a process does: which program it runs, how, and where compiled code is kept."""

    program: str
    mode: str
    seed: int
    tiny: bool
    cache: str


class Run:
    """A program in a mode, with its arguments."""

    def __init__(self, job: Job, tf: Any) -> None:
        inputs = Inputs(job.seed, job.program, job.tiny)
        step, self.arguments = PROGRAMS[job.program].build(tf, inputs)
        self.step = stepper(tf, step, job.mode)

    def __call__(self) -> Any:
        return self.step(*self.arguments)

    def first(self, path: str) -> float:
        """Seconds of the first call; the results of two calls are in the file."""
        start = time.perf_counter()
        found = [list(arrays_of(self()))]
        spent = time.perf_counter() - start
        found.append(list(arrays_of(self())))
        names = {f"{call}-{n}": a for call, row in enumerate(found) for n, a in enumerate(row)}
        np.savez(path, **names)
        return spent

    def warm(self, seconds: float) -> int:
        """How often the step was called within the time, at least twice."""
        end, calls = time.perf_counter() + seconds, 0
        while time.perf_counter() < end or calls < 2:
            self()
            calls += 1
        return calls


def peak() -> int:
    """The bytes of memory that this process had at most."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def answer(run: Run, request: str) -> float:
    """The answer to a request."""
    what, *rest = request.split(maxsplit=1)
    if what == "first":
        return run.first(rest[0])
    if what == "warm":
        return run.warm(float(rest[0]))
    return burst(run, float(rest[0])) if what == "time" else peak()


def serve(connection: socket.socket, tf: Any) -> None:
    """Answers the requests of one connection."""
    with connection.makefile("rw") as stream:
        job = Job(**json.loads(stream.readline()))
        os.environ["INTAGLIO_CACHE"] = job.cache
        print(os.getpid(), file=stream, flush=True)
        run = None
        while line := stream.readline():
            try:
                run = run or Run(job, tf)
                found: Any = answer(run, line.strip())
            except Exception as error:
                found = f"{type(error).__name__}: {error}"[:400]
            print(json.dumps(found), file=stream, flush=True)


def main() -> None:
    """Forks for every connection, until standard input ends."""
    library, path = sys.argv[1:]
    tf = importlib.import_module(MODULES[library])
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                serve(connection, tf)
                os._exit(0)
            connection.close()


if __name__ == "__main__":
    main()
