"""The house stays readable: small files, small functions, one sentence at the top."""

from __future__ import annotations

import ast

from tests.architecture.sources import OURS, PACKAGE, functions_of, name_of, text_of, tree_of

FORBIDDEN_NAMES = ("utils", "util", "helpers", "helper", "common", "misc")
LONGEST_FILE = 800
LONGEST_FUNCTION = 60


def test_no_file_is_too_long() -> None:
    sizes = {name_of(p): text_of(p).count("\n") for p in OURS}
    assert len(sizes) > 300
    assert not {name: n for name, n in sizes.items() if n > LONGEST_FILE}


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Where the code begins, after a signature of any number of parameters and the docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return body[0].lineno if body else node.end_lineno or 0


def test_no_function_is_too_long() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in OURS
        for node in functions_of(path)
        if (node.end_lineno or 0) - _first_line(node) + 1 > LONGEST_FUNCTION
    ]
    assert not long


def test_every_module_opens_with_a_sentence() -> None:
    silent = [
        name_of(path)
        for path in PACKAGE
        if not (ast.get_docstring(tree_of(path)) or "")
        .split("\n\n")[0]
        .rstrip()
        .endswith((".", ":", "?"))
    ]
    assert not silent, "a module docstring says what the module is for"


def test_files_are_named_for_what_they_hold() -> None:
    named = [
        name_of(path)
        for path in PACKAGE
        if path.stem in FORBIDDEN_NAMES or path.stem.startswith("base_")
    ]
    assert not named


def test_own_imports_are_at_the_top() -> None:
    hidden = [
        f"{name_of(path)}:{node.lineno}"
        for path in PACKAGE
        for function in functions_of(path)
        for node in ast.walk(function)
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("intaglio"))
        or (isinstance(node, ast.Import) and node.names[0].name.startswith("intaglio"))
    ]
    assert not hidden, "imports inside functions hide cycles"
