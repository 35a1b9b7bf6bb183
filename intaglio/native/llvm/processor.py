"""The processor that code is written for: its features, vector width, and x86-64 level.

On x86-64 Linux the kernel describes it. Elsewhere, and whenever code is compiled, LLVM does: a process
whose code is on disk, or comes with the package, need not load LLVM.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from typing import NamedTuple

from intaglio.base import later
from intaglio.native.llvm import object_cache, target

# /proc/cpuinfo has a paragraph for each processor; the first one counts for all.
_PROCESSORS, _MOST_BYTES = "/proc/cpuinfo", 8192
# The fields that identify a processor.
_TELLING = ("vendor_id", "cpu family", "model", "model name", "flags")
# LLVM's names of features that Linux has other names for.
_LLVM_NAMES = {
    "abm": "lzcnt",
    "bmi1": "bmi",
    "sse4_1": "sse4.1",
    "sse4_2": "sse4.2",
    "pni": "sse3",
    "lahf_lm": "sahf",
}
# The oldest supported llvmlite, and the pattern of the version in its metadata.
OLDEST = (0, 48)
# The path of its library on Linux.
LIBRARY = ("binding", "libllvmlite.so")
_VERSION = re.compile(r"version['\"]?\s*[:=]\s*['\"](\d+)\.(\d+)")
# The known families of AMD processors with AVX-512.
_ZEN_FAMILIES = range(25, 64)


def _by_system() -> dict[str, str] | None:
    """The processor as /proc/cpuinfo of Linux describes it; None for other systems and processors."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return None
    try:
        with open(_PROCESSORS, "rb") as file:
            first = file.read(_MOST_BYTES).decode("latin-1").partition("\n\n")[0]
    except OSError:
        return None
    lines = [line.partition(":") for line in first.splitlines()]
    said = {key.strip(): value.strip() for key, _, value in lines}
    telling = {key: said[key] for key in _TELLING if key in said}
    return telling if len(telling) == len(_TELLING) else None


def _named_by_llvm(flags: str) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for flag in flags.split():
        name = _LLVM_NAMES.get(flag, flag)
        name = name.replace("avx512_", "avx512").replace("amx_", "amx-")
        found[name] = True
    found["crc32"] = "sse4.2" in found
    return found


class Installed(NamedTuple):
    """The installed llvmlite: its folder, the text of its version file, and (major, minor) of that."""

    folder: str
    version: str
    release: tuple[int, int]


@functools.cache
def installed() -> Installed:
    """The installed llvmlite, found without importing it, which takes longer.

    Only if its files do not show that it can be used is it imported, which raises ImportError if not; its
    release is (0, 0) then.
    """
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'llvmlite'", name="llvmlite")
    folder = os.path.dirname(spec.origin)
    version = ""
    if os.path.exists(os.path.join(folder, *LIBRARY)):
        with contextlib.suppress(OSError), open(os.path.join(folder, "_version.py"), "rb") as file:
            version = file.read().decode("latin-1")
    found = _VERSION.search(version)
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    if release < OLDEST:
        return Installed(folder, described()[3], (0, 0))
    return Installed(folder, version, release)


@functools.cache
def described() -> tuple[str, str, Mapping[str, bool], str]:
    """LLVM's triple, processor name, features and version; loads LLVM."""
    return later.named("intaglio.native.llvm.compiler").describe()


_CHOSEN = target.chosen()
# What Linux tells; None elsewhere.
_SAID = None if target.FREESTANDING else _by_system()
# `INTAGLIO_PROCESSOR=x86-64-v4:znver4` uses the features of a level, tuned for one processor.
_COMMON, _, _NAMED = os.environ.get("INTAGLIO_PROCESSOR", "").partition(":")


def _known() -> tuple[str, str, Mapping[str, bool], str]:
    """The processor's name, kind and features, and all facts that LLVM's code depends on."""
    if _SAID is None or _CHOSEN is not None:
        triple, name, features, version = described()
        facts = [triple, name, version, str(sorted(features.items()))]
        return _NAMED or name, triple.split("-")[0], features, "\n".join(facts)
    zen = _SAID["vendor_id"] == "AuthenticAMD" and int(_SAID["cpu family"]) in _ZEN_FAMILIES
    name = _NAMED or _COMMON or ("znver" if zen else "x86-64")
    features = _named_by_llvm(_SAID["flags"])
    folder, version, _ = installed()
    return name, "x86_64", features, "\n".join([folder, version, *_SAID.values()])


