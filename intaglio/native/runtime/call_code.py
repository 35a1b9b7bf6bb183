"""The text of the built-in function that `calls` hands its tables to."""

from __future__ import annotations

from intaglio.cpython import layout
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime.object_code import ObjectCode

# What stands before the steps.
HEADER = (
    "tensor", "slot", "array", "tuple", "list", "dict", "miss", "new_array", "new_object",
    "incref", "decref", "item", "new_tuple", "kernel", "dims", "memory", "refuses", "results",
    "single", "inputs", "objects", "made",
)  # fmt: skip


class _Dispatcher(ObjectCode):
    """Writes the function."""

    otherwise = "miss"

    def __init__(self) -> None:
        super().__init__(Code("dispatch", ["ptr %self", "ptr %args", "i64 %count"], "ptr"))
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

    # -- reading -----------------------------------------------------------------------

    def place(self, name: str) -> str:
        """Where the table's head has something."""
        return self.code.at("i64", self.table, str(HEADER.index(name)))

    def next(self, kind: str = "i64") -> str:
        """The next word of the table."""
        code = self.code
        at = code.load("i64", self.cursor, 8)
        code.do(f"store i64 {code.integer('add', at, 1)}, ptr {self.cursor}, align 8")
        return code.load(kind, code.at("i64", self.table, at), 8)

    def object(self) -> str:
        """The object of the number that stands next."""
        return self.code.load("ptr", self.code.at("ptr", self.objects, self.next()), 8)

    def keep(self, table: str, number: str, value: str) -> None:
        """Puts a pointer into one of the arrays."""
        self.code.do(f"store ptr {value}, ptr {self.code.at('ptr', table, number)}, align 8")

    # -- the steps -----------------------------------------------------------------------

    def write(self) -> Code:
        """The function."""
        code = self.code
        for i in (0, 1):
            self.keep(self.objects, str(i), code.load("ptr", code.at("ptr", "%args", str(i)), 8))
        code.do(f"store i64 {len(HEADER)}, ptr {self.cursor}, align 8")
        code.jump("step")
        code.label("step")
        kinds = [
            self._end,
            self._tuple,
            self._list,
            self._dict,
            self._key,
            self._tensor,
            self._same,
            self._fixed,
            self._alive,
        ]
        ways = " ".join([f"i64 {i}, label %kind{i}" for i in range(len(kinds))])
        kind = self.next()
        code.do(f"switch i64 {kind}, label %miss [ {ways} ]")
        for i, write in enumerate(kinds):
            code.label(f"kind{i}")
            write()
            if i:
                code.jump("step")
        self._misses()
        return code

    def _tuple(self) -> None:
        source = self._sized("tuple")
        self._parts(self.code.at("i8", source, str(layout.TUPLE_ITEMS)))

    def _list(self) -> None:
        source = self._sized("list")
        self._parts(self.field(source, layout.LIST_ITEMS))

    def _dict(self) -> None:
        source = self._sized("dict")
        size = self.field(source, layout.SIZE, "i64")
        self.equal(size, self.code.load("i64", self.length, 8), "i64")

    def _sized(self, kind: str) -> str:
        """An object of a type and a size."""
        source = self.object()
        self.equal(self.field(source, layout.TYPE), self.address(kind))
        count = self.next()
        self.code.do(f"store i64 {count}, ptr {self.length}, align 8")
        if kind != "dict":
            self.equal(self.field(source, layout.SIZE, "i64"), count, "i64")
        return source

    def _parts(self, items: str) -> None:
        code = self.code
        first = self.next()
        count = code.load("i64", self.length, 8)
        with code.loop("0", count) as i:
            part = code.load("ptr", code.at("ptr", items, i), 8)
            self.keep(self.objects, code.integer("add", first, i), part)

    def _key(self) -> None:
        source, key, number = self.object(), self.next("ptr"), self.next()
        value = self.code.let(f"call ptr {self.address('item')}(ptr {source}, ptr {key})")
        self.demand(self.code.let(f"icmp ne ptr {value}, null"))
        self.keep(self.objects, number, value)

    def _tensor(self) -> None:
        code = self.code
        source = self.object()
        self.equal(self.field(source, layout.TYPE), self.address("tensor"))
        array = self.array_of(source)
        number = self.next()
        self.equal(self.field(array, layout.ARRAY_DTYPE), self.next("ptr"))
        rank = self.next()
        there = self.field(array, layout.ARRAY_RANK, "i32")
        self.equal(code.let(f"sext i32 {there} to i64"), rank, "i64")
        lengths = self.field(array, layout.ARRAY_LENGTHS)
        with code.loop("0", rank) as i:
            length = code.load("i64", code.at("i64", lengths, i), 8)
            self.equal(length, self.next(), "i64")
        self.keep(self.inputs, number, self.field(array, layout.ARRAY_DATA))

    def _same(self) -> None:
        source = self.object()
        self.equal(source, self.next("ptr"))

    def _fixed(self) -> None:
        number = self.next()
        self.keep(self.inputs, number, self.next("ptr"))

    def _alive(self) -> None:
        flag = self.code.load("i64", self.next("ptr"), 8)
        self.demand(self.code.let(f"icmp ne i64 {flag}, 0"))

    # -- the end -------------------------------------------------------------------------

    def _end(self) -> None:
        code = self.code
        count = self.number("results")
        code.do(f"store i64 {self.number('made')}, ptr {self.cursor}, align 8")
        with code.loop("0", count) as i:
            self._result(i)
        self.keep(self.outputs, count, self.memory)
        code.do(
            f"call void {self.address('kernel')}(ptr {self.inputs}, ptr {self.outputs}, "
            f"ptr {self.address('dims')}, i64 0, i64 0)"
        )
        status = code.load("i64", self.memory, 8)
        wrong = code.integer("and", status, self.number("refuses"))
        refused, fine = code.new_label("refused"), code.new_label("fine")
        code.branch(code.integer("icmp ne", wrong, 0), refused, fine)
        code.label(refused)
        with code.loop("0", count) as i:
            self.drop(code.load("ptr", code.at("ptr", self.arrays, i), 8))
        code.jump("miss")
        code.label(fine)
        self._wrapped(count)

    def _result(self, number: str) -> None:
        """Makes the array of a result."""
        code = self.code
        descr, rank = self.next("ptr"), self.next()
        at = code.load("i64", self.cursor, 8)
        dims = code.at("i64", self.table, at)
        code.do(f"store i64 {code.integer('add', at, rank)}, ptr {self.cursor}, align 8")
        narrow = code.let(f"trunc i64 {rank} to i32")
        array = self.new_array(descr, narrow, dims)
        self._made(array, number)
        self.keep(self.arrays, number, array)
        self.keep(self.outputs, number, self.field(array, layout.ARRAY_DATA))

    def _made(self, thing: str, count: str) -> None:
        """Gives up, with the error that is set, if something could not be made; drops `count` arrays."""
        code = self.code
        there, none = code.new_label("there"), code.new_label("none")
        code.branch(code.let(f"icmp ne ptr {thing}, null"), there, none)
        code.label(none)
        with code.loop("0", count) as i:
            self.drop(code.load("ptr", code.at("ptr", self.arrays, i), 8))
        code.do("ret ptr null")
        code.label(there)

    def _wrapped(self, count: str) -> None:
        """Puts the arrays into tensors, and these into a tuple if there is one."""
        code = self.code
        one = code.integer("icmp ne", self.number("single"), 0)
        alone, several = code.new_label("alone"), code.new_label("several")
        code.branch(one, alone, several)
        code.label(alone)
        code.do(f"ret ptr {self._tensor_of('0', count)}")
        code.label(several)
        whole = code.let(f"call ptr {self.address('new_tuple')}(i64 {count})")
        self._made(whole, count)
        with code.loop("0", count) as i:
            made = self._tensor_of(i, "0")
            place = code.at("ptr", code.at("i8", whole, str(layout.TUPLE_ITEMS)), i)
            code.do(f"store ptr {made}, ptr {place}, align 8")
        code.do(f"ret ptr {whole}")

    def _tensor_of(self, number: str, count: str) -> str:
        code = self.code
        made = self.new_tensor()
        self._made(made, count)
        self.refer(made, code.load("ptr", code.at("ptr", self.arrays, number), 8))
        return made

    def _misses(self) -> None:
        self.code.label("miss")
        miss = self.address("miss")
        self.code.do(f"call void {self.address('incref')}(ptr {miss})")
        self.code.do(f"ret ptr {miss}")


def dispatcher() -> str:
    """The module."""
    return module([_Dispatcher().write()])
