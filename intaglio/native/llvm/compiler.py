"""LLVM, through llvmlite: from the text of a module to an object file; the description of the processor.

Importing it loads LLVM, which takes longer than many programs run. `jit.py` imports it when code is needed
that is not on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import llvmlite

try:
    import llvmlite.binding as llvm
except OSError as cause:  # its shared library cannot be loaded on this system
    raise ImportError(f"llvmlite cannot be loaded: {cause}", name="llvmlite.binding") from cause

from intaglio.base.locks import exclusive_lock
from intaglio.native.llvm import target

# The first LLVM version (that of llvmlite 0.48) with the present syntax of masked loads and stores.
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
# The LLVM triple that code is compiled for.
TRIPLE: str = _CHOSEN.triple if _CHOSEN else llvm.get_default_triple()
_TARGET = llvm.Target.from_triple(TRIPLE)

# llvmlite parses into one global context, which threads may not use at the same time.
# A child process forked while the lock is held could never compile.
LOCK = exclusive_lock()
# Nor may a fork interrupt any single call: llvmlite locks each one, also those that free objects.
_calls = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None)
if _calls is not None:
    exclusive_lock(_calls)


class Description(NamedTuple):
    """LLVM's description of a processor, and LLVM's version."""

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
    """The target machine whose code runs in this process."""
    return _TARGET.create_target_machine(
        cpu=cpu, features=features, opt=effort, codemodel="jitdefault", jit=True
    )


def machine_for_objects(effort: int, cpu: str, features: str) -> Any:
    """The target machine for object files: position-independent code."""
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
    """Runs LLVM's middle end, with the passes of a C compiler."""
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
