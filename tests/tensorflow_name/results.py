"""Puts outcomes of libraries' own tests together, from which docs/keras.md is made.

    python -m tests.tensorflow_name.results OURS TENSORFLOWS            those of Keras
    python -m tests.tensorflow_name.results OURS TENSORFLOWS --clients  those of other libraries

Both are folders of files that the plugin `outcomes` wrote (`KERAS_OUTCOMES=file`), one for each
run of pytest: OURS on Intaglio, TENSORFLOWS on TensorFlow. What is not in OURS keeps its entry.
"""

from __future__ import annotations

import collections
import json
import pathlib
import posixpath
import re
import sys
from collections.abc import Callable
from typing import Any

RESULTS = pathlib.Path(__file__).with_name("keras_results.json")
CLIENTS = pathlib.Path(__file__).with_name("client_results.json")
# Folders whose subfolders are counted one by one.
_DIVIDED = ("layers", "backend")
# What differs from run to run in an error: paths and addresses.
_PLACES = re.compile(r"\s*\(?(/[\w.@+-]+){2,}[^\s)]*\)?| at 0x[0-9a-f]+")


def folder_of(test: str) -> str:
    """The folder under keras/src that a test is counted in."""
    parts = test.removeprefix("src/").split("::")[0].split("/")[:-1]
    return "/".join(parts[: 2 if parts[0] in _DIVIDED else 1])


def client_folder_of(test: str) -> str:
    """The folder that a test of another library than Keras is counted in."""
    return posixpath.dirname(test.split("::")[0])


def outcomes_in(folder: str) -> dict[str, tuple[str, str]]:
    """test -> (outcome, the first line of its error) of all files in a folder."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        found.update(json.loads(path.read_text(encoding="utf-8")))
    return found


def combined(
    ours: dict[str, Any], theirs: dict[str, Any], folder_of: Callable[[str], str] = folder_of
) -> dict[str, Any]:
    """folder -> its counts, and the tests that fail with what they say."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    failing: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for test, (outcome, said) in sorted(ours.items()):
        folder = folder_of(test)
        counts[folder][outcome] += 1
        if outcome == "failed":
            text = _PLACES.sub("", said)[:160].strip()
            if theirs.get(test, ("",))[0] == "failed":
                text = f"fails on TensorFlow too: {text}"
            failing[folder][test.removeprefix("src/")] = text
    peer: collections.Counter[str] = collections.Counter()
    both: collections.Counter[str] = collections.Counter()
    for test, (outcome, _) in theirs.items():
        if outcome == "passed":
            peer[folder_of(test)] += 1
            both[folder_of(test)] += ours.get(test, ("",))[0] == "passed"
    return {
        folder: {
            **{name: count[name] for name in ("passed", "failed", "skipped")},
            "tensorflow": peer.get(folder),  # None: was not asked
            "both": both.get(folder),
            "failing": failing[folder],
        }
        for folder, count in sorted(counts.items())
    }


def main() -> None:
    """The command."""
    clients = "--clients" in sys.argv
    file, place = (CLIENTS, client_folder_of) if clients else (RESULTS, folder_of)
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    known.update(combined(outcomes_in(sys.argv[1]), outcomes_in(sys.argv[2]), place))
    text = json.dumps(known, indent=1, sort_keys=True)
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
