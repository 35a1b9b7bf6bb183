"""The JIT: addresses of functions of LLVM modules, which are compiled, or read from the cache on disk.

LLVM is loaded for code that is not on disk (`llvm/library.py`, `llvm/compiler.py`). In a process that writes code for another
one (`llvm/target.py`) modules keep their text, and addresses are numbers that stand for functions
(`symbol_at`).
"""

from __future__ import annotations

import collections
import ctypes
import weakref
from collections.abc import Callable, Collection
from typing import Any

from intaglio.base import later
from intaglio.base.locks import lasting_lock
from intaglio.native.llvm import background, loader, object_cache, prepared, processor, target
from intaglio.native.llvm.executable import executable_memory

if not executable_memory():
    raise ImportError("the system forbids memory that is written and then executed")

# The processor that code is written for.
IDENTITY, MACHINE, WIDTH = processor.IDENTITY, processor.MACHINE, processor.WIDTH
HAS_FMA, FUSES_PRODUCTS = processor.HAS_FMA, processor.FUSES_PRODUCTS
HAS_HALF, PERMUTED_ENTRIES = processor.HAS_HALF, processor.PERMUTED_ENTRIES
has_feature = processor.has_feature

# LLVM's optimisation level. The text of kernels is vectorised and unrolled already: higher levels find
# nothing more. Scalar code that runs once for a call of a kernel is compiled at a level that takes a fifth
# of the time. Code translated from Python loops has its variables on the stack: it needs LLVM's middle end
# first.
KERNEL_EFFORT, GLUE_EFFORT, FULL_EFFORT = 1, 0, 2


def _compiler() -> Any:
    return later.named("intaglio.native.llvm.compiler")


def compiled(text: str, effort: int = KERNEL_EFFORT) -> bytes:
    """The object file of a module: from disk if it was compiled before, or came with the package.

    Raises RuntimeError, with LLVM's message, if the text is no valid module.
    """
    name = object_cache.name_of(text, IDENTITY, str(effort))
    code = object_cache.read(name) or prepared.read(processor.PREPARED, text, effort)
    if code is None:
        code = _emitted(text, effort)
        object_cache.write(name, code)
    return code


def _emitted(text: str, effort: int) -> bytes:
    """The object file of a module, which LLVM compiles."""
    if effort != FULL_EFFORT:
        library = later.named("intaglio.native.llvm.library").library()
        if library is not None:
            return library.emitted(text, effort, *processor.for_compiler())
    compiler = _compiler()
    with compiler.LOCK:
        machine = compiler.machine(effort, *processor.for_compiler())
        return compiler.emitted(text, machine, optimised=effort == FULL_EFFORT)


def _loaded(code: bytes) -> Callable[[str], int]:
    """A function from names to addresses in a loaded object file. The code lives as long as that function."""
    try:
        return loader.load(code, _TABLE_ADDRESSES).address
    except loader.Unsupported:
        compiler = _compiler()
        with compiler.LOCK:
            machine = compiler.machine(KERNEL_EFFORT, *processor.for_compiler())
            return compiler.loaded(code, machine, _TABLE_ADDRESSES)


# The type of a parameter of `Module.function` that is an address.
POINTER = ctypes.c_void_p


