"""The functions that C programs call, as LLVM text: they check what they are given, and call native ones.

Nothing here computes. All state is in the context, so functions may run at the same time on
different contexts. A function that returns an error has changed nothing but the memory of its results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from intaglio.export.context import (
    ALIGNMENT,
    ALLOCATED,
    MAGIC,
    MAPPED,
    PARALLEL_FOR,
    THREADS,
    WEIGHTS,
    Layout,
    text_of,
)
from intaglio.export.interface import Error, Function, Port
from intaglio.export.sizes import Size
from intaglio.native.llvm.builder import Code

# The errors that every library has.
(
    OK,
    NULL,
    NO_CONTEXT,
    CONTEXT_SIZE,
    CONTEXT_ALIGNMENT,
    MEMORY,
    WEIGHTS_FILE,
    NO_VARIABLE,
    VARIABLE_SIZE,
    PROCESSOR,
) = range(10)
FIXED_ERRORS = [
    Error(OK, "OK", "no error"),
    Error(NULL, "ERROR_NULL", "a pointer to a context, to inputs or to outputs is null"),
    Error(NO_CONTEXT, "ERROR_NO_CONTEXT", "the pointer is not that of a context of this library"),
    Error(
        CONTEXT_SIZE, "ERROR_CONTEXT_SIZE", "the memory is smaller than the size that a context has"
    ),
    Error(
        CONTEXT_ALIGNMENT,
        "ERROR_CONTEXT_ALIGNMENT",
        f"the address of the memory is no multiple of {ALIGNMENT}",
    ),
    Error(MEMORY, "ERROR_MEMORY", "malloc has no memory for a context"),
    Error(
        WEIGHTS_FILE,
        "ERROR_WEIGHTS",
        "the file of weights cannot be read, or is not the one written with this library",
    ),
    Error(NO_VARIABLE, "ERROR_NO_VARIABLE", "there is no variable of this number"),
    Error(VARIABLE_SIZE, "ERROR_VARIABLE_SIZE", "the variable has another size in bytes"),
    Error(PROCESSOR, "ERROR_PROCESSOR", "the library has no code for this processor"),
]
FIRST_ARGUMENT_ERROR = 16
# What kernels call to have their tasks run; no name of a library's function has a dot.
RUN_TASKS = "run.tasks"
# What may be wrong with an argument, in the order of the codes.
ARGUMENT_FAULTS = ("NULL", "COUNT", "ALIGNMENT")
# Numbers of a size are found in a table where it has no more than so many entries for each of them.
MAX_TABLE_RATIO = 16


class VariableSlots(NamedTuple):
    """Where a variable is in a context: its two places, and the word with the offset of the present one.

    Variables that are written in place have one place. `initial` is the offset among the weights.
    """

    size: int
    initial: int
    current: int
    first: int
    second: int


class DerivedArray(NamedTuple):
    """An array computed from a weight: the function and its words, the weight, and where it goes."""

    body: str
    words: str
    first_dim: int
    # The offset of the weight, or the variable of the context.
    weight: int
    variable: int
    target: int


class WordTable(NamedTuple):
    """The words of a function that may use threads: each context has its own, with its own pool.

    They are copied from a constant to an offset of the context; `pools` are the offsets of the words in
    them that are the context where it has threads, and null where not.
    """

    initial: str
    size: int
    offset: int
    pools: Sequence[int]


class Source(NamedTuple):
    """What an input of the native function is: an argument, a weight, a variable or a derived array."""

    kind: str
    number: int


class Variant(NamedTuple):
    """A native function; of a function with rows one for each number of rows that code is written for."""

    # 0 for a function whose inputs have no rows.
    rows: int
    body: str
    words: str
    sources: Sequence[Source]
    derived: Sequence[DerivedArray]
    # Those that are computed before each call, for another function writes their variable.
    stale: Sequence[DerivedArray]
    # What is added to a status to get the code of its guard.
    first_guard: int
    # The words, if each context has its own.
    table: WordTable | None
    # Whether variables are written in place.
    in_place: bool


class Choice(NamedTuple):
    """The native functions for a choice of sizes, in the order of their rows; the only one without sizes.

    Shapes are those for one row if there are rows.
    """

    variants: Sequence[Variant]
    inputs: Sequence[tuple[int, ...]]
    outputs: Sequence[tuple[int, ...]]


class Call(NamedTuple):
    """A function of the library and the native functions that it calls.

    The errors of its arguments begin with those of sizes; each port then has one for each fault.
    """

    function: Function
    first_error: int
    choices: Sequence[Choice]
    # Variables that are written.
    written: Sequence[int]
    # Offsets of the streams' words.
    streams: Sequence[int]
    memory: int


class Calls:
    """Writes the functions of a library."""

    def __init__(
        self,
        prefix: str,
        pointer_bytes: int,
        magic: int,
        layout: Layout,
        variables: Sequence[VariableSlots],
        streams: Sequence[tuple[int, bytes]],
        weights: bytes | None,
        fingerprint: int,
        weights_size: int,
        maps_files: bool,
    ) -> None:
        """`weights` is None if they are in a file, whose first word is the fingerprint."""
        self._prefix = prefix
        self._size = "i64" if pointer_bytes == 8 else "i32"
        self._pointer_bytes = pointer_bytes
        self._magic, self._layout = magic, layout
        self._variables, self._streams = variables, streams
        self._inside = weights is not None
        self._fingerprint, self._weights_size = fingerprint, weights_size
        self._maps = maps_files and not self._inside
        self.codes: list[Code] = []
        self.globals: list[str] = []
        # Visible functions: what they return, and their parameters.
        self.exported: dict[str, tuple[str, list[str]]] = {}
        if weights is not None:
            self.globals.append(constant("weights", weights or b"\0"))
        for number, (_, words) in enumerate(streams):
            self.globals.append(constant(f"stream{number}", words))

    # -- pieces ----------------------------------------------------------------------------

    def _code(self, name: str, parameters: Sequence[str], returns: str = "i32") -> Code:
        code = Code(f"{self._prefix}_{name}", parameters, returns)
        self.exported[code.name] = code.signature
        self.codes.append(code)
        return code

    def _offset(self, code: Code, pointer: str, offset: int) -> str:
        return code.at("i8", pointer, str(offset))

    def _word(self, code: Code, context: str, offset: int, kind: str = "i64") -> str:
        return code.load(kind, self._offset(code, context, offset), 8)

    def _set_word(self, code: Code, context: str, offset: int, kind: str, value: str) -> None:
        code.do(f"store {kind} {value}, ptr {self._offset(code, context, offset)}, align 8")

    def _check_context(self, code: Code, context: str) -> None:
        """Returns an error for what is no context."""
        _return_if(code, code.let(f"icmp eq ptr {context}, null"), NULL)
        self._check_aligned(code, context, ALIGNMENT - 1, NO_CONTEXT)
        magic = self._word(code, context, MAGIC)
        _return_if(code, code.let(f"icmp ne i64 {magic}, {self._magic}"), NO_CONTEXT)

    def _check_aligned(self, code: Code, pointer: str, mask: int, error: int) -> None:
        address = code.let(f"ptrtoint ptr {pointer} to i64")
        rest = code.integer("and", address, mask)
        _return_if(code, code.integer("icmp ne", rest, 0), error)

    def _weights(self, code: Code, context: str) -> str:
        return "@weights" if self._inside else self._word(code, context, WEIGHTS, "ptr")

    def _current(self, code: Code, context: str, variable: int) -> str:
        """The pointer to the present value of a variable."""
        offset = self._word(code, context, self._variables[variable].current)
        return code.at("i8", context, offset)

    # -- contexts --------------------------------------------------------------------------

    def write_contexts(self, derived: Sequence[DerivedArray], tables: Sequence[WordTable]) -> None:
        """The functions that make and end contexts."""
        size = self._code("context_size", [], self._size)
        size.do(f"ret {self._size} {self._layout.size}")
        self._write_initialize(derived, tables)
        self._write_create()
        self._write_destroy()

    @property
    def _weight_parameters(self) -> list[str]:
        return [] if self._inside else ["ptr %weights", f"{self._size} %weights_size"]

    def _write_initialize(
        self, derived: Sequence[DerivedArray], tables: Sequence[WordTable]
    ) -> None:
        parameters = ["ptr %memory", f"{self._size} %size", *self._weight_parameters, "ptr %result"]
        code = self._code("initialize", parameters)
        for pointer in ("%memory", "%result", *([] if self._inside else ["%weights"])):
            _return_if(code, code.let(f"icmp eq ptr {pointer}, null"), NULL)
        self._check_aligned(code, "%memory", ALIGNMENT - 1, CONTEXT_ALIGNMENT)
        small = code.let(f"icmp ult {self._size} %size, {self._layout.size}")
        _return_if(code, small, CONTEXT_SIZE)
        if not self._inside:
            self._check_weights(code)
            self._set_word(code, "%memory", WEIGHTS, "ptr", "%weights")
        self._set_word(code, "%memory", MAGIC, "i64", "0")
        self._set_word(code, "%memory", ALLOCATED, "ptr", "null")
        self._set_word(code, "%memory", MAPPED, "ptr", "null")
        self._set_word(code, "%memory", PARALLEL_FOR, "ptr", "null")
        for table in tables:
            offset = self._offset(code, "%memory", table.offset)
            code.copy(offset, table.initial, str(table.size))
        weights = self._weights(code, "%memory")
        for slots in self._variables:
            source = self._offset(code, weights, slots.initial)
            code.copy(self._offset(code, "%memory", slots.first), source, str(slots.size))
            self._set_word(code, "%memory", slots.current, "i64", str(slots.first))
        for number, (offset, words) in enumerate(self._streams):
            target = self._offset(code, "%memory", offset)
            code.copy(target, f"@stream{number}", str(len(words)))
        for array in derived:
            self._derive(code, "%memory", array)
        self._set_word(code, "%memory", MAGIC, "i64", str(self._magic))
        code.do("store ptr %memory, ptr %result")
        code.do(f"ret i32 {OK}")

    def _check_weights(self, code: Code) -> None:
        whole = code.let(f"icmp ne {self._size} %weights_size, {self._weights_size}")
        _return_if(code, whole, WEIGHTS_FILE)
        self._check_aligned(code, "%weights", ALIGNMENT - 1, WEIGHTS_FILE)
        word = code.load("i64", "%weights", 8)
        _return_if(code, code.let(f"icmp ne i64 {word}, {self._fingerprint}"), WEIGHTS_FILE)

    def _derive(self, code: Code, context: str, array: DerivedArray) -> None:
        """Computes a derived array."""
        source = (
            self._current(code, context, array.variable)
            if array.variable >= 0
            else self._offset(code, self._weights(code, context), array.weight)
        )
        ins, outs = code.first("alloca ptr"), code.first("alloca ptr")
        code.do(f"store ptr {source}, ptr {ins}")
        code.do(f"store ptr {self._offset(code, context, array.target)}, ptr {outs}")
        code.do(
            f"call void @{array.body}(ptr {ins}, ptr {outs}, ptr {array.words}, i64 0, "
            f"i64 {array.first_dim})"
        )

    def _write_create(self) -> None:
        if not self._inside and not self._maps:
            return
        parameters = [*(["ptr %path"] if self._maps else []), "ptr %result"]
        code = self._code("create", parameters)
        for parameter in parameters:
            pointer = parameter.split()[1]
            _return_if(code, code.let(f"icmp eq ptr {pointer}, null"), NULL)
        mapped = self._map_file(code) if self._maps else ""
        total = self._layout.size + ALIGNMENT
        allocated = code.call("ptr", "malloc", (self._size, str(total)))
        none = code.let(f"icmp eq ptr {allocated}, null")
        with code.when(none):
            self._unmap(code, mapped)
        _return_if(code, none, MEMORY)
        address = code.let(f"ptrtoint ptr {allocated} to {self._size}")
        beyond = code.let(f"add {self._size} {address}, {ALIGNMENT - 1}")
        rounded = code.let(f"and {self._size} {beyond}, {-ALIGNMENT}")
        memory = code.let(f"inttoptr {self._size} {rounded} to ptr")
        weights = f"ptr {mapped}, {self._size} {self._weights_size}, " if mapped else ""
        status = code.let(
            f"call i32 @{self._prefix}_initialize(ptr {memory}, {self._size} {self._layout.size}, "
            f"{weights}ptr %result)"
        )
        failed = code.let(f"icmp ne i32 {status}, 0")
        with code.when(failed):
            code.call("void", "free", ("ptr", allocated))
            self._unmap(code, mapped)
        yes, no = code.new_label("failed"), code.new_label("made")
        code.branch(failed, yes, no)
        code.label(yes)
        code.do(f"ret i32 {status}")
        code.label(no)
        self._set_word(code, memory, ALLOCATED, "ptr", allocated)
        if mapped:
            self._set_word(code, memory, MAPPED, "ptr", mapped)
        code.do(f"ret i32 {OK}")

    def _map_file(self, code: Code) -> str:
        """The file of weights in memory, by POSIX; its size is known."""
        code.declarations.add("declare i32 @open(ptr, i32, ...)")
        file = code.let("call i32 (ptr, i32, ...) @open(ptr %path, i32 0)")
        _return_if(code, code.let(f"icmp slt i32 {file}, 0"), WEIGHTS_FILE)
        end = code.call("i64", "lseek", ("i32", file), ("i64", "0"), ("i32", "2"))
        wrong = code.let(f"icmp ne i64 {end}, {self._weights_size}")
        with code.when(wrong):
            code.call("i32", "close", ("i32", file))
        _return_if(code, wrong, WEIGHTS_FILE)
        # PROT_READ and MAP_PRIVATE have these numbers on Linux and macOS.
        arguments = ("ptr", "null"), (self._size, str(self._weights_size)), ("i32", "1")
        mapped = code.call("ptr", "mmap", *arguments, ("i32", "2"), ("i32", file), ("i64", "0"))
        code.call("i32", "close", ("i32", file))
        minus_one = code.let("inttoptr i64 -1 to ptr")
        _return_if(code, code.let(f"icmp eq ptr {mapped}, {minus_one}"), WEIGHTS_FILE)
        return mapped

    def _unmap(self, code: Code, mapped: str) -> None:
        if mapped:
            code.call("i32", "munmap", ("ptr", mapped), (self._size, str(self._weights_size)))

    def _write_destroy(self) -> None:
        code = self._code("destroy", ["ptr %context"])
        self._check_context(code, "%context")
        self._set_word(code, "%context", MAGIC, "i64", "0")
        if self._maps:
            mapped = self._word(code, "%context", MAPPED, "ptr")
            with code.when(code.let(f"icmp ne ptr {mapped}, null")):
                self._unmap(code, mapped)
        if self._inside or self._maps:
            allocated = self._word(code, "%context", ALLOCATED, "ptr")
            with code.when(code.let(f"icmp ne ptr {allocated}, null")):
                code.call("void", "free", ("ptr", allocated))
        code.do(f"ret i32 {OK}")

    # -- calls -----------------------------------------------------------------------------

    def write_call(self, call: Call) -> None:
        """A function with its native ones."""
        function = call.function
        code = self._code(function.name, ["ptr %context", "ptr %inputs", "ptr %outputs"])
        self._check_context(code, "%context")
        for table, side in (("%inputs", function.inputs), ("%outputs", function.outputs)):
            if side:
                self._check_table(code, table)
        rows, choice, at = self._sizes(code, call)
        counts = self._counts(call)
        pointers: list[list[str]] = []
        error = call.first_error + len(function.sizes)
        for table, side in (("%inputs", function.inputs), ("%outputs", function.outputs)):
            pointers.append([])
            for port in side:
                number = sum(map(len, pointers))
                wanted = self._count(code, counts, choice, number) if port.forms else port.count
                pointers[-1].append(
                    self._argument(code, (table, at), port, error, str(wanted), rows)
                )
                error += len(ARGUMENT_FAULTS)
                at += 2 * self._pointer_bytes
            at = 0
        labels = [code.new_label("choice") for _ in call.choices]
        if len(labels) > 1:
            cases = " ".join([f"i64 {i}, label %{label}" for i, label in enumerate(labels)])
            code.do(f"switch i64 {choice}, label %{labels[0]} [ {cases} ]")
        for chosen, label in zip(call.choices, labels, strict=True):
            if len(labels) > 1:
                code.label(label)
            if rows:
                self._write_blocks(code, call, chosen, pointers, rows)
            else:
                self._write_native(code, call, chosen.variants[0], pointers)
            code.do(f"ret i32 {OK}")
        if function.shaped:
            self._write_shapes(call)

    def _check_table(self, code: Code, table: str) -> None:
        """Returns an error for what is no structure of pointers."""
        _return_if(code, code.let(f"icmp eq ptr {table}, null"), NULL)
        self._check_aligned(code, table, self._pointer_bytes - 1, NULL)

    # -- sizes -----------------------------------------------------------------------------

    def _sizes(self, code: Code, call: Call) -> tuple[str, str, int]:
        """The number of rows, the number of the choice of sizes, and where the pointers of inputs begin.

        They are empty where there are none. Returns an error for a size that no code is for.
        """
        function, at, rows, choice = call.function, 0, "", ""
        if function.has_rows:
            rows, at = code.load(self._size, "%inputs", self._pointer_bytes), self._pointer_bytes
        for number, size in enumerate(function.sizes):
            place = self._offset(code, "%inputs", at)
            value = self._widened(code, code.load(self._size, place, self._pointer_bytes))
            found = self._index(code, size, value, call.first_error + number)
            if choice:
                before = code.integer("mul", choice, len(size.values))
                found = code.integer("add", before, found)
            choice, at = found, at + self._pointer_bytes
        return rows, choice, at

    def _widened(self, code: Code, value: str) -> str:
        return value if self._size == "i64" else code.let(f"zext i32 {value} to i64")

    def _index(self, code: Code, size: Size, value: str, error: int) -> str:
        """The number of a value among those of a size."""
        first, last = size.values[0], size.values[-1]
        index = code.integer("sub", value, first)
        _return_if(code, code.let(f"icmp ugt i64 {index}, {last - first}"), error)
        if last - first == len(size.values) - 1:
            return index
        if last - first > MAX_TABLE_RATIO * len(size.values):
            found = "-1"
            for number, known in enumerate(size.values):
                same = code.let(f"icmp eq i64 {value}, {known}")
                found = code.let(f"select i1 {same}, i64 {number}, i64 {found}")
        else:
            numbers = {v: i for i, v in enumerate(size.values)}
            table = self._integers("sizes", [numbers.get(v, -1) for v in range(first, last + 1)])
            found = code.load("i64", code.at("i64", table, index), 8)
        _return_if(code, code.integer("icmp eq", found, -1), error)
        return found

    def _integers(self, name: str, values: Sequence[int]) -> str:
        """A constant vector."""
        kind, words = f"[{len(values)} x i64]", ", ".join([f"i64 {v}" for v in values])
        label = f"@{name}{len(self.globals)}"
        self.globals.append(f"{label} = internal constant {kind} [{words}], align 8")
        return label

    def _counts(self, call: Call) -> tuple[str, int]:
        """The numbers of elements of all ports for each choice of sizes, and how many they are."""
        if not call.function.sizes:
            return "", 0
        shapes_ = [[*c.inputs, *c.outputs] for c in call.choices]
        return self._integers("counts", [math.prod(s) for c in shapes_ for s in c]), len(shapes_[0])

    def _count(self, code: Code, counts: tuple[str, int], choice: str, number: int) -> str:
        table, width = counts
        index = code.integer("add", code.integer("mul", choice, width), number)
        found = code.load("i64", code.at("i64", table, index), 8)
        return found if self._size == "i64" else code.let(f"trunc i64 {found} to i32")

    def _write_shapes(self, call: Call) -> None:
        """The function that gives the shapes of results for sizes."""
        function = call.function
        code = self._code(f"{function.name}_get_shapes", ["ptr %inputs", "ptr %shapes"])
        for table in ("%inputs", "%shapes"):
            self._check_table(code, table)
        rows, choice, _ = self._sizes(code, call)
        shaped = [i for i, p in enumerate(function.outputs) if p in function.shaped]
        widths = [len(function.outputs[i].shape) for i in shaped]
        dims = [d for c in call.choices for i in shaped for d in c.outputs[i]]
        table, at = self._integers("shapes", dims), 0
        for number, width in zip(shaped, widths, strict=True):
            for axis in range(width):
                value = self._count(code, (table, sum(widths)), choice, at)
                if rows and not axis and function.outputs[number].rows:
                    faults = len(function.sizes) + len(ARGUMENT_FAULTS) * (
                        len(function.inputs) + number
                    )
                    value = self._times_rows(code, value, rows, call.first_error + faults + 1)
                place = self._offset(code, "%shapes", at * self._pointer_bytes)
                code.do(f"store {self._size} {value}, ptr {place}, align {self._pointer_bytes}")
                at += 1
        code.do(f"ret i32 {OK}")

    def _times_rows(self, code: Code, count: str, rows: str, error: int) -> str:
        """The product; returns an error if it is too large."""
        size = self._size
        product = code.call(
            f"{{ {size}, i1 }}", f"llvm.umul.with.overflow.{size}", (size, rows), (size, count)
        )
        beyond = code.let(f"extractvalue {{ {size}, i1 }} {product}, 1")
        _return_if(code, beyond, error)
        return code.let(f"extractvalue {{ {size}, i1 }} {product}, 0")

    # -- native functions ------------------------------------------------------------------

    def _write_blocks(
        self, code: Code, call: Call, choice: Choice, pointers: Sequence[Sequence[str]], rows: str
    ) -> None:
        """Calls for blocks of rows, the largest first, then for the rows that are left."""
        total = self._widened(code, rows)
        begin = "0"
        function = call.function
        sides = ((function.inputs, choice.inputs), (function.outputs, choice.outputs))
        for variant in reversed(choice.variants):
            end = code.integer("sub", total, code.integer("urem", total, variant.rows))
            with code.loop(begin, end, variant.rows) as row:
                moved = [
                    [self._row(code, *p, row) for p in zip(found, *side, strict=True)]
                    for found, side in zip(pointers, sides, strict=True)
                ]
                self._write_native(code, call, variant, moved)
            begin = end

    def _row(self, code: Code, pointer: str, port: Port, shape: tuple[int, ...], row: str) -> str:
        """The pointer to the elements of a row."""
        if not port.rows:
            return pointer
        size = math.prod(shape) * port.dtype.numpy.itemsize
        return code.at("i8", pointer, code.integer("mul", row, size))

    def _write_native(
        self, code: Code, call: Call, variant: Variant, pointers: Sequence[Sequence[str]]
    ) -> None:
        """The call of a native function; returns an error if it gives up."""
        for array in variant.stale:
            self._derive(code, "%context", array)
        before = {v: self._current(code, "%context", v) for v in call.written}
        after = {v: self._next(code, v, variant) for v in call.written}
        ins = [self._source(code, s, pointers[0], before) for s in variant.sources]
        arrays = (*variant.derived, *variant.stale)
        ins += [self._offset(code, "%context", d.target) for d in arrays]
        streams = [self._offset(code, "%context", s) for s in call.streams]
        memory = self._offset(code, "%context", call.memory)
        outs = [*pointers[1], *[after[v][0] for v in call.written], memory, *streams]
        kept = [self._copied(code, s) for s in streams]
        tables = [self._table(code, t) for t in (ins, outs)]
        words = variant.words
        if variant.table is not None:
            words = self._offset(code, "%context", variant.table.offset)
        code.do(
            f"call void @{variant.body}(ptr {tables[0]}, ptr {tables[1]}, ptr {words}, i64 0, i64 1)"
        )
        status = code.load("i64", memory, 8)
        wrong, right = code.new_label("wrong"), code.new_label("right")
        code.branch(code.integer("icmp ne", status, 0), wrong, right)
        code.label(wrong)
        for stream, copy in zip(streams, kept, strict=True):
            code.copy(stream, copy, "32")
        number = code.let(f"trunc i64 {status} to i32")
        code.do(f"ret i32 {code.let(f'add i32 {number}, {variant.first_guard}')}")
        code.label(right)
        for variable, (_, offset) in after.items():
            if offset:
                at = self._variables[variable].current
                self._set_word(code, "%context", at, "i64", offset)

    def _argument(
        self, code: Code, place: tuple[str, int], port: Port, error: int, wanted: str, rows: str
    ) -> str:
        """The checked pointer of an argument at an offset of a table; the three errors follow each other.

        `wanted` is the number of its elements, for one row if it has rows.
        """
        size, (table, at) = self._size, place
        pointer = code.load("ptr", self._offset(code, table, at), self._pointer_bytes)
        counted = self._offset(code, table, at + self._pointer_bytes)
        count = code.load(size, counted, self._pointer_bytes)
        if port.rows:
            wanted = self._times_rows(code, wanted, rows, error + 1)
        if wanted != "0":  # of no elements the pointer is not used
            none = code.let(f"icmp eq ptr {pointer}, null")
            if port.rows or port.forms:
                none = code.let(f"and i1 {none}, {code.let(f'icmp ne {size} {wanted}, 0')}")
            _return_if(code, none, error)
        _return_if(code, code.let(f"icmp ne {size} {count}, {wanted}"), error + 1)
        if wanted != "0" and port.alignment > 1:
            self._check_aligned(code, pointer, port.alignment - 1, error + 2)
        return pointer

    def _next(self, code: Code, variable: int, variant: Variant) -> tuple[str, str]:
        """Where the new value of a variable goes; the offset, unless it is in place."""
        slots = self._variables[variable]
        current = self._word(code, "%context", slots.current)
        if variant.in_place:
            return code.at("i8", "%context", current), ""
        offset = code.integer("sub", slots.first + slots.second, current)
        return code.at("i8", "%context", offset), offset

    def _source(
        self, code: Code, source: Source, arguments: Sequence[str], before: dict[int, str]
    ) -> str:
        if source.kind == "argument":
            return arguments[source.number]
        if source.kind == "weight":
            return self._offset(code, self._weights(code, "%context"), source.number)
        found = before.get(source.number)
        return found or self._current(code, "%context", source.number)

    def _copied(self, code: Code, stream: str) -> str:
        """The words of a stream on the stack."""
        kept = code.first("alloca [4 x i64]")
        code.copy(kept, stream, "32")
        return kept

    def _table(self, code: Code, pointers: Sequence[str]) -> str:
        table = code.first(f"alloca [{max(len(pointers), 1)} x ptr]")
        for number, pointer in enumerate(pointers):
            code.do(f"store ptr {pointer}, ptr {code.at('ptr', table, str(number))}")
        return table

    # -- threads ---------------------------------------------------------------------------

    def write_threads(self, tables: Sequence[WordTable]) -> None:
        """The function that gives a context threads, and the one through which kernels use them."""
        code = self._code("set_parallel_for", ["ptr %context", "ptr %run", "ptr %threads"])
        self._check_context(code, "%context")
        self._set_word(code, "%context", PARALLEL_FOR, "ptr", "%run")
        self._set_word(code, "%context", THREADS, "ptr", "%threads")
        alone = code.let("icmp eq ptr %run, null")
        pool = code.let(f"select i1 {alone}, ptr null, ptr %context")
        offsets = [t.offset + p for t in tables for p in t.pools]
        if offsets:
            words = ", ".join([f"i64 {o}" for o in offsets])
            kind = f"[{len(offsets)} x i64]"
            self.globals.append(f"@pools = internal constant {kind} [{words}], align 8")
            with code.loop("0", str(len(offsets))) as i:
                at = code.load("i64", code.at("i64", "@pools", i), 8)
                code.do(f"store ptr {pool}, ptr {code.at('i8', '%context', at)}, align 8")
        code.do(f"ret i32 {OK}")
        run = Code(RUN_TASKS, ["ptr %context", "ptr %task", "ptr %argument", "i64 %count"])
        function = self._word(run, "%context", PARALLEL_FOR, "ptr")
        threads = self._word(run, "%context", THREADS, "ptr")
        run.do(f"call void {function}(ptr {threads}, ptr %task, ptr %argument, i64 %count)")
        run.do("ret void")
        self.codes.append(run)

    # -- variables, texts ------------------------------------------------------------------

    def write_variables(self) -> None:
        """The functions that read and change variables."""
        for name, reads in (("get_variable", True), ("set_variable", False)):
            data = "ptr %data", f"{self._size} %bytes"
            code = self._code(name, ["ptr %context", "i32 %variable", *data])
            self._check_context(code, "%context")
            _return_if(code, code.let("icmp eq ptr %data, null"), NULL)
            labels = [code.new_label("variable") for _ in self._variables]
            cases = " ".join([f"i32 {i}, label %{label}" for i, label in enumerate(labels)])
            other = code.new_label("other")
            code.do(f"switch i32 %variable, label %{other} [ {cases} ]")
            for number, (slots, label) in enumerate(zip(self._variables, labels, strict=True)):
                code.label(label)
                wrong = code.let(f"icmp ne {self._size} %bytes, {slots.size}")
                _return_if(code, wrong, VARIABLE_SIZE)
                there = self._current(code, "%context", number)
                target, source = ("%data", there) if reads else (there, "%data")
                code.copy(target, source, str(slots.size))
                code.do(f"ret i32 {OK}")
            code.label(other)
            code.do(f"ret i32 {NO_VARIABLE}")

    def write_texts(self, errors: Sequence[Error], description: str) -> None:
        """The texts of errors, and what the library describes itself as."""
        codes, data = text_functions(f"{self._prefix}_", errors, description)
        self.codes += codes
        self.globals += data
        self.exported |= {c.name: c.signature for c in codes}


def text_functions(
    prefix: str, errors: Sequence[Error], description: str
) -> tuple[list[Code], list[str]]:
    """The functions that give texts, and the constants that they need."""
    code = Code(f"{prefix}error_text", ["i32 %error"], "ptr")
    labels = [code.new_label("error") for _ in errors]
    cases = " ".join(
        [f"i32 {e.code}, label %{label}" for e, label in zip(errors, labels, strict=True)]
    )
    other = code.new_label("other")
    code.do(f"switch i32 %error, label %{other} [ {cases} ]")
    data: list[str] = []
    for error, label in zip(errors, labels, strict=True):
        data.append(constant(f"text{error.code}", error.text.encode() + b"\0"))
        code.label(label)
        code.do(f"ret ptr @text{error.code}")
    data.append(constant("unknown", b"an error of another library\0"))
    code.label(other)
    code.do("ret ptr @unknown")
    data.append(constant("description", description.encode() + b"\0"))
    described = Code(f"{prefix}description", [], "ptr")
    described.do("ret ptr @description")
    return [code, described], data


def constant(name: str, content: bytes) -> str:
    """Constant bytes; equal ones of several levels of a processor may be one."""
    kind = f"[{len(content)} x i8]"
    return f"@{name} = internal unnamed_addr constant {kind} {text_of(content)}, align {ALIGNMENT}"


def _return_if(code: Code, condition: str, error: int) -> None:
    """Returns an error if a condition holds."""
    yes, no = code.new_label("return"), code.new_label("else")
    code.branch(condition, yes, no)
    code.label(yes)
    code.do(f"ret i32 {error}")
    code.label(no)
