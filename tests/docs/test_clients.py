"""docs/clients.md is what the recorded results say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from docs import clients
from tests.clients import suites
from tests.clients.comparing import same
from tests.clients.libraries import LIBRARIES


def test_the_page_is_up_to_date() -> None:
    assert clients.PAGE.read_text(encoding="utf-8") == clients.page()


def test_each_library_has_a_program() -> None:
    folder = clients.RESULTS.parent / "examples"
    assert {p.name for p in folder.glob("*.py")} == {f"{name}_example.py" for name in LIBRARIES}


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (["loss 0.12345 [1, 2]"], ["loss 0.12346 [1, 2]"], True),
        (["loss 0.12345"], ["loss 0.12445"], False),
        (["loss 1"], ["gain 1"], False),
        ([], [], False),
        (["a 1"], ["a 1", "b 2"], False),
    ],
)
def test_numbers_are_compared_by_value(first: list[str], second: list[str], answer: bool) -> None:
    assert same(first, second) is answer


def test_counts_of_a_suite(tmp_path: Path) -> None:
    here = {"a": ["passed", ""], "b": ["failed", "x"], "c": ["hung", ""], "d": ["skipped", "why"]}
    there = {"a": ["passed", ""], "b": ["passed", ""], "c": ["failed", "x"], "e": ["passed", ""]}
    for name, outcomes in (("here", here), ("there", there)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.json").write_text(json.dumps(outcomes))
    found = suites.counts(9, str(tmp_path / "here"), str(tmp_path / "there"))
    assert found == {
        "files": 9,
        "run": 1,
        "passed": 1,
        "failed": 2,
        "skipped": 1,
        "failed_asked": 2,
        "failed_here_only": 1,
    }
    assert suites.counts(9, str(tmp_path / "here"), None)["failed_asked"] == 0
