"""The conversion of a function: the result has the same globals, closure cells, file and lines."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
import weakref
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, cast

from intaglio.autograph import libraries, source, verbosity
from intaglio.autograph.expressions import located
from intaglio.autograph.hooks import HOOKS
from intaglio.autograph.jumps import statements_of
from intaglio.autograph.locations import global_names, note_free_variables, own_names
from intaglio.autograph.names import Namer, all_names, fill_locations
from intaglio.autograph.statements import OPTIONS, FunctionConverter, Outside
from intaglio.base.locks import lasting_lock

ACCESSORS = ("get_state", "set_state")
GENERATED = (
    *ACCESSORS,
    "if_body",
    "else_body",
    "loop_body",
    "loop_test",
    "extra_test",
    "raising",
    "asserting",
)


_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Converted:
    """The result of converting a code object: the new syntax tree and its compiled code."""

    def __init__(self, tree: ast.FunctionDef | ast.expr, code: CodeType) -> None:
        self.tree = tree
        self.code = code


# Goes with the user's code object. Those of two files are equal if their text is, so the
# file is part of what they are known by.
_cache: weakref.WeakKeyDictionary[CodeType, dict[Any, Converted]] = weakref.WeakKeyDictionary()
_lock = lasting_lock()


def convert(
    function: FunctionType, user_requested: bool = True, recursive: bool = True
) -> FunctionType:
    """The converted form of a Python function; what it calls is converted if `recursive`.

    Raises source.NoSourceError if the source cannot be found or read.
    """
    converted = _converted(function, user_requested, recursive)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells["ag__"] = CellType(HOOKS.operators)
    missing = [n for n in converted.code.co_freevars if n not in cells]
    if missing:
        raise source.NoSourceError(
            f"{missing} of '{function.__name__}' are not variables around it any more"
        )
    converted_function = FunctionType(
        converted.code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple([cells[n] for n in converted.code.co_freevars]),
    )
    functools.update_wrapper(converted_function, function)
    converted_function.__kwdefaults__ = function.__kwdefaults__
    del converted_function.__dict__["__wrapped__"]  # inspect would unwrap the converted function
    converted_function.autograph_artifact__ = True  # type: ignore[attr-defined]  # a mark of our own
    return converted_function


def code_text(function: FunctionType, recursive: bool = True) -> str:
    """The source of the converted function, in TensorFlow's form: without marks of creation."""
    tree = source.copied(_converted(function, True, recursive).tree)
    return ast.unparse(_Unmarked().visit(tree)) + "\n"


_MARKS = ("ag__.created", "ag__.iterated", "ag__.compared", "ag__.entered")


class _Unmarked(ast.NodeTransformer):
    """Replaces marks, such as `ag__.created(x)`, which TensorFlow's converted code does not have."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replaces a mark by its argument; visits other calls."""
        node = cast("ast.Call", self.generic_visit(node))
        name = ast.unparse(node.func)
        if name in _MARKS:
            return node.args[0]
        if name == "ag__.outer":
            node.func, node.args = ast.parse("ag__.ld", mode="eval").body, node.args[:1]
        elif name == "ag__.method":
            return ast.Attribute(node.args[0], node.args[1].value, ast.Load())  # type: ignore[attr-defined]  # a constant
        elif name == "ag__.item":
            item = ast.Subscript(node.args[0], node.args[1], ast.Load())
            node.func, node.args = ast.parse("ag__.ld", mode="eval").body, [item]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Drops the marks that report assignments."""
        return None if ast.unparse(node).startswith("ag__.assigned(") else self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        """Drops `x = x`, which remains of the mark of a starred target."""
        whole = ast.unparse(node)
        self.generic_visit(node)
        left, _, right = ast.unparse(node).partition(" = ")
        return None if left == right and ast.unparse(node) != whole else node


def _converted(function: FunctionType, user_requested: bool, recursive: bool) -> Converted:
    code = function.__code__
    key = (code.co_filename, user_requested, recursive)
    known = _cache.get(code, {}).get(key)
    if known is None:
        conversion = _convert(function, user_requested, recursive)
        note_free_variables(conversion.code, frozenset(function.__code__.co_freevars))
        verbosity.report(1, lambda: f"Converted {function!r}")
        verbosity.report(3, lambda: ast.unparse(conversion.tree))
        with _lock:
            known = _cache.setdefault(code, {}).setdefault(key, conversion)
    return known


def _convert(function: FunctionType, user_requested: bool, recursive: bool) -> Converted:
    found = source.find(function)
    if function.__code__.co_flags & _GENERATORS:
        raise source.NoSourceError("generators and coroutines run as Python")
    tree: Any = found.node
    if found.class_name:
        _Mangler(found.class_name).visit(tree)
    code = function.__code__
    namer = Namer(all_names(tree) | set(code.co_freevars))
    definition = _definition(tree)
    options = OPTIONS.format(recursive=recursive, requested=user_requested)
    converter = FunctionConverter(
        namer, options, {"ag__"}, _objects_around(function), _outside(function)
    )
    definition = converter.convert(definition)
    label = _converted_name(code.co_name)
    definition.name = label
    module = _factory(definition, code.co_freevars)
    compiled = compile(module, found.filename, "exec", dont_inherit=True)
    inner = _find_code(compiled, label)
    return Converted(definition, _renamed(inner, code.co_name, code.co_qualname))


def _converted_name(name: str) -> str:
    """The name of a function in converted code; as TensorFlow's, without a number at its end."""
    return "tf__lambda" if name == "<lambda>" else "tf__" + re.sub(r"_\d+$", "", name)


