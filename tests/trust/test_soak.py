"""Long runs: slopes, and what counts as growing or wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from trust import soak


def test_slopes_are_bytes_per_call() -> None:
    assert soak.slope([1000] * 8, 10) == 0.0
    assert soak.slope([1000] * 5 + [9000] * 15, 10) == 0.0  # taken once
    assert soak.slope([1000 + 30 * i for i in range(20)], 10) == pytest.approx(3.0)
    assert soak.slope([5], 10) == 0.0


LEAK = """
import json
from trust import soak

kept = []


def leak():
    def run(count):
        kept.extend(bytearray(b"x" * 50_000) for _ in range(count))
        return 0

    return run


print(json.dumps(soak.measured(soak.Row("leak", 2250, leak), 1.0)))
"""


def test_a_row_that_leaks_grows() -> None:
    # In a process of its own, for what other tests free meanwhile would hide a part of it.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LEAK], capture_output=True, text=True, check=True
    )
    result = soak.Result(*json.loads(done.stdout.splitlines()[-1]))
    assert result.calls == 2250 and result.wrong == 0
    assert result.slope > 25_000.0
    assert soak.grows("leak", result)
    assert not soak.grows("leak", result._replace(slope=0.1))


def test_wrong_results_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak.gc, "collect", lambda: 0)
    row = soak.Row("wrong", 450, lambda: lambda count: 1)
    assert soak.measured(row, 1.0).wrong == soak.PARTS


@pytest.mark.parametrize("name", ["eager", "concrete", "dispatched", "compiled", "tapes", "epochs"])
def test_results_stay_right(name: str) -> None:
    run = soak.ROWS[name].start()
    assert run(30) == 0 and run(30) == 0


def test_a_process_that_fails_is_no_result() -> None:
    assert soak.in_a_process("no such row", 1.0) is None
