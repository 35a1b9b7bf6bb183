"""Machine code that calls compiled functions: it guards the arguments, and allocates and wraps the results.

One built-in function, compiled once, interprets the table of guards of a trace, such as: the argument is
a tuple of two items, the first a tensor of a dtype and shape, the second a certain object. If a guard
fails, it returns the caller's `miss`, and Python binds the call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from intaglio.cpython import layout
from intaglio.cpython.methods import FunctionDefinition
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.native import fallback
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import MIN_BYTES
from intaglio.native.runtime.python_calls import RAISED, REFUSED
from intaglio.native.runtime.tensor_objects import AVAILABLE, ObjectEmitter, symbols

# Maximum bytes that a call may allocate on the stack.
MAX_STACK_BYTES = 1 << 15
# The opcodes of a table's instructions; END is the last instruction.
END, TUPLE, LIST, DICT, KEY, TENSOR, IDENTITY, CONSTANT, FLAG = range(9)
# The opcodes of guards on the Python state that a trace has read.
KNOWN, CELL, ATTRIBUTE, ITEM, CLASS, DIFFERENT, UNCHANGED, VERIFIED = range(9, 17)
SAME_ATTRIBUTES, VERIFIED_ATTRIBUTES = range(17, 19)
# The words before the instructions. After them come the results' dtypes, ranks and lengths, from
# word `result_specs` on.
HEADER = (
    "tensor_type",
    "array_slot",
    "array_type",
    "tuple_type",
    "list_type",
    "dict_type",
    "new_array",
    "allocate_object",
    "incref",
    "decref",
    "dict_get",
    "get_attribute",
    "get_item",
    "clear_error",
    "new_tuple",
    "miss",
    "kernel",
    "dims",
    "memory",
    "fails",
    "results",
    "single",
    "inputs",
    "objects",
    "result_specs",
)


class GuardTable:
    """The guards of a call, and the objects that must live as long as they do.

    Objects have numbers: 0 is the tuple of positional arguments, 1 the dict of keyword arguments, and
    guards number what they unpack. Inputs of the kernel are counted as guards find them.
    """

    def __init__(self) -> None:
        self.instructions: list[int] = []
        self.keep: list[Any] = []
        # The arrays that the guards were derived from, one for each input of the kernel.
        self.arrays: list[Any] = []
        self.objects = 2
        self.inputs = 0

    def _new_objects(self, count: int = 1) -> int:
        """The first of so many new numbers."""
        self.objects += count
        return self.objects - count

    def sequence(self, source: int, value: Any) -> int:
        """Guards a tuple or list of the length of `value`; returns the number of its first item."""
        first = self._new_objects(len(value))
        kind = TUPLE if type(value) is tuple else LIST
        self.instructions += [kind, source, len(value), first]
        return first

    def mapping(self, source: int, keys: Sequence[Any]) -> list[int]:
        """Guards a dict with exactly these keys; returns the numbers of their values."""
        self.instructions += [DICT, source, len(keys)]
        found: list[int] = []
        for key in keys:
            found.append(self._new_objects())
            self.keep.append(key)
            self.instructions += [KEY, source, layout.address_of(key), found[-1]]
        return found

    def tensor(self, source: int, array: Any) -> None:
        """Guards an eager tensor of the dtype and shape of this array, which is the next input."""
        self.keep.append(array.dtype)
        self.arrays.append(array)
        dtype = layout.address_of(array.dtype)
        self.instructions += [TENSOR, source, self.inputs, dtype, array.ndim, *array.shape]
        self.inputs += 1

    def identity(self, source: int, value: Any) -> None:
        """Guards the identity of an object, which the table keeps alive."""
        self.keep.append(value)
        self.instructions += [IDENTITY, source, layout.address_of(value)]

    def same(self, source: int, value: Any) -> None:
        """Guards the identity of an object that others keep alive as long as the guard holds."""
        self.instructions += [IDENTITY, source, layout.address_of(value)]

    def different(self, source: int, value: Any) -> None:
        """Guards that the object is another than this immortal one."""
        self.instructions += [DIFFERENT, source, layout.address_of(value)]

    def of_class(self, source: int, kind: type) -> None:
        """Guards an object of exactly this class."""
        self.keep.append(kind)
        self.instructions += [CLASS, source, layout.address_of(kind)]

    def known(self, value: Any) -> int:
        """The number of an object that others keep alive as long as the guards hold."""
        number = self._new_objects()
        self.instructions += [KNOWN, layout.address_of(value), number]
        return number

    def _part(self, kind: int, source: int, key: Any) -> int:
        self.keep.append(key)
        number = self._new_objects()
        self.instructions += [kind, source, layout.address_of(key), number]
        return number

    def item_of_dict(self, source: int, key: str, keep: Any) -> int:
        """The number of an item of a dict, which `keep` keeps alive."""
        self.keep.append(keep)
        return self._part(KEY, source, key)

    dicts_have_versions = layout.DICTS_HAVE_VERSIONS

    def has_versions(self, owner: Any) -> bool:
        """True if `unless_same_attributes` serves an object."""
        return layout.ATTRIBUTES_HAVE_VERSIONS and layout.dict_offset(owner) != 0

    @contextmanager
    def unless_unchanged(self, mapping: dict[Any, Any]) -> Generator[None]:
        """Skips the guards of the block while the dict has the version at which they last held.

        No guard after the block may use objects that those of the block have unpacked.
        """
        version = np.zeros(1, np.int64)
        self.keep += [mapping, version]
        words = [layout.address_of(mapping) + layout.DICT_VERSION, version.ctypes.data]
        self.instructions += [UNCHANGED, *words, 0]
        target = len(self.instructions) - 1
        yield
        self.instructions += [VERIFIED, *words]
        self.instructions[target] = len(HEADER) + len(self.instructions)

    @contextmanager
    def unless_same_attributes(self, source: int, owner: Any) -> Generator[None]:
        """Skips the guards of the block while the versions of `owner`'s class and dict are unchanged.

        No guard after the block may use objects that those of the block have unpacked.
        """
        versions = np.zeros(3, np.int64)  # of the dict, of the class, and a zero
        self.keep.append(versions)
        words = [source, layout.dict_offset(owner), versions.ctypes.data]
        self.instructions += [SAME_ATTRIBUTES, *words, 0]
        target = len(self.instructions) - 1
        yield
        self.instructions += [VERIFIED_ATTRIBUTES, *words]
        self.instructions[target] = len(HEADER) + len(self.instructions)

    def item(self, source: int, key: Any) -> int:
        """The number of an item of a tuple, list or dict."""
        return self._part(ITEM, source, key)

    def attribute(self, source: int, name: str) -> int:
        """The number of an attribute's value, which the object keeps alive."""
        return self._part(ATTRIBUTE, source, name)

    def contents_of_cell(self, cell: Any) -> int:
        """The number of a closure cell's contents."""
        self.keep.append(cell)
        source, number = self.known(cell), self._new_objects()
        self.instructions += [CELL, source, number]
        return number

    def constant(self, array: Any) -> None:
        """Adds an array that is the same in all calls as the next input."""
        self.keep.append(array)
        self.arrays.append(array)
        self.instructions += [CONSTANT, self.inputs, array.ctypes.data]
        self.inputs += 1

    def invalidation(self) -> Callable[[], None]:
        """A function after whose call every guard fails."""
        flag = np.ones(1, np.int64)
        self.keep.append(flag)
        self.instructions += [FLAG, flag.ctypes.data]
        return lambda: flag.fill(0)


