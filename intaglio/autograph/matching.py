"""Conversion of `match`: values and guards are tested by `if`, which can be staged.

A case keeps its shape as a Python pattern. Each literal in it becomes a name, and equality
with the literal a condition, as the guard is:

    match s:                          value = s
        case (1, a) if a > b:         match value:
            ...              ->           case (value_1, a):
        case _:                               found = value_1 == 1 and a > b
            ...                           case _:
                                              found = False
                                      if found: ...
                                      else: ...
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intaglio.autograph.expressions import loaded, located
from intaglio.autograph.names import Namer
from intaglio.autograph.source import copied

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Matches(ast.NodeTransformer):
    """Rewrites the `match` statements of one function that test values."""

    def __init__(self, namer: Namer) -> None:
        self.namer = namer

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        return node if isinstance(node, _SCOPES) else super().visit(node)

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        cases = [part for case in node.cases for part in _alternatives(case)]
        if not any(c.guard is not None or _tests(c.pattern) for c in cases):
            return node  # shapes alone: Python decides
        subject = self.namer.new("subject")
        first = ast.Assign([ast.Name(subject, ast.Store())], node.subject)
        return [located(first, node), *self._chain(subject, cases)]

    def _chain(self, subject: str, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
        """The cases as nested `if`s."""
        if not cases:
            return []
        case = cases[0]
        lowered = _Pattern(self.namer)
        pattern = lowered.visit(case.pattern)
        tests = [*lowered.tests, *([case.guard] if case.guard is not None else [])]
        if not tests and _is_irrefutable(pattern):
            return [*_bound(pattern, subject), *case.body]
        found = self.namer.new("found")
        test = _all(tests) if tests else ast.Constant(True)
        taken = ast.Assign([ast.Name(found, ast.Store())], test)
        if _is_irrefutable(pattern):
            statements: list[ast.stmt] = [*_bound(pattern, subject), taken]
        else:
            missed = ast.Assign([ast.Name(found, ast.Store())], ast.Constant(False))
            other = ast.match_case(ast.MatchAs(), None, [missed])
            shape = ast.match_case(pattern, None, [taken])
            statements = [ast.Match(loaded(subject), [shape, other])]
        rest = self._chain(subject, cases[1:])
        statements.append(ast.If(loaded(found), case.body, rest))
        return [located(s, case.pattern) for s in statements]


def _alternatives(case: ast.match_case) -> list[ast.match_case]:
    """A case for each alternative that tests values inside a shape."""
    pattern = case.pattern
    if not isinstance(pattern, ast.MatchOr) or not _tests(pattern):
        return [case]
    if all(isinstance(p, ast.MatchValue) for p in pattern.patterns):
        return [case]
    return [
        part
        for p in pattern.patterns
        for part in _alternatives(copied(ast.match_case(p, case.guard, case.body)))
    ]


def _tests(pattern: ast.AST) -> bool:
    return any(isinstance(n, ast.MatchValue) for n in ast.walk(pattern))


def _is_irrefutable(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and (
        pattern.pattern is None or _is_irrefutable(pattern.pattern)
    )


def _bound(pattern: ast.pattern, subject: str) -> list[ast.stmt]:
    """Assignments of the names that a pattern gives to anything."""
    if not isinstance(pattern, ast.MatchAs):
        return []
    names = [pattern.name] if pattern.name else []
    inner = _bound(pattern.pattern, subject) if pattern.pattern is not None else []
    assigned = [ast.Assign([ast.Name(n, ast.Store())], loaded(subject)) for n in names]
    return [*inner, *assigned]


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


class _Pattern(ast.NodeTransformer):
    """Takes the literals out of a pattern; `tests` are the conditions that they make."""

    def __init__(self, namer: Namer) -> None:
        self.namer = namer
        self.tests: list[ast.expr] = []

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        return self._named([node])

    def visit_MatchOr(self, node: ast.MatchOr) -> ast.pattern:
        values = [p for p in node.patterns if isinstance(p, ast.MatchValue)]
        if len(values) == len(node.patterns):
            return self._named(values)
        return node  # alternatives of shapes inside a shape stay Python's

    def _named(self, values: Sequence[ast.MatchValue]) -> ast.pattern:
        name = self.namer.new("value")
        tests: list[ast.expr] = [
            located(ast.Compare(loaded(name), [ast.Eq()], [v.value]), v) for v in values
        ]
        whole = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        self.tests.append(located(whole, values[0]))
        return ast.copy_location(ast.MatchAs(None, name), values[0])
