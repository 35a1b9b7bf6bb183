"""Processes that are forked or spawned while threads of ours are at work."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.function.forking import CASES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
ROOT = pathlib.Path(__file__).parents[2]
MAX_SECONDS = 300


@pytest.mark.parametrize("cache", ["", "kept"])
@pytest.mark.parametrize("case", CASES)
def test_children_work_and_end(case: str, cache: str, tmp_path: pathlib.Path) -> None:
    if cache and case != "while_the_compiler_begins":
        pytest.skip("what is compiled takes no part")
    folder = str(tmp_path) if cache else ""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.function.forking", case],
        env={**os.environ, "INTAGLIO_CACHE": folder},
        timeout=MAX_SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "right\n", done.stderr


def test_what_happens_at_forks_stands_in_one_file() -> None:
    users = [
        path.name
        for path in (ROOT / "intaglio").rglob("*.py")
        if re.search(r"register_at_fork|threading\.R?Lock\(\)$", path.read_text(), re.MULTILINE)
        and "register_at_fork" in path.read_text()
    ]
    assert users == ["locks.py"]
