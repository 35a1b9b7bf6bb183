"""The text of what recognises eager tensors in machine code, and makes them."""

from __future__ import annotations

from intaglio.cpython import layout
from intaglio.native.llvm.builder import Code


class ObjectCode:
    """Writes into a function that reads from a table what it refers to: `objects.symbols` and more."""

    # The block that is gone to where an object is another one than expected.
    otherwise = ""

    def __init__(self, code: Code) -> None:
        self.code = code

    def number(self, name: str) -> str:
        """A number of the table."""
        return self.code.load("i64", self.place(name), 8)

    def address(self, name: str) -> str:
        """An address of the table."""
        return self.code.load("ptr", self.place(name), 8)

    def place(self, name: str) -> str:
        """Where the table has something."""
        raise NotImplementedError

    def field(self, thing: str, offset: int | str, kind: str = "ptr") -> str:
        """A word of an object."""
        size = 4 if kind == "i32" else 8
        return self.code.load(kind, self.code.at("i8", thing, str(offset)), size)

    def demand(self, condition: str, otherwise: str = "") -> None:
        """Goes elsewhere unless the condition holds."""
        label = self.code.new_label("holds")
        self.code.branch(condition, label, otherwise or self.otherwise)
        self.code.label(label)

    def equal(self, x: str, y: str, kind: str = "ptr", otherwise: str = "") -> None:
        """Goes elsewhere unless two words are equal."""
        self.demand(self.code.let(f"icmp eq {kind} {x}, {y}"), otherwise)

    def array_of(self, tensor: str) -> str:
        """The array of an eager tensor, if its elements lie in order."""
        array = self.field(tensor, self.number("slot"))
        self.demand(self.code.let(f"icmp ne ptr {array}, null"))
        self.equal(self.field(array, layout.TYPE), self.address("array"))
        flags = self.field(array, layout.ARRAY_FLAGS, "i32")
        order = self.code.let(f"and i32 {flags}, {layout.ARRAY_IN_ORDER}")
        self.equal(order, str(layout.ARRAY_IN_ORDER), "i32")
        return array

    def new_array(self, descr: str, rank: str, lengths: str) -> str:
        """A new array of a dtype and shape, or null with an error; `rank` is an i32."""
        code = self.code
        # The array takes this reference.
        code.do(f"call void {self.address('incref')}(ptr {descr})")
        return code.let(
            f"call ptr {self.address('new_array')}(ptr {self.address('array')}, ptr {descr}, "
            f"i32 {rank}, ptr {lengths}, ptr null, ptr null, i32 0, ptr null)"
        )

    def new_tensor(self) -> str:
        """A new eager tensor that refers to nothing yet, or null with an error."""
        kind = self.address("tensor")
        return self.code.let(f"call ptr {self.address('new_object')}(ptr {kind}, i64 0)")

    def refer(self, tensor: str, array: str) -> None:
        """Gives a new tensor its array, with the reference to it."""
        place = self.code.at("i8", tensor, self.number("slot"))
        self.code.do(f"store ptr {array}, ptr {place}, align 8")

    def drop(self, thing: str) -> None:
        """Gives back a reference."""
        self.code.do(f"call void {self.address('decref')}(ptr {thing})")
