"""64-bit words in registers with Python's operators, which emit the hash functions of strings.

`ops/text/hash_functions.py` defines hash functions in terms of words. Here each operator on a word emits
an instruction, and the words of a string are loaded from its object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.native.llvm.builder import Code


class Word:
    """An i64. Python numbers as operands are constants."""

    __slots__ = ("code", "name")

    def __init__(self, code: Code, name: str) -> None:
        self.code = code
        self.name = name

    def _with(self, instruction: str, x: Any, y: Any) -> Word:
        return Word(self.code, self.code.integer(instruction, _name(x), _name(y)))

    def __add__(self, other: Word | int) -> Word:
        return self._with("add", self, other)

    def __sub__(self, other: Word | int) -> Word:
        return self._with("sub", self, other)

    def __mul__(self, other: Word | int) -> Word:
        return self._with("mul", self, other)

    def __xor__(self, other: Word | int) -> Word:
        return self._with("xor", self, other)

    def __and__(self, other: Word | int) -> Word:
        return self._with("and", self, other)

    def __or__(self, other: Word | int) -> Word:
        return self._with("or", self, other)

    def __lshift__(self, other: Word | int) -> Word:
        return self._with("shl", self, other)

    def __rshift__(self, other: Word | int) -> Word:
        return self._with("lshr", self, other)

    def __mod__(self, other: Word | int) -> Word:
        return self._with("urem", self, other)

    def __gt__(self, other: Word | int) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]  # a test in registers
        return self.code.integer("icmp ugt", self.name, _name(other))


def _name(value: Word | int) -> str:
    """A word as an LLVM operand."""
    if isinstance(value, Word):
        return value.name
    return str(value - 2**64 if value >= 2**63 else value)


class Text:
    """A string at a pointer: the source of words for a hash function."""

    def __init__(self, code: Code, data: str, size: str) -> None:
        self._code = code
        self._data = data
        self.size = Word(code, size)

    def word(self, at: Any) -> Word:
        """The eight bytes from an offset on, or from so many bytes before the end.

        Texts of fewer bytes are read beyond their ends. Objects begin at multiples of 16, and
        these words are in a 16-byte line that contains bytes of the object: they are mapped.
        """
        code = self._code
        if isinstance(at, int) and at < 0:
            at = self.size + at
        pointer = code.at("i8", self._data, _name(at))
        return Word(code, code.load("i64", pointer, 1))

    def every(self, value: int) -> Word:
        """A constant."""
        return Word(self._code, _name(value))

    def iterations(
        self,
        count: Word,
        step: Callable[[Word, tuple[Word, ...]], tuple[Word, ...]],
        state: tuple[Word, ...],
    ) -> tuple[Word, ...]:
        """The state after so many steps, in a loop."""
        code = self._code
        carried = [("i64", word.name) for word in state]
        with code.carrying("0", count.name, 1, *carried) as loop:
            words = tuple([Word(code, name) for name in loop.values])
            loop.following = [w.name for w in step(Word(code, loop.index), words)]
        return tuple([Word(code, name) for name in loop.values])

    def choice(self, test: str, yes: Word, no: Word) -> Word:
        """One of two words."""
        code = self._code
        return Word(code, code.let(f"select i1 {test}, i64 {yes.name}, i64 {no.name}"))