NAME, MACHINE, _FEATURES, _DESCRIPTION = _known()

# Matrix registers need a system call of the process, which an exported library does not make.
_UNUSED = ("amx",) if target.FREESTANDING or _COMMON else ()
_HOST = {name: there for name, there in _FEATURES.items() if not name.startswith(_UNUSED)}
_NATIVE_WIDEST = 64 if _HOST.get("avx512vl") else 32 if _HOST.get("avx2") else 16
_WIDEST = _CHOSEN.widest if _CHOSEN else {"x86-64-v3": 32}.get(_COMMON, _NATIVE_WIDEST)
# Bytes of the vector registers that are used; `INTAGLIO_VECTOR_BYTES` selects narrower ones.
WIDTH = min(_WIDEST, int(os.environ.get("INTAGLIO_VECTOR_BYTES", "64")))
# The prefixes of features that need registers wider than `WIDTH`.
_BEYOND = {64: (), 32: ("avx512", "avx10"), 16: ("avx", "fma", "f16c", "xop", "vaes", "vpclmul")}[
    WIDTH
]


def _enabled(known: Mapping[str, bool]) -> str:
    """Features as LLVM's attribute string, without those of registers wider than are used."""
    return ",".join(
        [
            f"{'+' if there and not name.startswith(_BEYOND) else '-'}{name}"
            for name, there in sorted(known.items())
            if not name.startswith(_UNUSED)
        ]
    )


_ENABLED = _enabled(_FEATURES).split(",")
# Whether LLVM's library is one for this system and processor, and its place is known.
KNOWN_LIBRARY = _SAID is not None and _CHOSEN is None
# All facts about the processor and LLVM that compiled code depends on: a part of cache keys.
IDENTITY = object_cache.name_of(_DESCRIPTION, _COMMON, str(WIDTH))
# Whether the processor has fused multiply-add, which rounds x * y + z once.
HAS_FMA = (bool(_HOST.get("fma")) or not _HOST) and WIDTH > 16
# Whether matrix products use it: without the instruction LLVM would call a function for every lane.
FUSES_PRODUCTS = _CHOSEN.fused if _CHOSEN else HAS_FMA if _SAID else "-fma" not in _ENABLED
# Whether the processor has instructions that convert float16.
HAS_HALF = bool(_HOST.get("f16c")) and WIDTH > 16
# The number of 32-bit elements from which one instruction can select for every lane: those of a register.
PERMUTED_ENTRIES = {64: 16, 32: 8}.get(WIDTH, 0)


def has_feature(name: str) -> bool:
    """Whether the processor has a feature, by LLVM's name for it."""
    return bool(_HOST.get(name))


# The features of each level of x86-64 (https://gitlab.com/x86-psABIs/x86-64-ABI), by LLVM's names.
_THIRD = (
    *("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave", "cx16", "sahf"),
    *("popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
)
_LEVELS = {
    64: ("x86-64-v4", (*_THIRD, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    32: ("x86-64-v3", _THIRD),
}


_BASE = ("64bit", "cmov", "cx8", "fxsr", "mmx", "sse", "sse2")


def _level() -> str:
    if WIDTH not in _LEVELS or _CHOSEN is not None or MACHINE != "x86_64":
        return ""
    level, needed = _LEVELS[WIDTH]
    return level if all(_HOST.get(f) for f in needed) else ""


# The processor's x86-64 level; empty for other architectures.
LEVEL = _level()
# The kind of processor by which `prepared.py` has archives: the level, or AMD with AVX-512.
PREPARED = f"{LEVEL}-znver" if LEVEL == "x86-64-v4" and NAME.startswith("znver") else LEVEL


@functools.cache
def for_compiler() -> tuple[str, str]:
    """The name of the processor and its features, as LLVM compiles for it."""
    library = later.named("intaglio.native.llvm.library").library()
    cpu, known = library.host() if library else described()[1:3]
    if _COMMON:
        every = {*_BASE, *dict(_LEVELS.values())[_COMMON], "crc32"}
        return NAME, _enabled({name: name in every for name in known})
    return cpu, _enabled(known)
