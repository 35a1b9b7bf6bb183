"""Runs the seed cases and compares with the list of those that must pass.

    python .ci/seeds.py FOLDER            fails if a case on the list fails
    python .ci/seeds.py FOLDER --grow     adds the cases that pass now to the list

The list, `.ci/seeds_passing.txt`, only grows.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
LIST = HERE / "seeds_passing.txt"


def passing_now(folder: str, files: list[str]) -> set[str]:
    """The names `file :: case` of the cases that pass."""
    with tempfile.TemporaryDirectory() as temporary:
        out = os.path.join(temporary, "result.json")
        command = [sys.executable, os.path.join(folder, "run.py"), "-j", "2", "--json", out]
        environment = dict(os.environ, TF_MODULE="intaglio.tf", PYTHONPATH=str(HERE.parent))
        subprocess.run([*command, *files], env=environment, stdout=subprocess.DEVNULL)
        report = json.loads(pathlib.Path(out).read_text(encoding="utf-8"))
    return {
        f"{file} :: {case['name']}"
        for file, result in report["files"].items()
        for case in result["cases"]
        if case["ok"]
    }


def main() -> int:
    """The command; its exit status."""
    folder, grow = sys.argv[1], "--grow" in sys.argv
    expected = set(LIST.read_text(encoding="utf-8").splitlines()) if LIST.exists() else set()
    files = [] if grow else sorted({name.split(" :: ")[0] for name in expected})
    passed = passing_now(folder, files)
    if grow:
        LIST.write_text("\n".join(sorted(expected | passed)) + "\n", encoding="utf-8")
        print(f"{len(expected | passed)} cases on the list, {len(passed - expected)} new")
        return 0
    failed = sorted(expected - passed)
    for name in failed:
        print("FAILED", name)
    print(f"{len(expected) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
