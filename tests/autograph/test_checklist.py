"""Every item of the checklist has a test."""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

from .checklist import ITEMS

FOLDER = pathlib.Path(__file__).parent


def _marked() -> Iterator[tuple[str, str, bool]]:
    """Each item that is marked, with its function, and whether pytest or a test uses it."""
    for path in FOLDER.glob("test_*.py"):
        tree = ast.parse(path.read_text())
        used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        for node in ast.walk(tree):
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "item":
                    runs = node.name.startswith("test_") or node.name in used
                    for name in mark.args:
                        yield ast.literal_eval(name), f"{path.name}::{node.name}", runs


def test_every_item_is_checked() -> None:
    marked = list(_marked())
    assert sorted(ITEMS - {name for name, _, _ in marked}) == []
    assert [place for _, place, runs in marked if not runs] == []
    assert {name for name, _, _ in marked} <= ITEMS
