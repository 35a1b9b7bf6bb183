"""Committed text speaks of the project alone, and leaves nothing for later in comments."""

from __future__ import annotations

import ast
import re

from tests.architecture.sources import OURS, PACKAGE, ROOT, name_of, text_of, tree_of

TEXTS = [
    *OURS,
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "benchmarks").rglob("*.md"),
    ROOT / "Makefile",
    ROOT / "pyproject.toml",
]
# Written so that this file does not speak of them itself.
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE = re.compile(
    r"""(?<![\w.$}/-])/(?:work|opt|home|root|Users|mnt)/\w|\b(?:pypi|pythonhosted)\.org\b"""
    r"""|\b[Ii]ssue\s+\#?\d+\b|(?<![\w&])\#\d+\b(?!\()"""
)
# Messages and names that TensorFlow itself writes so.
ALLOWED = ("input #",)


def found(pattern: re.Pattern[str]) -> list[str]:
    """`file:line: text` of every line that the pattern finds something in."""
    return [
        f"{name_of(path)}:{number}: {line.strip()[:80]}"
        for path in TEXTS
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if pattern.search(line) and not any(a in line for a in ALLOWED)
    ]


def test_nothing_is_put_off_in_comments() -> None:
    assert not found(LATER)


def test_no_machine_host_or_issue_is_named() -> None:
    assert not found(MACHINE)


def test_only_graphdef_imports_protobuf() -> None:
    importing = [
        f"{name_of(path)}:{node.lineno}"
        for path in PACKAGE
        if not path.is_relative_to(ROOT / "intaglio" / "graphdef")
        for node in ast.walk(tree_of(path))
        if (
            isinstance(node, ast.Import)
            and any(n.name.split(".")[0] == "google" for n in node.names)
        )
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "google")
    ]
    assert not importing


# `# type: ignore[rule]  # reason`, and the same for pyright's own word.
SILENCED = re.compile(r"# (?:type|pyright): ignore(?:\[[\w, -]+\])?(?P<rest>.*)")


def test_what_silences_the_type_checker_says_why() -> None:
    silent = [
        f"{name_of(path)}:{number}"
        for path in PACKAGE
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (found := SILENCED.search(line)) and not found["rest"].strip(" #")
    ]
    assert not silent, "write the reason behind it: `# type: ignore[rule]  # reason`"
