"""The frame of kernels on arrays of texts: a loop over the objects that reads their bytes in place."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from intaglio.cpython import layout
from intaglio.native.kernels.library import Kernel
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.integers import Word
from intaglio.native.runtime import entry

# The first words of a kernel: the number of texts, and addresses of Python's type and two
# functions.
WORDS = ("count", "type", "new", "release")


class Walk:
    """A kernel that loops over texts: its arrays and words."""

    def __init__(self, name: str) -> None:
        self.code = code = Code(name, entry.KERNEL)
        objects, words = self.array(0), self.array(1)
        self.objects = objects
        self.words = {
            part: code.load("i64", code.at("i64", words, str(i)), 8) for i, part in enumerate(WORDS)
        }
        self.words_pointer = words
        self.out = self.result(0)
        self.flag = self.result(1)

    def array(self, number: int) -> str:
        """The data of an input."""
        return self.code.load("ptr", self.code.at("ptr", "%ins", str(number)), 8)

    def result(self, number: int) -> str:
        """The data of an output."""
        return self.code.load("ptr", self.code.at("ptr", "%outs", str(number)), 8)

    def pointer(self, name: str) -> str:
        """A word of the kernel as a pointer."""
        return self.code.let(f"inttoptr i64 {self.words[name]} to ptr")

    def more(self, number: int) -> Word:
        """A word of this kernel alone, after the common ones."""
        code = self.code
        pointer = code.at("i64", self.words_pointer, str(len(WORDS) + number))
        return Word(code, code.load("i64", pointer, 8))

    def unexpected(self) -> None:
        """Sets the flag: the result must not be used."""
        self.code.do(f"store i64 1, ptr {self.flag}, align 8")

    @contextmanager
    def texts(self) -> Generator[tuple[str, str, str]]:
        """A loop over the texts: the index, the pointer to the bytes and their number."""
        code, kind = self.code, self.pointer("type")
        with code.loop("0", self.words["count"]) as i:
            scratch = code.load("ptr", code.at("ptr", self.objects, i), 8)
            # An unset element is a null pointer; an object of another type is no text.
            nothing = code.let(f"icmp eq ptr {scratch}, null")
            scratch = code.let(f"select i1 {nothing}, ptr {kind}, ptr {scratch}")
            own = code.load("ptr", code.at("i8", scratch, str(layout.TYPE)), 8)
            good = code.let(f"icmp eq ptr {own}, {kind}")
            with code.when(code.let(f"xor i1 {good}, true")):
                self.unexpected()
            with code.when(good):
                size = code.load("i64", code.at("i8", scratch, str(layout.SIZE)), 8)
                yield i, code.at("i8", scratch, str(layout.BYTES_DATA)), size

    @contextmanager
    def spans(self) -> Generator[tuple[str, str, str]]:
        """A loop over spans of one text: the index, the pointer to the bytes and their number."""
        code = self.code
        bounds = [self.array(2 + k) for k in range(2)]
        with code.loop("0", self.words["count"]) as i:
            start, size = (code.load("i64", code.at("i64", array, i), 8) for array in bounds)
            yield i, code.at("i8", self.objects, start), size

    def store(self, i: str, value: str) -> None:
        """Stores an i64 to the result."""
        pointer = self.code.at("i64", self.out, i)
        self.code.do(f"store i64 {value}, ptr {pointer}, align 8")

    def new_text(self, i: str, data: str, size: str) -> None:
        """Stores a new text of these bytes to the result."""
        code = self.code
        new, release = self.pointer("new"), self.pointer("release")
        text = code.let(f"call ptr {new}(ptr {data}, i64 {size})")
        pointer = code.at("ptr", self.out, i)
        before = code.load("ptr", pointer, 8)
        code.do(f"store ptr {text}, ptr {pointer}, align 8")
        code.do(f"call void {release}(ptr {before})")

    def fresh_text(self, i: str, size: str) -> str:
        """Stores a new text of so many bytes to the result; returns the pointer to them."""
        code = self.code
        self.new_text(i, "null", size)
        text = code.load("ptr", code.at("ptr", self.out, i), 8)
        return code.at("i8", text, str(layout.BYTES_DATA))

    def byte(self, data: str, at: str) -> str:
        """A byte as an i64."""
        code = self.code
        return code.let(f"zext i8 {code.load('i8', code.at('i8', data, at), 1)} to i64")

    def put(self, data: str, at: str, value: str) -> None:
        """Stores the low bits of an i64 as a byte."""
        code = self.code
        octet = code.let(f"trunc i64 {value} to i8")
        code.do(f"store i8 {octet}, ptr {code.at('i8', data, at)}, align 1")

    def select(self, test: str, yes: str | int, no: str | int) -> str:
        """One of two i64."""
        return self.code.let(f"select i1 {test}, i64 {yes}, i64 {no}")

    def kernel(self, inputs: int, outputs: int) -> Kernel:
        """The kernel, as a library takes it."""
        self.code.do("ret void")
        return Kernel(self.code, 2 + inputs, 2 + outputs)
