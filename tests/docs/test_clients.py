"""docs/clients.md is what the recorded results say."""

from __future__ import annotations

import pytest

from docs import clients
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
