"""Measures whole programs against TensorFlow and writes programs.md.

    python -m benchmarks.programs [--quick] [--only PATTERN] [--seed N]

TensorFlow is the peer built by `python -m benchmarks --peers tensorflow`. PATTERN is a regular
expression for names, or families, of programs; the page is only written if all were measured. The
seed, from which shapes are drawn, is today's date unless it is named.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import re
import tempfile
from collections.abc import Sequence

from benchmarks import peers
from benchmarks.programs import page
from benchmarks.programs.families import PROGRAMS
from benchmarks.programs.measure import FULL, QUICK, Measured, Options, measure_all

PAGE = pathlib.Path(__file__).parents[1] / "programs.md"
# The summaries of all runs of all programs, a line each.
RUNS = pathlib.Path(__file__).with_name("runs.json")


def earlier_runs() -> list[page.Summary]:
    """The summaries of the runs before, the oldest first."""
    return [page.Summary(**run) for run in json.loads(RUNS.read_text(encoding="utf-8"))]


def write(rows: Sequence[Measured], seed: int) -> None:
    """Writes the page, and adds the run to those before."""
    runs = [*earlier_runs(), page.Summary.of(rows, seed)]
    lines = ",\n".join([json.dumps(run._asdict()) for run in runs])
    RUNS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    PAGE.write_text(page.page(rows, seed, runs), encoding="utf-8")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Whole programs against TensorFlow.")
    parser.add_argument("--quick", action="store_true", help="shorter bursts, fewer rounds")
    parser.add_argument("--only", default="", help="pattern of program or family names")
    parser.add_argument("--seed", type=int, default=datetime.date.today().toordinal())
    parser.add_argument("--tiny", action="store_true", help="tiny inputs: do programs agree?")
    parser.add_argument("--worst", help="a file for what is slower, the worst first")
    options = parser.parse_args()
    peers.build("tensorflow")
    chosen = [
        p for p in PROGRAMS.values() if re.search(options.only, p.name) or options.only == p.family
    ]
    with tempfile.TemporaryDirectory(prefix="programs-") as folder:
        tempfile.tempdir = folder
        effort = QUICK if options.quick else FULL
        rows = measure_all(chosen, Options(options.seed, effort, options.tiny))
    tempfile.tempdir = None
    if options.worst:
        lines = [f"{v:8.2f}  {name}  {mode}\n" for v, name, mode in page.slower(rows)]
        pathlib.Path(options.worst).write_text("".join(lines))
    if options.only or options.tiny:
        print(page.page(rows, options.seed))
        return
    write(rows, options.seed)
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