class CompiledProgram(Protocol):
    """The interface of a program (`native/program.py`) that native calls need."""

    graph: Graph
    address: int
    kernel: Any
    memory: int
    has_guards: bool
    raises: bool
    rounds: bool
    writes: Sequence[int]
    random_streams: Sequence[Any]
    derived: Sequence[Any]
    results: Sequence[Any]

    @property
    def plain_results(self) -> bool:
        """True if results are arrays of known shapes."""
        ...


def native_call(program: CompiledProgram, table: GuardTable, miss: Any, single: bool) -> Any:
    """The built-in function of (args, kwargs) that runs a program, or returns `miss`.

    It returns a tensor if the result is a `single` one, else a tuple of tensors. None if there is no
    such function: for programs that write variables, need much memory, or may have consumed random
    numbers when they miss; nor for large results, whose buffers are reused.
    """
    try:
        return _native_call(program, table, miss, single)
    except Exception as e:
        fallback.failed(program.graph.name, e)
        return None


def _native_call(program: CompiledProgram, table: GuardTable, miss: Any, single: bool) -> Any:
    plain = not (program.writes or program.random_streams) and table.inputs == len(
        program.graph.inputs
    )
    if (
        not AVAILABLE
        or not plain
        or program.memory > MAX_STACK_BYTES
        or not program.plain_results
        or program.rounds
        or program.derived
    ):
        return None
    if any(result.bytes >= MIN_BYTES for result in program.results):
        return None
    # The guards admit arrays like those of this call, but the kernel relies on the graph's specs.
    if not all(map(_fits, table.arrays, program.graph.inputs)):
        return None
    specs: list[int] = []
    for value, result in zip(program.graph.outputs, program.results, strict=True):
        dtype = value.dtype.numpy
        table.keep.append(dtype)
        specs += [layout.address_of(dtype), len(result.shape), *result.shape]
    frame = program.kernel.__self__
    header = {
        **symbols(),
        "miss": layout.address_of(miss),
        "kernel": program.address,
        "dims": layout.bytes_address(frame) + 8 * len(entry.HEADER),
        "memory": program.memory,
        "fails": REFUSED * program.has_guards | RAISED * program.raises,
        "results": len(program.results),
        "single": int(single),
        "inputs": max(table.inputs, 1),
        "objects": table.objects,
        "result_specs": len(HEADER) + len(table.instructions) + 1,
    }
    words = [*[header[name] for name in HEADER], *table.instructions, END, *specs]
    return _interpreter().function(
        np.asarray(words, np.int64).tobytes(), [program, table.keep, miss]
    )


