"""Conversion of statements: the blocks of `if`, `while` and `for` become functions passed to `ag__`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from intaglio.autograph.activity import Activity, Liveness, captured_names, parameters
from intaglio.autograph.bindings import Bindings
from intaglio.autograph.exceptions import ExceptionStatements, watched
from intaglio.autograph.expressions import (
    Expressions,
    ag,
    loaded,
    located,
    returns_new,
    without_annotations,
)
from intaglio.autograph.jumps import LoopJumps, Returns, statements_of
from intaglio.autograph.loop_options import is_flag_off, is_options, named
from intaglio.autograph.matching import Matches
from intaglio.autograph.names import Namer, as_it_is_now, is_composite, owner

OPTIONS = (
    "ag__.ConversionOptions(recursive={recursive}, user_requested={requested}, "
    "optional_features=(), internal_convert_user_code=True)"
)


def is_generator(node: ast.AST) -> bool:
    """True if the function yields or awaits: it runs as Python."""
    if isinstance(node, ast.AsyncFunctionDef):
        return True
    body = getattr(node, "body", [])
    pending: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while pending:
        part = pending.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(part))
    return False


class Around(NamedTuple):
    """The names that a block shares with the code around it."""

    modified: set[str]  # the symbols that the statement writes
    shared: Sequence[str]  # the names that it does not have for itself
    undefined: Sequence[str]  # those that it may be the first to assign
    assigned: frozenset[str] = frozenset()  # those that it begins by assigning


class Outside(NamedTuple):
    """The free names of a function."""

    variables: frozenset[str]  # of functions around it, and globals, if their values may change
    spaces: frozenset[str]  # of the user's modules and classes


NOTHING = Outside(frozenset(), frozenset())


class FunctionConverter:
    """Converts one function definition; nested ones get a converter of their own."""

    def __init__(
        self,
        namer: Namer,
        options: str,
        generated: set[str],
        outside: Iterable[str] = (),
        around: Outside = NOTHING,
    ) -> None:
        self.outside = outside  # names of variables around the function
        self.around = around
        self.namer = namer
        self.options = options
        self.generated = generated

    def convert(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The definition with its body converted, under the same name."""
        self.scope = self.namer.new("fscope")
        returns = Returns(self.namer)
        body = self._lowered(node, returns)
        self.outer_names = _declared(body, (ast.Global, ast.Nonlocal))
        self.global_names = _declared(body, (ast.Global,))
        known = parameters(node.args)
        self.generated |= {self.scope}
        if returns.found:
            self.generated |= {returns.flag, returns.value}
            known |= {returns.flag, returns.value}
        Liveness().block(body, {returns.flag, returns.value} if returns.found else set())
        positional = [*node.args.posonlyargs, *node.args.args]
        self.expressions = Expressions(
            self.scope, self.generated, positional[0].arg if positional else None
        )
        self.captured = captured_names(body)
        self.unset: set[str] = set()  # names that are declared, without a value yet
        self.expressions.objects = {
            n
            for n in (*known, *Activity.of(body).writes, *_inner_names(body), *self.outside)
            if n.isidentifier()
        }
        self.expressions.outer = {*self.around.variables} - self.generated
        self.expressions.spaces = {*self.around.spaces}
        self.expressions.composite_names = set(filter(is_composite, Activity.of(body).writes))
        self.exceptions = ExceptionStatements(self.namer, self.expressions)
        staged = self._block(body, known)
        if returns.found:
            first = f"{returns.flag} = False\n{returns.value} = ag__.UndefinedReturnValue()"
            sure = returns.surely and returns.tested
            flag = True if sure else returns.flag
            last = f"return {self.scope}.ret({returns.value}, {flag})"
            staged = [*statements_of(first, node), *staged, *_return(last, node)]
        header = f"with ag__.FunctionScope({node.name!r}, {self.scope!r}, {self.options}) as {self.scope}:\n pass"
        wrapper = statements_of(header, node)[0]
        wrapper.body = staged or [located(ast.Pass(), node)]
        node.body = [wrapper]
        without_annotations(node)
        return node

    def _lowered(self, node: ast.FunctionDef, returns: Returns) -> list[ast.stmt]:
        before = set(self.namer.taken)
        body = node.body
        for rewrite in (
            Matches(self.namer),
            Bindings(self.namer, parameters(node.args)),
            LoopJumps(self.namer),
        ):
            body = _rewritten(rewrite, body)
        body = returns.function_body(body)
        self.generated |= {
            n for n in self.namer.taken - before if n.startswith(("break_", "continue_"))
        }
        return body

    # -- blocks ------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt], defined: set[str]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in statements:
            done += self._statement(statement, defined)
            done += self._assigned(statement)
            written = {w for w in Activity.of(statement).writes if not is_composite(w)}
            defined |= written
            self.unset = self.unset - written
        return done

    def _assigned(self, statement: ast.stmt) -> list[ast.stmt]:
        """Reports what a statement assigns to variables that are not the function's own."""
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return []
        targets = getattr(statement, "targets", None) or [statement.target]  # type: ignore[attr-defined]  # the others have one
        names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        found = [n for n in names if n in self.outer_names and n in self.around.variables]
        return [s for n in found for s in statements_of(f"ag__.assigned(lambda: {n})", statement)]

    def _inside(
        self, statements: Sequence[ast.stmt], defined: set[str], around: Around
    ) -> list[ast.stmt]:
        """A block in a statement, which becomes a function of its own.

        What it assigns and does not share with the code around it has no value yet in there.
        """
        local = around.modified - set(around.shared) - self.outer_names
        unset = set(around.undefined) - local
        assigned = around.assigned
        outer, self.unset = self.unset, ((self.unset - local) | unset) - assigned
        done = self._block(statements, (defined - local) | unset | assigned)
        self.unset = outer
        return done

    def _statement(self, node: ast.stmt, defined: set[str]) -> list[ast.stmt]:
        method = getattr(self, f"_{type(node).__name__}", None)
        if method is not None:
            return method(node, defined)
        if isinstance(
            node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef, ast.AsyncFor)
        ):
            return [node]
        rest = [f"{n} = ag__.created({n})" for n in _starred_names(node)]
        visited = self.expressions.visit(node)
        if isinstance(node, ast.Assign) and any(map(_is_unpacked, node.targets)):
            visited.value = ag("iterated", visited.value, at=node.value)
        return [visited, *[part for text in rest for part in statements_of(text, node)]]

    def _If(self, node: ast.If, defined: set[str]) -> list[ast.stmt]:
        modified = Activity.of([*node.body, *node.orelse]).writes
        state, outputs = self._state(node, modified, defined)
        undefined = self._undefined(modified, defined)
        shared = self._shared(state, modified)
        around = Around(modified, shared, undefined)
        body = self._inside(node.body, defined, around)
        orelse = self._inside(node.orelse, defined, around)
        test = self.expressions.visit(node.test)
        get, put = self._accessors(state, node)
        first = self._function("if_body", [], shared, body, node)
        second = self._function("else_body", [], shared, orelse, node)
        call = ag(
            "if_stmt",
            test,
            loaded(first.name),
            loaded(second.name),
            loaded(get.name),
            loaded(put.name),
            _names(state),
            ast.Constant(outputs),
            at=node,
        )
        return [get, put, first, second, *_undefined(undefined, node), _expression(call)]

    def _While(self, node: ast.While, defined: set[str]) -> list[ast.stmt]:
        options = self._options(node)
        modified = Activity.of(node.body).writes
        state, _ = self._state(node, modified, defined)
        undefined = self._undefined(modified, defined)
        shared = self._shared(state, modified)
        body = self._inside(node.body, defined, Around(modified, shared, undefined))
        test = located(ast.Return(self.expressions.visit(node.test)), node)
        get, put = self._accessors(state, node)
        loop = self._function("loop_body", [], shared, body, node)
        check = self._function("loop_test", [], (), [test], node)
        call = ag(
            "while_stmt",
            loaded(check.name),
            loaded(loop.name),
            loaded(get.name),
            loaded(put.name),
            _names(state),
            options,
            at=node,
        )
        return [get, put, loop, check, *_undefined(undefined, node), _expression(call)]

    def _For(self, node: ast.For, defined: set[str]) -> list[ast.stmt]:
        options = self._options(node)
        options.keys.append(ast.Constant("iterate_names"))
        options.values.append(ast.Constant(ast.unparse(node.target)))
        modified = Activity.of([*node.body, node.target]).writes
        items = frozenset(n for n in Activity.of(node.target).writes if not is_composite(n))
        state, _ = self._state(node, modified, defined)
        undefined = self._undefined(modified, defined)
        shared = self._shared(state, modified)
        around = Around(modified, shared, undefined, items)
        body = self._inside(node.body, defined, around)
        item = self.namer.new("itr")
        body = [located(ast.Assign([node.target], loaded(item)), node), *body]
        extra = getattr(node, "extra_test", None)
        sequence = self.expressions.visit(node.iter)
        get, put = self._accessors(state, node)
        loop = self._function("loop_body", [item], shared, body, node)
        statements: list[ast.stmt] = [get, put, loop]
        test: ast.expr = ast.Constant(None)
        if extra is not None:
            check = self._function(
                "extra_test",
                [],
                state,
                [located(ast.Return(self.expressions.visit(extra)), node)],
                node,
            )
            statements.append(check)
            test = loaded(check.name)
        call = ag(
            "for_stmt",
            sequence,
            test,
            loaded(loop.name),
            loaded(get.name),
            loaded(put.name),
            _names(state),
            options,
            at=node,
        )
        return [*statements, *_undefined(undefined, node), _expression(call)]

    def _With(self, node: ast.With, defined: set[str]) -> list[ast.stmt]:
        for item in node.items:
            item.context_expr = self.expressions.outside_call(item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars = self.expressions.visit(item.optional_vars)
                assigned = Activity.of(item.optional_vars).writes
                defined |= assigned
                self.unset = self.unset - assigned
        node.body = self._block(node.body, defined)
        return [node]

    def _Try(self, node: ast.Try, defined: set[str]) -> list[ast.stmt]:
        generated = getattr(node, "generated", False)
        node.body = self._block(node.body, defined)
        if node.handlers and not generated:
            node.body = watched(node, self.expressions)
        for handler in node.handlers:
            inside = defined | ({handler.name} if handler.name else set())
            handler.body = self._block(handler.body, inside)
        node.orelse = self._block(node.orelse, defined)
        node.finalbody = self._block(node.finalbody, defined)
        return [node]

    def _Raise(self, node: ast.Raise, defined: set[str]) -> list[ast.stmt]:
        return self.exceptions.raised(node, defined)

    def _Assert(self, node: ast.Assert, defined: set[str]) -> list[ast.stmt]:
        return self.exceptions.asserted(node, defined)

    def _Match(self, node: ast.Match, defined: set[str]) -> list[ast.stmt]:
        node.subject = self.expressions.visit(node.subject)
        for case in node.cases:
            inside = defined | Activity.of(case.pattern).writes
            if case.guard is not None:
                case.guard = self.expressions.visit(case.guard)
            case.body = self._block(case.body, set(inside))
        return [node]

    def _AugAssign(self, node: ast.AugAssign, defined: set[str]) -> list[ast.stmt]:
        node.value = self.expressions.visit(node.value)
        if not isinstance(node.target, ast.Name) or node.target.id in self.generated:
            node.target = self.expressions.visit(node.target)
            return [node]
        name = node.target.id
        return [*statements_of(f"{name} = ag__.own({name})", node), node]

    def _AnnAssign(self, node: ast.AnnAssign, defined: set[str]) -> list[ast.stmt]:
        if node.value is None:
            return [node]
        assign = ast.Assign(
            [self.expressions.visit(node.target)], self.expressions.visit(node.value)
        )
        return [located(assign, node)]

    def _Expr(self, node: ast.Expr, defined: set[str]) -> list[ast.stmt]:
        call = node.value
        source = ast.unparse(call) if returns_new(call) else None
        statement = self.expressions.visit(node)
        if source is not None:
            statement.value = ag("unused", statement.value, ast.Constant(source), at=node)
        return [statement]

    def _Delete(self, node: ast.Delete, defined: set[str]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                done += statements_of(
                    f"{target.id} = ag__.Undefined({target.id!r}, deleted=True)", node
                )
            else:
                done.append(located(ast.Delete([self.expressions.visit(target)]), node))
        return done

    def _FunctionDef(self, node: ast.FunctionDef, defined: set[str]) -> list[ast.stmt]:
        if is_generator(node):
            return [node]
        visit = self.expressions.visit
        node.args.defaults = [visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [None if d is None else visit(d) for d in node.args.kw_defaults]
        around = self.expressions.objects
        converter = FunctionConverter(self.namer, "ag__.STD", self.generated, around, self.around)
        converted = converter.convert(node)
        mark = located(ast.Attribute(loaded("ag__"), "autograph_artifact", ast.Load()), node)
        converted.decorator_list = [*converted.decorator_list, mark]
        return [converted]

    def _AsyncFunctionDef(self, node: ast.AsyncFunctionDef, defined: set[str]) -> list[ast.stmt]:
        return [node]

    # -- state -------------------------------------------------------------------------

    def _state(
        self, node: ast.stmt, modified: set[str], defined: set[str]
    ) -> tuple[tuple[str, ...], int]:
        """The symbols that the block shares with what is around it, those it returns first."""
        live_in, live_out = node.live_in, node.live_out  # type: ignore[attr-defined]  # marks of our own
        plain = {n for n in modified if not is_composite(n) and (n in live_in or n in live_out)}
        plain |= {n for n in modified if n in self.outer_names}
        # Nested functions may read these at any later time.
        shared = modified & defined & self.captured - self.unset
        plain |= shared
        fixed = {n for n in modified if is_composite(n) and owner(n) not in modified}
        for_input = plain - live_out - self.outer_names - shared
        ordered = sorted(plain | fixed, key=lambda n: (n in for_input, n))
        return tuple(ordered), len(ordered) - len(for_input)

    def _shared(self, state: Sequence[str], modified: set[str]) -> list[str]:
        """The names that a block has in common with what is around it.

        Those of nested functions are among them even if they are no state: Python's functions
        read what a variable is when they are called.
        """
        late = sorted(modified & self.captured - set(state))
        return [*state, *late]

    def _undefined(self, modified: set[str], defined: set[str]) -> list[str]:
        """Names that the block may be the first to assign."""
        return sorted(n for n in modified - defined - self.outer_names if not is_composite(n))

    def _accessors(
        self, state: tuple[str, ...], at: ast.stmt
    ) -> tuple[ast.FunctionDef, ast.FunctionDef]:
        current = [as_it_is_now(n) if is_composite(n) else n for n in state]
        reads = [
            n if n is read else f"ag__.ldu(lambda: {read}, {n!r})"
            for n, read in zip(state, current, strict=True)
        ]
        give = statements_of(
            f"def f():\n return ({', '.join(reads)}{',' if len(reads) == 1 else ''})", at
        )
        if state:
            targets = f"({', '.join(current)}{',' if len(state) == 1 else ''})"
            take = statements_of(f"{targets} = vars_", at)
        else:
            take = [located(ast.Pass(), at)]
        get = self._function("get_state", [], (), give[0].body, at)
        put = self._function("set_state", ["vars_" if state else "block_vars"], state, take, at)
        return get, put

    def _function(
        self,
        name: str,
        arguments: list[str],
        state: Sequence[str],
        body: Sequence[ast.stmt],
        at: ast.stmt,
    ) -> ast.FunctionDef:
        """A local function around a block, which shares the state's plain names."""
        label = self.namer.new(name)
        self.generated.add(label)
        definition = statements_of(f"def {label}({', '.join(arguments)}):\n pass", at)[0]
        shared = [n for n in state if not is_composite(n)]
        head: list[ast.stmt] = []
        for kind, word in ((ast.Global, "global"), (ast.Nonlocal, "nonlocal")):
            names = [n for n in shared if (n in self.global_names) == (kind is ast.Global)]
            if names:
                head += statements_of(f"{word} {', '.join(names)}", at)
        definition.body = [*head, *(body or [located(ast.Pass(), at)])]
        return definition

    def _options(self, node: ast.While | ast.For) -> ast.Dict:
        """The loop's options; a leading call of set_loop_options is taken out of the body."""
        flags = 0  # the flags of lowered jumps precede it
        while is_flag_off(node.body[flags], self.generated):
            flags += 1
        first = node.body[flags]
        if not is_options(first):
            return ast.Dict([], [])
        node.body[flags : flags + 1] = [located(ast.Pass(), first)]
        keys, values = named(first.value)  # type: ignore[attr-defined]  # checked by is_options
        return ast.Dict(keys, [self.expressions.visit(v) for v in values])


def _rewritten(rewrite: ast.NodeTransformer, body: Sequence[ast.stmt]) -> list[ast.stmt]:
    done: list[ast.stmt] = []
    for statement in body:
        rewritten = rewrite.visit(statement)
        done.extend(rewritten if isinstance(rewritten, list) else [rewritten])
    return done


def _declared(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> set[str]:
    """Names that the function declares global or nonlocal."""
    found: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, kinds):
                found |= set(node.names)  # type: ignore[attr-defined]  # both kinds have names
    return found


def _names(state: Sequence[str]) -> ast.Tuple:
    return ast.Tuple([ast.Constant(n) for n in state], ast.Load())


def _expression(call: ast.Call) -> ast.Expr:
    return located(ast.Expr(call), call)


def _undefined(names: Sequence[str], at: ast.stmt) -> list[ast.stmt]:
    return [s for n in names for s in statements_of(f"{n} = ag__.Undefined({n!r})", at)]


def _return(text: str, at: ast.AST) -> list[ast.stmt]:
    definition = statements_of(f"def f():\n {text}", at)[0]
    return definition.body


def _is_unpacked(target: ast.expr) -> bool:
    return isinstance(target, (ast.Tuple, ast.List))


def _inner_names(body: Sequence[ast.stmt]) -> set[str]:
    """The names of comprehensions and the parameters of lambdas."""
    found: set[str] = set()
    for node in itertools.chain.from_iterable(map(ast.walk, body)):
        if isinstance(node, ast.comprehension):
            found |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.Lambda):
            found |= parameters(node.args)
    return found


def _starred_names(node: ast.stmt) -> list[str]:
    """The names that get a new list of what other targets leave: `a, *names = values`."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    starred = [
        part.value
        for target in targets
        for part in ast.walk(target)
        if isinstance(part, ast.Starred)
    ]
    return [n.id for n in starred if isinstance(n, ast.Name)]
