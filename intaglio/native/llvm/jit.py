"""The JIT: compiles the text of an LLVM module through llvmlite, and returns addresses of functions."""

from __future__ import annotations

import collections
import ctypes
import os
import weakref
from collections.abc import Callable, Collection
from typing import Any

import llvmlite

try:
    import llvmlite.binding as llvm
except OSError as cause:  # its library is not for this system
    raise ImportError(f"llvmlite cannot be loaded: {cause}", name="llvmlite.binding") from cause

from intaglio.base.locks import exclusive_lock, lasting_lock
from intaglio.native.llvm import object_cache
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

_TARGET = llvm.Target.from_default_triple()
# The kind of processor, such as "x86_64".
MACHINE: str = llvm.get_default_triple().split("-")[0]
CPU: str = llvm.get_host_cpu_name()
_HOST: dict[str, bool] = dict(llvm.get_host_cpu_features())
_WIDEST = 64 if _HOST.get("avx512vl") else 32 if _HOST.get("avx2") else 16
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
# Whether the processor itself reads and writes 16-bit floats.
HAS_HALF = bool(_HOST.get("f16c")) and WIDTH > 16
# The numbers of 32 bits among which one instruction picks for every lane: those of a register.
MAX_CACHED_MODULES = {64: 16, 32: 8}.get(WIDTH, 0)


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


def _machine() -> Any:
    # The text is vectorised and unrolled already: what takes long in LLVM would find nothing.
    return _TARGET.create_target_machine(
        cpu=CPU, features=FEATURES, opt=1, codemodel="jitdefault", jit=True
    )


def compiled(text: str) -> bytes:
    """The object file of a module, from disk if it was compiled before.

    Raises RuntimeError, with LLVM's message, if the text is no valid module.
    """
    name = object_cache.name_of(text, CPU, FEATURES, VERSION)
    code = object_cache.read(name)
    if code is None:
        parsed = llvm.parse_assembly(text)
        parsed.verify()
        code = _machine().emit_object(parsed)
        object_cache.write(name, code)
    return code


# The type of a parameter of `Module.function` that is an address.
POINTER = ctypes.c_void_p


class Module:
    """Machine code, kept as long as this object is."""

    def __init__(self, text: str) -> None:
        """Raises RuntimeError, with LLVM's message, if the text is no valid module."""
        with _lock:
            code = compiled(text)
            empty = llvm.parse_assembly("")
            self._engine = llvm.create_mcjit_compiler(empty, _machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function begins."""
        return self._engine.get_function_address(name)

    def function(self, name: str, *arguments: Any) -> Any:
        """A function without result as a ctypes function."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


class SharedTable:
    """A table of functions that several modules declare; each is compiled when it is needed.

    The entries of others are null.
    """

    def __init__(
        self, name: str, indices: Collection[int], write: Callable[[int], tuple[str, str]]
    ) -> None:
        """`write` gives the name of the function of an entry, and a module with it."""
        self.name = name
        self._indices, self._write = indices, write
        self._entries = (POINTER * (1 + max(indices)))()
        self.declaration = f"@{name} = external constant [{len(self._entries)} x ptr]\n"
        self._defined: dict[int, Module] = {}
        self._lock = lasting_lock()

    def define(self, entries: Collection[int] | None = None) -> None:
        """Compiles the functions of these entries, or all, unless that was done before."""
        with self._lock:
            if not self._defined:
                llvm.add_symbol(self.name, ctypes.addressof(self._entries))
            for index in self._indices if entries is None else entries:
                if index not in self._defined:
                    function, text = self._write(index)
                    found = self._defined[index] = Module(text)
                    self._entries[index] = found.address(function)


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
