"""Conversion of expressions: loads, calls, conditional expressions and logic become calls of `ag__`."""

from __future__ import annotations

import ast
import copy
from typing import Any

from intaglio.autograph.names import begin_at, symbol

# Methods that change a list.
MUTATORS = frozenset({"append", "extend", "insert", "pop", "clear"})
_TEXTS = (ast.Constant, ast.JoinedStr)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
# Methods that give a new value and leave the old one as it is, in graphs.
RETURNING_NEW = ("write", "unstack", "scatter", "split", "tensor_scatter")
# Called as they are: what they do depends on the frame that calls them.
UNCONVERTED = frozenset({"breakpoint", "locals", "globals", "eval", "exec", "dir", "vars"})


# What reads an attribute, by its use.
_ATTRIBUTES = {None: "attr", "tested": "attr", "called": "method"}


def ag(name: str, *arguments: ast.expr, at: ast.AST) -> ast.Call:
    """`ag__.name(arguments)` at the source position of a node."""
    call = ast.Call(
        ast.Attribute(ast.Name("ag__", ast.Load()), name, ast.Load()), list(arguments), []
    )
    return located(call, at)


def located(node: Any, at: ast.AST) -> Any:
    """Copies the source position of another node to the node and to new nodes below it.

    Nodes with a position are skipped: they were visited before, or are the user's.
    """
    pending: list[Any] = [node]
    while pending:
        part = pending.pop()
        if not hasattr(part, "lineno"):
            if part._attributes:
                begin_at(part, at)
            pending += ast.iter_child_nodes(part)
    return node


def thunk(body: ast.expr) -> ast.Lambda:
    """`lambda: body`."""
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(empty, body)


def loaded(name: str) -> ast.Name:
    """A load of a name."""
    return ast.Name(name, ast.Load())


