"""Upward calls go through one table; no module changes another when it is imported."""

from __future__ import annotations

import ast
import importlib
import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from intaglio.base import hooks, later
from intaglio.bootstrap import UPWARD_CALLS
from tests.architecture.sources import PACKAGE, ROOT, name_of, tree_of

# Calls at import that add to an open set, or give a class of the same module its methods.
REGISTRATIONS = {
    "raw.expect": "ops of families that are imported when needed",
    "declare": "messages of protocol buffers",
    "convert.register": "composite values that are no tensor",
    "register_executor": "tensors whose ops something else than the host's kernels carries out",
    "register_reader": "values that operators of eager tensors take",
    "install_operator": "special methods of Tensor, by the conversion rules",
    "install_overloadable": "those that libraries may take over where they refuse their operands",
    "register_fast": "operators that eager tensors compute with a kernel",
    "chooses": "kernels of ops, as by the decorator",
    "lowering": "the code of ops, as by the decorator",
    "setattr(WeakTensor": "special methods of WeakTensor, by the module of promotion",
    "operators.install": "special methods of RaggedTensor, by its own module",
    "handlers.register": "functions that stand in for public ones",
    "names.take_over": "the module `tensorflow` of an environment, which Intaglio's replaces",
    "later.advise": "advice for names that the public face lacks",
    "after_fork": "what a forked process does first",
    "exclusive_lock": "locks of libraries that a fork waits for",
    "spec_classes.expect": "type specs by their numbers in saved structures",
    "spec_classes.expect_extensions": "type specs by their names in saved structures",
}


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, without those of functions and classes."""
    waiting: list[ast.stmt] = [*tree.body]
    while waiting:
        statement = waiting.pop()
        yield statement
        for block in ("body", "orelse", "finalbody"):
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                waiting += getattr(statement, block, [])


def imported_names(tree: ast.Module) -> set[str]:
    """The names that a module has from other modules of the package."""
    return {
        alias.asname or alias.name
        for statement in top_level(tree)
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("intaglio")
        for alias in statement.names
    }


def root_of(expression: ast.expr) -> str:
    """The name that an attribute, an element or a call is taken from."""
    while isinstance(expression, (ast.Attribute, ast.Subscript, ast.Call)):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def changes_of_others(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Statements at import that assign into, or call to change, what another module defines."""
    foreign = imported_names(tree)
    for statement in top_level(tree):
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
            targets = [statement.target]
        for target in targets:
            if not isinstance(target, ast.Name) and root_of(target) in foreign:
                yield statement.lineno, ast.unparse(target)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            function = statement.value.func  # or, called, what gives a decorator
            called = ast.unparse(function.func if isinstance(function, ast.Call) else function)
            if called == "setattr" and root_of(statement.value.args[0]) in foreign:
                called += f"({ast.unparse(statement.value.args[0])}"
            elif root_of(statement.value.func) not in foreign:
                continue
            if called not in REGISTRATIONS:
                yield statement.lineno, called


def cells_of(tree: ast.Module) -> set[str]:
    """The module's lists that are empty when it is imported and are then replaced as a whole."""
    empty = {
        target.id
        for statement in tree.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and isinstance(statement.value, ast.List)
        and not statement.value.elts
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        )
        if isinstance(target, ast.Name)
    }
    return {
        node.targets[0].value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.List)
        and isinstance(node.targets[0], ast.Subscript)
        and isinstance(node.targets[0].slice, ast.Slice)
        and isinstance(node.targets[0].value, ast.Name)
        and node.targets[0].value.id in empty
    }


def test_the_rule_finds_what_it_is_about() -> None:
    found = [
        name
        for text in (
            "from intaglio.a import X\nX.update({})",
            "from intaglio.a import X\nX['b'] = 1",
            "from intaglio import a\na.X.b = 1",
            "from intaglio import a\na.install(print)",
            "from intaglio.a import X\nfor n in 'ab':\n    setattr(X, n, 1)",
        )
        for _, name in changes_of_others(ast.parse(text))
    ]
    assert found == ["X.update", "X['b']", "a.X.b", "a.install", "setattr(X"]
    assert cells_of(ast.parse("_f: list = []\ndef install(f):\n    _f[:] = [f]")) == {"_f"}


def test_no_module_changes_another_when_it_is_imported() -> None:
    first = {ROOT / "intaglio" / "__init__.py", ROOT / "intaglio" / "bootstrap.py"}
    assert not [
        f"{name_of(path)}:{line}: {what}"
        for path in PACKAGE
        if path not in first
        for line, what in changes_of_others(tree_of(path))
    ]


def test_no_code_of_a_function_is_exchanged() -> None:
    assert not [
        f"{name_of(path)}:{node.lineno}"
        for path in PACKAGE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr == "__code__"
    ]


def test_text_is_executed_in_one_module() -> None:
    """What runs programs of users, as the command and conversion do, is not generated code."""
    calls = {
        name_of(path)
        for path in PACKAGE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("exec", "eval")
    }
    assert calls == {"intaglio/base/generated_code.py", "intaglio/tools/programs.py"}


def test_no_list_is_a_hook_for_another_module() -> None:
    assert not [f"{name_of(p)}: {name}" for p in PACKAGE for name in cells_of(tree_of(p))]


# -- the table ------------------------------------------------------------------------


def records(module: str) -> list[type[hooks.Hooks]]:
    """The classes of hooks that a module defines."""
    return [
        value
        for value in vars(importlib.import_module(module)).values()
        if isinstance(value, type)
        and issubclass(value, hooks.Hooks)
        and value.__module__ == module
        and value is not hooks.Hooks
    ]


def layers() -> dict[str, int]:
    """The height of each layer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = project["tool"]["importlinter"]["contracts"][0]
    lowest_first = reversed(contract["layers"])
    return {
        name.strip(" ()").removeprefix("intaglio."): height
        for height, line in enumerate(lowest_first)
        for name in line.split("|")
    }


def test_every_field_is_wired_and_nothing_else() -> None:
    declaring = {
        "intaglio." + ".".join(path.relative_to(ROOT / "intaglio").with_suffix("").parts)
        for path in PACKAGE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(b, ast.Name) and b.id == "Hooks" for b in node.bases)
    }
    assert declaring == set(UPWARD_CALLS)
    for module, wired in UPWARD_CALLS.items():
        fields = [f for record in records(module) for f in inspect.get_annotations(record)]
        assert sorted(fields) == sorted(wired), module


@pytest.mark.parametrize("module", UPWARD_CALLS)
def test_calls_go_up_or_to_a_sibling_module(module: str) -> None:
    height = layers()
    own = module.split(".")[1]
    for field, place in UPWARD_CALLS[module].items():
        assert later.named(place) is not None, field
        target = place.partition(":")[0].split(".")[1]
        assert height.get(target, height[own]) >= height[own], f"{module}.{field} can be an import"


def test_hooks_import_nothing_above_them_and_wiring_nothing_at_all() -> None:
    for path in PACKAGE:
        if path.name == "hooks.py" and path.parent.name != "base":
            named = imported_names(tree_of(path))
            assert "Hooks" in named, name_of(path)
    tree = tree_of(Path(ROOT / "intaglio" / "bootstrap.py"))
    assert imported_names(tree) == {"hooks"}


def test_a_field_that_is_not_wired_is_an_error() -> None:
    class Unwired(hooks.Hooks):
        field: int

    with pytest.raises(AttributeError, match="Unwired has no field 'field' that is wired"):
        Unwired().field  # noqa: B018  # reading it is the test
