"""`break`, `continue` and `return` become flags, so that blocks have one entry and one exit."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from intaglio.autograph.names import Namer, begin_at

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.While, ast.For)


def statements_of(text: str, at: ast.AST) -> list[Any]:
    """Statements from text, at the position of a node in the user's file."""
    body = ast.parse(text).body
    for statement in body:
        for node in ast.walk(statement):
            begin_at(node, at)
    return body


def contains(
    nodes: Sequence[ast.AST], kinds: tuple[type[ast.AST], ...], through_loops: bool
) -> bool:
    """True if a node of these kinds is inside, not counting nested functions (or loops)."""
    for node in nodes:
        if isinstance(node, kinds):
            return True
        if isinstance(node, _SCOPES):
            continue
        if not through_loops and isinstance(node, _LOOPS):
            if contains(node.orelse, kinds, through_loops):
                return True
            continue
        if contains(list(ast.iter_child_nodes(node)), kinds, through_loops):
            return True
    return False


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a statement."""
    found = [
        getattr(node, f)
        for f in ("body", "orelse", "finalbody")
        if isinstance(getattr(node, f, None), list)
    ]
    if isinstance(node, ast.Match):
        found += [c.body for c in node.cases]
    if isinstance(node, ast.Try):
        found += [h.body for h in node.handlers]
    return found


def guarded(statements: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """The statements, with what follows one that may set the flag under `if not flag`."""
    for i, statement in enumerate(statements[:-1]):
        if _may_set(statement, flag):
            rest = guarded(statements[i + 1 :], flag)
            # On the line that has just run: a debugger does not stop for it.
            test = statements_of(f"not {flag}", statement)[0].value
            guard = ast.If(test, rest, [])
            begin_at(guard, statement)
            return [*statements[: i + 1], guard]
    return statements


def _may_set(statement: ast.AST, flag: str) -> bool:
    return any(
        isinstance(n, ast.Name) and n.id == flag and isinstance(n.ctx, ast.Store)
        for n in ast.walk(statement)
    )


class LoopJumps(ast.NodeTransformer):
    """Replaces break and continue in every loop of a function."""

    def __init__(self, namer: Namer) -> None:
        self.namer = namer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # nested functions are converted when they are reached

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_While(self, node: ast.While | ast.For) -> list[ast.stmt]:
        self.generic_visit(node)
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        broken = contains(node.body, (ast.Break,), through_loops=False)
        if broken:
            flag = self.namer.new("break_")
            before = statements_of(f"{flag} = False", node)
            node.body = _Breaks(flag).block(node.body)
            add_test(node, flag)
            if node.orelse:
                test = statements_of(f"not {flag}", node)[0].value
                after = [ast.copy_location(ast.If(test, node.orelse, []), node.orelse[0])]
        elif node.orelse:
            after = node.orelse
        node.orelse = []
        if contains(node.body, (ast.Continue,), through_loops=False):
            flag = self.namer.new("continue_")
            body = _Continues(flag).block(node.body)
            node.body = [*statements_of(f"{flag} = False", node), *body]
        return [*before, node, *after]

    visit_For = visit_While


def add_test(loop: ast.While | ast.For, flag: str) -> None:
    """The loop continues only while the flag is not set."""
    test = statements_of(f"not {flag}", loop)[0].value
    if isinstance(loop, ast.While):
        both = ast.BoolOp(ast.And(), [test, loop.test])
        loop.test = ast.copy_location(both, loop.test)
        return
    known = getattr(loop, "extra_test", None)
    if known is not None:
        test = ast.copy_location(ast.BoolOp(ast.And(), [test, known]), test)
    loop.extra_test = test  # type: ignore[attr-defined]  # a mark of our own


class _Breaks:
    """`break` -> `flag = True; continue` in the blocks of one loop."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Break):
                done += statements_of(f"{self.flag} = True", statement)
                done.append(ast.copy_location(ast.Continue(), statement))
                break
            if not isinstance(statement, (*_SCOPES, *_LOOPS)):
                for inner in _blocks(statement):
                    inner[:] = self.block(inner)
            done.append(statement)
        return done