def _objects_around(function: FunctionType) -> set[str]:
    """The names around a function whose values may be objects of user classes."""
    plain = (ModuleType, FunctionType, BuiltinFunctionType, type)
    space = function.__globals__
    return set(function.__code__.co_freevars) | {
        n for n, value in space.items() if not isinstance(value, plain)
    }


def _outside(function: FunctionType) -> Outside:
    """The names of enclosing functions and of the module that the function reads."""
    code, space = function.__code__, function.__globals__
    own = own_names(code)
    used = {n for n in global_names(code)[1] if n in space and n not in own}
    libraries_ = {n for n in used if type(space[n]) is ModuleType and libraries.is_one(space[n])}
    fixed = () if space.get("__name__") == "__main__" else (FunctionType, type)
    spaces = {n for n in used - libraries_ if isinstance(space[n], (ModuleType, type))}
    variables = {n for n in used - libraries_ if type(space[n]) not in _UNCHANGING}
    variables = {n for n in variables if n in spaces or not isinstance(space[n], fixed)}
    return Outside(frozenset(variables | {*code.co_freevars} - own), frozenset(spaces))


# What globals have that are not assigned to again.
_UNCHANGING = (BuiltinFunctionType, type(print))


def _definition(tree: Any) -> ast.FunctionDef:
    """The definition without decorators; a lambda becomes a function that returns its value."""
    if isinstance(tree, ast.Lambda):
        value = ast.copy_location(ast.Return(tree.body), tree.body)
        definition = statements_of("def tf__lambda():\n pass", tree)[0]
        definition.args, definition.body = tree.args, [value]  # type: ignore[attr-defined]  # a function definition has it
        tree = definition
    tree.decorator_list = []
    none = ast.Constant(None)
    tree.args.defaults = [located(copy.copy(none), tree) for _ in tree.args.defaults]
    tree.args.kw_defaults = [d and located(copy.copy(none), tree) for d in tree.args.kw_defaults]
    return tree


def _factory(definition: ast.FunctionDef, free: tuple[str, ...]) -> ast.Module:
    """A module in which the definition sees its free variables and `ag__` as cells."""
    names = ", ".join([*(n for n in free if n != "ag__"), "ag__"])
    outer = statements_of(f"def factory({names}):\n pass", definition)[0]
    outer.body = [definition]  # type: ignore[attr-defined]  # a function definition has it
    fill_locations(outer)
    return ast.Module([outer], [])


def _find_code(code: CodeType, name: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == name:
                return constant
            try:
                return _find_code(constant, name)
            except LookupError:
                continue
    raise LookupError(name)


def _renamed(code: CodeType, name: str, qualified: str) -> CodeType:
    """The code objects renamed to the user's names, for tracebacks.

    Code that reads and writes the state is attributed to this package: debuggers do not stop
    there, and tracebacks do not show it.
    """
    is_class = not inspect.CO_OPTIMIZED & code.co_flags
    inside = f"{qualified}." if is_class else f"{qualified}.<locals>."
    constants: list[Any] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            kind = constant.co_name.rstrip("_0123456789")
            if kind in GENERATED:
                constant = _renamed(constant, name, qualified)
            else:
                own = constant.co_name
                constant = _renamed(constant, own, f"{inside}{own}")
            if kind in ACCESSORS:
                constant = constant.replace(co_filename="<intaglio state>")
        elif is_class and constant == code.co_qualname:
            constant = qualified  # the class takes its name from here
        constants.append(constant)
    return code.replace(co_name=name, co_qualname=qualified, co_consts=tuple(constants))


class _Mangler(ast.NodeTransformer):
    """Private names as the class body would spell them: `__x` -> `_Class__x`."""

    def __init__(self, class_name: str) -> None:
        self.prefix = f"_{class_name.lstrip('_')}"

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return f"{self.prefix}{name}" if private else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._mangled(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        node.attr = self._mangled(node.attr)
        return node
