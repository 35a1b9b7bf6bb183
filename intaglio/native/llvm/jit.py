"""The JIT: compiles the text of an LLVM module through llvmlite, and returns addresses of functions.

In a process that writes code for another one (`llvm/target.py`) modules keep their text, and addresses
are numbers that stand for functions (`symbol_at`).
"""

from __future__ import annotations

import collections
import ctypes
import os
import re
import weakref
from collections.abc import Callable, Collection
from typing import Any

import llvmlite

try:
    import llvmlite.binding as llvm
except OSError as cause:  # its library is not for this system
    raise ImportError(f"llvmlite cannot be loaded: {cause}", name="llvmlite.binding") from cause

from intaglio.base.locks import exclusive_lock, lasting_lock
from intaglio.native.llvm import background, object_cache, target
from intaglio.native.llvm.executable import executable_memory

# Masked loads and stores are written as LLVM has had them since this version, that of llvmlite 0.48.
OLDEST_LLVM = 22
if llvm.llvm_version_info[0] < OLDEST_LLVM:
    raise ImportError(
        f"llvmlite {llvmlite.__version__} has LLVM {llvm.llvm_version_info[0]}, and machine code "
        f"needs {OLDEST_LLVM} or later: pip install 'llvmlite>=0.48'",
        name="llvmlite.binding",
    )
if not executable_memory():
    raise ImportError("the system forbids memory that is written and then executed")

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.initialize_native_asmparser()

_CHOSEN = target.chosen()
if _CHOSEN is not None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
# What code is compiled for, by LLVM's name.
TRIPLE: str = _CHOSEN.triple if _CHOSEN else llvm.get_default_triple()
_TARGET = llvm.Target.from_triple(TRIPLE)
# The kind of processor, such as "x86_64".
MACHINE: str = TRIPLE.split("-")[0]
CPU: str = _CHOSEN.cpu if _CHOSEN else llvm.get_host_cpu_name()
_FEATURES: dict[str, bool] = dict(_CHOSEN.features if _CHOSEN else llvm.get_host_cpu_features())
# A process has to ask the system for the matrix registers, which a library does not.
_UNUSED = ("amx",) if target.FREESTANDING else ()
_HOST = {name: there for name, there in _FEATURES.items() if not name.startswith(_UNUSED)}
_NATIVE_WIDEST = 64 if _HOST.get("avx512vl") else 32 if _HOST.get("avx2") else 16
_WIDEST = _CHOSEN.widest if _CHOSEN else _NATIVE_WIDEST
# Bytes of the vector registers that are used; `INTAGLIO_VECTOR_BYTES` takes narrower ones.
WIDTH = min(_WIDEST, int(os.environ.get("INTAGLIO_VECTOR_BYTES", "64")))
# What a processor with registers of that width does not have.
_BEYOND = {64: (), 32: ("avx512", "avx10"), 16: ("avx", "fma", "f16c", "xop", "vaes", "vpclmul")}[
    WIDTH
]
FEATURES = ",".join(
    [
        f"{'+' if there and not name.startswith(_BEYOND) else '-'}{name}"
        for name, there in sorted(_HOST.items())
    ]
)
# Whether the processor rounds x * y + z once.
HAS_FMA = (bool(_HOST.get("fma")) or not _HOST) and WIDTH > 16
# The same for products of matrices: without such an instruction LLVM would call a function for every lane.
FUSES_PRODUCTS = _CHOSEN.fused if _CHOSEN else "-fma" not in FEATURES.split(",")
# Whether the processor itself reads and writes 16-bit floats.
HAS_HALF = bool(_HOST.get("f16c")) and WIDTH > 16
# The numbers of 32 bits among which one instruction picks for every lane: those of a register.
PERMUTED_ENTRIES = {64: 16, 32: 8}.get(WIDTH, 0)


def has_feature(name: str) -> bool:
    """Whether the processor has a feature, by LLVM's name for it."""
    return bool(_HOST.get(name))


VERSION = f"{llvmlite.__version__} {llvm.llvm_version_info}"

# llvmlite parses into one global context, which threads may not use at the same time.
# A process that began in the midst of it could never compile.
_lock = exclusive_lock()
# Nor in the midst of a single call: llvmlite locks each, also those that free what is not used any more.
_calls = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
if _calls is not None:
    exclusive_lock(_calls)


# How much LLVM optimises. The text of kernels is vectorised and unrolled already: what takes longer
# finds nothing. Code that runs once for a call of a kernel, scalar and without loops that matter, is
# compiled in a fifth of the time. Code that is translated from loops of Python has its variables on the
# stack: it goes through LLVM's middle end first.
KERNEL_EFFORT, GLUE_EFFORT, FULL_EFFORT = 1, 0, 2


def _machine(effort: int = KERNEL_EFFORT) -> Any:
    return _TARGET.create_target_machine(
        cpu=CPU, features=FEATURES, opt=effort, codemodel="jitdefault", jit=True
    )


def machine_for_objects(cpu: str = CPU, features: str = FEATURES) -> Any:
    """What writes object files: code that may be anywhere in memory."""
    return _TARGET.create_target_machine(
        cpu=cpu, features=features, opt=KERNEL_EFFORT, reloc="pic", codemodel="default"
    )


