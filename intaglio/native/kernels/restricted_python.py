"""Compiles Python functions of a restricted form: loops over elements of arrays.

Algorithms that NumPy has no whole-array function for (rejection sampling, suppression, matching,
parsing) are written as Python functions with loops, as `ops/restricted.py` describes it, and
translated here from their syntax trees, statement by statement, for the dtypes of their arrays.
Variables are allocas; LLVM's passes promote them to registers (`jit.FULL_EFFORT`), as for C.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Kind, Lanes, Unsupported, literal
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.ops import restricted

Run = Callable[..., Any]

# The LLVM types of numbers in registers. A literal takes the type of the other operand.
INTEGER, TEST, LITERAL, POINTER = "i64", "i1", "literal", "ptr"
_KINDS = {"float": FLOAT, "double": DOUBLE}
_WIDEST = {TEST: 0, INTEGER: 1, "float": 2, "double": 3}
_ELEMENTS = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
_OPERATIONS: dict[type, tuple[str, str]] = {
    ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"),
    ast.BitAnd: ("and", ""), ast.BitOr: ("or", ""), ast.BitXor: ("xor", ""),
    ast.LShift: ("shl", ""), ast.RShift: ("lshr", ""), ast.Div: ("", "fdiv"),
}  # fmt: skip
_COMPARISONS: dict[type, tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
}  # fmt: skip
# The type where both operands are literals.
_FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS = {math.log: "log", math.log1p: "log1p", math.exp: "exp", math.lgamma: "lgamma",
              math.sin: "sin", math.cos: "cos", math.sqrt: "sqrt"}  # fmt: skip


class Value(NamedTuple):
    """A number or an array: its type, its LLVM name, and the dtype of an array's elements."""

    kind: str
    name: Any
    element: str = ""


class _Loop(NamedTuple):
    """The targets of `continue` and `break`."""

    again: str
    after: str


class _Module:
    """The functions of a kernel: each Python function once for each combination of types."""

    def __init__(self) -> None:
        self.functions: dict[tuple[Any, tuple[Any, ...]], tuple[Code, list[str]]] = {}

    def function(self, function: Any, kinds: tuple[tuple[str, str], ...]) -> tuple[Code, list[str]]:
        """The code of a function and the types of its results."""
        key = (function, kinds)
        if key not in self.functions:
            name = f"{function.__name__}_{len(self.functions)}"
            self.functions[key] = _Translation(self, function, kinds, name).done()
        return self.functions[key]


