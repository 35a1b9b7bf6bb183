"""The record of hunts: runs add up, no seed counts twice, and the page shows the sums."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from trust import hunt, page, record

RUN = record.Run("2026-01-02", "3.11.7", 2, 100, 50, 48, 900, 7000, 70, 1, 0, 2, 0, 1)


def test_a_seed_counts_once() -> None:
    for first in (51, 100, 149):
        with pytest.raises(ValueError, match="take --seed 150"):
            record.added([RUN], dataclasses.replace(RUN, first=first))
    for other in ({"first": 150}, {"first": 50}, {"generator": 3}):
        assert len(record.added([RUN], dataclasses.replace(RUN, **other))) == 2


def test_the_next_seed_is_behind_all_of_the_version() -> None:
    assert record.next_seed([RUN], 2) == 150
    assert record.next_seed([RUN], 3) == 0


def test_runs_are_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "hunts.json"
    assert record.load(path) == []
    record.save([RUN, dataclasses.replace(RUN, first=0)], path)
    assert record.load(path) == [RUN, dataclasses.replace(RUN, first=0)]


def test_the_table_adds_up() -> None:
    lines = record.table(
        [RUN, dataclasses.replace(RUN, first=0), dataclasses.replace(RUN, generator=1)]
    )
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines.splitlines()[2:]]
    assert rows[1] == [
        "2",
        "2",
        "2026-01-02",
        "96",
        "1800",
        "14000",
        "0.99%",
        "2",
        "0",
        "4",
        "0",
        "2",
    ]
    assert [r[0] for r in rows] == ["1", "2", "**all**"] and rows[2][3] == "144"


def test_a_tally_becomes_a_run() -> None:
    tally = hunt.Tally(None)
    tally.add({"seed": 7, "lines": 3, "compared": 99, "skipped": 1, "findings": []})
    tally.add({"seed": 8, "dropped": True})
    run = tally.run(7, 3)
    assert (run.generator, run.first, run.seeds) == (3, 7, 2)
    assert (run.programs, run.lines, run.compared) == (1, 3, 99)


def test_the_page_shows_the_record() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.replaced(text, "hunt", record.table(record.load())) == text