class Expressions(ast.NodeTransformer):
    """Converts the expressions of one function; `generated` names are read as they are."""

    def __init__(self, scope: str, generated: set[str], first_parameter: str | None) -> None:
        self.scope = scope
        self.generated = generated
        self.first_parameter = first_parameter
        self.printed = False  # inside the arguments of print
        self.objects: set[str] = set()  # names that may have objects of the user's classes
        self.outer: set[str] = set()  # names of variables around the function, and of globals
        self.spaces: set[str] = set()  # names of the user's modules and classes
        self.composite_names: set[str] = set()  # attributes and items that the function writes
        # Inside a `raise` statement, whose text is built when it raises.
        self.raised = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or node.id in self.generated:
            return node
        if node.id in self.outer and not getattr(node, "is_plain", False):
            return ag("outer", node, thunk(copy.copy(node)), at=node)
        return ag("ld", node, at=node)

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> ast.expr:
        root, text = _root(node), symbol(node)
        is_named = isinstance(root, ast.Name)
        is_object = root.id in self.objects if is_named else not isinstance(root, _TEXTS)
        is_space = is_named and root.id in self.spaces
        is_inner = isinstance(node.value, (ast.Attribute, ast.Subscript))
        self.generic_visit(node)
        use = getattr(node, "use", None)
        if not isinstance(node.ctx, ast.Load) or use == "grown":
            node.value = ag("written", node.value, at=node)
        elif isinstance(node, ast.Attribute) and (is_object or is_space) and use in _ATTRIBUTES:
            call = ag(_ATTRIBUTES[use], node.value, ast.Constant(node.attr), at=node)
            if use == "tested":
                call.args.append(located(ast.Constant(False), node))
            return call
        elif use is None and (text in self.composite_names or _is_item(node)):
            if is_inner and isinstance(node, ast.Subscript):
                node.value = ag("looked", node.value, at=node)
            if isinstance(node, ast.Subscript) and _is_item(node):
                return ag("item", node.value, node.slice, at=node)
            return ag("ld", node, at=node)
        is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        is_read = use is None and isinstance(node.ctx, ast.Load)
        if not (is_read and is_slice):
            return node
        node.value = ag("iterated", node.value, at=node)
        return ag("created", node, at=node)

    visit_Subscript = visit_Attribute

    def generic_visit(self, node: Any) -> Any:
        """The node with its children visited, as the caller's type."""
        return super().generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name == "super" and not node.args and self.first_parameter is not None:
            # super() finds class and object in the frame, which is another one here.
            return located(
                ast.Call(node.func, [loaded("__class__"), loaded(self.first_parameter)], []), node
            )
        if _is_format(node.func):
            node.args = [self._text_part(a) for a in node.args]
        if _is_own(node.func):
            node.args = [self.visit(a) for a in node.args]
            return node
        if (name in UNCONVERTED and not (name == "vars" and node.args)) or _is_debugger(node.func):
            return self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            node.func.use = "called"  # type: ignore[attr-defined]  # marks of our own
            if node.func.attr in MUTATORS:
                node.func.value.use = "grown"  # type: ignore[attr-defined]  # marks of our own
        outer, self.printed = self.printed, self.printed or name == "print"
        node = self.generic_visit(node)
        self.printed = outer
        return ag("converted_call", *call_parts(node), loaded(self.scope), at=node)

    def _created(self, node: Any) -> ast.expr:
        """Marks an expression that creates a container."""
        node = self.generic_visit(node)
        if not isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
            return node  # a target
        return ag("created", node, at=node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """One `for` of a comprehension, which reads what it iterates over."""
        node = self.generic_visit(node)
        node.iter = ag("iterated", node.iter, at=node.iter)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        node = self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = ag("iterated", node.value, at=node)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """An argument by its name; `**options` reads all of the options."""
        node = self.generic_visit(node)
        if node.arg is None:
            node.value = ag("iterated", node.value, at=node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        """A display, of which `**options` reads all of the options."""
        whole = [key is None for key in node.keys]
        node = self.generic_visit(node)
        values = zip(node.values, whole, strict=True)
        node.values = [ag("iterated", v, at=v) if w else v for v, w in values]
        return ag("created", node, at=node)

    visit_List = visit_Set = visit_GeneratorExp = _created
    visit_ListComp = visit_DictComp = visit_SetComp = _created

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _binds(node):
            return self.generic_visit(node)
        text = ast.Constant(ast.unparse(node.test))
        node = self.generic_visit(node)
        return ag("if_exp", node.test, thunk(node.body), thunk(node.orelse), text, at=node)

    def _text_part(self, node: ast.expr) -> ast.expr:
        """The conversion of a value that is formatted into a string."""
        if isinstance(node, (ast.Constant, ast.Starred)) or self.raised:
            return node
        call = ag("text_of", node, ast.Constant(ast.unparse(node)), at=node)
        if self.printed:
            call.args.append(located(ast.Constant(True), node))
        return call

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._text_part(node.value)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Mod) and _is_text(node.left):
            node.right = self._text_part(node.right)
        joins = _joins_containers(node)
        node = self.generic_visit(node)
        if not joins:
            return node
        node.left, node.right = [ag("iterated", o, at=o) for o in (node.left, node.right)]
        return ag("created", node, at=node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if _binds(node):
            return self.generic_visit(node)
        values = [self.visit(v) for v in node.values]
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return _folded(name, values, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return ag("not_", node.operand, at=node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1:
            return self._none_test(node) or self._contained(node)
        if _binds(node):
            return self.generic_visit(node)
        terms = [_compared(self.visit(t)) for t in (node.left, *node.comparators)]
        pairs: list[ast.expr] = [
            located(ast.Compare(a, [op], [b]), node)
            for a, op, b in zip(terms, node.ops, terms[1:], strict=False)
        ]
        return _folded("and_", pairs, node)

    def _contained(self, node: ast.Compare) -> ast.expr:
        """`x in c`, `x is y` and their opposites, also where they are decided only at run time."""
        node = self.generic_visit(node)
        op, right = node.ops[0], node.comparators[0]
        if isinstance(op, (ast.Is, ast.IsNot)) and not isinstance(right, ast.Constant):
            test = ag("is_same_object", node.left, right, at=node)
            return test if isinstance(op, ast.Is) else ag("not_", test, at=node)
        if not isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(op, (ast.Is, ast.IsNot)):
                node.left, node.comparators = _compared(node.left), [_compared(right)]
            return node
        test = ag("contains", node.left, right, at=node)
        return test if isinstance(op, ast.In) else ag("not_", test, at=node)

    def _none_test(self, node: ast.Compare) -> ast.expr | None:
        """`x is None` and `x is not None`, also where they are decided only at run time."""
        op, right = node.ops[0], node.comparators[0]
        nothing = isinstance(right, ast.Constant) and right.value is None
        if not (nothing and symbol(node.left) is not None):
            return None
        if not isinstance(op, (ast.Is, ast.IsNot)):
            return None
        left: Any = node.left
        if not isinstance(left, ast.Name):
            left.use = "tested"
            left = self.visit(left)
        elif left.id in self.outer:
            only_tested = located(ast.Constant(True), left)
            left = ag("outer", left, thunk(copy.copy(left)), only_tested, at=left)
        test = ag("is_none", left, at=node)
        return test if isinstance(op, ast.Is) else ag("not_", test, at=node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(node)):
            return node
        self.generic_visit(node)
        return ag("autograph_artifact", node, at=node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        raise AssertionError("statements are converted elsewhere")

    def outside_call(self, node: ast.expr) -> ast.expr:
        """A context manager's call: its parts are converted, the call itself is not."""
        manager = self.generic_visit(node) if isinstance(node, ast.Call) else self.visit(node)
        return ag("entered", manager, at=node)


def _compared(node: ast.expr) -> ast.expr:
    return node if isinstance(node, ast.Constant) else ag("compared", node, at=node)


def _joins_containers(node: ast.BinOp) -> bool:
    """True for `[0] * n`, and for `a + b` and `a | b` where `a` and `b` may be containers."""
    operands = (node.left, node.right)
    if any(isinstance(o, _DISPLAYS) for o in operands):
        return True
    plain = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.UnaryOp)
    joins = isinstance(node.op, (ast.Add, ast.BitOr))
    return joins and not any(isinstance(o, plain) for o in operands)


def _is_own(function: ast.expr) -> bool:
    """True for the functions of `ag__`, which are called as they are."""
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "ag__"
    )


def _is_format(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "format"
        and _is_text(function.value)
    )


def without_annotations(node: ast.FunctionDef) -> None:
    """Removes annotations, whose names may be defined for type checkers only."""
    node.returns = None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None


def returns_new(node: ast.expr) -> bool:
    """True for calls that may have no effect besides their result."""
    name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
    return name in RETURNING_NEW or name.startswith(RETURNING_NEW[-1])


def _is_item(node: ast.expr) -> bool:
    """True for `d[k]`, where `d` may be a container."""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Slice, ast.Tuple))


def _root(node: ast.expr) -> ast.expr:
    """The leftmost expression of `a.b[c].d`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _folded(name: str, values: list[ast.expr], at: ast.AST) -> ast.expr:
    result = values[-1]
    for value in reversed(values[:-1]):
        result = ag(name, thunk(value), thunk(result), at=at)
    return result


def _binds(node: ast.AST) -> bool:
    """True if a walrus inside binds a name, which it could not do from within a lambda."""
    return any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield)) for n in ast.walk(node))


def _is_debugger(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "set_trace"
        and isinstance(function.value, ast.Name)
    )


def call_parts(node: ast.Call) -> tuple[ast.expr, ast.expr, ast.expr]:
    """What a call calls, its positional arguments as a tuple, its keywords as a dict or None."""
    keywords = _keywords(node) if node.keywords else ast.Constant(None)
    return node.func, _positional(node), keywords


def _positional(node: ast.Call) -> ast.expr:
    """The positional arguments as one tuple expression."""
    parts: list[ast.expr] = []
    run: list[ast.expr] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            if run:
                parts.append(ast.Tuple(run, ast.Load()))
                run = []
            parts.append(ast.Call(loaded("tuple"), [argument.value], []))
        else:
            run.append(argument)
    if run or not parts:
        parts.append(ast.Tuple(run, ast.Load()))
    result = parts[0]
    for part in parts[1:]:
        result = ast.BinOp(result, ast.Add(), part)
    return result


def _keywords(node: ast.Call) -> ast.expr:
    return ast.Call(loaded("dict"), [], node.keywords)
