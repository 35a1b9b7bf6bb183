"""`a + b`, `a - b`, `a * b` and `a / b` of eager tensors in machine code, for frequent use.

NumPy's preparation of an operation on a few numbers takes longer than the operation. A method in
machine code checks that no tape or graph is open and that the operands are tensors of one shape and
dtype, or a tensor and a Python number; it allocates the result and computes it. It passes all other
operands to the method in Python. Results have the same bits: each operation is one instruction that
rounds by IEEE 754. Offsets in objects are those of `cpython.layout`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.cpython import layout
from intaglio.cpython.methods import MethodDefinition
from intaglio.native.llvm import jit as llvm
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime import tensor_objects
from intaglio.native.runtime.tensor_objects import ObjectEmitter
from intaglio.opdef.door import STATE, State
from intaglio.runtime.eager import ARITHMETIC, EagerTensor

Method = Callable[[Any, Any], Any]
# Number of elements above which NumPy is as fast.
MAX_ELEMENTS = 4096
# Magnitude up to which Python integers are exact in every dtype.
MAX_EXACT_INTEGER = 127


class Kind(NamedTuple):
    """A dtype and its LLVM type."""

    name: str
    llvm: str
    bytes: int

    @property
    def is_float(self) -> bool:
        """True for floating-point numbers."""
        return self.name[0] == "f"


KINDS = (
    Kind("f4", "float", 4),
    Kind("f8", "double", 8),
    Kind("i4", "i32", 4),
    Kind("i8", "i64", 8),
)
# The instructions for floats and for integers, by the name of the special method.
INSTRUCTIONS = {
    "add": ("fadd", "add"),
    "sub": ("fsub", "sub"),
    "mul": ("fmul", "mul"),
    "truediv": ("fdiv", None),
}
# The operation of each special method, and whether its operands are reversed.
SPECIAL = {s: (s.strip("_").removeprefix("r"), s.startswith("__r")) for s in ARITHMETIC}
# The table that the code reads: `unusual` is the address of a flag, which has the value `usual` while
# no tape or graph is open; the entry of a special method is the method in Python.
SYMBOLS = (
    "tensor_type",
    "array_slot",
    "array_type",
    "new_array",
    "allocate_object",
    "incref",
    "decref",
)
FUNCTIONS = ("float_as_double", "int_as_int64", "call")
TABLE = (
    "unusual",
    "usual",
    *SYMBOLS,
    "float_type",
    "int_type",
    *FUNCTIONS,
    *[k.name for k in KINDS],
    *SPECIAL,
)
TABLE_DECLARATION = "@table = internal global ptr null"


class _MethodEmitter(ObjectEmitter):
    """Emits the function of one special method."""

    fallback = "python"

    def __init__(self, special: str) -> None:
        super().__init__(Code(special.strip("_"), ["ptr %self", "ptr %other"], "ptr"))
        self.special = special
        self.name, self.reverse = SPECIAL[special]
        self.code.declarations.add(TABLE_DECLARATION)
        self.table = self.code.load("ptr", "@table", 8)

    def entry(self, name: str) -> str:
        """The pointer to an entry of the table."""
        return self.code.at("i64", self.table, str(TABLE.index(name)))

    def emit(self) -> Code:
        """The function."""
        code = self.code
        self.guard_equal(code.load("ptr", self.address("unusual"), 8), self.address("usual"))
        self.guard_equal(self.field("%self", layout.TYPE), self.address("tensor_type"))
        self.x = self.array_of("%self")
        self.dtype = self.field(self.x, layout.ARRAY_DTYPE)
        self.rank = self.field(self.x, layout.ARRAY_RANK, "i32")
        self.lengths = self.field(self.x, layout.ARRAY_LENGTHS)
        rank = code.let(f"sext i32 {self.rank} to i64")
        with code.carrying("0", rank, 1, ("i64", "1")) as loop:
            length = code.load("i64", code.at("i64", self.lengths, loop.index), 8)
            loop.following = [code.integer("mul", loop.values[0], length)]
        self.count = loop.values[0]
        self.guard(code.integer("icmp ule", self.count, MAX_ELEMENTS))
        other_type = self.field("%other", layout.TYPE)
        self.guard_equal(other_type, self.address("tensor_type"), fallback="number")
        self._tensor_operand(rank)
        code.label("number")
        self._number_operand(other_type)
        code.label("python")
        self._call_python()
        return code

    # -- operands ------------------------------------------------------------------------

    def _tensor_operand(self, rank: str) -> None:
        """Emits the case of another operand that is a tensor of the same dtype and shape."""
        code = self.code
        y = self.array_of("%other")
        self.guard_equal(self.field(y, layout.ARRAY_DTYPE), self.dtype)
        self.guard_equal(self.field(y, layout.ARRAY_RANK, "i32"), self.rank, "i32")
        lengths = self.field(y, layout.ARRAY_LENGTHS)
        with code.loop("0", rank) as i:
            own, its = (code.load("i64", code.at("i64", p, i), 8) for p in (self.lengths, lengths))
            self.guard_equal(own, its, "i64")
        data = self.field(y, layout.ARRAY_DATA)
        self._by_kind("tensor", lambda kind: self._compute(kind, data, None))

    def _number_operand(self, other_type: str) -> None:
        """Emits the case of another operand that is a Python float or a small int."""
        code = self.code
        self.guard_equal(other_type, self.address("float_type"), fallback="integer")
        value = code.let(f"call double {self.address('float_as_double')}(ptr %other)")
        self._by_kind("float", lambda k: self._compute(k, None, self._from_double(k, value)), True)
        code.label("integer")
        self.guard_equal(other_type, self.address("int_type"))
        overflow = code.first("alloca i32")
        whole = code.let(f"call i64 {self.address('int_as_int64')}(ptr %other, ptr {overflow})")
        self.guard_equal(code.load("i32", overflow, 4), "0", "i32")
        shifted = code.integer("add", whole, MAX_EXACT_INTEGER)
        self.guard(code.integer("icmp ule", shifted, 2 * MAX_EXACT_INTEGER))
        self._by_kind("integer", lambda k: self._compute(k, None, self._from_integer(k, whole)))

    def _from_double(self, kind: Kind, value: str) -> str:
        return value if kind.bytes == 8 else self.code.let(f"fptrunc double {value} to float")

    def _from_integer(self, kind: Kind, value: str) -> str:
        if kind.is_float:
            return self.code.let(f"sitofp i64 {value} to {kind.llvm}")
        return value if kind.bytes == 8 else self.code.let(f"trunc i64 {value} to i32")

    def _by_kind(
        self, operand: str, emit: Callable[[Kind], None], only_floats: bool = False
    ) -> None:
        """Emits the operation for each dtype; tensors of other dtypes are left to Python."""
        for kind in KINDS:
            if kind.is_float or not (only_floats or INSTRUCTIONS[self.name][1] is None):
                following = f"{operand}_not_{kind.name}"
                self.guard_equal(self.dtype, self.address(kind.name), fallback=following)
                emit(kind)
                self.code.label(following)
        self.code.jump("python")

    # -- results -------------------------------------------------------------------------

    def _compute(self, kind: Kind, data: str | None, number: str | None) -> None:
        """Allocates, computes and returns the result; the other operand is `data` or one number."""
        code = self.code
        result = self.new_array(self.dtype, self.rank, self.lengths)
        self._check_allocated(result)
        of_floats, of_integers = INSTRUCTIONS[self.name]
        instruction = of_floats if kind.is_float else of_integers
        to, of = self.field(result, layout.ARRAY_DATA), self.field(self.x, layout.ARRAY_DATA)
        lanes = llvm.WIDTH // kind.bytes
        vector = f"<{lanes} x {kind.llvm}>"
        splat = number and code.splat(lanes, kind.llvm, number)

        def step(form: str, i: str, other: str | None) -> None:
            x = code.load(form, code.at(kind.llvm, of, i), kind.bytes)
            y = other or code.load(form, code.at(kind.llvm, str(data), i), kind.bytes)
            pair = f"{y}, {x}" if self.reverse else f"{x}, {y}"
            value = code.let(f"{instruction} {form} {pair}")
            code.do(f"store {form} {value}, ptr {code.at(kind.llvm, to, i)}, align {kind.bytes}")

        whole = code.integer("and", self.count, -lanes)
        with code.loop("0", whole, lanes) as i:
            step(vector, i, splat)
        with code.loop(whole, self.count) as i:
            step(kind.llvm, i, number)
        tensor = self.new_tensor()
        self._check_allocated(tensor, result)
        self.set_array(tensor, result)
        code.do(f"ret ptr {tensor}")

    def _check_allocated(self, pointer: str, array: str = "") -> None:
        """Returns null, with the exception that is set, if `pointer` is null; releases an array."""
        code = self.code
        allocated, null = code.new_label("allocated"), code.new_label("null")
        code.branch(code.let(f"icmp ne ptr {pointer}, null"), allocated, null)
        code.label(null)
        if array:
            self.release(array)
        code.do("ret ptr null")
        code.label(allocated)

    def _call_python(self) -> None:
        method = self.address(self.special)
        result = self.code.let(
            f"call ptr (ptr, ...) {self.address('call')}(ptr {method}, ptr %self, ptr %other, ptr null)"
        )
        self.code.do(f"ret ptr {result}")


def text() -> str:
    """The module: every method, and the function that sets the table."""
    set_table = Code("set_table", ["ptr %words"])
    set_table.declarations.add(TABLE_DECLARATION)
    set_table.do("store ptr %words, ptr @table, align 8")
    set_table.do("ret void")
    return module([*[_MethodEmitter(special).emit() for special in SPECIAL], set_table])


class _Methods:
    """The methods' code, with the table that it reads."""

    def __init__(self) -> None:
        self.code = llvm.Module(text())
        self.table = np.zeros(len(TABLE), np.int64)
        words = {
            "unusual": layout.address_of(STATE) + _offset_of_unusual(),
            "usual": layout.address_of(0),
            "float_type": layout.address_of(float),
            "int_type": layout.address_of(int),
            **{name: tensor_objects.symbols()[name] for name in SYMBOLS},
            **{name: layout.function_address(name) for name in FUNCTIONS},
            **{kind.name: layout.address_of(np.dtype(kind.name)) for kind in KINDS},
        }
        for name, word in words.items():
            self._set(name, word)
        self.code.function("set_table", llvm.POINTER)(self.table.ctypes.data)
        self._keep: list[Any] = []

    def _set(self, name: str, word: int) -> None:
        self.table[TABLE.index(name)] = word

    def method(self, special: str, python: Method) -> Method:
        """The method, which passes to `python` the operands that it does not support."""
        self._set(special, layout.address_of(python))
        name = special.strip("_")
        definition = MethodDefinition(special, self.code.address(name), python.__doc__)
        self._keep += [python, definition]
        return definition.method(EagerTensor)


def _offset_of_unusual() -> int:
    """The offset in the state of its flag `unusual`; 0 if it is not found."""
    state, mark = State(), object()
    state.unusual = mark  # type: ignore[assignment]  # only to find it again
    return layout.slot_offset(state, mark)


@functools.cache
def _methods() -> _Methods:
    return _Methods()


def methods(python: dict[str, Method]) -> dict[str, Method]:
    """The methods in machine code that replace these in Python; none where the object layout is unknown."""
    if not tensor_objects.AVAILABLE or not _offset_of_unusual():
        return {}
    return {s: _methods().method(s, python[s]) for s in SPECIAL if s in python}
