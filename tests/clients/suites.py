"""Counts of libraries' own test suites, from the outcomes that `tests.tensorflow_name.outcomes` writes.

    python -m tests.clients.suites NAME FILES OURS [THEIRS]

FILES is how many files of tests the suite has; OURS and THEIRS are folders with one JSON file of
outcomes for each of those that was run, on Intaglio and on TensorFlow, where only tests that fail on
Intaglio need be run. Writes `suites.json`, which `python -m docs.clients` shows.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

RESULTS = pathlib.Path(__file__).with_name("suites.json")


def outcomes(folder: str) -> dict[str, str]:
    """Test -> outcome; a test that was running when the time of its file was over is "hung"."""
    found: dict[str, str] = {}
    for path in pathlib.Path(folder).glob("*.json"):
        tests: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found |= {name: outcome for name, (outcome, _) in tests.items()}
    return found


def counts(files: int, ours: str, theirs: str | None) -> dict[str, int]:
    """What is recorded of one suite."""
    here = outcomes(ours)
    there = outcomes(theirs) if theirs else {}
    failed = [name for name, outcome in here.items() if outcome in ("failed", "hung")]
    asked = [name for name in failed if name in there]
    return {
        "files": files,
        "run": len(list(pathlib.Path(ours).glob("*.json"))),
        "passed": sum(o == "passed" for o in here.values()),
        "failed": len(failed),
        "skipped": sum(o == "skipped" for o in here.values()),
        "failed_asked": len(asked),
        "failed_here_only": sum(there[name] == "passed" for name in asked),
    }


def main() -> None:
    """The command."""
    name, files, ours, *theirs = sys.argv[1:]
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known[name] = counts(int(files), ours, theirs[0] if theirs else None)
    RESULTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
