"""LLVM through llvmlite: the text of a module goes in, the addresses of its functions come out."""

from __future__ import annotations

import ctypes
import functools
import threading
from typing import Any

import llvmlite.binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.initialize_native_asmparser()

_TARGET = llvm.Target.from_default_triple()
CPU: str = llvm.get_host_cpu_name()
FEATURES: str = llvm.get_host_cpu_features().flatten()
_FLAGS = frozenset(FEATURES.split(","))
# Bytes of the widest vector registers.
WIDTH = 64 if "+avx512vl" in _FLAGS else 32 if "+avx2" in _FLAGS else 16

# llvmlite parses into one global context, which threads may not use at the same time.
_lock = threading.Lock()


def _machine() -> Any:
    # The text is vectorised and unrolled already: what takes long in LLVM would find nothing.
    return _TARGET.create_target_machine(
        cpu=CPU, features=FEATURES, opt=1, codemodel="jitdefault", jit=True
    )


class Module:
    """Machine code, kept as long as this object is."""

    def __init__(self, text: str) -> None:
        """Raises RuntimeError, with LLVM's message, if the text is no valid module."""
        with _lock:
            parsed = llvm.parse_assembly(text)
            parsed.verify()
            self._engine = llvm.create_mcjit_compiler(parsed, _machine())
            self._engine.finalize_object()
        self.text = text

    def address(self, name: str) -> int:
        """Where a function begins."""
        return self._engine.get_function_address(name)

    def function(self, name: str, *arguments: Any) -> Any:
        """A function without result as a ctypes function."""
        return ctypes.CFUNCTYPE(None, *arguments)(self.address(name))


@functools.lru_cache(maxsize=1024)
def module(text: str) -> Module:
    """The machine code of a text; equal texts, which graphs have many of, are compiled once."""
    return Module(text)


def assembly(text: str) -> str:
    """The machine code of a module as text, for reading."""
    with _lock:
        parsed = llvm.parse_assembly(text)
        parsed.verify()
        return _machine().emit_assembly(parsed)
