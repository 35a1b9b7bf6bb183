"""Reports on a run: what they tell, what they redact, and the file of INTAGLIO_REPORT."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import intaglio
from intaglio import tf

PROGRAM = """
import multiprocessing
from intaglio import tf

rate = 0.5
log = []

@tf.function
def step(x, lam):
    log.append(1)
    return x * lam * rate

if __name__ == "__main__":
    for lam in (0.25, 0.75):
        step(tf.ones([4]), lam)
    rate = 0.125
    step(tf.ones([4]), 0.25)
    raise SystemExit(3)
"""


def run(folder: pathlib.Path, name: str, **environment: str) -> tuple[int, pathlib.Path]:
    """The exit code of the program, and the file that it was told to report to."""
    program, out = folder / "program.py", folder / name
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "INTAGLIO_REPORT": str(out), **environment},
        capture_output=True,
        timeout=120,
    )
    return done.returncode, out


def test_a_run_is_told_as_data(tmp_path: pathlib.Path) -> None:
    code, out = run(tmp_path, "report.json")
    assert code == 3
    told = json.loads(out.read_text(encoding="utf-8"))
    (step,) = told["functions"]
    assert (step["name"], step["where"], step["traces"]) == ("step", "program.py:8", 2)
    assert "lam was 0.25, now 0.75" in step["retraces"][0]
    assert any(["rate: 0.5 -> 0.125" in s for s in step["stale"]])
    assert any(["append" in s for s in step["side_effects"]])
    assert told["seconds"] > 0 and told["command"].endswith("program.py")


def test_a_page_tells_the_same_and_can_be_redacted(tmp_path: pathlib.Path) -> None:
    code, out = run(tmp_path, "report.html", INTAGLIO_REPORT_REDACT="1")
    assert code == 3
    page = out.read_text(encoding="utf-8")
    assert "step" in page and "program.py:8" in page and "rate" in page
    assert "0.125" not in page and str(tmp_path) not in page


def test_reports_of_this_process() -> None:
    @tf.function
    def told(x: Any) -> Any:
        return x + 1

    told(tf.ones([2]))
    report = intaglio.report()
    (found,) = [f for f in report.functions if f.name == "told"]
    assert found.traces == 1 and not found.stale
    assert "told" in report._repr_html_()
