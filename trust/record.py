"""The hunts so far: each run's seeds and counts, so that runs add up and no seed counts twice."""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from trust import page

RUNS = pathlib.Path(__file__).with_name("hunts.json")


@dataclasses.dataclass(frozen=True)
class Run:
    """One hunt: `seeds` seeds from `first` on, of a version of the generator, and what they gave.

    `programs` ran eagerly, the other seeds gave none; `refused` and what follows count programs.
    """

    date: str
    python: str
    generator: int
    first: int
    seeds: int
    programs: int
    lines: int
    compared: int
    skipped: int
    refused: int
    wrong: int
    internal: int
    errors: int
    unfinished: int


COUNTS = [f.name for f in dataclasses.fields(Run)][5:]


def load(path: pathlib.Path = RUNS) -> list[Run]:
    """The runs so far."""
    if not path.exists():
        return []
    return [Run(**fields) for fields in json.loads(path.read_text(encoding="utf-8"))]


def next_seed(runs: Sequence[Run], generator: int) -> int:
    """The first seed after those that were counted for a version of the generator."""
    return max([r.first + r.seeds for r in runs if r.generator == generator], default=0)


def added(runs: Sequence[Run], run: Run) -> list[Run]:
    """The runs with one more. `ValueError` if a seed of it was counted before."""
    for other in runs:
        apart = run.first >= other.first + other.seeds or other.first >= run.first + run.seeds
        if other.generator == run.generator and not apart:
            raise ValueError(
                f"seeds {run.first} to {run.first + run.seeds - 1} overlap those of {other.date}, which "
                f"started at {other.first}: take --seed {next_seed(runs, run.generator)}"
            )
    return [*runs, run]


def save(runs: Sequence[Run], path: pathlib.Path = RUNS) -> None:
    """Writes the record, one run a line."""
    lines = [json.dumps(dataclasses.asdict(run)) for run in runs]
    beside = path.with_suffix(".tmp")
    beside.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    beside.replace(path)


def table(runs: Sequence[Run]) -> str:
    """The runs of each version of the generator added up, and all of them."""
    heads = ["generator", "runs", "up to", "programs", "lines", "elements compared", "left out (decided by rounding)",
             "refused when traced", "wrong", "internal errors", "TensorFlow errors", "crashes, hangs"]  # fmt: skip
    rows = [_row(g, [r for r in runs if r.generator == g]) for g in _generators(runs)]
    return page.table(heads, [*rows, _row("**all**", runs)])


def _generators(runs: Sequence[Run]) -> list[int]:
    return sorted({r.generator for r in runs})


def _row(name: Any, runs: Sequence[Run]) -> list[Any]:
    total = {c: sum(getattr(r, c) for r in runs) for c in COUNTS}
    skipped = total.pop("skipped")
    share = skipped / max(total["compared"] + skipped, 1)
    cells = list(total.values())
    last = max((r.date for r in runs), default="")
    return [name, len(runs), last, *cells[:3], f"{share:.2%}", *cells[3:]]


def today() -> str:
    """The date as the record has it."""
    return f"{datetime.date.today():%Y-%m-%d}"
