"""CRC-32C of ranges of a buffer, by the processor's instruction for it.

The instruction takes eight bytes, or one byte for the rest. Processors without it have no kernel:
NumPy computes the same numbers (`base/crc32c.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

Run = Callable[..., Any]

# By architecture: the feature, and the instructions for eight bytes and for one, with the types of
# checksum and data.
_INSTRUCTIONS = {
    "x86_64": (
        "sse4.2",
        ("llvm.x86.sse42.crc32.64.64", "i64", "i64"),
        ("llvm.x86.sse42.crc32.32.8", "i32", "i8"),
    ),
    "aarch64": (
        "crc",
        ("llvm.aarch64.crc32cx", "i32", "i64"),
        ("llvm.aarch64.crc32cb", "i32", "i32"),
    ),
}
_ALL_BITS = -1


def _step(code: Code, instruction: tuple[str, str, str], crc: str, data: str, stored: str) -> str:
    """The i32 checksum updated by the integer of a type that is stored at a pointer."""
    name, wide, taken = instruction
    value = code.load(stored, data, 1)
    if stored != taken:
        value = code.let(f"zext {stored} {value} to {taken}")
    if wide != "i32":
        crc = code.let(f"zext i32 {crc} to {wide}")
    crc = code.call(wide, name, (wide, crc), (taken, value))
    return crc if wide == "i32" else code.let(f"trunc {wide} {crc} to i32")


def _checksums() -> Kernel:
    """The checksums of ranges of the bytes, by starts and lengths; each continues a checksum."""
    _, eight, one = _INSTRUCTIONS[jit.MACHINE]
    code = Code("checksums", entry.KERNEL)
    data, starts, lengths, first, words = (
        code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(5)
    )
    out, count = code.load("ptr", "%outs", 8), code.load("i64", words, 8)
    with code.loop("0", count) as i:
        start, length = (
            code.load("i64", code.at("i64", array, i), 8) for array in (starts, lengths)
        )
        part = code.at("i8", data, start)
        crc = code.load("i32", code.at("i32", first, i), 4)
        crc = code.let(f"xor i32 {crc}, {_ALL_BITS}")
        whole = code.integer("and", length, -8)
        with code.carrying("0", whole, 8, ("i32", crc)) as loop:
            at = code.at("i8", part, loop.index)
            loop.following = [_step(code, eight, loop.values[0], at, "i64")]
        with code.carrying(whole, length, 1, ("i32", loop.values[0])) as rest:
            at = code.at("i8", part, rest.index)
            rest.following = [_step(code, one, rest.values[0], at, "i8")]
        crc = code.let(f"xor i32 {rest.values[0]}, {_ALL_BITS}")
        code.do(f"store i32 {crc}, ptr {code.at('i32', out, i)}, align 4")
    code.do("ret void")
    return Kernel(code, 5)


LIBRARY = Library(lambda: Source([_checksums()]))


def checksums() -> Run | None:
    """(bytes as uint8, starts, lengths, initial checksums) to the checksums (uint32) of the ranges.

    Ranges lie inside of the bytes. None where the processor has no such instruction.
    """
    known = _INSTRUCTIONS.get(jit.MACHINE)
    if not entry.AVAILABLE or known is None or not jit.has_feature(known[0]):
        return None
    kernel = LIBRARY.entry("checksums", shared=False).for_dims((1,))

    def run(data: Any, starts: Any, lengths: Any, first: Any) -> Any:
        starts, lengths = (np.ascontiguousarray(x, np.int64) for x in (starts, lengths))
        result = np.empty(starts.size, np.uint32)
        before = np.ascontiguousarray(first, np.uint32)
        kernel(data, starts, lengths, before, np.array([starts.size], np.int64), result)
        return result

    return run
