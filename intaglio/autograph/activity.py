"""Dataflow analysis: the names that statements read and write, and liveness at control statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from intaglio.autograph.names import is_composite, symbol

Names = set[str]
CONTROL = (ast.If, ast.While, ast.For)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Activity(ast.NodeVisitor):
    """The symbols that a piece of code reads and writes, not counting nested scopes' own."""

    def __init__(self) -> None:
        self.reads: Names = set()
        self.writes: Names = set()

    @classmethod
    def of(cls, nodes: ast.AST | Iterable[ast.AST] | None) -> Activity:
        """The activity of a node or of several."""
        found = cls()
        if nodes is not None:
            for node in [nodes] if isinstance(nodes, ast.AST) else nodes:
                found.visit(node)
        return found

    def visit_Name(self, node: ast.Name) -> None:
        self._note(node, node.id)

    def _note(self, node: ast.expr, name: str) -> None:
        if isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]  # names, attributes and items have it
            self.reads.add(name)
        else:
            self.writes.add(name)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._composite(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._composite(node)

    def _composite(self, node: ast.Attribute | ast.Subscript) -> None:
        name = symbol(node)
        if name is not None:
            self._note(node, name)
        self.visit(node.value)
        if isinstance(node, ast.Subscript):
            self.visit(node.slice)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name = symbol(node.target)
        if name is not None:
            self.reads.add(name)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.writes.update((a.asname or a.name).split(".")[0] for a in node.names)

    visit_ImportFrom = visit_Import

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.writes.add(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.writes.add(node.name)
        for part in (*node.decorator_list, *_defaults(node.args)):
            self.visit(part)
        self._free(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)
        self._free(node, [node.body])

    def _free(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, body: Sequence[ast.AST]
    ) -> None:
        inner = Activity.of(body)
        own = parameters(node.args) | {w for w in inner.writes if not is_composite(w)}
        self.reads |= {r for r in inner.reads if r not in own}

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.writes.add(node.name)
        inner = Activity.of([*node.bases, *node.keywords, *node.body, *node.decorator_list])
        self.reads |= inner.reads

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS):
            self._comprehension(node)
        else:
            super().generic_visit(node)

    def _comprehension(self, node: ast.AST) -> None:
        inner = Activity()
        ast.NodeVisitor.generic_visit(inner, node)
        walrus = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
        self.reads |= inner.reads - (inner.writes - walrus)
        self.writes |= walrus


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]


def parameters(arguments: ast.arguments) -> Names:
    """The names of a function's parameters."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return {a.arg for a in named}


def captured_names(body: Iterable[ast.AST]) -> Names:
    """The names that functions nested in a body read from it, at whatever time."""
    found: Names = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, _SCOPES):
                found |= Activity.of(node).reads
    return {name for name in found if not is_composite(name)}


class Liveness:
    """Marks every control statement below a function with the names live before and after it.

    Works backwards over the structured code that lowering leaves: no break, continue or
    return. The marks are the attributes `live_in` and `live_out` of the statements.
    """

    def __init__(self) -> None:
        self.always: Names = set()  # live wherever an exception handler may look

    def block(self, statements: Sequence[ast.stmt], live: Names) -> Names:
        """The names live before the statements, given those live after them."""
        for statement in reversed(statements):
            live = self.statement(statement, live) | self.always
        return live

    def statement(self, node: ast.stmt, live: Names) -> Names:
        """The names live before one statement."""
        if isinstance(node, ast.If):
            inside = self.block(node.body, live) | self.block(node.orelse, live)
            return self._marked(node, self._before([node.test], inside), live)
        if isinstance(node, (ast.While, ast.For)):
            return self._loop(node, live)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._before(node.items, self.block(node.body, live))
        if isinstance(node, ast.Try):
            return self._try(node, live)
        if isinstance(node, ast.Match):
            inside = set(live)
            for case in node.cases:
                inside |= self._before([case.pattern, case.guard], self.block(case.body, live))
            return inside | Activity.of(node.subject).reads
        if isinstance(node, (ast.AsyncFor,)):
            return live | Activity.of(node).reads
        return self._before([node], live)

    def _before(self, nodes: Sequence[ast.AST | None], live: Names) -> Names:
        done = Activity.of([n for n in nodes if n is not None])
        plain = {w for w in done.writes if not is_composite(w)}
        return (live - plain) | done.reads

    def _marked(self, node: ast.stmt, live_in: Names, live_out: Names) -> Names:
        node.live_in, node.live_out = live_in, live_out  # type: ignore[attr-defined]  # marks of our own
        return live_in

    def _loop(self, node: ast.While | ast.For, live: Names) -> Names:
        if isinstance(node, ast.While):
            again, first = Activity.of(node.test).reads, set[str]()
        else:
            again = Activity.of(getattr(node, "extra_test", None)).reads
            first = Activity.of(node.iter).reads
        head = live | again
        while True:
            body = self.block(node.body, head)
            if isinstance(node, ast.For):
                body = self._before([node.target], body)
            grown = head | body
            if grown == head:
                break
            head = grown
        return self._marked(node, head | first, live)

    def _try(self, node: ast.Try, live: Names) -> Names:
        after = self.block(node.finalbody, live)
        handlers: Names = set()
        for handler in node.handlers:
            inside = self.block(handler.body, after) - {handler.name or ""}
            handlers |= self._before([handler.type], inside)
        outer, self.always = (
            self.always,
            self.always | handlers | (after if node.finalbody else set()),
        )
        inside = self.block(node.body, self.block(node.orelse, after))
        self.always = outer
        return inside | handlers
