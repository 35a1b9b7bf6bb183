"""pyright and mypy infer what the files of this folder say, and find the errors in them.

A line ends in `# -> TYPE` for what `reveal_type` shows, or `# error` where a checker has to complain. What
only mypy shows differently stands behind `; mypy:`, nothing for no error.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = pathlib.Path(__file__).parent
# The folder with the module `tensorflow` that environments get.
MODULES = ROOT / "intaglio" / "tools" / "environment" / "modules"
FILES = sorted(p for p in FOLDER.glob("*.py") if p.name not in ("__init__.py", "test_types.py"))
_COMMENT = re.compile(r"#\s(?:->\s(?P<type>[^;#]+)|(?P<error>error))(?:;\smypy:(?P<mypy>.*))?$")

Said = dict[tuple[str, int], str]


def expected(checker: str) -> Said:
    """By file and line the type, or "error"."""
    found: Said = {}
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = _COMMENT.search(line)
            if match is None:
                continue
            said = (match["type"] or match["error"]).strip()
            if checker == "mypy" and match["mypy"] is not None:
                said = match["mypy"].strip()
            if said:
                found[path.name, number] = said
    return found


def test_the_files_say_something() -> None:
    assert len(FILES) == 6
    said = expected("pyright")
    assert len(said) > 70 and list(said.values()).count("error") > 15


@pytest.mark.skipif(np.__version__.startswith("1."), reason="NumPy 1 types its arrays otherwise")
@pytest.mark.skipif(importlib.util.find_spec("pyright") is None, reason="pyright is not installed")
def test_pyright_says_the_same(tmp_path: pathlib.Path) -> None:
    settings = {
        "extraPaths": [str(ROOT), str(MODULES)],
        "reportMissingModuleSource": False,
        "reportUnusedExpression": False,
    }
    for path in FILES:
        shutil.copy(path, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    arguments = ["--project", str(tmp_path), "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [sys.executable, "-m", "pyright", *arguments], capture_output=True, text=True, check=False
    )
    found: Said = {}
    for message in json.loads(done.stdout)["generalDiagnostics"]:
        place = pathlib.Path(message["file"]).name, message["range"]["start"]["line"] + 1
        shown = re.fullmatch(r'Type of ".*" is "(.*)"', message["message"], re.DOTALL)
        found[place] = shown[1] if shown else "error"
    assert found == expected("pyright")


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_mypy_says_the_same(tmp_path: pathlib.Path) -> None:
    """Of the package itself it reports nothing: pyright checks that."""
    settings = (
        f"[mypy]\nmypy_path = {ROOT}:{MODULES}\nfollow_imports = silent\npretty = false\n"
        f"cache_dir = {tmp_path}\nexplicit_package_bases = true\n"
        "[mypy-keras.*]\nignore_missing_imports = true\nfollow_imports = skip\n"
    )
    (tmp_path / "mypy.ini").write_text(settings)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", str(tmp_path / "mypy.ini")),
            *[str(path) for path in FILES],
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    found: Said = {}
    for line in done.stdout.splitlines():
        match = re.match(r"(?P<file>.+?):(?P<line>\d+): (?P<kind>\w+): (?P<text>.*)", line)
        if match is None:
            continue
        place = pathlib.Path(match["file"]).name, int(match["line"])
        shown = re.search(r'Revealed type is "(.*)"', match["text"])
        if shown:
            found[place] = re.sub(r"\b[a-z_]+(?:\.\w+)*\.(\w+)", r"\1", shown[1])
        elif match["kind"] == "error":
            found[place] = "error"
    assert found == expected("mypy"), done.stderr
