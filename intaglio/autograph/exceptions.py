"""`raise`, `assert` and `try` in converted code.

The code that raises becomes a function of the names that it reads, so that a graph can call it with
the values of these names at run time.
"""

from __future__ import annotations

import ast
import builtins

from intaglio.autograph.activity import Activity
from intaglio.autograph.expressions import Expressions, ag, loaded, located, thunk
from intaglio.autograph.jumps import statements_of
from intaglio.autograph.names import Namer, owner, symbol
from intaglio.autograph.source import copied

_BUILTINS = frozenset(dir(builtins))


class ExceptionStatements:
    """Converts the statements of one function that raise."""

    def __init__(self, namer: Namer, expressions: Expressions) -> None:
        self.namer = namer
        self.expressions = expressions

    def raised(self, node: ast.Raise, defined: set[str]) -> list[ast.stmt]:
        """`raise error from cause`; without an error it stays what it is."""
        if node.exc is None:
            return [node]
        return self._statement("raise_stmt", "raising", [], node, defined)

    def asserted(self, node: ast.Assert, defined: set[str]) -> list[ast.stmt]:
        """`assert test, message`."""
        test = self.expressions.visit(node.test)
        message = [node.msg] if node.msg is not None else []
        error = ast.Call(loaded("AssertionError"), message, [])
        raising = located(ast.Raise(error, None), node)
        return self._statement("assert_stmt", "asserting", [test], raising, defined)

    def _statement(
        self,
        operator: str,
        label: str,
        arguments: list[ast.expr],
        node: ast.Raise,
        defined: set[str],
    ) -> list[ast.stmt]:
        outside = _Outside(self.namer, defined)
        parts = [None if p is None else outside.visit(p) for p in (node.exc, node.cause)]
        names = list(outside.values)
        name = self.namer.new(label)
        self.expressions.generated.add(name)
        definition = statements_of(f"def {name}({', '.join(names)}):\n pass", node)[0]
        self.expressions.raised = True
        visited = [None if p is None else self.expressions.visit(p) for p in parts]
        self.expressions.raised = False
        definition.body = [located(ast.Raise(*visited), node)]
        values = [
            v if isinstance(v, ast.Name) else self.expressions.visit(v)
            for v in outside.values.values()
        ]
        call = ag(operator, *arguments, loaded(name), *values, at=node)
        return [definition, located(ast.Expr(call), node)]


class _Outside(ast.NodeTransformer):
    """Collects what an expression reads of its function, and replaces it by parameters.

    A name stays what it is called; `self.x` and `d['k']` get a name of their own.
    """

    def __init__(self, namer: Namer, defined: set[str]) -> None:
        self.namer = namer
        self.defined = defined
        self.values: dict[str, ast.expr] = {}
        self.composites: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and self._is_local(node.id):
            self.values.setdefault(node.id, ast.copy_location(loaded(node.id), node))
        return node

    def _is_local(self, name: str) -> bool:
        return name in self.defined or name not in _BUILTINS

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = symbol(node.func)
        if name is None or owner(name) in self.defined:
            node.func = self.visit(node.func)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._composite(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        return self._composite(node)

    def _composite(self, node: ast.Attribute | ast.Subscript) -> ast.expr:
        name = symbol(node)
        if name is None or owner(name) not in self.defined:
            return self.generic_visit(node)  # type: ignore[return-value]  # a visitor gives what it took
        if name not in self.composites:
            label = "".join([c if c.isalnum() else "_" for c in name]).strip("_")
            self.composites[name] = self.namer.new(label)
            self.values[self.composites[name]] = node
        return ast.copy_location(loaded(self.composites[name]), node)

    def _scope(self, node: ast.expr) -> ast.expr:
        """An expression with names of its own: what it reads of outside, as it is."""
        for name in sorted(Activity.of(node).reads):
            if name.isidentifier() and self._is_local(name):
                self.values.setdefault(name, ast.copy_location(loaded(name), node))
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = _scope
    visit_GeneratorExp = _scope


def watched(node: ast.Try, expressions: Expressions) -> list[ast.stmt]:
    """The converted body of a `try`, with its handlers registered while it is traced."""
    kinds: list[ast.expr] = [
        expressions.visit(copied(h.type)) if h.type is not None else loaded("BaseException")
        for h in node.handlers
    ]
    first = node.handlers[0]
    types = located(thunk(ast.Tuple(kinds, ast.Load())), first)
    wrapper: ast.With = statements_of("with f():\n pass", first)[0]
    wrapper.items[0].context_expr = ag("Handling", types, at=first)
    wrapper.body = list[ast.stmt](node.body)
    return [wrapper]
