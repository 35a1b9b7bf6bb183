"""A function's tree is found in its file, of which only the statement around it is parsed."""

from __future__ import annotations

import ast
import linecache
from types import CodeType, FunctionType
from typing import Any

import pytest

from intaglio import tf
from intaglio.autograph import source

TEXT = '''
import functools

def decorated(*anything):
    return lambda f: f

@decorated(
    1,
)
# between the two
@decorated(2)
def after_decorators(x):
    return x + 1

class Holder:
    """Text at the beginning of a line:
def method(self):
    pass
x = 1
"""

    class Inner:
        def method(self, x):
            return self.__x + x

    def method(self, x):
        text = """
def after_decorators(x):
    return 2
"""
        return text, x

if after_decorators(1):
    def chosen(x):
        return x
elif True:
    def chosen(x):
        return x + 2
else :
    def chosen(x):
        return x + 3

first = lambda x: x; second = lambda x: x + 1

two = (lambda x: x,
lambda x: x * 2)

continued = \\
lambda x: x
'''


def keep(name: str, text: str) -> None:
    """Makes `text` what linecache knows of a file."""
    lines: list[str] = text.splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)


def codes(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [*inner, *(c for i in inner for c in codes(i))]


NAME = "<sources under test>"
CODES = [c for c in codes(compile(TEXT, NAME, "exec")) if c.co_flags & 2]  # no class bodies


@pytest.mark.parametrize("code", CODES, ids=lambda c: f"{c.co_qualname}:{c.co_firstlineno}")
def test_every_function_of_a_file_is_found(code: CodeType) -> None:
    keep(NAME, TEXT)
    names: dict[str, Any] = {"__class__": object}
    found = source.find(FunctionType(code, names))
    assert found.class_name == {"Holder": "Holder", "Inner": "Inner"}.get(
        code.co_qualname.split(".")[-2] if "." in code.co_qualname else ""
    )
    assert found.node.lineno >= code.co_firstlineno
    again = ast.parse(TEXT)
    inside = [
        n
        for n in ast.walk(again)
        if ast.dump(n, include_attributes=True) == ast.dump(found.node, include_attributes=True)
    ]
    assert len(inside) == 1  # the tree that the whole file has, at the same place


def test_the_tree_is_the_callers_to_change() -> None:
    keep(NAME, TEXT)
    function = FunctionType(CODES[0], {})
    first = source.find(function)
    vars(first.node)["body"] = []
    assert source.find(function).node.body


def test_a_file_that_changed_is_read_again() -> None:
    name = "<sources that change>"
    for value in (1, 2):
        text = f"def f():\n    return {value}\n"
        keep(name, text)
        code = codes(compile(text, name, "exec"))[0]
        tree = source.find(FunctionType(code, {})).node
        assert ast.unparse(tree).endswith(str(value))


def test_another_text_of_the_same_name_is_not_its_source() -> None:
    name = "<sources of that name>"
    keep(name, "import sys\n\nsys.argv\n")
    code = codes(compile("def f():\n    return 1\n", name, "exec"))[0]
    with pytest.raises(source.NoSourceError, match="that name> cannot be read"):
        source.find(FunctionType(code, {}))


def _annotated(text: str) -> ast.Module:
    """A tree with the parent of each node on it, as the package `executing` keeps trees.

    IPython shows tracebacks with it. Operators and contexts are one object for all trees.
    """
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]  # what `executing` sets
    return tree


def test_trees_that_others_hang_their_own_on() -> None:
    shared = [ast.parse(t, mode="eval").body for t in ("x", "x + 1", "x and y", "-x", "x < 1")]
    _annotated("def f(x):\n" + "    x = -x + x * x if x < 1 and not x else x\n" * 2000)
    nodes = {id(n): n for node in shared for n in ast.walk(node)}
    marked = [n for n in nodes.values() if hasattr(n, "parent")]
    assert marked, "operators are no longer one for all"

    def f(x: Any) -> Any:
        while tf.reduce_sum(x) < 10.0:
            x = x * 2.0 if x < 100.0 and not x > 50.0 else -x
            if x == 3.0:
                continue
        try:
            x = x + 1.0
        except ValueError:
            x = x - 1.0
        finally:
            x = x * 1.0
        match x:
            case tf.Tensor() | None:
                return x
            case _:
                return -x

    try:
        assert float(tf.function(f)(tf.constant(1.0))) == 17.0
        text = tf.autograph.to_code(f)
        assert "while_stmt" in text
        copied = source.copied(ast.parse("x if not -x * 2 < x + 1 and x else y"))
        assert not any(hasattr(node, "parent") for node in ast.walk(copied))
    finally:
        for node in marked:
            del node.parent


def test_lines_and_columns_are_copied() -> None:
    tree = ast.parse("def f(x):\n    return [x,\n            {'a': x}]\n")
    copied = source.copied(tree)
    for one, two in zip(ast.walk(tree), ast.walk(copied), strict=True):
        places = [getattr(one, a, None) for a in type(one)._attributes]
        assert places == [getattr(two, a, None) for a in type(two)._attributes]
        assert one is not two or not one._fields
