"""A loader of object files without LLVM: the part of a linker that this package's code needs.

It supports the files that LLVM writes for the JIT on x86-64: ELF with 64-bit relocations only, one or more
code sections, no thread-local data, no exceptions. `load` refuses all others, which LLVM loads.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from collections.abc import Mapping
from typing import Any

# Constants of the ELF specification and its x86-64 supplement.
_MAGIC = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _X86_64 = 1, 62
_PROGBITS, _SYMTAB, _RELA, _NOBITS, _REL, _GROUP = 1, 2, 4, 8, 9, 17
_WRITE, _ALLOC, _EXEC, _TLS = 1, 2, 4, 0x400
_UNDEFINED, _RESERVED = 0, 0xFF00
_FUNCTION = 2
_ABSOLUTE_64, _RELATIVE_64 = 1, 24
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_WORD = struct.Struct("<Q")
_MASK = (1 << 64) - 1
# Kinds of memory, each in pages of its own: code, constants, data.
_KINDS = 3


class _Section:
    """The needed fields of a section header."""

    __slots__ = ("alignment", "flags", "info", "kind", "link", "offset", "size")

    def __init__(self, header: tuple[int, ...]) -> None:
        _, self.kind, self.flags, _, self.offset, self.size, *rest = header
        self.link, self.info, self.alignment, _ = rest


class Unsupported(Exception):
    """The object file is of a kind that this loader does not support."""


class Image:
    """Loaded code, kept as long as this object is."""

    def __init__(self, memory: ctypes.Array[ctypes.c_char], functions: Mapping[str, int]) -> None:
        self._memory = memory
        self._functions = functions

    def address(self, name: str) -> int:
        """Where a function begins. Raises KeyError if there is none of that name."""
        return self._functions[name]


def load(code: bytes, symbols: Mapping[str, int]) -> Image:
    """An object file in memory, ready to run.

    `symbols` are addresses by the names that it may refer to; others are the system's. Raises
    Unsupported for files of another kind, and where a name has no address.
    """
    if sys.platform == "win32":
        raise Unsupported(sys.platform)
    try:
        return _Loading(code, symbols).image()
    except (struct.error, IndexError, UnicodeDecodeError) as e:
        raise Unsupported(str(e)) from e


class _Loading:
    """The state of loading one file."""

    def __init__(self, code: bytes, symbols: Mapping[str, int]) -> None:
        self._code, self._known = code, symbols
        if code[: len(_MAGIC)] != _MAGIC:
            raise Unsupported("another format")
        kind, machine, _, _, _, at, _, _, _, _, size, number, _ = _HEADER.unpack_from(code)
        if (kind, machine, size) != (_RELOCATABLE, _X86_64, _SECTION.size):
            raise Unsupported("another kind of file")
        self._sections = [
            _Section(_SECTION.unpack_from(code, at + i * size)) for i in range(number)
        ]

    def image(self) -> Image:
        """The file in memory."""
        places, sizes = self._placed()
        whole = max(sum(sizes), mmap.PAGESIZE)
        memory = mmap.mmap(-1, whole, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        buffer = (ctypes.c_char * whole).from_buffer(memory)
        base = ctypes.addressof(buffer)
        for i, place in places.items():
            section = self._sections[i]
            if section.kind == _PROGBITS:
                end = section.offset + section.size
                memory[place : place + section.size] = self._code[section.offset : end]
        addresses = {i: base + place for i, place in places.items()}
        functions = self._relocated(memory, base, addresses)
        self._protect(base, sizes)
        return Image(buffer, functions)

    def _placed(self) -> tuple[dict[int, int], list[int]]:
        """The offset of each section in memory, by section number, and the bytes of each kind of memory."""
        places: dict[int, int] = {}
        sizes: list[int] = []
        start = 0
        for kind in range(_KINDS):
            at = start
            for i, section in enumerate(self._sections):
                if section.kind in (_REL, _GROUP) or section.flags & _TLS:
                    raise Unsupported("a section of another kind")
                if _kind_of(section) == kind:
                    at = -(-at // max(section.alignment, 1)) * max(section.alignment, 1)
                    if section.alignment > mmap.PAGESIZE:
                        raise Unsupported("an alignment beyond a page")
                    places[i] = at
                    at += section.size
            end = -(-at // mmap.PAGESIZE) * mmap.PAGESIZE
            sizes.append(end - start)
            start = end
        return places, sizes

    def _relocated(self, memory: Any, base: int, addresses: dict[int, int]) -> dict[str, int]:
        """Applies the relocations; returns the addresses of the functions."""
        functions: dict[str, int] = {}
        tables: dict[int, list[int | None]] = {}
        for i, section in enumerate(self._sections):
            if section.kind == _SYMTAB:
                tables[i] = self._symbols(section, addresses, functions)
        for section in self._sections:
            if section.kind != _RELA or section.info not in addresses:
                continue
            target = addresses[section.info]
            for number in range(section.size // _RELOCATION.size):
                place, how, symbol, addend = _RELOCATION.unpack_from(
                    self._code, section.offset + number * _RELOCATION.size
                )
                known = tables[section.link][symbol]
                if known is None or how not in (_ABSOLUTE_64, _RELATIVE_64):
                    raise Unsupported(f"a relocation of kind {how}")
                value = known + addend - (target + place if how == _RELATIVE_64 else 0)
                _WORD.pack_into(memory, target - base + place, value & _MASK)
        return functions

    def _symbols(
        self, table: _Section, addresses: dict[int, int], functions: dict[str, int]
    ) -> list[int | None]:
        """The addresses of a symbol table; None for symbols that cannot be referred to."""
        names = self._sections[table.link]
        found: list[int | None] = []
        for number in range(table.size // _SYMBOL.size):
            at = table.offset + number * _SYMBOL.size
            name_at, info, _, index, value, _ = _SYMBOL.unpack_from(self._code, at)
            start = names.offset + name_at
            name = self._code[start : self._code.index(b"\0", start)].decode()
            address = None
            if index == _UNDEFINED and name:
                address = self._known.get(name) or _of_system(name)
                if address is None:
                    raise Unsupported(f"{name} is not known")
            elif index in addresses:
                address = addresses[index] + value
                if info & 15 == _FUNCTION:
                    functions[name] = address
            elif index >= _RESERVED and info >> 4:
                raise Unsupported(f"{name} is in no section")
            found.append(address)
        return found

    def _protect(self, base: int, sizes: list[int]) -> None:
        """Makes code executable and read-only, and constants read-only."""
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        start = base
        modes = (mmap.PROT_READ | mmap.PROT_EXEC, mmap.PROT_READ)
        for size, mode in zip(sizes, modes, strict=False):
            if size and protect(start, size, mode):
                raise Unsupported("the system forbids executable memory")
            start += size


def _kind_of(section: _Section) -> int | None:
    """The kind of memory of a section; None if it is not loaded."""
    if not section.flags & _ALLOC or section.kind not in (_PROGBITS, _NOBITS):
        return None
    return 0 if section.flags & _EXEC else 2 if section.flags & _WRITE else 1


def _of_system(name: str) -> int | None:
    """The address of a function of the libraries that the process has loaded."""
    try:
        return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    except AttributeError:
        return None
