"""The processor that code is written for: its name, features and the width of its vectors.

LLVM knows it. What it says is kept on disk under what the system says of the processor, so that a process
whose code is on disk too need not load LLVM.
"""

from __future__ import annotations

import importlib.util
import os
import sys

from intaglio.base import later
from intaglio.native.llvm import object_cache, target

# What the kernel writes of each processor; the first one is that of all.
_PROCESSORS, _MOST_BYTES = "/proc/cpuinfo", 8192
# Lines of it that differ from process to process.
_CHANGING = ("cpu MHz", "bogomips", "processor", "apicid", "initial apicid", "core id")


def _by_system() -> str | None:
    """The processor in the words of the system; None where these do not tell its features."""
    try:
        with open(_PROCESSORS, "rb") as file:
            first = file.read(_MOST_BYTES).decode("latin-1").partition("\n\n")[0]
    except OSError:
        return None
    if "flags" not in first:
        return None
    return "\n".join([x for x in first.splitlines() if not x.startswith(_CHANGING)])


def _compiler() -> str:
    """Which llvmlite is installed: where, and what says its version. Importing it takes longer.

    Raises ImportError if there is none.
    """
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'llvmlite'", name="llvmlite")
    texts = [spec.origin]
    for name in ("__init__.py", "_version.py"):
        path = os.path.join(os.path.dirname(spec.origin), name)
        if os.path.exists(path):
            with open(path, "rb") as file:
                texts.append(file.read().decode("latin-1"))
    return "\n".join(texts)


def _described() -> tuple[str, str, dict[str, bool], str]:
    """A triple, a name, features, and the version of LLVM."""
    said = None if target.FREESTANDING else _by_system()
    name = object_cache.name_of("processor", sys.platform, _compiler(), said or "")
    known = object_cache.read(name) if said else None
    if known is not None:
        triple, cpu, version, *flags = known.decode().splitlines()
        return triple, cpu, {flag[1:]: flag[0] == "+" for flag in flags}, version
    found = later.named("intaglio.native.llvm.compiler").describe()
    flags = [f"{'+' if there else '-'}{flag}" for flag, there in found.features.items()]
    if said:
        lines = [found.triple, found.cpu, found.version, *flags]
        object_cache.write(name, "\n".join(lines).encode())
    return found.triple, found.cpu, dict(found.features), found.version


_CHOSEN = target.chosen()
# What code is compiled for, by LLVM's names.
TRIPLE, CPU, _FEATURES, VERSION = _described()
# The kind of processor, such as "x86_64".
MACHINE: str = TRIPLE.split("-")[0]
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
