"""Names in converted code: fresh ones, and symbols such as `x`, `self.a`, `d['k']`."""

from __future__ import annotations

import ast
from typing import Any


class Namer:
    """Generates names that the function does not use: `if_body`, `if_body_1`, ..."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = set(taken)

    def new(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken."""
        fresh, n = name, 0
        while fresh in self.taken:
            n += 1
            fresh = f"{name}_{n}"
        self.taken.add(fresh)
        return fresh


def all_names(tree: ast.AST) -> set[str]:
    """Every name that occurs in the tree."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found


def symbol(node: ast.expr) -> str | None:
    """The text of a name, attribute or fixed item that can be state: `x`, `a.b`, `d['k']`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = symbol(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript):
        owner, key = symbol(node.value), node.slice
        if (
            owner is not None
            and isinstance(key, ast.Constant)
            and isinstance(key.value, (int, str))
        ):
            return f"{owner}[{key.value!r}]"
    return None


def as_it_is_now(symbol: str) -> str:
    """The text that reads or sets a symbol in the current values of the objects on its path."""
    node = ast.parse(symbol, mode="eval").body
    return ast.unparse(_through_now(node))


def _through_now(node: ast.expr) -> ast.expr:
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        ag = ast.Attribute(ast.Name("ag__", ast.Load()), "now", ast.Load())
        node.value = ast.Call(ag, [_through_now(node.value)], [])
    return node


# What the names of the flags begin with that `break`, `continue` and `return` become.
FLAGS = ("break_", "continue_", "do_return")


def is_flag(name: str) -> bool:
    """True for the flags of lowered jumps."""
    return name.startswith(FLAGS)


def is_composite(name: str) -> bool:
    """True for `a.b` and `a[0]`, False for plain names."""
    return "." in name or "[" in name


def owner(name: str) -> str:
    """The plain name that a symbol begins with."""
    for i, ch in enumerate(name):
        if ch in ".[":
            return name[:i]
    return name


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def fill_locations(root: ast.AST) -> None:
    """Gives nodes without a position that of the node around them, as `ast.fix_missing_locations` does.

    The root has a position. Half of the time of that function goes into asking each node what it is.
    """
    waiting: list[tuple[Any, tuple[Any, ...]]] = [
        (root, tuple([getattr(root, name) for name in _PLACE]))
    ]
    while waiting:
        node, outer = waiting.pop()
        place = outer
        if node._attributes:
            own = node.__dict__
            place = tuple([own.get(name) for name in _PLACE])
            if None in place:
                pairs = zip(place, outer, strict=True)
                place = tuple([around if at is None else at for at, around in pairs])
                own.update(zip(_PLACE, place, strict=True))
        for name in node._fields:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                waiting.append((part, place))
            elif isinstance(part, list):
                waiting += [(p, place) for p in part if isinstance(p, ast.AST)]


def begin_at(new: ast.AST, old: ast.AST) -> None:
    """Puts a node on the line where another begins.

    Not over all of its lines: Python takes a method call to be on the last line of its
    attribute, and a debugger would stop there.
    """
    ast.copy_location(new, old)
    end = getattr(old, "end_lineno", None)
    if end is not None and end != old.lineno:  # type: ignore[attr-defined]  # nodes with a line have it
        new.end_lineno, new.end_col_offset = old.lineno, old.col_offset  # type: ignore[attr-defined]  # nodes with a line have it
