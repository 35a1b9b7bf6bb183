"""LLVM, through llvmlite: texts of modules to object files, and what it knows of the processor.

Importing it loads LLVM, which takes longer than many a program: `jit.py` does so when code is wanted
that is not on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import llvmlite

try:
    import llvmlite.binding as llvm
except OSError as cause:  # its library is not for this system
    raise ImportError(f"llvmlite cannot be loaded: {cause}", name="llvmlite.binding") from cause

from intaglio.base.locks import exclusive_lock
from intaglio.native.llvm import target

# Masked loads and stores are written as LLVM has had them since this version, that of llvmlite 0.48.
OLDEST_LLVM = 22
if llvm.llvm_version_info[0] < OLDEST_LLVM:
    raise ImportError(
        f"llvmlite {llvmlite.__version__} has LLVM {llvm.llvm_version_info[0]}, and machine code "
        f"needs {OLDEST_LLVM} or later: pip install 'llvmlite>=0.48'",
        name="llvmlite.binding",
    )

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

# llvmlite parses into one global context, which threads may not use at the same time.
# A process that began in the midst of it could never compile.
LOCK = exclusive_lock()
# Nor in the midst of a single call: llvmlite locks each, also those that free what is not used any more.
_calls = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
if _calls is not None:
    exclusive_lock(_calls)


class Description(NamedTuple):
    """What LLVM knows of a processor, and which LLVM that is."""

    triple: str
    cpu: str
    features: Mapping[str, bool]
    version: str


def describe() -> Description:
    """The processor that code is written for: the target of this process, or the one that it runs on."""
    version = f"{llvmlite.__version__} {llvm.llvm_version_info}"
    if _CHOSEN is not None:
        return Description(TRIPLE, _CHOSEN.cpu, _CHOSEN.features, version)
    features = dict(llvm.get_host_cpu_features())
    return Description(TRIPLE, llvm.get_host_cpu_name(), features, version)


def machine(effort: int, cpu: str, features: str) -> Any:
    """What compiles for this process."""
    return _TARGET.create_target_machine(
        cpu=cpu, features=features, opt=effort, codemodel="jitdefault", jit=True
    )


def machine_for_objects(effort: int, cpu: str, features: str) -> Any:
    """What writes object files: code that may be anywhere in memory."""
    return _TARGET.create_target_machine(
        cpu=cpu, features=features, opt=effort, reloc="pic", codemodel="default"
    )


def emitted(text: str, machine: Any, optimised: bool) -> bytes:
    """The object file of a module, which goes through the middle end if it is to be `optimised`.

    Raises RuntimeError, with LLVM's message, if the text is no valid module.
    """
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    if optimised:
        _optimise(parsed, machine)
    return machine.emit_object(parsed)


def _optimise(parsed: Any, machine: Any) -> None:
    """LLVM's middle end, as a compiler of C runs it."""
    parsed.triple, parsed.data_layout = TRIPLE, str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = True
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(parsed, passes)


def assembly(text: str, machine: Any) -> str:
    """The machine code of a module as text."""
    parsed = llvm.parse_assembly(text)
    parsed.verify()
    return machine.emit_assembly(parsed)


def loaded(code: bytes, machine: Any, symbols: Mapping[str, int]) -> Callable[[str], int]:
    """The addresses of an object file's functions, which LLVM loads; `symbols` are those of this process
    that the system does not know."""
    for name, address in symbols.items():
        llvm.add_symbol(name, address)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine.get_function_address
