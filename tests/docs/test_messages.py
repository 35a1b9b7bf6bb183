"""The page of AutoGraph's messages has all of them: the texts in its code are looked for there."""

from __future__ import annotations

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

from docs import pages

CODE = sorted((pages.ROOT / "intaglio" / "autograph").glob("*.py"))
PAGE = pages.ROOT / "docs" / "autograph-messages.md"
# What no user reads as a message of its own.
INTERNAL = (
    "optional_features=()",  # converted code
    "UndefinedReturnValue()",
    "statements are converted elsewhere",  # of assertions about this package
    "a raise statement came to its end",
    "are not variables around it any more",
    "slice index -?",  # a pattern
    "Change it outside of the block.",  # parts of messages that are there
    "Change it outside of the block, or use a list",
    "Give each key a number",
    "Let all its elements be",
    "Where a tensor decides which return statement",  # cut by the page with the rest
    "As a loop over tensors it fails",
    "has changed and cannot be parsed",  # causes that are part of other messages
    "generators and coroutines run as Python",
)


def plain(text: str) -> str:
    """A text without marks and line breaks."""
    return " ".join(re.sub(r"[`*]", "", text).split())


def texts(path: pathlib.Path) -> Iterator[str]:
    """The longest fixed part of each text in a file that may be a message."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(n.body[0].value)
        for n in ast.walk(tree)
        if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and isinstance(n.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if id(node) in docs or len(node.value) <= 24 or " " not in node.value.strip():
            continue
        parts = re.split(r"\{[^}]*\}|%\w|\n", node.value)
        yield plain(max(parts, key=len))


@pytest.mark.parametrize("path", CODE, ids=lambda p: p.stem)
def test_every_message_is_explained(path: pathlib.Path) -> None:
    page = plain(PAGE.read_text(encoding="utf-8")).lower()
    lacking = [
        text
        for text in texts(path)
        if text[:36].lower() not in page and not any(part in text for part in INTERNAL)
    ]
    assert lacking == []
