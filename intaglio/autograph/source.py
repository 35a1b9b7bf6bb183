"""Finds the syntax tree of a function in its source file, with the original line numbers."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class NoSourceError(Exception):
    """The source of a function cannot be read."""


class Found:
    """A function's syntax tree, the file it is in, and the class around it (for private names)."""

    def __init__(self, node: FunctionNode, filename: str, class_name: str | None) -> None:
        self.node = node
        self.filename = filename
        self.class_name = class_name


Definition = tuple[FunctionNode, str | None]  # a function and the class around it
# Lines that continue a statement that began above.
_CONTINUATIONS = (" ", "\t", "\n", "#", ")", "]", "}", "elif ", "else:", "except", "finally:")


class Source:
    """A file's functions by their first lines. It is parsed statement by statement, as needed."""

    def __init__(self, filename: str, lines: list[str]) -> None:
        self.filename = filename
        self.lines = lines
        self._whole: dict[int, list[Definition]] | None = None
        self._parts: dict[int, dict[int, list[Definition]]] = {}

    def at(self, code: CodeType) -> list[Definition]:
        """The functions that begin on the code's first line and could be it."""
        start, end = self._statement(code.co_firstlineno)
        if start not in self._parts:
            self._parts[start] = self._parsed_part(start, end)
        found = _fitting(self._parts[start], code)
        if not found:  # text in a string looks like a statement
            if self._whole is None:
                self._whole = _functions(self.tree())
            found = _fitting(self._whole, code)
        return found

    def _statement(self, line: int) -> tuple[int, int]:
        """Where the statement of the file begins and ends that a line is in."""
        start, end = line - 1, line
        while start > 0 and not self._begins(start):
            start -= 1
        while end < len(self.lines) and not self._begins(end):
            end += 1
        return start, end

    def _begins(self, at: int) -> bool:
        if self.lines[at].startswith(_CONTINUATIONS):
            return False
        above = at - 1  # the line that a decorator above begins on, if there is one
        while above > 0 and self.lines[above].startswith(_CONTINUATIONS):
            above -= 1
        return above < 0 or not self.lines[above].startswith("@")

    def _parsed_part(self, start: int, end: int) -> dict[int, list[Definition]]:
        text = "\n" * start + "".join(self.lines[start:end])
        try:
            return _functions(ast.parse(text, self.filename))
        except SyntaxError:
            return {}

    def tree(self) -> ast.Module:
        """The whole file, parsed. Raises NoSourceError if it is no Python any more."""
        try:
            return ast.parse("".join(self.lines), self.filename)
        except SyntaxError as e:
            raise NoSourceError(f"{self.filename} has changed and cannot be parsed: {e}") from None


_sources: dict[str, Source] = {}


def _source_of(filename: str) -> Source:
    """The file. Cells and the interactive prompt are files to linecache as well."""
    lines = linecache.getlines(filename)
    if not lines:
        raise NoSourceError(f"the source of {filename} cannot be read")
    known = _sources.get(filename)
    if known is None or (known.lines is not lines and known.lines != lines):
        known = _sources[filename] = Source(filename, lines)
    return known


def parsed(filename: str) -> ast.Module:
    """The parsed file. Raises NoSourceError if it cannot be read."""
    return _source_of(filename).tree()


def around(code: CodeType) -> ast.Module:
    """The parsed file that code is in. Raises NoSourceError if it cannot be read."""
    found = _source_of(code.co_filename)
    if not code.co_name.startswith("<") and not found.at(code):
        _check_has_file(code)
    return found.tree()


def _check_has_file(code: CodeType) -> None:
    """Raises NoSourceError if the text that is known is another one of the same name.

    What `python -c` runs has the name that texts given to `exec` have, too.
    """
    if code.co_filename.startswith("<"):
        raise NoSourceError(f"the source of {code.co_filename} cannot be read")


def find(function: FunctionType) -> Found:
    """The tree of a function, the caller's to change.

    Raises NoSourceError if it cannot be found without doubt.
    """
    code = function.__code__
    matches = _source_of(code.co_filename).at(code)
    if len(matches) > 1:
        matches = [m for m in matches if _covers(m[0], code)]
        matches = [m for m in matches if not _encloses_another(m[0], matches)]
    if not matches:
        _check_has_file(code)
    if len(matches) != 1:
        raise NoSourceError(
            f"{len(matches)} functions at {code.co_filename}:{code.co_firstlineno} could be "
            f"'{code.co_name}'"
        )
    node, class_name = matches[0]
    return Found(copied(node), code.co_filename, class_name)


def copied(part: Any) -> Any:
    """A syntax tree, or a list of them, of its own: `copy.deepcopy` takes five times as long.

    Operators and contexts are one object for all trees of the process, on which others hang what
    they like: `executing`, for IPython's tracebacks, the parent of each node. Here they are new.
    """
    if isinstance(part, ast.AST):
        kind = part.__class__
        if not (kind._fields or kind._attributes):
            return kind()
        copy = kind.__new__(kind)
        for name, value in part.__dict__.items():
            copy.__dict__[name] = copied(value)
        return copy
    return [copied(p) for p in part] if type(part) is list else part


def _functions(tree: ast.Module) -> dict[int, list[Definition]]:
    """All functions by their first lines, those outside before those inside."""
    found: dict[int, list[Definition]] = {}
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(d.lineno for d in decorators)])
            found.setdefault(first, []).append((node, class_name))
        inside = node.name if isinstance(node, ast.ClassDef) else class_name
        parts = [(child, inside) for child in ast.iter_child_nodes(node)]
        pending += reversed(parts)
    return found


def _fitting(functions: dict[int, list[Definition]], code: CodeType) -> list[Definition]:
    return [
        candidate
        for candidate in functions.get(code.co_firstlineno, ())
        if _may_be(candidate[0], code)
    ]


def _may_be(node: FunctionNode, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and _same_arguments(node, code)
    return node.name == code.co_name


def _same_arguments(node: ast.Lambda, code: CodeType) -> bool:
    arguments = node.args
    named = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    rest = [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    count = code.co_argcount + code.co_kwonlyargcount
    starred = bool(inspect.CO_VARARGS & code.co_flags)
    count += starred + bool(inspect.CO_VARKEYWORDS & code.co_flags)
    return starred is (arguments.vararg is not None) and (*named, *rest) == code.co_varnames[:count]


def _encloses_another(node: ast.AST, matches: Sequence[Definition]) -> bool:
    """True for a lambda around another that fits as well: the inner one is meant."""
    inside = {id(n) for n in ast.walk(node) if n is not node}
    return any(id(other) in inside for other, _ in matches)


def _covers(node: ast.AST, code: CodeType) -> bool:
    """True if the code's instructions come from inside the node: distinguishes lambdas on one line."""
    body = node.body if isinstance(node, ast.Lambda) else node
    start = (body.lineno, body.col_offset)  # type: ignore[attr-defined]  # expressions have it
    end = (body.end_lineno, body.end_col_offset)  # type: ignore[attr-defined]  # expressions have it
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (column, end_column) == (0, 0):
            continue
        if (line, column) < start or (end_line, end_column) > end:
            return False
    return True
