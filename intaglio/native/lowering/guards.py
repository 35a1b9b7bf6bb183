"""Guards on all elements of a value, evaluated before code relies on them."""

from __future__ import annotations

from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Kind, Lanes
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions


def none_zero(w: FunctionLowering, operand: ArrayOperand) -> str:
    """Whether no integer is zero, as i1."""
    if operand.small:
        s = w.builder(operand.count)
        x = w.lanes(operand)
        return every(s, s.ne(x, s.const(0, x)))
    return _checked(w, operand, "zero", 0)


def all_below(w: FunctionLowering, operand: ArrayOperand, length: int) -> str:
    """Whether integers are all indices into a row of that length, as i1."""
    kind = operand.kind
    reach = 1 << (kind.bits - (kind.letter == "i"))
    if operand.small:
        s = w.builder(operand.count)
        x = Lanes(Kind(kind.llvm, kind.bits, "u"), w.lanes(operand).names)
        return every(s, s.lt(x, s.const(min(length, reach), x)))
    return _checked(w, operand, "beyond", min(length, reach))


def every(s: Functions, test: Lanes) -> str:
    """Whether a test holds in all lanes, as i1."""
    kind = f"<{s.lanes} x i1>"
    return s.code.call("i1", f"llvm.vector.reduce.and.v{s.lanes}i1", (kind, test.names[0]))


def _checked(w: FunctionLowering, operand: ArrayOperand, what: str, bound: int) -> str:
    name = w.kernel("check", _check, operand.kind, what)
    found = w.scratch(8)
    w.call_function(name, [w.pointer(operand)], [found], [operand.count, bound])
    return w.code.integer("icmp eq", w.code.load("i64", found, 8), 0)


def _check(name: str, kind: Kind, what: str) -> Code:
    """A kernel that tests whether one of many integers is zero, or not below a bound."""
    code = Code(name, entry.KERNEL, "internal void")
    source, target = (code.load("ptr", table, 8) for table in ("%ins", "%outs"))
    bound = code.load("i64", code.at("i64", "%dims", "1"), 8)
    bound = code.let(f"trunc i64 {bound} to {kind.llvm}") if kind.bits < 64 else bound
    test = "icmp eq" if what == "zero" else "icmp uge"
    lanes = jit.WIDTH // kind.bytes

    def search(start: str, stop: str, width: int, before: str) -> str:
        vector = f"<{width} x {kind.llvm}>"
        limit = code.splat(width, kind.llvm, bound)
        with code.carrying(start, stop, width, ("i1", before)) as state:
            some = code.load(vector, code.at(kind.llvm, source, state.index), kind.bytes)
            wrong = code.let(f"{test} {vector} {some}, {limit}")
            one = code.call("i1", f"llvm.vector.reduce.or.v{width}i1", (f"<{width} x i1>", wrong))
            state.following.append(code.let(f"or i1 {state.values[0]}, {one}"))
        return state.values[0]

    whole = code.integer("sdiv", "%to", lanes)
    middle = code.integer("mul", whole, lanes)
    found = search(middle, "%to", 1, search("0", middle, lanes, "false"))
    wide = code.let(f"zext i1 {found} to i64")
    code.do(f"store i64 {wide}, ptr {target}, align 8")
    code.do("ret void")
    return code
