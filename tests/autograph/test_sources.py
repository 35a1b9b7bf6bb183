"""A function's tree is found in its file, of which only the statement around it is parsed."""

from __future__ import annotations

import argparse
import ast
import inspect
import linecache
from types import CodeType, FunctionType
from typing import Any

import pytest

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


def _functions_of(space: dict[str, object]) -> list[FunctionType]:
    found = [v for v in space.values() if isinstance(v, FunctionType)]
    for value in space.values():
        if isinstance(value, type):
            found += _functions_of(dict(vars(value)))
    return found


ODD = '''
import functools

def first(a, b=(
    1,
    2,
)):
    """Text
at the margin.
    """
    return [
        a,
    b]

class Outer:
    class _Inner:
        def __private(self): return self.__secret
        @property
        def nested(self):
            def inside():
                return self.__secret, self.__class__
            return inside
        nested_function = nested.fget

    # a comment

    async def waits(self):
        pass

    def text(self):
        return """
ends at the margin
"""

    @functools.cache
    def last(self, *, key=lambda x: x): return (
        key
    )
    last_function = last.__wrapped__
if True:
        def deep(): return 1
        pass
'''


def test_a_function_parsed_alone_is_the_one_in_its_file(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(ODD)
    space: dict[str, object] = {"__name__": "odd"}
    exec(compile(ODD, str(path), "exec"), space)
    functions = [f for f in _functions_of(space) if f.__code__.co_filename == str(path)]
    functions += _functions_of(vars(argparse)) + _functions_of(vars(inspect))
    alone = {f: source.find_alone(f) for f in functions if f.__code__.co_filename != "<string>"}
    found = {f.__name__: a for f, a in alone.items() if a is not None}
    assert {"first", "nested", "last", "deep", "parse_args"} <= found.keys()
    assert len(found) > 0.9 * len({f.__name__ for f in alone})
    for function, a in alone.items():
        if a is None:
            continue
        whole = source.find(function)
        dumped = [ast.dump(x.node, include_attributes=True) for x in (a, whole)]
        assert dumped[0] == dumped[1], function
        assert a.class_name in (None, whole.class_name)
    assert found["__private"].class_name == "_Inner"
