"""LLVM's library of llvmlite, called without llvmlite's Python modules, whose import takes longer than the library's.

What first calls need is here: from the text of a module to an object file, and the description of the
processor. The C functions have no documented interface: only releases of llvmlite whose functions have
these parameters are called this way; for others, and for all else, `llvm/compiler.py` uses llvmlite.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from intaglio.base.locks import exclusive_lock
from intaglio.native.llvm import processor

# The releases of llvmlite whose C functions are known, as (major, minor).
RELEASES = {(0, 48), (0, 49), (0, 50)}

_POINTER, _TEXT, _INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_OUT = ctypes.POINTER(ctypes.c_void_p)  # where a function stores a string, which the caller frees
# By function: the type of its result, and those of its parameters.
_FUNCTIONS: Mapping[str, tuple[object, tuple[object, ...]]] = {
    "InitializeNativeTarget": (None, ()),
    "InitializeNativeAsmPrinter": (None, ()),
    "InitializeNativeAsmParser": (None, ()),
    "GetDefaultTargetTriple": (None, (_OUT,)),
    "GetHostCPUName": (None, (_OUT,)),
    "GetHostCPUFeatures": (_INT, (_OUT,)),
    "DisposeString": (None, (_POINTER,)),
    "GetTargetFromTriple": (_POINTER, (_TEXT, _OUT)),
    "CreateTargetMachine": (
        _POINTER,
        (_POINTER, _TEXT, _TEXT, _TEXT, _INT, _TEXT, _TEXT, _INT, _INT, _TEXT),
    ),
    "ContextCreate": (_POINTER, ()),
    "ContextDispose": (None, (_POINTER,)),
    "ParseAssembly": (_POINTER, (_POINTER, _TEXT, _OUT)),
    "VerifyModule": (ctypes.c_bool, (_POINTER, _OUT)),
    "DisposeModule": (None, (_POINTER,)),
    "TargetMachineEmitToMemory": (_POINTER, (_POINTER, _POINTER, _INT, _OUT)),
    "GetBufferStart": (_POINTER, (_POINTER,)),
    "GetBufferSize": (ctypes.c_size_t, (_POINTER,)),
    "DisposeMemoryBuffer": (None, (_POINTER,)),
}


class _Message:
    """A string that a function of the library stores."""

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()

    def __str__(self) -> str:
        value = ctypes.cast(self.pointer, ctypes.c_char_p).value
        return value.decode("utf-8", "replace") if value else ""


class Library:
    """The library, for the processor that this process runs on.

    Each module is parsed into a context of its own: other users of llvmlite in the process do not share
    anything with it.
    """

    def __init__(self, path: str) -> None:
        """Raises OSError if the library cannot be loaded, and AttributeError if it lacks a function."""
        loaded = ctypes.CDLL(path)
        self._functions = {name: getattr(loaded, f"LLVMPY_{name}") for name in _FUNCTIONS}
        for name, (result, parameters) in _FUNCTIONS.items():
            self._functions[name].restype, self._functions[name].argtypes = result, parameters
        # A child process forked while a module is compiled could never compile.
        self._lock = exclusive_lock()
        with self._lock:
            for part in ("Target", "AsmPrinter", "AsmParser"):
                self._call(f"InitializeNative{part}")
            self._triple = self._text("GetDefaultTargetTriple").encode()
            with self._message() as message:
                target_ = self._call("GetTargetFromTriple", self._triple, message.pointer)
                if not target_:
                    raise OSError(str(message))
        self._target = target_
        self._machines: dict[tuple[int, str, str], int] = {}

    def _call(self, name: str, *arguments: object) -> int:
        return self._functions[name](*arguments)

    @contextmanager
    def _message(self) -> Generator[_Message]:
        message = _Message()
        try:
            yield message
        finally:
            if message.pointer:
                self._call("DisposeString", message.pointer)

    def _text(self, name: str) -> str:
        """What a function stores in its only parameter."""
        with self._message() as message:
            self._call(name, message.pointer)
            return str(message)

    def host(self) -> tuple[str, dict[str, bool]]:
        """LLVM's name of the processor, and its features."""
        with self._lock:
            features = self._text("GetHostCPUFeatures").split(",")
            cpu = self._text("GetHostCPUName")
        return cpu, {f[1:]: f[0] == "+" for f in features if f}

    def emitted(self, text: str, effort: int, cpu: str, features: str) -> bytes:
        """The object file of a module, which does not go through the middle end.

        Raises RuntimeError, with LLVM's message, if the text is no valid module.
        """
        with self._lock:
            machine = self._machine(effort, cpu, features)
            context = self._call("ContextCreate")
            try:
                return self._object(context, machine, text)
            finally:
                self._call("ContextDispose", context)

    def _machine(self, effort: int, cpu: str, features: str) -> int:
        key = effort, cpu, features
        found = self._machines.get(key)
        if found is None:
            found = self._call(
                "CreateTargetMachine",
                *(self._target, self._triple, cpu.encode(), features.encode(), effort),
                *(b"default", b"jitdefault", 0, 1, b""),
            )
            if not found:
                raise RuntimeError(f"LLVM has no machine for {cpu}")
            self._machines[key] = found
        return found

    def _object(self, context: int, machine: int, text: str) -> bytes:
        with self._message() as message:
            module = self._call("ParseAssembly", context, text.encode(), message.pointer)
            if not module or message.pointer:
                raise RuntimeError(f"LLVM IR parsing error\n{message}")
        try:
            with self._message() as message:
                if self._call("VerifyModule", module, message.pointer):
                    raise RuntimeError(str(message))
            with self._message() as message:
                buffer = self._call(
                    "TargetMachineEmitToMemory", machine, module, 1, message.pointer
                )
                if not buffer:
                    raise RuntimeError(str(message))
            size = self._call("GetBufferSize", buffer)
            code = ctypes.string_at(self._call("GetBufferStart", buffer), size)
            self._call("DisposeMemoryBuffer", buffer)
            return code
        finally:
            self._call("DisposeModule", module)


@functools.cache
def library() -> Library | None:
    """The library of this process; None where code is compiled by llvmlite's modules."""
    if not processor.KNOWN_LIBRARY or processor.installed().release not in RELEASES:
        return None
    try:
        return Library(os.path.join(processor.installed().folder, *processor.LIBRARY))
    except (OSError, AttributeError):
        return None  # llvmlite says what is wrong