class _Continues:
    """`continue` -> `flag = True`, and what follows only runs if it is not set."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Continue):
                done += statements_of(f"{self.flag} = True", statement)
                break
            if not isinstance(statement, (*_SCOPES, *_LOOPS)):
                for inner in _blocks(statement):
                    inner[:] = self.block(inner)
            done.append(statement)
        return guarded(done, self.flag)


class Returns:
    """`return x` sets two names, and what follows only runs if it has not been reached.

    An `if` with a branch that surely returns takes the statements after it into its other
    branch: that is how both branches come to have a value.
    """

    def __init__(self, namer: Namer) -> None:
        self.flag = namer.new("do_return")
        self.value = namer.new("retval_")
        self.found = False
        # Whether the flag is needed: it is not where all branches return.
        self.tested = False
        self.surely = False  # every path through the function ends in a return

    def function_body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The lowered body, without the initial assignments."""
        self.found = contains(statements, (ast.Return,), through_loops=True)
        if not self.found:
            return statements
        self.surely = exits(statements)
        return self.block(_moved_into_branches(statements))

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The lowered block."""
        done: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, ast.Return):
                done += self._set(statement)
                break
            if isinstance(statement, _SCOPES):
                done.append(statement)
                continue
            for inner in _blocks(statement):
                inner[:] = self.block(inner)
            if isinstance(statement, _LOOPS) and _may_set(statement, self.flag):
                add_test(statement, self.flag)
                self.tested = True
            done.append(statement)
        safe = guarded(done, self.flag)
        self.tested = self.tested or safe is not done
        return safe

    def _set(self, node: ast.Return) -> list[ast.stmt]:
        text = f"try:\n {self.flag} = True\n {self.value} = None\nexcept:\n {self.flag} = False\n raise"
        statements = statements_of(text, node)
        if node.value is not None:
            statements[0].body[1].value = node.value
        statements[0].generated = True
        return statements


def _moved_into_branches(statements: list[ast.stmt]) -> list[ast.stmt]:
    for i, statement in enumerate(statements):
        if isinstance(statement, ast.If):
            rest = statements[i + 1 :]
            statement.body = _moved_into_branches(statement.body)
            statement.orelse = _moved_into_branches(statement.orelse)
            if rest and _returns(statement.body) and not _returns(statement.orelse):
                statement.orelse = _moved_into_branches([*statement.orelse, *rest])
                return statements[: i + 1]
            if rest and _returns(statement.orelse) and not _returns(statement.body):
                statement.body = _moved_into_branches([*statement.body, *rest])
                return statements[: i + 1]
        elif not isinstance(statement, _SCOPES):
            for inner in _blocks(statement):
                inner[:] = _moved_into_branches(inner)
    return statements


def _returns(statements: Sequence[ast.stmt]) -> bool:
    """True if the block returns whatever happens."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return _returns(last.body) and _returns(last.orelse)
    return isinstance(last, ast.Return)


def exits(statements: Sequence[ast.stmt]) -> bool:
    """True if no path through the user's block reaches its end: each returns, raises or continues."""
    return any(map(_exits, statements))


def _exits(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Return, ast.Raise)):
        return True
    if isinstance(node, ast.If):
        return exits(node.body) and exits(node.orelse)
    if isinstance(node, ast.While):
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return endless and not contains(node.body, (ast.Break,), through_loops=False)
    if isinstance(node, ast.With):
        return exits(node.body)
    if isinstance(node, ast.Try):
        normal = exits(node.body) or exits(node.orelse)
        handled = all([exits(h.body) for h in node.handlers])
        return exits(node.finalbody) or (normal and handled)
    if isinstance(node, ast.Match):
        last = node.cases[-1]
        whole = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return whole and last.guard is None and all([exits(c.body) for c in node.cases])
    return False
