"""The diagrams of docs/architecture.md are those of the import statements."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

from docs import layer_diagrams

# The first cell of a row that names folders.
_ROW = re.compile(r"^\| (`\w+/`(?: `\w+/`)*) \|", re.MULTILINE)
PROJECT = tomllib.loads((layer_diagrams.ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_diagrams_are_up_to_date() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "docs.layer_diagrams", "--check"],
        capture_output=True,
        text=True,
        cwd=layer_diagrams.ROOT,
    )
    assert not run.returncode, run.stdout + run.stderr


def test_every_layer_of_the_contract_is_a_row_of_the_page_and_of_the_diagram() -> None:
    contract = next(
        c
        for c in PROJECT["tool"]["importlinter"]["contracts"]
        if c.get("containers") == ["intaglio"]
    )
    lines = [[name.strip() for name in line.split("|")] for line in contract["layers"]]
    page = layer_diagrams.PAGE.read_text(encoding="utf-8")
    rows = [[cell.strip("`/") for cell in row.split()] for row in _ROW.findall(page)]
    assert rows == lines
    assert sorted(name for line in lines for name in line) == layer_diagrams.layers("intaglio")
    below = {name: at for at, line in enumerate(lines) for name in line}
    upwards = [
        (name, target)
        for name, targets in layer_diagrams.imports("intaglio").items()
        for target in targets
        if below[target] <= below[name]
    ]
    assert not upwards


def test_an_arrow_is_left_out_where_a_longer_path_implies_it() -> None:
    edges = {"a": {"b", "c"}, "b": {"c"}, "c": set[str]()}
    assert layer_diagrams.reduced(edges) == {"a": {"b"}, "b": {"c"}, "c": set()}


def test_in_a_cycle_all_arrows_stay() -> None:
    edges = {"a": {"b", "c"}, "b": {"a", "c"}, "c": set[str]()}
    assert layer_diagrams.reduced(edges) == edges


def test_an_import_is_found_in_every_form(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "file.py"
    file.write_text("import a.b\nfrom a import c\ndef f():\n    from a.d import e\n", "utf-8")
    assert set(layer_diagrams._imported(file)) == {"a.b", "a.c", "a.d.e"}
