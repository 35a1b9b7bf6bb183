"""Committed text speaks of the project alone, and leaves nothing for later in comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

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


def test_type_checker_comments_have_reasons() -> None:
    silent = [
        f"{name_of(path)}:{number}"
        for path in PACKAGE
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if (found := SILENCED.search(line)) and not found["rest"].strip(" #")
    ]
    assert not silent, "write the reason behind it: `# type: ignore[rule]  # reason`"


# Figurative words, by the words that say which thing is meant: docs/architecture.md's glossary has
# the terms of the project. A name is split at underscores and capitals.
NOT_A_NAME = {
    "demand": "require, check, guard",
    "demanded": "required",
    "given": "arguments, operands, inputs, dims",
    "held": "contents, locked, buffered",
    "made": "result, node, graph, or what it is",
    "mine": "own",
    "places": "indices, positions, pointers, locations",
    "room": "buffer, capacity, layer",
    "rooms": "buffers, layers",
    "settle": "stage_to_fixpoint, optimized_run, assign_axis",
    "settled": "optimized, materialized, converged",
    "spoilt": "poisoned",
    "spread": "broadcast, splat, col2im",
    "spreaded": "expanded",
    "theirs": "others",
    "thing": "value, target, object",
    "told": "reported, checked",
    "turn": "iteration, step, angle",
    "turned": "transposed, rotated, mirrored",
    "turns": "iterations, trip_count, quadrants",
    "wish": "preferred",
    "way": "path, compiler, option, branch",
    "untold": "unlisted",
    "ways": "paths, options, branches",
}
# Names that TensorFlow, unittest and Python chose.
OTHERS_NAMES = {"places", "range_given"}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def names_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names that a module defines or uses, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.keyword(arg=str(name)) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case _:
                pass


def figurative_words(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """(name, line, word) of the names with a word of `NOT_A_NAME`."""
    for name, line in names_in(tree):
        if name in OTHERS_NAMES:
            continue
        for word in WORD.findall(name):
            if word.lower() in NOT_A_NAME:
                yield name, line, word.lower()


def test_names_are_the_fields_words() -> None:
    wrong = [
        f"{name_of(path)}:{line}: {name} (rather {NOT_A_NAME[word]})"
        for path in PACKAGE
        for name, line, word in figurative_words(tree_of(path))
    ]
    assert not wrong, "\n".join(wrong)


def test_figurative_words_are_found_inside_of_names() -> None:
    tree = ast.parse("def over_turns(MadeHere, x):\n    return x.settled_once(way=turning)")
    found = [word for _, _, word in figurative_words(tree)]
    assert sorted(found) == ["made", "settled", "turns", "way"]
