"""Hunts for programs that do not give the same however they run.

    python -m trust.hunt [--count N] [--generator G] [--seed S] [--jobs J] [--write] [--out FOLDER]

With --write the run is added to the record of all runs (`hunts.json`), whose sums docs/trust.md has. Without
--seed it begins after the seeds that the record has of this generator: 2 draws programs of every kind of statement,
`generator.py`, and runs each in all modes; 6 draws compositions of few and cheap ones, `compositions.py`, and runs
each compiled and in some of the other modes, which depend on the seed.

Seeds are shared out to child processes, so that a crash or a hang is one more verdict. What is
found is shrunk and printed as a program to run. Exit status 1 means that something was wrong.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import faulthandler
import json
import logging
import os
import pathlib
import platform
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Any

from trust import page, record

# For a program, all its modes and the compiler's work: computing time of the process, since on a
# machine with other work a program takes many times its own.
LIMIT_CPU_SECONDS = 120.0
# For one that computes nothing, as in a deadlock.
LIMIT_SECONDS = 1200.0
SHRINK_SECONDS = 60.0
GIVEN_UP = ("crash", "hang")
# The VERSIONs of `generator.py` and of `compositions.py`, which only a child imports.
GENERATORS = (2, 6)


def judged(seed: int, shrink_seconds: float, version: int) -> dict[str, Any]:
    """The verdict on the program of a seed, as JSON."""
    from trust import verdicts

    # What hangs says where before it ends: SIGPROF shows the stacks, then ends the process.
    faulthandler.register(signal.SIGPROF, all_threads=True, chain=True)
    faulthandler.dump_traceback_later(LIMIT_SECONDS - 5.0, exit=True)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_CPU_SECONDS)
    program, modes = drawn(seed, version)
    judge = verdicts.Judge(program, modes)
    try:
        findings = judge.findings()
    except ValueError:
        return {"seed": seed, "dropped": True}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        faulthandler.cancel_dump_traceback_later()
    verdict: dict[str, Any] = {
        "seed": seed,
        "lines": program.source().count("\n"),
        "compared": judge.compared,
        "skipped": judge.skipped,
        "findings": [[f.kind, f.mode, f.text] for f in findings],
    }
    defects = [f for f in findings if f.kind != "refused"]
    if defects and shrink_seconds:
        verdict["script"] = _shrunk(program, defects[0], shrink_seconds)
    return verdict


def drawn(seed: int, version: int) -> tuple[Any, list[str] | None]:
    """The program of a seed, and the modes that it runs in: None for all."""
    from trust import compositions, generator

    if version == generator.VERSION:
        return generator.draw(seed), None
    program = compositions.draw(seed)
    return program, compositions.modes(program)


def _shrunk(program: Any, finding: Any, seconds: float) -> str:
    from trust import shrink, verdicts

    def fails(candidate: Any) -> bool:
        try:
            found = verdicts.Judge(candidate, [finding.mode]).findings()
        except Exception:
            return False
        return any(f.signature == finding.signature for f in found)

    return shrink.shrunk(program, fails, seconds).script()


def child(shrink_seconds: float, version: int) -> None:
    """Answers a line of JSON for each seed on standard input."""
    from intaglio.base.log import logger

    logger().setLevel(logging.ERROR)
    for line in sys.stdin:
        print(json.dumps(judged(int(line), shrink_seconds, version)), flush=True)


class Child:
    """A process that judges programs, started again after a crash or a hang."""

    def __init__(self, shrink_seconds: float, version: int) -> None:
        options = ["--child", "--shrink", str(shrink_seconds), "--generator", str(version)]
        self.command = [sys.executable, "-m", "trust.hunt", *options]
        self.limit = LIMIT_SECONDS + 4 * shrink_seconds
        self.process: subprocess.Popen[str] | None = None

    def verdict(self, seed: int) -> dict[str, Any]:
        """The child's verdict, or that it crashed or hung."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        watch = threading.Timer(self.limit, self.process.kill)
        start = time.monotonic()
        watch.start()
        try:
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            status = self.process.wait()
            self.process = None
            hung = status == -signal.SIGPROF or time.monotonic() - start >= LIMIT_SECONDS - 5.0
            kind = "hang" if hung else "crash"
            return {"seed": seed, "findings": [[kind, "", f"exit status {status}"]]}
        finally:
            watch.cancel()

    def close(self) -> None:
        """Ends the process."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.process.wait()


class Tally:
    """What was found so far."""

    def __init__(self, out: pathlib.Path | None) -> None:
        self.out = out
        self.taken = 0  # seeds, one after the other
        self.programs = self.dropped = self.lines = self.compared = self.skipped = 0
        self.refused = 0
        self.kinds: collections.Counter[str] = collections.Counter()
        self.seeds: list[int] = []
        self._lock = threading.Lock()

    def add(self, verdict: dict[str, Any]) -> None:
        """Counts a verdict and prints a defect."""
        with self._lock:
            self.taken += 1
            if verdict.get("dropped"):
                self.dropped += 1
                return
            self.programs += 1
            if self.programs % 100 == 0:
                print(f"{self.programs} programs, {len(self.seeds)} of them wrong", flush=True)
            for name in ("lines", "compared", "skipped"):
                setattr(self, name, getattr(self, name) + verdict.get(name, 0))
            defects = [f for f in verdict["findings"] if f[0] != "refused"]
            self.refused += any(f[0] == "refused" for f in verdict["findings"])
            if defects:
                self.kinds[defects[0][0]] += 1
                self.seeds.append(verdict["seed"])
                self._show(verdict, defects)

    def _show(self, verdict: dict[str, Any], defects: list[list[str]]) -> None:
        lines = [f"seed {verdict['seed']}"]
        lines += [f"# {kind}, {mode}: {text}".replace("\n", "\n# ") for kind, mode, text in defects]
        report = "\n".join([*lines, verdict.get("script", "")])
        print(report, flush=True)
        if self.out is not None:
            (self.out / f"{verdict['seed']}.py").write_text(report, encoding="utf-8")

    def run(self, first: int, version: int) -> record.Run:
        """What the record gets of this run."""
        return record.Run(
            record.today(),
            platform.python_version(),
            version,
            first,
            self.taken,
            self.programs,
            self.lines,
            self.compared,
            self.skipped,
            self.refused,
            self.kinds["wrong"],
            self.kinds["internal"],
            self.kinds["error"],
            sum([self.kinds[k] for k in GIVEN_UP]),
        )

    def table(self) -> str:
        """What is printed."""
        share = self.skipped / max(self.compared + self.skipped, 1)
        heads = ["programs", "lines", "elements compared", "left out (decided by rounding)",
                 "refused when traced", "wrong", "internal errors", "TensorFlow errors", "crashes, hangs"]  # fmt: skip
        row = [
            self.programs, self.lines, self.compared, f"{share:.2%}", self.refused,
            self.kinds["wrong"], self.kinds["internal"], self.kinds["error"],
            sum([self.kinds[k] for k in GIVEN_UP]),
        ]  # fmt: skip
        return page.table(heads, [row])


def main() -> int:
    """The command; 1 if there are defects."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m trust.hunt")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--generator", type=int, choices=GENERATORS, default=GENERATORS[-1])
    parser.add_argument("--seed", type=int, help="the first seed")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4))
    parser.add_argument("--shrink", type=float, default=SHRINK_SECONDS, help="seconds a defect")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--write", action="store_true", help="write docs/trust.md")
    parser.add_argument("--out", type=pathlib.Path, help="folder for defects")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.shrink, options.generator)
        return 0
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    tally = Tally(options.out)
    first = options.seed
    if first is None:
        first = record.next_seed(record.load(), options.generator)
    seeds: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in range(first, first + options.count):
        seeds.put(seed)
    end = time.monotonic() + options.seconds

    def work() -> None:
        worker = Child(options.shrink, options.generator)
        while time.monotonic() < end:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                break
            tally.add(worker.verdict(seed))
        worker.close()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(work) for _ in range(options.jobs)]:
            future.result()
    print(tally.table())
    if options.write:
        runs = record.added(record.load(), tally.run(first, options.generator))
        record.save(runs)
        page.put("hunt", record.table(runs))
    return 1 if tally.seeds else 0


if __name__ == "__main__":
    sys.exit(main())
