"""Measures first calls against TensorFlow, with nothing compiled before, and writes first_calls.md.

    python -m benchmarks.first_calls [--only TEXT] [--rounds N] [--mode MODE]

TensorFlow is the peer built by `python -m benchmarks --peers tensorflow`. Every call is the first of a
process of its own, a fork of one that has only imported the library; arguments are there. The two
libraries alternate. A second process of Intaglio finds what the first has left on disk.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from benchmarks import peers
from benchmarks.first_call_cases import FAMILIES, step

PAGE = pathlib.Path(__file__).parent / "first_calls.md"
MODULES = {"intaglio": "intaglio.tf", "tensorflow": "tensorflow"}
LIMITS = {"eager": 1.5, "graph": 1.0, "jit": 1.0}
TOLERANCE = 2e-3


class Row(NamedTuple):
    """Seconds of a first call: Intaglio's, with code on disk, TensorFlow's; whether results agree."""

    family: str
    text: str
    mode: str
    own: float
    again: float
    other: float
    agree: bool

    @property
    def ratio(self) -> float:
        """Intaglio's time / TensorFlow's."""
        return self.own / self.other


def _flat(result: Any) -> list[np.ndarray]:
    if isinstance(result, (list, tuple)):
        return [a for one in result for a in _flat(one)]
    array = np.asarray(result)
    if array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "float16"):
        array = array.astype(np.float32)
    return [array.astype(bytes) if array.dtype == object else array]


def _first(tf: Any, request: dict[str, str]) -> float:
    """Seconds of the processor for the first call; its results are in a file."""
    os.environ["INTAGLIO_CACHE"] = request["cache"]
    function, arguments = step(tf, request["text"])
    if request["mode"] != "eager":
        function = tf.function(function, jit_compile=request["mode"] == "jit" or None)
    start = time.process_time()
    found = _flat(function(*arguments))
    spent = time.process_time() - start
    np.savez(request["results"], *found)
    return spent


def _answer(tf: Any, request: dict[str, str]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found: Any = _first(tf, request)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"[:300]
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        found = stream.read()
    os.waitpid(child, 0)
    return found or json.dumps("the process died")


def serve(library: str) -> None:
    """Answers a line of JSON with a line of JSON, until standard input ends."""
    tf = importlib.import_module(MODULES[library])
    for line in sys.stdin:
        print(_answer(tf, json.loads(line)), flush=True)


class Library:
    """The process of a library, from which those of the calls are forked."""

    def __init__(self, name: str) -> None:
        python = peers.python_of(name)
        if python is None:
            raise SystemExit("run `python -m benchmarks --peers tensorflow` first")
        environment = dict(os.environ)
        # Compiled bytecode is there, as an installation has it.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            [str(python), "-m", "benchmarks.first_calls", "--serve", name],
            cwd=peers.ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def first(self, text: str, mode: str, cache: str, results: str) -> float | str:
        """Seconds, or the text of an error."""
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"text": text, "mode": mode, "cache": cache, "results": results}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()


def _agree(folder: str) -> bool:
    """Whether the results of both are the same, but for rounding."""
    with np.load(f"{folder}/a.npz") as a, np.load(f"{folder}/b.npz") as b:
        return len(a.files) == len(b.files) and all(_close(a[k], b[k]) for k in a.files)


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    scale = float(np.max(np.abs(b), initial=0.0))
    return np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True)


def measure(rounds: int, only: str, modes: Iterable[str]) -> tuple[list[Row], list[str]]:
    """The rows, medians of the rounds, and what is wrong."""
    own, other = Library("intaglio"), Library("tensorflow")
    rows: list[Row] = []
    errors: list[str] = []
    for family, cases in FAMILIES.items():
        for text, of_case in cases:
            for mode in of_case:
                if only not in f"{family}: {text}" or mode not in modes:
                    continue
                found = _measured(own, other, rounds, (text, mode))
                if isinstance(found, str):
                    errors.append(f"{mode} {text}: {found}")
                    print("error", errors[-1], flush=True)
                    continue
                row = Row(family, text, mode, *found)
                rows.append(row)
                if not row.agree:
                    errors.append(f"{mode} {text}: results differ")
                times = " ".join(f"{1e3 * t:8.1f}" for t in found[:3])
                note = "" if row.agree else "  DIFFERS"
                print(f"{row.ratio:7.2f} {times}  {mode:5} {text}{note}", flush=True)
    for library in (own, other):
        library.close()
    return rows, errors


def _measured(
    own: Library, other: Library, rounds: int, case: tuple[str, str]
) -> tuple[float, float, float, bool] | str:
    times: list[list[float]] = [[], [], []]
    agree = True
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="first-") as folder:
            cache, results = f"{folder}/cache", f"{folder}/a.npz"
            answers = [
                own.first(*case, cache, results),
                own.first(*case, cache, results),
                other.first(*case, cache, f"{folder}/b.npz"),
            ]
            names = ("Intaglio", "Intaglio", "TensorFlow")
            for name, answer, column in zip(names, answers, times, strict=True):
                if isinstance(answer, str):
                    return f"{name}: {answer}"
                column.append(answer)
            agree &= _agree(folder)
    first, again, theirs = (statistics.median(column) for column in times)
    return first, again, theirs, agree


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _summary(rows: list[Row]) -> list[str]:
    lines = [
        "| mode | calls | geometric mean | above the limit | worst | code on disk: mean | worst |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for mode, limit in LIMITS.items():
        ratios = [r.ratio for r in rows if r.mode == mode]
        again = [r.again / r.other for r in rows if r.mode == mode]
        if ratios:
            above = sum(r > limit for r in ratios)
            lines.append(
                f"| {mode} | {len(ratios)} | {_mean(ratios):.2f} | {above} of {limit} | "
                f"{max(ratios):.2f} | {_mean(again):.2f} | {max(again):.2f} |"
            )
    return lines


def page(rows: list[Row], errors: list[str], rounds: int) -> str:
    """The text of first_calls.md."""
    lines = [
        "# First calls against TensorFlow",
        "",
        "Generated by `python -m benchmarks.first_calls`; do not edit.",
        f"{datetime.date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, NumPy {np.__version__}. Every call is the first of a process "
        "that has only imported the library, its arguments are there, and Intaglio finds no compiled "
        "code but what a wheel brings (`make prepared`). Processor time of all threads, for others use the machine too; "
        f"medians of {rounds} rounds in which the two alternate. The last column is the "
        "ratio of a process that finds on disk what another one has compiled. The expressions are in "
        "[first_call_cases.py](first_call_cases.py). In bold is what is above 1.5, eagerly, or 1, in "
        "graphs and under jit.",
        "",
        *_summary(rows),
        "",
    ]
    family = ""
    for row in rows:
        if row.family != family:
            family = row.family
            lines += ["", f"## {family.capitalize()}", ""]
            lines.append("| call | mode | Intaglio, ms | TensorFlow, ms | ratio | code on disk |")
            lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
        ratio = f"{row.ratio:.2f}"
        ratio = f"**{ratio}**" if row.ratio > LIMITS[row.mode] else ratio
        lines.append(
            f"| `{row.text}` | {row.mode} | {1e3 * row.own:.1f} | {1e3 * row.other:.1f} | {ratio} | "
            f"{row.again / row.other:.2f} |"
        )
    if errors:
        lines += ["", "## Errors and different results", "", *[f"- {e}" for e in errors]]
    return "\n".join([*lines, ""])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="First calls against TensorFlow.")
    parser.add_argument("--only", default="", help="part of the name of a family or of a call")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mode", help="eager, graph or jit")
    parser.add_argument(
        "--installed", action="store_true", help="machine code has been prepared already"
    )
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    peers.build("tensorflow")
    if not options.installed:
        peers.install()
    modes = (options.mode,) if options.mode else tuple(LIMITS)
    rows, errors = measure(options.rounds, options.only, modes)
    if options.only or options.mode:
        return
    PAGE.write_text(page(rows, errors, options.rounds), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