class Module:
    """Machine code, kept as long as this object is."""

    def __init__(self, text: str, effort: int = KERNEL_EFFORT) -> None:
        """Raises RuntimeError, with LLVM's message, if the text is no valid module."""
        self.text = text if target.FREESTANDING else ""
        if target.FREESTANDING:
            return
        background.begin()
        self._address = _loaded(compiled(text, effort))

    def address(self, name: str) -> int:
        """The address of a function."""
        if target.FREESTANDING:
            return _SYMBOLS.address(self, name)
        return self._address(name)

    def function(self, name: str, *arguments: Any) -> Any:
        """A function that returns void, as a ctypes function."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


class _Symbols:
    """Numbers that stand for the addresses of functions, where code is only written."""

    # Larger than any address or size in a process.
    _FIRST = 1 << 62

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._functions: list[tuple[Module, str]] = []

    def address(self, module: Module, name: str) -> int:
        """The number of a function."""
        key = (id(module), name)  # modules are kept
        if key not in self._numbers:
            self._numbers[key] = self._FIRST + len(self._functions)
            self._functions.append((module, name))
        return self._numbers[key]

    def function(self, address: int) -> tuple[Module, str] | None:
        """The module and name of the function that a number stands for; None for other numbers."""
        index = address - self._FIRST
        return self._functions[index] if 0 <= index < len(self._functions) else None


_SYMBOLS = _Symbols()
# The shared tables of the process, by name.
_TABLES: dict[str, SharedTable] = {}
_TABLE_ADDRESSES: dict[str, int] = {}


def symbol_at(address: int) -> tuple[Module, str] | None:
    """The module and name of the function that a symbolic address of `Module.address` stands for, or None."""
    return _SYMBOLS.function(address)


def table_entries(name: str) -> list[int]:
    """The addresses in a shared table, 0 for entries that are not compiled."""
    return _TABLES[name].entries


# The name of a function, and its module.
Written = tuple[str, str]


class SharedTable:
    """A table of functions that several modules declare; each is compiled when it is needed.

    Entries that are not compiled are null. A general function that can replace several entries, with the
    same bits, is compiled first and used for them until their own are compiled in the background.
    """

    def __init__(
        self,
        name: str,
        indices: Collection[int],
        write: Callable[[int], Written],
        general: Callable[[int], tuple[Collection[int], Callable[[], Written]]] | None = None,
    ) -> None:
        """`write` returns the text of an entry's function; `general` maps an entry to all the entries that one
        general function serves, and to the function that writes its text."""
        self.name = name
        self._indices, self._write, self._general = indices, write, general
        self._entries = (POINTER * (1 + max(indices)))()
        self.declaration = f"@{name} = external constant [{len(self._entries)} x ptr]\n"
        self._defined: dict[int, Module] = {}
        self._standing_in: list[Module] = []
        self._declared = False
        self._lock = lasting_lock()

    def define(self, entries: Collection[int] | None = None) -> None:
        """Compiles functions for these entries, or all, unless that was done before."""
        with self._lock:
            if not self._declared:
                self._declared = True
                _TABLES[self.name] = self
                if not target.FREESTANDING:
                    _TABLE_ADDRESSES[self.name] = ctypes.addressof(self._entries)
            for index in self._indices if entries is None else entries:
                if index not in self._defined:
                    self._find(index)

    def _find(self, index: int) -> None:
        """Defines an entry: by its own function, or by a general one until that is compiled."""
        if self._general is None or target.FREESTANDING:
            self._compile(index)
            return
        if not self._entries[index]:
            stands_for, write = self._general(index)
            name, text = write()
            found = Module(text)
            self._standing_in.append(found)
            for other in stands_for:
                if other not in self._defined:
                    self._entries[other] = found.address(name)
        background.later((self.name, index), lambda: self._replace(index))

    @property
    def entries(self) -> list[int]:
        """The addresses of the functions, 0 for those that are not compiled yet."""
        return [address or 0 for address in self._entries]

    def _replace(self, index: int) -> None:
        name, text = self._write(index)
        found = Module(text)
        with self._lock:
            self._enter(index, name, found)

    def _compile(self, index: int) -> None:
        name, text = self._write(index)
        self._enter(index, name, Module(text))

    def _enter(self, index: int, name: str, found: Module) -> None:
        self._defined[index] = found
        self._entries[index] = found.address(name)


_lock = lasting_lock()
_modules: weakref.WeakValueDictionary[str, Module] = weakref.WeakValueDictionary()
# Keeps the most recent modules alive: a function compiled again for other dims may request them again.
_recent: collections.deque[Module] = collections.deque(maxlen=32)


def module(text: str) -> Module:
    """The module of a text; equal texts, which are frequent among graphs, share it while it is in use."""
    key = object_cache.name_of(text)
    found = _modules.get(key)
    if found is None:
        found = _modules.setdefault(key, Module(text))
    with _lock:
        if found not in _recent:
            _recent.append(found)
    return found


class Pieces:
    """The modules whose functions other modules can call, by the functions' texts.

    Those that were used last are kept, also without references to them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._homes: dict[str, Module] = {}
        self._lock = lasting_lock()

    def home(self, text: str) -> Module | None:
        """The module that contains a function, or None."""
        key = object_cache.name_of(text)
        with self._lock:
            found = self._homes.pop(key, None)
            if found is not None:
                self._homes[key] = found
        return found

    def keep(self, text: str, module: Module) -> None:
        """Notes the module of a function."""
        with self._lock:
            self._homes[object_cache.name_of(text)] = module
            while len(self._homes) > self._most:
                del self._homes[next(iter(self._homes))]


PIECES = Pieces(128)


def assembly(text: str, cpu: str = "") -> str:
    """The machine code of a module as text, for reading: for this processor, or for another of its kind."""
    compiler = _compiler()
    with compiler.LOCK:
        own = (cpu, "") if cpu else processor.for_compiler()
        machine = compiler.machine(KERNEL_EFFORT, *own)
        return compiler.assembly(text, machine)
