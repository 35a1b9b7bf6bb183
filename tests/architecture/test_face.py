"""`intaglio.tf` does nothing: its functions call something, and its classes have no methods."""

from __future__ import annotations

import ast

from tests.architecture.sources import PACKAGE, ROOT, name_of, tree_of

FACE = [path for path in PACKAGE if path.is_relative_to(ROOT / "intaglio" / "tf")]
# Statements of a function: arguments are read, something is called, perhaps in the scope of a name.
# What needs more is logic, and is in the layer of its subject (docs/architecture.md).
MAX_STATEMENTS = 3
# What decides, repeats, handles errors or defines is logic too.
LOGIC = (
    ast.If,
    ast.For,
    ast.While,
    ast.Try,
    ast.Match,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)
# The names of `tf` that are classes without behaviour: constants, and tuples of results.
DATA = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Pass)


def statements(function: ast.FunctionDef) -> int:
    """How many statements a function has, but for its docstring and itself."""
    whole = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    return whole - (ast.get_docstring(function) is not None)


def is_logic(function: ast.FunctionDef) -> bool:
    """True unless the function only reads its arguments and calls something."""
    inner = [node for node in ast.walk(function) if node is not function]
    return statements(function) > MAX_STATEMENTS or any(isinstance(n, LOGIC) for n in inner)


def functions_of_the_face() -> list[tuple[str, ast.FunctionDef]]:
    return [
        (f"{name_of(path)}:{node.lineno} {node.name}", node)
        for path in FACE
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef)
    ]


def test_functions_of_the_face_have_no_logic() -> None:
    assert not [name for name, function in functions_of_the_face() if is_logic(function)]


def test_the_face_defines_public_functions_only() -> None:
    private = [
        name
        for name, function in functions_of_the_face()
        if function.name[0] == "_" and function.name not in ("__getattr__", "__dir__")
    ]
    assert not private


def test_classes_of_the_face_have_no_methods() -> None:
    busy = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in FACE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and not all(isinstance(s, DATA) for s in node.body)
    ]
    assert not busy


def function_of(text: str) -> ast.FunctionDef:
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    return function


def test_what_counts_as_logic() -> None:
    branch = function_of('def f(x):\n    """Said."""\n    if x:\n        return 1\n    return 2\n')
    assert statements(branch) == 3 and is_logic(branch)
    assert not is_logic(function_of("def f(x):\n    with scope('f'):\n        return g(x)\n"))
    assert is_logic(function_of("def f(x):\n    a = 1\n    b = 2\n    c = 3\n    return a\n"))
