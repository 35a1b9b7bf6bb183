"""`a + b`, `a - b`, `a * b` and `a / b` of eager tensors in machine code, for programs that do many.

What NumPy needs to find out for an operation on a few numbers takes longer than the operation. A
method in machine code checks that nothing unusual is about and that the operands are tensors of one
shape and of a common dtype, or a tensor and a Python number; it makes the result and computes it.
Whatever is otherwise it leaves to the method in Python. Results are the same bits: each operation is
one instruction that rounds as IEEE 754 says. Offsets in objects are those of `cpython.layout`.
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
from intaglio.native.runtime import objects
from intaglio.native.runtime.object_code import ObjectCode
from intaglio.opdef.door import STATE, State
from intaglio.runtime.eager import ARITHMETIC, EagerTensor

Method = Callable[[Any, Any], Any]
# Beyond so many elements NumPy's way is as fast.
MOST = 4096
# Python integers up to here, of either sign, are the same number in every dtype.
TINY = 127


class Kind(NamedTuple):
    """A dtype as LLVM names it."""

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
SPECIAL = {s: (s.strip("_").removeprefix("r"), s.startswith("__r")) for s in ARITHMETIC}
# What the code finds in the table that it is given, and the Python methods behind it.
SYMBOLS = ("tensor", "slot", "array", "new_array", "new_object", "incref", "decref")
FUNCTIONS = ("float_as_double", "int_as_int64", "call")
TABLE = (
    "unusual",
    "nothing",
    *SYMBOLS,
    "float",
    "int",
    *FUNCTIONS,
    *[k.name for k in KINDS],
    *SPECIAL,
)


GIVEN = "@table = internal global ptr null"


class _Writer(ObjectCode):
    """Writes one method."""

    otherwise = "slow"

    def __init__(self, special: str) -> None:
        super().__init__(Code(special.strip("_"), ["ptr %self", "ptr %other"], "ptr"))
        self.special = special
        self.name, self.reverse = SPECIAL[special]
        self.code.declarations.add(GIVEN)
        self.given = self.code.load("ptr", "@table", 8)

    def place(self, name: str) -> str:
        """Where the table has something."""
        return self.code.at("i64", self.given, str(TABLE.index(name)))

    def write(self) -> Code:
        """The function."""
        code = self.code
        self.equal(code.load("ptr", self.address("unusual"), 8), self.address("nothing"))
        self.equal(self.field("%self", layout.TYPE), self.address("tensor"))
        self.x = self.array_of("%self")
        self.descr = self.field(self.x, layout.ARRAY_DTYPE)
        self.rank = self.field(self.x, layout.ARRAY_RANK, "i32")
        self.lengths = self.field(self.x, layout.ARRAY_LENGTHS)
        rank = code.let(f"sext i32 {self.rank} to i64")
        with code.carrying("0", rank, 1, ("i64", "1")) as turn:
            length = code.load("i64", code.at("i64", self.lengths, turn.index), 8)
            turn.following = [code.integer("mul", turn.values[0], length)]
        self.count = turn.values[0]
        self.demand(code.integer("icmp ule", self.count, MOST))
        self.equal(self.field("%other", layout.TYPE), self.address("tensor"), otherwise="number")
        self._tensors(rank)
        code.label("number")
        self._number()
        code.label("slow")
        self._slow()
        return code

    # -- operands ------------------------------------------------------------------------

    def _tensors(self, rank: str) -> None:
        """Two tensors of one dtype and shape."""
        code = self.code
        y = self.array_of("%other")
        self.equal(self.field(y, layout.ARRAY_DTYPE), self.descr)
        self.equal(self.field(y, layout.ARRAY_RANK, "i32"), self.rank, "i32")
        lengths = self.field(y, layout.ARRAY_LENGTHS)
        with code.loop("0", rank) as i:
            mine, its = (code.load("i64", code.at("i64", p, i), 8) for p in (self.lengths, lengths))
            self.equal(mine, its, "i64")
        data = self.field(y, layout.ARRAY_DATA)
        self._by_kind("tensors", lambda kind: self._computed(kind, data, None))

    def _number(self) -> None:
        """A tensor and a Python float, or a small int."""
        code = self.code
        kind = self.field("%other", layout.TYPE)
        self.equal(kind, self.address("float"), otherwise="integer")
        value = code.let(f"call double {self.address('float_as_double')}(ptr %other)")
        self._by_kind("floats", lambda k: self._computed(k, None, self._narrowed(k, value)), True)
        code.label("integer")
        self.equal(kind, self.address("int"))
        beyond = code.first("alloca i32")
        whole = code.let(f"call i64 {self.address('int_as_int64')}(ptr %other, ptr {beyond})")
        # It is -1 where no i64 holds the number.
        self.equal(code.load("i32", beyond, 4), "0", "i32")
        self.demand(code.integer("icmp ule", code.integer("add", whole, TINY), 2 * TINY))
        self._by_kind("integers", lambda k: self._computed(k, None, self._of_integer(k, whole)))

    def _narrowed(self, kind: Kind, value: str) -> str:
        return value if kind.bytes == 8 else self.code.let(f"fptrunc double {value} to float")

    def _of_integer(self, kind: Kind, value: str) -> str:
        if kind.is_float:
            return self.code.let(f"sitofp i64 {value} to {kind.llvm}")
        return value if kind.bytes == 8 else self.code.let(f"trunc i64 {value} to i32")

    def _by_kind(self, what: str, write: Callable[[Kind], None], floats: bool = False) -> None:
        """Writes what is done for each dtype; others are left to Python."""
        for kind in KINDS:
            if kind.is_float or not (floats or INSTRUCTIONS[self.name][1] is None):
                following = f"{what}_not_{kind.name}"
                self.equal(self.descr, self.address(kind.name), otherwise=following)
                write(kind)
                self.code.label(following)
        self.code.jump("slow")

    # -- results -------------------------------------------------------------------------

    def _computed(self, kind: Kind, data: str | None, number: str | None) -> None:
        """Makes the result, computes it and returns it; of `data`, or of one number."""
        code = self.code
        array = self._array()
        floating, integral = INSTRUCTIONS[self.name]
        word = floating if kind.is_float else integral
        to, of = self.field(array, layout.ARRAY_DATA), self.field(self.x, layout.ARRAY_DATA)
        lanes = llvm.WIDTH // kind.bytes
        vector = f"<{lanes} x {kind.llvm}>"
        every = number and code.splat(lanes, kind.llvm, number)

        def step(form: str, i: str, other: str | None) -> None:
            x = code.load(form, code.at(kind.llvm, of, i), kind.bytes)
            y = other or code.load(form, code.at(kind.llvm, str(data), i), kind.bytes)
            pair = f"{y}, {x}" if self.reverse else f"{x}, {y}"
            made = code.let(f"{word} {form} {pair}")
            code.do(f"store {form} {made}, ptr {code.at(kind.llvm, to, i)}, align {kind.bytes}")

        whole = code.integer("and", self.count, -lanes)
        with code.loop("0", whole, lanes) as i:
            step(vector, i, every)
        with code.loop(whole, self.count) as i:
            step(kind.llvm, i, number)
        self._wrapped(array)

    def _array(self) -> str:
        """A new array like that of the first operand."""
        array = self.new_array(self.descr, self.rank, self.lengths)
        self._there(array)
        return array

    def _wrapped(self, array: str) -> None:
        made = self.new_tensor()
        self._there(made, array)
        self.refer(made, array)
        self.code.do(f"ret ptr {made}")

    def _there(self, thing: str, array: str = "") -> None:
        """Gives up, with the error that is set, if something could not be made."""
        code = self.code
        there, none = code.new_label("there"), code.new_label("none")
        code.branch(code.let(f"icmp ne ptr {thing}, null"), there, none)
        code.label(none)
        if array:
            self.drop(array)
        code.do("ret ptr null")
        code.label(there)

    def _slow(self) -> None:
        method = self.address(self.special)
        made = self.code.let(
            f"call ptr (ptr, ...) {self.address('call')}(ptr {method}, ptr %self, ptr %other, ptr null)"
        )
        self.code.do(f"ret ptr {made}")


def text() -> str:
    """The module: every method, and what the table is handed to."""
    take = Code("take", ["ptr %words"])
    take.declarations.add(GIVEN)
    take.do("store ptr %words, ptr @table, align 8")
    take.do("ret void")
    return module([*[_Writer(special).write() for special in SPECIAL], take])


class _Methods:
    """The methods' code, with the table that it reads."""

    def __init__(self) -> None:
        self.code = llvm.Module(text())
        self.table = np.zeros(len(TABLE), np.int64)
        words = {
            "unusual": layout.address_of(STATE) + _place_of_unusual(),
            "nothing": layout.address_of(0),
            "float": layout.address_of(float),
            "int": layout.address_of(int),
            **{name: objects.symbols()[name] for name in SYMBOLS},
            **{name: layout.function_address(name) for name in FUNCTIONS},
            **{kind.name: layout.address_of(np.dtype(kind.name)) for kind in KINDS},
        }
        for name, word in words.items():
            self.put(name, word)
        self.code.function("take", llvm.POINTER)(self.table.ctypes.data)
        self._keep: list[Any] = []

    def put(self, name: str, word: int) -> None:
        """Writes a word of the table."""
        self.table[TABLE.index(name)] = word

    def method(self, special: str, python: Method) -> Method:
        """The method, which leaves to `python` what it does not do."""
        self.put(special, layout.address_of(python))
        name = special.strip("_")
        definition = MethodDefinition(special, self.code.address(name), python.__doc__)
        self._keep += [python, definition]
        return definition.method(EagerTensor)


def _place_of_unusual() -> int:
    """Where the state says whether anything unusual is about; 0 if that is not to be found."""
    state, mark = State(), object()
    state.unusual = mark  # type: ignore[assignment]  # only to be found again
    return layout.slot_offset(state, mark)


@functools.cache
def _methods() -> _Methods:
    return _Methods()


def methods(python: dict[str, Method]) -> dict[str, Method]:
    """Methods in machine code for some of these; none where objects do not look as expected."""
    if not objects.AVAILABLE or not _place_of_unusual():
        return {}
    return {s: _methods().method(s, python[s]) for s in SPECIAL if s in python}