def _fits(array: Any, value: SymbolicTensor) -> bool:
    """True for an array of a graph input's dtype and shape, in C order."""
    order = array.flags.carray and array.dtype == value.dtype.numpy
    return order and array.shape == value.dims


@functools.cache
def _interpreter() -> FunctionDefinition:
    code = jit.module(module([_Interpreter().emit()]))
    return FunctionDefinition("call", code.address("interpret"), code)


class _Interpreter(ObjectEmitter):
    """Emits the built-in function that interprets a table, the `bytes` object that is its `self`."""

    fallback = "miss"

    def __init__(self) -> None:
        super().__init__(Code("interpret", ["ptr %self", "ptr %args", "i64 %count"], "ptr"))
        code = self.code
        self.table = code.at("i8", "%self", str(layout.BYTES_DATA))
        self.objects = code.let(f"alloca ptr, i64 {self.number('objects')}")
        self.inputs = code.let(f"alloca ptr, i64 {self.number('inputs')}")
        count = code.integer("add", self.number("results"), 1)
        self.outputs = code.let(f"alloca ptr, i64 {count}")
        self.arrays = code.let(f"alloca ptr, i64 {count}")
        self.memory = code.let(f"alloca i8, i64 {self.number('memory')}, align 64")
        self.cursor = code.let("alloca i64")
        self.length = code.let("alloca i64")

    def emit(self) -> Code:
        """The function."""
        code = self.code
        for i in (0, 1):
            self._set(self.objects, str(i), code.load("ptr", code.at("ptr", "%args", str(i)), 8))
        code.do(f"store i64 {len(HEADER)}, ptr {self.cursor}, align 8")
        code.jump("instruction")
        code.label("instruction")
        kinds = [
            self._end,
            self._tuple,
            self._list,
            self._dict,
            self._key,
            self._tensor,
            self._identity,
            self._constant,
            self._flag,
            self._known,
            self._cell,
            self._attribute,
            self._item,
            self._class,
            self._different,
            self._unchanged,
            self._verified,
            self._same_attributes,
            self._verified_attributes,
        ]
        targets = " ".join([f"i64 {i}, label %kind{i}" for i in range(len(kinds))])
        kind = self._next()
        code.do(f"switch i64 {kind}, label %miss [ {targets} ]")
        for i, emit in enumerate(kinds):
            code.label(f"kind{i}")
            emit()
            if i:
                code.jump("instruction")
        self._miss()
        return code

    # -- the table and the stack -------------------------------------------------------------

    def entry(self, name: str) -> str:
        """The pointer to a word of the table's header."""
        return self.code.at("i64", self.table, str(HEADER.index(name)))

    def _next(self, kind: str = "i64") -> str:
        """The next word of the table."""
        code = self.code
        at = code.load("i64", self.cursor, 8)
        code.do(f"store i64 {code.integer('add', at, 1)}, ptr {self.cursor}, align 8")
        return code.load(kind, code.at("i64", self.table, at), 8)

    def _next_object(self) -> str:
        """The object whose number is the next word."""
        return self.code.load("ptr", self.code.at("ptr", self.objects, self._next()), 8)

    def _set(self, pointers: str, number: str, value: str) -> None:
        """Stores a pointer in one of the arrays of pointers."""
        self.code.do(f"store ptr {value}, ptr {self.code.at('ptr', pointers, number)}, align 8")

    # -- guards ------------------------------------------------------------------------------

    def _tuple(self) -> None:
        source = self._sized("tuple_type")
        self._unpack(self.code.at("i8", source, str(layout.TUPLE_ITEMS)))

    def _list(self) -> None:
        source = self._sized("list_type")
        self._unpack(self.field(source, layout.LIST_ITEMS))

    def _dict(self) -> None:
        self._sized("dict_type")

    def _sized(self, kind: str) -> str:
        """The next object; guards its type and its length, which is the next word."""
        source = self._next_object()
        self.guard_equal(self.field(source, layout.TYPE), self.address(kind))
        count = self._next()
        self.code.do(f"store i64 {count}, ptr {self.length}, align 8")
        self.guard_equal(self.field(source, layout.SIZE, "i64"), count, "i64")
        return source

    def _unpack(self, items: str) -> None:
        code = self.code
        first = self._next()
        count = code.load("i64", self.length, 8)
        with code.loop("0", count) as i:
            item = code.load("ptr", code.at("ptr", items, i), 8)
            self._set(self.objects, code.integer("add", first, i), item)

    def _key(self) -> None:
        source, key, number = self._next_object(), self._next("ptr"), self._next()
        value = self.code.let(f"call ptr {self.address('dict_get')}(ptr {source}, ptr {key})")
        self.guard(self.code.let(f"icmp ne ptr {value}, null"))
        self._set(self.objects, number, value)

    def _tensor(self) -> None:
        code = self.code
        source = self._next_object()
        self.guard_equal(self.field(source, layout.TYPE), self.address("tensor_type"))
        array = self.array_of(source)
        number = self._next()
        self.guard_equal(self.field(array, layout.ARRAY_DTYPE), self._next("ptr"))
        rank = self._next()
        own_rank = self.field(array, layout.ARRAY_RANK, "i32")
        self.guard_equal(code.let(f"sext i32 {own_rank} to i64"), rank, "i64")
        lengths = self.field(array, layout.ARRAY_LENGTHS)
        with code.loop("0", rank) as i:
            length = code.load("i64", code.at("i64", lengths, i), 8)
            self.guard_equal(length, self._next(), "i64")
        self._set(self.inputs, number, self.field(array, layout.ARRAY_DATA))

    def _identity(self) -> None:
        source = self._next_object()
        self.guard_equal(source, self._next("ptr"))

    def _known(self) -> None:
        value, number = self._next("ptr"), self._next()
        self._set(self.objects, number, value)

    def _cell(self) -> None:
        source, number = self._next_object(), self._next()
        value = self.field(source, layout.CELL_CONTENTS)
        self.guard(self.code.let(f"icmp ne ptr {value}, null"))
        self._set(self.objects, number, value)

    def _attribute(self) -> None:
        self._owned("get_attribute")

    def _item(self) -> None:
        self._owned("get_item")

    def _owned(self, function: str) -> None:
        """The object that a C function returns, which another reference keeps alive; a miss if it raises."""
        code = self.code
        source, key, number = self._next_object(), self._next("ptr"), self._next()
        value = code.let(f"call ptr {self.address(function)}(ptr {source}, ptr {key})")
        found, lacking = code.new_label("found"), code.new_label("lacking")
        code.branch(code.let(f"icmp ne ptr {value}, null"), found, lacking)
        code.label(lacking)
        code.do(f"call void {self.address('clear_error')}()")
        code.jump("miss")
        code.label(found)
        self.release(value)
        self._set(self.objects, number, value)

    def _class(self) -> None:
        source = self._next_object()
        self.guard_equal(self.field(source, layout.TYPE), self._next("ptr"))

    def _different(self) -> None:
        source, other = self._next_object(), self._next("ptr")
        self.guard(self.code.let(f"icmp ne ptr {source}, {other}"))

    def _unchanged(self) -> None:
        version, known = self._version()
        self._skip_if(self.code.let(f"icmp eq i64 {version}, {known}"))

    def _skip_if(self, condition: str) -> None:
        """Jumps to the offset in the next word if the condition holds."""
        code = self.code
        target, at = self._next(), code.load("i64", self.cursor, 8)
        following = code.let(f"select i1 {condition}, i64 {target}, i64 {at}")
        code.do(f"store i64 {following}, ptr {self.cursor}, align 8")

    def _version(self) -> tuple[str, str]:
        """The version of a dict, and the version at which its guards last held."""
        code = self.code
        return code.load("i64", self._next("ptr"), 8), code.load("i64", self._next("ptr"), 8)

    def _verified(self) -> None:
        code = self.code
        version = code.load("i64", self._next("ptr"), 8)
        code.do(f"store i64 {version}, ptr {self._next('ptr')}, align 8")

    def _same_attributes(self) -> None:
        code = self.code
        found, known = self._attribute_versions()
        same = [
            code.let(f"icmp eq i64 {version}, {code.load('i64', code.at('i64', known, str(i)), 8)}")
            for i, version in enumerate(found)
        ]
        # No dict has version 0; a class has it after a change.
        valid = [code.let(f"icmp ne i64 {version}, 0") for version in found]
        self._skip_if(functools.reduce(lambda a, b: code.let(f"and i1 {a}, {b}"), [*same, *valid]))

    def _verified_attributes(self) -> None:
        found, known = self._attribute_versions()
        for i, version in enumerate(found):
            pointer = self.code.at("i64", known, str(i))
            self.code.do(f"store i64 {version}, ptr {pointer}, align 8")

    def _attribute_versions(self) -> tuple[tuple[str, str], str]:
        """The versions of an object's dict and class, and the pointer to those at which its guards last held."""
        code = self.code
        source, offset = self._next_object(), self._next()
        reference = code.load("ptr", code.at("i8", source, offset), 8)
        # Without a dict, a word that is zero is read for its version.
        known = self._next("ptr")
        address = code.let(f"ptrtoint ptr {reference} to i64")
        tagged = code.integer("icmp ne", code.integer("and", address, 1), 0)
        none = code.let(f"icmp eq ptr {reference}, null")
        lacking = code.let(f"or i1 {tagged}, {none}")
        version = code.at("i8", reference, str(layout.DICT_VERSION))
        zero = code.at("i64", known, "2")
        of_dict = code.load("i64", code.let(f"select i1 {lacking}, ptr {zero}, ptr {version}"), 8)
        kind = self.field(source, layout.TYPE)
        narrow = code.load("i32", code.at("i8", kind, str(layout.TYPE_VERSION)), 4)
        return (of_dict, code.let(f"zext i32 {narrow} to i64")), known

    def _constant(self) -> None:
        number = self._next()
        self._set(self.inputs, number, self._next("ptr"))

    def _flag(self) -> None:
        flag = self.code.load("i64", self._next("ptr"), 8)
        self.guard(self.code.let(f"icmp ne i64 {flag}, 0"))

    # -- the call ----------------------------------------------------------------------------

    def _end(self) -> None:
        code = self.code
        count = self.number("results")
        code.do(f"store i64 {self.number('result_specs')}, ptr {self.cursor}, align 8")
        with code.loop("0", count) as i:
            self._allocate_result(i)
        self._set(self.outputs, count, self.memory)
        code.do(
            f"call void {self.address('kernel')}(ptr {self.inputs}, ptr {self.outputs}, "
            f"ptr {self.address('dims')}, i64 0, i64 0)"
        )
        status = code.load("i64", self.memory, 8)
        failed = code.integer("and", status, self.number("fails"))
        failure, success = code.new_label("failure"), code.new_label("success")
        code.branch(code.integer("icmp ne", failed, 0), failure, success)
        code.label(failure)
        self._release_arrays(count)
        raised, refused = code.new_label("raised"), "miss"
        exception = code.integer("and", failed, RAISED)
        code.branch(code.integer("icmp ne", exception, 0), raised, refused)
        code.label(raised)
        code.do("ret ptr null")
        code.label(success)
        self._return_results(count)

    def _allocate_result(self, number: str) -> None:
        code = self.code
        dtype, rank = self._next("ptr"), self._next()
        at = code.load("i64", self.cursor, 8)
        lengths = code.at("i64", self.table, at)
        code.do(f"store i64 {code.integer('add', at, rank)}, ptr {self.cursor}, align 8")
        narrow = code.let(f"trunc i64 {rank} to i32")
        array = self.new_array(dtype, narrow, lengths)
        self._check_allocated(array, number)
        self._set(self.arrays, number, array)
        self._set(self.outputs, number, self.field(array, layout.ARRAY_DATA))

    def _check_allocated(self, pointer: str, count: str) -> None:
        """Returns null, with the exception that is set, if `pointer` is null; releases `count` arrays."""
        code = self.code
        allocated, null = code.new_label("allocated"), code.new_label("null")
        code.branch(code.let(f"icmp ne ptr {pointer}, null"), allocated, null)
        code.label(null)
        self._release_arrays(count)
        code.do("ret ptr null")
        code.label(allocated)

    def _release_arrays(self, count: str) -> None:
        with self.code.loop("0", count) as i:
            self.release(self.code.load("ptr", self.code.at("ptr", self.arrays, i), 8))

    def _return_results(self, count: str) -> None:
        """Returns the tensor, or a tuple of tensors."""
        code = self.code
        is_single = code.integer("icmp ne", self.number("single"), 0)
        single, several = code.new_label("single"), code.new_label("several")
        code.branch(is_single, single, several)
        code.label(single)
        code.do(f"ret ptr {self._wrap('0', count)}")
        code.label(several)
        results = code.let(f"call ptr {self.address('new_tuple')}(i64 {count})")
        self._check_allocated(results, count)
        with code.loop("0", count) as i:
            tensor = self._wrap(i, "0")
            pointer = code.at("ptr", code.at("i8", results, str(layout.TUPLE_ITEMS)), i)
            code.do(f"store ptr {tensor}, ptr {pointer}, align 8")
        code.do(f"ret ptr {results}")

    def _wrap(self, number: str, count: str) -> str:
        """The tensor of a result's array; releases `count` arrays if it is not allocated."""
        code = self.code
        tensor = self.new_tensor()
        self._check_allocated(tensor, count)
        self.set_array(tensor, code.load("ptr", code.at("ptr", self.arrays, number), 8))
        return tensor

    def _miss(self) -> None:
        self.code.label("miss")
        miss = self.address("miss")
        self.code.do(f"call void {self.address('incref')}(ptr {miss})")
        self.code.do(f"ret ptr {miss}")
