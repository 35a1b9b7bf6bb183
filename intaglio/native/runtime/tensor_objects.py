"""Eager tensors and arrays in machine code: how it checks, reads, allocates and releases them."""

from __future__ import annotations

import functools

import numpy as np

from intaglio import cpython
from intaglio.cpython import layout
from intaglio.native.llvm.builder import Code
from intaglio.runtime.eager import EagerTensor


@functools.cache
def symbols() -> dict[str, int]:
    """The table of addresses, and of the offset of a tensor's array, that emitted code reads."""
    return {
        "tensor_type": layout.address_of(EagerTensor),
        "array_slot": _array_slot(),
        "array_type": layout.address_of(np.ndarray),
        "tuple_type": layout.address_of(tuple),
        "list_type": layout.address_of(list),
        "dict_type": layout.address_of(dict),
        "new_array": layout.function_address("new_array"),
        "allocate_object": layout.function_address("allocate_object"),
        "incref": layout.function_address("incref"),
        "decref": layout.function_address("decref"),
        "dict_get": layout.function_address("dict_get"),
        "get_attribute": layout.function_address("get_attribute"),
        "get_item": layout.function_address("get_item"),
        "clear_error": layout.function_address("clear_error"),
        "new_tuple": layout.function_address("new_tuple"),
    }


def _array_slot() -> int:
    """The offset in a tensor of the slot that refers to its array; 0 if it is not found."""
    array = np.zeros(1)
    tensor = EagerTensor()
    tensor._array = array
    return layout.slot_offset(tensor, array)


# Whether machine code may read and allocate eager tensors.
AVAILABLE = cpython.AVAILABLE and _array_slot() > 0


class ObjectEmitter:
    """Emits code that reads and allocates objects, with the addresses of a table.

    A guard that fails branches to `fallback`.
    """

    fallback = ""

    def __init__(self, code: Code) -> None:
        self.code = code

    # -- the table -------------------------------------------------------------------------

    def entry(self, name: str) -> str:
        """The pointer to an entry of the table."""
        raise NotImplementedError

    def number(self, name: str) -> str:
        """An int64 of the table."""
        return self.code.load("i64", self.entry(name), 8)

    def address(self, name: str) -> str:
        """An address of the table."""
        return self.code.load("ptr", self.entry(name), 8)

    # -- reading ---------------------------------------------------------------------------

    def field(self, pointer: str, offset: int | str, kind: str = "ptr") -> str:
        """A field of an object, of an LLVM type."""
        size = 4 if kind == "i32" else 8
        return self.code.load(kind, self.code.at("i8", pointer, str(offset)), size)

    def guard(self, condition: str, fallback: str = "") -> None:
        """Branches to the fallback unless the condition holds."""
        label = self.code.new_label("holds")
        self.code.branch(condition, label, fallback or self.fallback)
        self.code.label(label)

    def guard_equal(self, x: str, y: str, kind: str = "ptr", fallback: str = "") -> None:
        """Branches to the fallback unless two values are equal."""
        self.guard(self.code.let(f"icmp eq {kind} {x}, {y}"), fallback)

    def array_of(self, tensor: str) -> str:
        """The array of an eager tensor; guards that it is contiguous."""
        array = self.field(tensor, self.number("array_slot"))
        self.guard(self.code.let(f"icmp ne ptr {array}, null"))
        self.guard_equal(self.field(array, layout.TYPE), self.address("array_type"))
        flags = self.field(array, layout.ARRAY_FLAGS, "i32")
        order = self.code.let(f"and i32 {flags}, {layout.ARRAY_IN_ORDER}")
        self.guard_equal(order, str(layout.ARRAY_IN_ORDER), "i32")
        return array

    # -- allocating ------------------------------------------------------------------------

    def new_array(self, dtype: str, rank: str, lengths: str) -> str:
        """A new array, or null with an exception set; `rank` is an i32, `lengths` point to i64."""
        code = self.code
        # The array takes over this reference.
        code.do(f"call void {self.address('incref')}(ptr {dtype})")
        return code.let(
            f"call ptr {self.address('new_array')}(ptr {self.address('array_type')}, ptr {dtype}, "
            f"i32 {rank}, ptr {lengths}, ptr null, ptr null, i32 0, ptr null)"
        )

    def new_tensor(self) -> str:
        """A new eager tensor without an array, or null with an exception set."""
        kind = self.address("tensor_type")
        return self.code.let(f"call ptr {self.address('allocate_object')}(ptr {kind}, i64 0)")

    def set_array(self, tensor: str, array: str) -> None:
        """Sets the array of a new tensor, which takes over the reference."""
        pointer = self.code.at("i8", tensor, self.number("array_slot"))
        self.code.do(f"store ptr {array}, ptr {pointer}, align 8")

    def release(self, pointer: str) -> None:
        """Releases a reference."""
        self.code.do(f"call void {self.address('decref')}(ptr {pointer})")
