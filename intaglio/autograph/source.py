"""Finds the syntax tree of a function where the user wrote it, with the user's line numbers."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Sequence
from types import CodeType, FunctionType

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NoSourceError(Exception):
    """The source of a function cannot be read, so that it cannot be converted."""


class Found:
    """A function's syntax tree, the file it is in, and the class around it (for private names)."""

    def __init__(
        self, node: FunctionNode, filename: str, class_name: str | None
    ) -> None:
        self.node = node
        self.filename = filename
        self.class_name = class_name


_trees: dict[str, tuple[int, ast.Module]] = {}


def parsed(filename: str) -> ast.Module:
    """The parsed file. Cells and the interactive prompt are files to linecache as well."""
    lines = linecache.getlines(filename)
    if not lines:
        raise NoSourceError(f"the source of {filename} cannot be read")
    text = "".join(lines)
    known = _trees.get(filename)
    if known is not None and known[0] == hash(text):
        return known[1]
    try:
        tree = ast.parse(text, filename)
    except SyntaxError as e:
        raise NoSourceError(
            f"{filename} has changed and cannot be parsed: {e}"
        ) from None
    _trees[filename] = (hash(text), tree)
    return tree


def find(function: FunctionType) -> Found:
    """The tree of a function. Raises NoSourceError if it cannot be found without doubt."""
    code = function.__code__
    matches = list(_candidates(parsed(code.co_filename), code, None))
    if len(matches) > 1:
        matches = [m for m in matches if _covers(m[0], code)]
        matches = [m for m in matches if not _encloses_another(m[0], matches)]
    if len(matches) != 1:
        raise NoSourceError(
            f"{len(matches)} functions at {code.co_filename}:{code.co_firstlineno} could be "
            f"'{code.co_name}'"
        )
    node, class_name = matches[0]
    return Found(node, code.co_filename, class_name)


def _candidates(tree: ast.AST, code: CodeType, class_name: str | None):
    """Functions that begin on the code's first line, with the class around them."""
    for child in ast.iter_child_nodes(tree):
        inside = child.name if isinstance(child, ast.ClassDef) else class_name
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            if child.name == code.co_name and first == code.co_firstlineno:
                yield child, class_name
        elif (
            isinstance(child, ast.Lambda)
            and code.co_name == "<lambda>"
            and child.lineno == code.co_firstlineno
            and _same_arguments(child, code)
        ):
            yield child, class_name
        yield from _candidates(child, code, inside)


def _same_arguments(node: ast.Lambda, code: CodeType) -> bool:
    arguments = node.args
    named = [
        a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    ]
    rest = [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    count = code.co_argcount + code.co_kwonlyargcount
    starred = bool(inspect.CO_VARARGS & code.co_flags)
    count += starred + bool(inspect.CO_VARKEYWORDS & code.co_flags)
    return (
        starred is (arguments.vararg is not None)
        and (*named, *rest) == code.co_varnames[:count]
    )


def _encloses_another(
    node: ast.AST, matches: Sequence[tuple[FunctionNode, str | None]]
) -> bool:
    """True for a lambda around another that fits as well: the inner one is meant."""
    inside = {id(n) for n in ast.walk(node) if n is not node}
    return any(id(other) in inside for other, _ in matches)


def _covers(node: ast.AST, code: CodeType) -> bool:
    """True if the code's instructions come from inside the node: tells lambdas on one line apart."""
    body = node.body if isinstance(node, ast.Lambda) else node
    start = (body.lineno, body.col_offset)  # type: ignore[attr-defined]  # expressions have it
    end = (body.end_lineno, body.end_col_offset)  # type: ignore[attr-defined]  # expressions have it
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (column, end_column) == (
            0,
            0,
        ):
            continue
        if (line, column) < start or (end_line, end_column) > end:
            return False
    return True
