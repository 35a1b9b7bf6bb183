"""The project's own source files, each read and parsed once."""

from __future__ import annotations

import ast
import functools
import pathlib

ROOT = pathlib.Path(__file__).parents[2]
FOLDERS = ("intaglio", "tests", "benchmarks", "trust", "examples", "docs", ".ci")
OURS = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.py"))
PACKAGE = [p for p in OURS if p.is_relative_to(ROOT / "intaglio")]


def name_of(path: pathlib.Path) -> str:
    """The path as it is written in messages."""
    return path.relative_to(ROOT).as_posix()


@functools.cache
def text_of(path: pathlib.Path) -> str:
    """The text of a file."""
    return path.read_text(encoding="utf-8")


@functools.cache
def tree_of(path: pathlib.Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(text_of(path))


@functools.cache
def functions_of(path: pathlib.Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file, inner ones and methods included."""
    return [
        node
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
