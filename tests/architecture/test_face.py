"""`intaglio.tf` does nothing: its functions are short, and its classes have no methods."""

from __future__ import annotations

import ast

from tests.architecture.sources import PACKAGE, ROOT, name_of, tree_of

FACE = [path for path in PACKAGE if path.is_relative_to(ROOT / "intaglio" / "tf")]
# Statements of a function, those of its blocks included: arguments are read, something is called.
# What needs more is logic, and is in the layer of its subject (docs/architecture.md).
MAX_STATEMENTS = 14
# The names of `tf` that are classes without behaviour: constants, and tuples of results.
DATA = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass)


def statements(function: ast.FunctionDef) -> int:
    """How many statements a function has, but for its docstring and itself."""
    whole = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    return whole - (ast.get_docstring(function) is not None)


def test_functions_of_the_face_are_short() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}: {statements(node)} statements"
        for path in FACE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef) and statements(node) > MAX_STATEMENTS
    ]
    assert not long


def test_classes_of_the_face_have_no_methods() -> None:
    busy = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in FACE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and not all(isinstance(s, DATA) for s in node.body)
    ]
    assert not busy


def test_statements_are_counted() -> None:
    text = 'def f(x):\n    """Said."""\n    if x:\n        return 1\n    return 2\n'
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert statements(function) == 3