class _Translation:
    """Translates one function."""

    def __init__(
        self, module: _Module, function: Any, kinds: Sequence[tuple[str, str]], name: str
    ) -> None:
        self.module, self.function = module, function
        self.tree = restricted.tree_of(function)
        self.globals = inspect.getclosurevars(function).globals
        names = [a.arg for a in self.tree.args.args]
        parameters = [f"{kind} %a{i}" for i, (kind, _) in enumerate(kinds)]
        self.code = Code(name, parameters, "internal void")
        self.slots: dict[str, Value] = {}
        self.loops: list[_Loop] = []
        self.returns: list[str] = []
        for i, (own, (kind, element)) in enumerate(zip(names, kinds, strict=True)):
            self._set(own, Value(kind, f"%a{i}", element))

    def done(self) -> tuple[Code, list[str]]:
        """The code and the types of the results, which callers pass pointers for."""
        self._block(self.tree.body)
        self.code.do("ret void")
        for i in range(len(self.returns)):
            self.code.add_parameter(f"ptr %r{i}")
        return self.code, self.returns

    # -- statements ------------------------------------------------------------------

    def _wrong(self, node: ast.AST, what: str) -> Unsupported:
        line = getattr(node, "lineno", 0)
        return Unsupported(f"{self.function.__qualname__}, line {line}: {what}")

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if write is None:
                raise self._wrong(statement, f"{type(statement).__name__} has no code")
            write(statement)

    def _pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._values(node.value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self._value(node.value))

    def _assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            found = self._values(node.value)
            if len(found) != len(target.elts):
                raise self._wrong(target, f"{len(found)} values for {len(target.elts)} names")
            for each, one in zip(target.elts, found, strict=True):
                self._store(each, one)
        else:
            self._store(target, self._value(node.value))

    def _set(self, name: str, value: Value) -> None:
        """A variable has the type of the first value that it is assigned."""
        value = self._typed(value)
        if name not in self.slots:
            place = self.code.first(f"alloca {value.kind}, align 8")
            self.slots[name] = Value(value.kind, place, value.element)
        slot = self.slots[name]
        if slot.kind == POINTER and slot.element != value.element:
            raise Unsupported(f"{self.function.__qualname__}: {name} is arrays of two dtypes")
        value = self._converted(value, slot.kind)
        self.code.do(f"store {slot.kind} {value.name}, ptr {slot.name}, align 8")

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Subscript):
            array, at = self._element(target)
            self._put(array, at, value)
        else:
            raise self._wrong(target, "only names and elements are assigned")

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self._read(node.target)
            self._set(node.target.id, self._combined(node, before, self._value(node.value)))
        elif isinstance(node.target, ast.Subscript):
            array, at = self._element(node.target)
            before = self._get(array, at)
            self._put(array, at, self._combined(node, before, self._value(node.value)))

    def _if(self, node: ast.If) -> None:
        code = self.code
        yes, no, after = map(code.new_label, ("yes", "no", "after"))
        code.branch(self._test(node.test), yes, no if node.orelse else after)
        code.label(yes)
        self._block(node.body)
        code.jump(after)
        if node.orelse:
            code.label(no)
            self._block(node.orelse)
            code.jump(after)
        code.label(after)

    def _while(self, node: ast.While) -> None:
        code = self.code
        head, body, after = map(code.new_label, ("head", "body", "after"))
        code.jump(head)
        code.label(head)
        code.branch(self._test(node.test), body, after)
        code.label(body)
        self.loops.append(_Loop(head, after))
        self._block(node.body)
        self.loops.pop()
        code.jump(head)
        code.label(after)

    def _for(self, node: ast.For) -> None:
        code, call = self.code, node.iter
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "range":
            raise self._wrong(node, "loops are over range(...)")
        if not isinstance(node.target, ast.Name):
            raise self._wrong(node, "loops are over range(...)")
        bounds = [self._integer(argument) for argument in call.args]
        start, stop = (bounds[0], bounds[1]) if len(bounds) > 1 else ("0", bounds[0])
        step = bounds[2] if len(bounds) > 2 else "1"
        place = code.first("alloca i64, align 8")
        code.do(f"store i64 {start}, ptr {place}, align 8")
        head, body, again, after = map(code.new_label, ("head", "body", "again", "after"))
        code.jump(head)
        code.label(head)
        index = code.load("i64", place, 8)
        order = "sgt" if step.startswith("-") else "slt"
        code.branch(code.integer(f"icmp {order}", index, stop), body, after)
        code.label(body)
        self._set(node.target.id, Value(INTEGER, index))
        self.loops.append(_Loop(again, after))
        self._block(node.body)
        self.loops.pop()
        code.jump(again)
        code.label(again)
        following = code.integer("add nsw", code.load("i64", place, 8), step)
        code.do(f"store i64 {following}, ptr {place}, align 8")
        code.jump(head)
        code.label(after)

    def _break(self, node: ast.Break) -> None:
        self._leave(self.loops[-1].after)

    def _continue(self, node: ast.Continue) -> None:
        self._leave(self.loops[-1].again)

    def _leave(self, label: str) -> None:
        self.code.jump(label)
        self.code.label(self.code.new_label("unreached"))

    def _return(self, node: ast.Return) -> None:
        found = [] if node.value is None else list(map(self._typed, self._values(node.value)))
        if not self.returns:
            self.returns = [value.kind for value in found]
        for i, (value, kind) in enumerate(zip(found, self.returns, strict=True)):
            self.code.do(f"store {kind} {self._converted(value, kind).name}, ptr %r{i}, align 8")
        self.code.do("ret void")
        self.code.label(self.code.new_label("unreached"))

    # -- expressions -----------------------------------------------------------------

    def _values(self, node: ast.expr) -> list[Value]:
        if isinstance(node, ast.Tuple):
            return [self._value(element) for element in node.elts]
        if isinstance(node, ast.Call):
            return self._call(node)
        return [self._value(node)]

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return self._known(node, node.value)
        if isinstance(node, ast.Name):
            return self._read(node)
        if isinstance(node, ast.Attribute):
            return self._known(node, self._target(node))
        if isinstance(node, ast.Subscript):
            array, at = self._element(node)
            if isinstance(node.slice, ast.Slice):
                return self._from(array, at)
            return self._get(array, at)
        if isinstance(node, ast.BinOp):
            return self._combined(node, self._value(node.left), self._value(node.right))
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return Value(TEST, self._test(node))
        if isinstance(node, ast.IfExp):
            return self._either(node)
        if isinstance(node, ast.Call):
            found = self._call(node)
            if len(found) == 1:
                return found[0]
        raise self._wrong(node, f"{ast.unparse(node)} has no code")

    def _known(self, node: ast.AST, value: Any) -> Value:
        if isinstance(value, (bool, np.bool_)):
            return Value(TEST, "true" if value else "false")
        if isinstance(value, (int, float, np.number)):
            return Value(LITERAL, value.item() if isinstance(value, np.generic) else value)
        raise self._wrong(node, f"{value!r} is no number")

    def _read(self, node: ast.Name) -> Value:
        slot = self.slots.get(node.id)
        if slot is not None:
            return Value(slot.kind, self.code.load(slot.kind, slot.name, 8), slot.element)
        if node.id in self.globals:
            return self._known(node, self.globals[node.id])
        raise self._wrong(node, f"{node.id} is not known here")

    def _element(self, node: ast.Subscript) -> tuple[Value, str]:
        """An array, and the index of an element, or of the first element of a slice."""
        array = self._value(node.value)
        if array.kind != POINTER:
            raise self._wrong(node, f"{ast.unparse(node.value)} is no array")
        index = node.slice
        if isinstance(index, ast.Slice):
            if index.lower is None or index.upper is not None or index.step is not None:
                raise self._wrong(node, "parts of arrays are array[start:]")
            index = index.lower
        return array, self._integer(index)

    def _integer(self, node: ast.expr) -> str:
        return self._converted(self._typed(self._value(node)), INTEGER).name

    def _pointer(self, array: Value, at: str) -> str:
        return self.code.at(_memory(array.element), array.name, at)

    def _from(self, array: Value, at: str) -> Value:
        return Value(POINTER, self._pointer(array, at), array.element)

    def _get(self, array: Value, at: str) -> Value:
        memory, element = _memory(array.element), np.dtype(array.element)
        found = self.code.load(memory, self._pointer(array, at), element.itemsize)
        if element.kind == "f" or element.itemsize == 8:
            return Value(memory, found)
        word = "sext" if element.kind == "i" else "zext"
        return Value(INTEGER, self.code.let(f"{word} {memory} {found} to i64"))

    def _put(self, array: Value, at: str, value: Value) -> None:
        memory, element = _memory(array.element), np.dtype(array.element)
        value = self._typed(value) if value.kind != LITERAL else value
        wanted = memory if element.kind == "f" else INTEGER
        name = self._converted(value, wanted).name
        if wanted == INTEGER and memory != INTEGER:
            name = self.code.let(f"trunc i64 {name} to {memory}")
        there = self._pointer(array, at)
        self.code.do(f"store {memory} {name}, ptr {there}, align {element.itemsize}")

    def _typed(self, value: Value) -> Value:
        """A literal as an integer or a double."""
        if value.kind != LITERAL:
            return value
        return self._converted(value, INTEGER if isinstance(value.name, int) else "double")

    def _converted(self, value: Value, kind: str) -> Value:
        """A number converted to another type. Floats become integers only by `int`; doubles become
        floats by `single`, or when they are stored."""
        code, own = self.code, value.kind
        if own == kind:
            return value
        if own == LITERAL:
            if kind in _KINDS:
                return Value(kind, literal(value.name, _KINDS[kind]))
            if isinstance(value.name, int):
                if kind == TEST:
                    return Value(TEST, "true" if value.name else "false")
                return Value(INTEGER, str(_wrapped(value.name)))
        elif own == TEST and kind == INTEGER:
            return Value(kind, code.let(f"zext i1 {value.name} to i64"))
        elif own == INTEGER and kind in _KINDS:
            return Value(kind, code.let(f"sitofp i64 {value.name} to {kind}"))
        elif {own, kind} == {"float", "double"}:
            word = "fpext" if kind == "double" else "fptrunc"
            return Value(kind, code.let(f"{word} {own} {value.name} to {kind}"))
        elif kind == TEST:
            return Value(TEST, self._is_true(value))
        raise Unsupported(f"{self.function.__qualname__}: {own} where {kind} is needed")

    def _is_true(self, value: Value) -> str:
        if value.kind == TEST:
            return value.name
        if value.kind == LITERAL:
            return "true" if value.name else "false"
        if value.kind == INTEGER:
            return self.code.integer("icmp ne", value.name, 0)
        zero = literal(0.0, _KINDS[value.kind])
        return self.code.let(f"fcmp une {value.kind} {value.name}, {zero}")

    def _common(self, x: Value, y: Value) -> tuple[Value, Value]:
        """Both operands in the wider of their types."""
        if x.kind == LITERAL and y.kind == LITERAL:
            return self._common(self._typed(x), y)
        fractional = any(v.kind == LITERAL and isinstance(v.name, float) for v in (x, y))
        kinds = [v.kind for v in (x, y) if v.kind != LITERAL]
        kind = max(kinds, key=lambda k: _WIDEST[k])
        if fractional and kind in (TEST, INTEGER):
            kind = "double"
        kind = INTEGER if kind == TEST else kind
        return self._converted(x, kind), self._converted(y, kind)

    def _combined(self, node: Any, x: Value, y: Value) -> Value:
        operation = type(node.op)
        if x.kind == LITERAL and y.kind == LITERAL:
            return Value(LITERAL, _FOLDED[operation](x.name, y.name))
        if x.kind == TEST and y.kind == TEST and operation in (ast.BitAnd, ast.BitOr, ast.BitXor):
            word = _OPERATIONS[operation][0]
            return Value(TEST, self.code.let(f"{word} i1 {x.name}, {y.name}"))
        x, y = self._common(x, y)
        if x.kind == INTEGER and operation is ast.Div:
            x, y = (self._converted(v, "double") for v in (x, y))
        if x.kind == INTEGER and operation in (ast.FloorDiv, ast.Mod):
            return Value(INTEGER, self._divided(operation is ast.Mod, x.name, y.name))
        of_integers, of_floats = _OPERATIONS.get(operation, ("", ""))
        word = of_integers if x.kind == INTEGER else of_floats
        if not word:
            raise self._wrong(node, f"{ast.unparse(node)} has no code")
        return Value(x.kind, self.code.let(f"{word} {x.kind} {x.name}, {y.name}"))

    def _divided(self, rest: bool, x: str, y: str) -> str:
        """The quotient rounded down, or the remainder with the sign of the divisor, as in Python."""
        code = self.code
        quotient, remainder = code.integer("sdiv", x, y), code.integer("srem", x, y)
        left = code.integer("icmp ne", remainder, 0)
        opposite = code.integer("icmp slt", code.integer("xor", remainder, y), 0)
        beyond = code.let(f"and i1 {left}, {opposite}")
        if rest:
            more = code.let(f"select i1 {beyond}, i64 {y}, i64 0")
            return code.integer("add", remainder, more)
        return code.integer("sub", quotient, code.let(f"zext i1 {beyond} to i64"))

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            test = self._test(node.operand)
            return Value(TEST, self.code.let(f"xor i1 {test}, true"))
        x = self._value(node.operand)
        if x.kind == LITERAL:
            changed: dict[type, Any] = {ast.USub: operator.neg, ast.Invert: operator.invert}
            return Value(LITERAL, changed.get(type(node.op), operator.pos)(x.name))
        if isinstance(node.op, ast.USub):
            if x.kind in _KINDS:
                return Value(x.kind, self.code.let(f"fneg {x.kind} {x.name}"))
            return Value(INTEGER, self.code.integer("sub", 0, self._converted(x, INTEGER).name))
        if isinstance(node.op, ast.Invert):
            return Value(INTEGER, self.code.integer("xor", self._converted(x, INTEGER).name, -1))
        return x

    def _either(self, node: ast.IfExp) -> Value:
        code = self.code
        yes, no, after = map(code.new_label, ("yes", "no", "after"))
        code.branch(self._test(node.test), yes, no)
        code.label(yes)
        one = self._typed(self._value(node.body))
        place = code.first(f"alloca {one.kind}, align 8")
        code.do(f"store {one.kind} {one.name}, ptr {place}, align 8")
        code.jump(after)
        code.label(no)
        other = self._value(node.orelse)
        if one.kind == INTEGER and other.kind == LITERAL and isinstance(other.name, float):
            raise self._wrong(node, "both values must be of one type")
        other = self._converted(other, one.kind)
        code.do(f"store {one.kind} {other.name}, ptr {place}, align 8")
        code.jump(after)
        code.label(after)
        return Value(one.kind, code.load(one.kind, place, 8), one.element)

    def _test(self, node: ast.expr) -> str:
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.BoolOp):
            return self._all_or_any(node)
        return self._is_true(self._value(node))

    def _compared(self, node: ast.Compare) -> str:
        found, left = "", self._value(node.left)
        for operation, operand in zip(node.ops, node.comparators, strict=True):
            right = self._value(operand)
            x, y = self._common(left, right)
            signed, ordered = _COMPARISONS[type(operation)]
            word = f"icmp {signed}" if x.kind == INTEGER else f"fcmp {ordered}"
            one = self.code.let(f"{word} {x.kind} {x.name}, {y.name}")
            found = self.code.let(f"and i1 {found}, {one}") if found else one
            left = right
        return found

    def _all_or_any(self, node: ast.BoolOp) -> str:
        """Short-circuit evaluation."""
        code, every = self.code, isinstance(node.op, ast.And)
        place = code.first("alloca i1, align 8")
        after = code.new_label("known")
        for i, operand in enumerate(node.values):
            one = self._test(operand)
            code.do(f"store i1 {one}, ptr {place}, align 8")
            more = after
            if i + 1 < len(node.values):
                more = code.new_label("more")
                code.branch(one, *((more, after) if every else (after, more)))
            else:
                code.jump(after)
            code.label(more)
        return code.load("i1", place, 8)

    # -- calls -----------------------------------------------------------------------

    def _call(self, node: ast.Call) -> list[Value]:
        target = self._target(node.func)
        arguments = [value for argument in node.args for value in self._values(argument)]
        if target in (min, max):
            return [self._extreme(target is min, *arguments)]
        if target in (int, float, restricted.single, abs, math.floor):
            return [self._rounded(target, arguments[0])]
        if target is restricted.bits_to_double:
            bits = self._converted(arguments[0], INTEGER).name
            return [Value("double", self.code.let(f"bitcast i64 {bits} to double"))]
        if target in _FUNCTIONS:
            return [self._function(_FUNCTIONS[target], arguments[0])]
        if not inspect.isfunction(target):
            raise self._wrong(node, f"{ast.unparse(node.func)} has no code")
        return self._called(target, list(map(self._typed, arguments)))

    def _target(self, node: ast.expr) -> Any:
        """The function that is called: a name of the module, or of one that it imports."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return getattr(self.function.__globals__.get(node.value.id), node.attr, None)
        name = getattr(node, "id", "")
        builtins = {"min": min, "max": max, "int": int, "float": float, "abs": abs}
        return self.function.__globals__.get(name, builtins.get(name))

    def _extreme(self, least: bool, *values: Value) -> Value:
        """As Python's min and max: the first operand unless the second is beyond it."""
        found = values[0]
        for other in values[1:]:
            x, y = self._common(found, other)
            signed, ordered = ("slt", "olt") if least else ("sgt", "ogt")
            word = f"icmp {signed}" if x.kind == INTEGER else f"fcmp {ordered}"
            beyond = self.code.let(f"{word} {x.kind} {y.name}, {x.name}")
            chosen = f"select i1 {beyond}, {x.kind} {y.name}, {x.kind} {x.name}"
            found = Value(x.kind, self.code.let(chosen))
        return found

    def _rounded(self, target: Any, value: Value) -> Value:
        code, value = self.code, self._typed(value)
        if target in (float, restricted.single):
            return self._converted(value, "double" if target is float else "float")
        if value.kind == TEST:
            value = self._converted(value, INTEGER)
        if value.kind == INTEGER:
            if target is not abs:
                return value
            test = ("i1", "false")
            return Value(INTEGER, code.call("i64", "llvm.abs.i64", ("i64", value.name), test))
        suffix = "f32" if value.kind == "float" else "f64"
        name = value.name
        if target is not int:
            word = "fabs" if target is abs else "floor"
            name = code.call(value.kind, f"llvm.{word}.{suffix}", (value.kind, name))
        if target is abs:
            return Value(value.kind, name)
        saturated = code.call("i64", f"llvm.fptosi.sat.i64.{suffix}", (value.kind, name))
        return Value(INTEGER, saturated)

    def _function(self, name: str, value: Value) -> Value:
        value = self._typed(value)
        kind: Kind = _KINDS.get(value.kind, DOUBLE)
        value = self._converted(value, kind.llvm)
        suffix = "f32" if kind == FLOAT else "f64"
        if name == "sqrt":
            root = self.code.call(kind.llvm, f"llvm.sqrt.{suffix}", (kind.llvm, value.name))
            return Value(kind.llvm, root)
        s = Functions(self.code, jit.WIDTH // kind.bytes, 1)
        wide = Lanes(kind, (self.code.splat(s.lanes, kind.llvm, value.name),))
        (vector,) = getattr(s, name)(wide).names
        form = s.vector(kind)
        return Value(kind.llvm, self.code.let(f"extractelement {form} {vector}, i64 0"))

    def _called(self, target: Any, arguments: list[Value]) -> list[Value]:
        kinds = tuple([(value.kind, value.element) for value in arguments])
        code, results = self.module.function(target, kinds)
        places = [self.code.first(f"alloca {kind}, align 8") for kind in results]
        passed = [f"{v.kind} {v.name}" for v in arguments] + [f"ptr {p}" for p in places]
        self.code.do(f"call void @{code.name}({', '.join(passed)})")
        return [
            Value(kind, self.code.load(kind, place, 8))
            for kind, place in zip(results, places, strict=True)
        ]


def _memory(element: str) -> str:
    """The LLVM type of an array's elements."""
    dtype = np.dtype(element)
    if dtype.kind == "f":
        return "float" if dtype.itemsize == 4 else "double"
    return f"i{8 * dtype.itemsize}"


# -- kernels ---------------------------------------------------------------------------


def _source(function: Any, kinds: tuple[str, ...]) -> Source:
    """The kernel of a function of arrays and numbers, then the range of its rows."""
    module = _Module()
    typed = [(POINTER, k) if k in _ELEMENTS else (k, "") for k in kinds]
    body, results = module.function(function, (*typed, (INTEGER, ""), (INTEGER, "")))
    if results:
        raise Unsupported(f"{function.__qualname__} returns numbers, and a kernel returns nothing")
    code = Code(_kernel_name(function), entry.KERNEL)
    words = code.load("ptr", code.at("ptr", "%ins", str(_arrays(kinds))), 8)
    passed: list[str] = []
    arrays = numbers = 0
    for kind in kinds:
        if kind in _ELEMENTS:
            name = code.load("ptr", code.at("ptr", "%ins", str(arrays)), 8)
            passed.append(f"ptr {name}")
            arrays += 1
        else:
            name = code.load(kind, code.at("i64", words, str(numbers)), 8)
            passed.append(f"{kind} {name}")
            numbers += 1
    code.do(f"call void @{body.name}({', '.join([*passed, 'i64 %from', 'i64 %to'])})")
    code.do("ret void")
    called = [c for c, _ in module.functions.values()]
    return Source([Kernel(code, _arrays(kinds) + 1, 1)], called, effort=jit.FULL_EFFORT)


def _arrays(kinds: tuple[str, ...]) -> int:
    return sum(kind in _ELEMENTS for kind in kinds)


def _kernel_name(function: Any) -> str:
    return f"{function.__name__}_kernel"


@functools.cache
def _library(function: Any, kinds: tuple[str, ...]) -> Library:
    return Library(lambda: _source(function, kinds))


def step(function: Any, kinds: tuple[str, ...], rows: int = 1) -> entry.Step:
    """One call of the function for so many rows on its arrays, then the numbers as one more array.

    Raises Unsupported for other types.
    """
    if not all(k in _ELEMENTS or k in ("i64", "double") for k in kinds):
        raise Unsupported(f"{function.__name__} of {', '.join(kinds)}")
    kernel = _library(function, kinds).entry(_kernel_name(function), shared=False)
    return entry.Step(kernel.for_dims((rows,)), ())


def loops(function: Any, kinds: tuple[str, ...]) -> Run | None:
    """(arrays and numbers..., rows) runs the function over rows `0` to `rows`; on all threads if
    `shared`.

    `kinds` are dtypes of arrays, such as "f4", and types of numbers, "i64" or "double". Arrays are
    contiguous; the function writes into them. The result is always None.
    """
    if not entry.AVAILABLE:
        return None
    library, name = _library(function, kinds), _kernel_name(function)
    entries = [library.entry(name, shared=shared) for shared in (False, True)]
    in_array = [kind in _ELEMENTS for kind in kinds]
    nothing = np.empty(1, np.int64)

    @functools.lru_cache(64)
    def kernel(rows: int, shared: bool) -> Any:
        return entries[shared].for_dims((rows,))

    def run(*arguments: Any, rows: int, shared: bool = False) -> None:
        arrays = [a for a, yes in zip(arguments, in_array, strict=True) if yes]
        numbers = [
            np.float64(a).view(np.int64) if kind == "double" else _wrapped(int(a))
            for a, kind in zip(arguments, kinds, strict=True)
            if kind in ("double", "i64")
        ]
        words = np.array(numbers or [0], np.int64)
        if kernel(rows, shared)(*arrays, words, nothing) is NotImplemented:
            raise Unsupported(f"{function.__name__} needs arrays in order")

    return run


def _wrapped(number: int) -> int:
    """The value modulo 2**64 as a signed integer of 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