def parsed_bitcode(content: bytes) -> Any:
    """A module that was written as bitcode."""
    return llvm.parse_bitcode(content)


# The line that begins a function, without its brace.
_FUNCTION = re.compile(r"^(define .*\S)(?= *\{$)", re.MULTILINE)


def bound_to_target(text: str) -> str:
    """The text of a module whose functions say what processor they are for.

    They keep it in a module with functions for others.
    """
    return _FUNCTION.sub(rf'\1 "target-cpu"="{CPU}" "target-features"="{FEATURES}"', text)


def parsed_for_objects(text: str, machine: Any) -> Any:
    """A module of a text, with the layout of the target."""
    parsed = llvm.parse_assembly(text)
    parsed.triple, parsed.data_layout = TRIPLE, str(machine.target_data)
    return parsed


def compiled(text: str, effort: int = KERNEL_EFFORT) -> bytes:
    """The object file of a module, from disk if it was compiled before.

    Raises RuntimeError, with LLVM's message, if the text is no valid module.
    """
    name = object_cache.name_of(text, CPU, FEATURES, VERSION, str(effort))
    code = object_cache.read(name)
    if code is None:
        parsed = llvm.parse_assembly(text)
        parsed.verify()
        machine = _machine(effort)
        if effort == FULL_EFFORT:
            _optimise(parsed, machine)
        code = machine.emit_object(parsed)
        object_cache.write(name, code)
    return code


def _optimise(parsed: Any, machine: Any) -> None:
    """LLVM's middle end, as a compiler of C runs it."""
    parsed.triple, parsed.data_layout = TRIPLE, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)


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
        with _lock:
            code = compiled(text, effort)
            empty = llvm.parse_assembly("")
            self._engine = llvm.create_mcjit_compiler(empty, _machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function begins."""
        if target.FREESTANDING:
            return _SYMBOLS.address(self, name)
        return self._engine.get_function_address(name)

    def function(self, name: str, *arguments: Any) -> Any:
        """A function without result as a ctypes function."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


class _Symbols:
    """Numbers that stand for the addresses of functions, where code is only written."""

    # No address or size of a process is as large.
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
# The tables of the process, by name.
_TABLES: dict[str, SharedTable] = {}


def symbol_at(address: int) -> tuple[Module, str] | None:
    """The function that `Module.address` has given the number of, where code is only written."""
    return _SYMBOLS.function(address)


def table_entries(name: str) -> list[int]:
    """The addresses in a shared table, 0 for entries that are not compiled."""
    return _TABLES[name].entries


# A function's name, and the module that it is in.
Written = tuple[str, str]


class SharedTable:
    """A table of functions that several modules declare; each is compiled when it is needed.

    The entries of others are null. Where one function can do the work of several entries, with the
    same bits, it is compiled first and stands in for them until theirs are compiled in the background.
    """

    def __init__(
        self,
        name: str,
        indices: Collection[int],
        write: Callable[[int], Written],
        general: Callable[[int], tuple[Collection[int], Callable[[], Written]]] | None = None,
    ) -> None:
        """`write` gives the function of an entry; `general` the entries that a function may stand in
        for, of which the argument is one, and what writes it."""
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
                    llvm.add_symbol(self.name, ctypes.addressof(self._entries))
            for index in self._indices if entries is None else entries:
                if index not in self._defined:
                    self._find(index)

    def _find(self, index: int) -> None:
        """A function for an entry: its own, or one that stands in for it."""
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
        """The addresses of the functions, 0 where there is none yet."""
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


_modules: weakref.WeakValueDictionary[str, Module] = weakref.WeakValueDictionary()
# The last ones requested, which a function that is compiled again for other dims may request again.
_recent: collections.deque[Module] = collections.deque(maxlen=32)


def module(text: str) -> Module:
    """The machine code of a text; equal texts, which graphs have many of, share it while it is used."""
    key = object_cache.name_of(text)
    found = _modules.get(key)
    if found is None:
        found = _modules.setdefault(key, Module(text))
    with _lock:
        if found not in _recent:
            _recent.append(found)
    return found


class Pieces:
    """Which modules have functions that others could use, by the functions' texts.

    Those that were used last are kept, also without references to them.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._homes: dict[str, Module] = {}
        self._lock = lasting_lock()

    def home(self, text: str) -> Module | None:
        """The module of a function, if there is one."""
        key = object_cache.name_of(text)
        with self._lock:
            found = self._homes.pop(key, None)
            if found is not None:
                self._homes[key] = found
        return found

    def keep(self, text: str, module: Module) -> None:
        """Says where a function is."""
        with self._lock:
            self._homes[object_cache.name_of(text)] = module
            while len(self._homes) > self._most:
                del self._homes[next(iter(self._homes))]


PIECES = Pieces(128)


def assembly(text: str, cpu: str = "") -> str:
    """The machine code of a module as text, for reading: for this processor, or for another of its kind."""
    with _lock:
        parsed = llvm.parse_assembly(text)
        parsed.verify()
        machine = _TARGET.create_target_machine(cpu=cpu, opt=1) if cpu else _machine()
        return machine.emit_assembly(parsed)
