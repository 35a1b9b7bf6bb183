"""`:=` in conditions that a graph may decide: the conditions become statements.

while (n := f()) > 0:             test = (n := f()) > 0
    ...                  ->       while test:
                                      ...
                                      test = (n := f()) > 0

if a > 0 and (n := f()) > 0:      test = a > 0
    ...                  ->       if test:
                                      test = (n := f()) > 0
                                  if test: ...
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intaglio.autograph.expressions import loaded, located
from intaglio.autograph.names import Namer
from intaglio.autograph.source import copied

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.While, ast.For)


class Bindings(ast.NodeTransformer):
    """Rewrites the statements of one function whose conditions bind names.

    `known` are the names that have a value whatever happens: the function's parameters.
    """

    def __init__(self, namer: Namer, known: set[str]) -> None:
        self.namer = namer
        self.known = known

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if isinstance(node, _SCOPES):
            return node
        result = super().visit(node)
        if isinstance(node, ast.Assign):
            self.known |= {
                n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)
            }
        return result

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        if not _binds(node.test):
            return self.generic_visit(node)
        go_on = self.namer.new("test")
        assign = located(ast.Assign([ast.Name(go_on, ast.Store())], node.test), node.test)
        node.test = ast.copy_location(loaded(go_on), node.test)
        node.body = [*_before_continue(node.body, assign), copied(assign)]
        return [*self._statements([assign]), self.generic_visit(node)]  # type: ignore[list-item]  # one statement or several

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        return self._taken_out(node, "test")

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        return self._taken_out(node, "value")

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        return self._taken_out(node, "value")

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        return self._taken_out(node, "value")

    def _statements(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            rewritten = self.visit(statement)
            done += rewritten if isinstance(rewritten, list) else [rewritten]  # type: ignore[list-item]  # one statement or several
        return done

    def _taken_out(self, node: ast.stmt, field: str) -> ast.AST | list[ast.stmt]:
        """The statement, preceded by those that evaluate its condition if that decides bindings."""
        value = getattr(node, field)
        if value is None or not _decides(value):
            return self.generic_visit(node)
        name = self.namer.new("test" if field == "test" else "value")
        before = [*self._unbound(value), *self._worked_out(value, name)]
        setattr(node, field, ast.copy_location(loaded(name), value))
        return [*before, self.generic_visit(node)]  # type: ignore[list-item]  # one statement or several

    def _unbound(self, value: ast.expr) -> list[ast.stmt]:
        """`name = None` for names that may stay unbound."""
        names = sorted({n.target.id for n in _walruses(value)} - self.known)
        return [
            located(ast.Assign([ast.Name(n, ast.Store())], ast.Constant(None)), value)
            for n in names
        ]

    def _worked_out(self, value: ast.expr, name: str) -> list[ast.stmt]:
        """Statements that assign the value to a name, in Python's order of evaluation."""
        if _decides(value):
            if isinstance(value, ast.BoolOp):
                return self._chain(value, value.values, name)
            if isinstance(value, ast.IfExp):
                test = self.namer.new("test")
                branches = [self._worked_out(v, name) for v in (value.body, value.orelse)]
                chosen = ast.If(loaded(test), *branches)
                return [*self._worked_out(value.test, test), located(chosen, value)]
            if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
                negated = ast.Assign(
                    [ast.Name(name, ast.Store())], ast.UnaryOp(ast.Not(), loaded(name))
                )
                return [*self._worked_out(value.operand, name), located(negated, value)]
            return self._parts_first(value, name)
        return [located(ast.Assign([ast.Name(name, ast.Store())], value), value)]

    def _parts_first(self, value: ast.expr, name: str) -> list[ast.stmt]:
        """An expression of several values: those up to the last conditional one get names, in order."""
        parts = _parts(value)
        last = max([i for i, part in enumerate(parts) if _decides(part)])
        done: list[ast.stmt] = []
        names: list[ast.expr] = []
        for part in parts[: last + 1]:
            fresh = self.namer.new("value")
            done += self._worked_out(part, fresh)
            names.append(ast.copy_location(loaded(fresh), part))
        _set_parts(value, [*names, *parts[last + 1 :]])
        whole = ast.Assign([ast.Name(name, ast.Store())], value)
        return [*done, located(whole, value)]

    def _chain(self, node: ast.BoolOp, values: Sequence[ast.expr], name: str) -> list[ast.stmt]:
        done = self._worked_out(values[0], name)
        if len(values) == 1:
            return done
        test: ast.expr = loaded(name)
        if isinstance(node.op, ast.Or):
            test = ast.UnaryOp(ast.Not(), test)
        further = ast.If(test, self._chain(node, values[1:], name), [])
        return [*done, located(further, node)]


def _walruses(node: ast.AST) -> list[ast.NamedExpr]:
    return [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]


def _binds(node: ast.AST) -> bool:
    return bool(_walruses(node))


def _decides(value: ast.expr) -> bool:
    """True if an earlier operand may prevent the binding of a name."""
    if isinstance(value, ast.BoolOp):
        return any(map(_binds, value.values[1:])) or any(map(_decides, value.values))
    if isinstance(value, ast.IfExp):
        return _binds(value)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return _decides(value.operand)
    return any(map(_decides, _parts(value)))


def _parts(value: ast.expr) -> list[ast.expr]:
    """The operands of an expression, in Python's order of evaluation."""
    if isinstance(value, (ast.Tuple, ast.List)):
        plain = not any(isinstance(e, ast.Starred) for e in value.elts)
        return list(value.elts) if plain else []
    if isinstance(value, ast.BinOp):
        return [value.left, value.right]
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        return [value.left, *value.comparators]
    return [value.value] if isinstance(value, ast.NamedExpr) else []


def _set_parts(value: ast.expr, parts: list[ast.expr]) -> None:
    if isinstance(value, (ast.Tuple, ast.List)):
        value.elts = parts
    elif isinstance(value, ast.BinOp):
        value.left, value.right = parts
    elif isinstance(value, ast.Compare):
        value.left, *value.comparators = parts
    elif isinstance(value, ast.NamedExpr):
        (value.value,) = parts


def _before_continue(statements: list[ast.stmt], assign: ast.stmt) -> list[ast.stmt]:
    """The body with the condition evaluated before each `continue` of its loop."""
    done: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.Continue):
            done.append(copied(assign))
        elif not isinstance(statement, _SCOPES):
            # The `else` of a loop inside is no part of that loop.
            is_loop = isinstance(statement, _LOOPS)
            for field in ("orelse",) if is_loop else ("body", "orelse", "finalbody"):
                inner = getattr(statement, field, None)
                if isinstance(inner, list):
                    setattr(statement, field, _before_continue(inner, assign))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                part.body = _before_continue(part.body, assign)
        done.append(statement)
    return done
