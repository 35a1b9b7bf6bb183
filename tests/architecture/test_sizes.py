"""The house stays readable: small files, small functions, one sentence at the top."""

from __future__ import annotations

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
OURS = sorted(
    p
    for folder in ("intaglio", "tests", "benchmarks", "examples", "docs")
    for p in (ROOT / folder).rglob("*.py")
)
PACKAGE = [p for p in OURS if p.is_relative_to(ROOT / "intaglio")]
FORBIDDEN_NAMES = ("utils", "util", "helpers", "helper", "common", "misc")
LONGEST_FILE = 600
LONGEST_FUNCTION = 60


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(params=OURS, ids=name_of)
def source(request: pytest.FixtureRequest) -> tuple[pathlib.Path, str]:
    return request.param, request.param.read_text(encoding="utf-8")


def test_no_file_is_too_long(source: tuple[pathlib.Path, str]) -> None:
    assert source[1].count("\n") <= LONGEST_FILE


def test_no_function_is_too_long(source: tuple[pathlib.Path, str]) -> None:
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(source[1]))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not long


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_every_module_opens_with_a_sentence(path: pathlib.Path) -> None:
    opening = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert opening, "a module docstring says what the module is for"
    assert opening.split("\n\n")[0].rstrip().endswith((".", ":", "?"))


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_files_are_named_for_what_they_hold(path: pathlib.Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES and not path.stem.startswith("base_")


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_own_imports_stand_at_the_top(path: pathlib.Path) -> None:
    hidden = [
        node.lineno
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if (
            isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("intaglio")
        )
        or (isinstance(node, ast.Import) and node.names[0].name.startswith("intaglio"))
    ]
    assert not hidden, f"imports inside functions at lines {hidden}"
