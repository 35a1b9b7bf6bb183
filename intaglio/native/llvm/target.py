"""The processor and system that code is written for.

A process compiles for the processor that it runs on, and runs the code. In a process with
`INTAGLIO_TARGET` set, which `intaglio.export` starts, code is written for the target of that name:
modules are collected as text (`llvm/objects.py`), nothing is executed, and nothing refers to this
process. Kernels are written for the width of vectors when their modules are imported, so a
process has one target.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Target(NamedTuple):
    """A target by LLVM's names: `triple`, `cpu`, and those features of the processor that kernels depend
    on. An empty triple or cpu stands for that of this machine."""

    triple: str
    cpu: str
    features: Mapping[str, bool]
    # Bytes of the widest vector registers.
    widest: int
    # Whether the processor has fused multiply-add, which rounds x * y + z once.
    fused: bool = True


def _x86(level: int) -> Target:
    """One of the levels of https://gitlab.com/x86-psABIs/x86-64-ABI."""
    wide = {"avx": True, "avx2": True, "fma": True, "f16c": True}
    wider = {f"avx512{part}": True for part in ("f", "bw", "cd", "dq", "vl")}
    features = {**(wide if level > 2 else {}), **(wider if level > 3 else {})}
    bytes_ = {2: 16, 3: 32, 4: 64}[level]
    return Target("x86_64-unknown-linux-gnu", f"x86-64-v{level}", features, bytes_, level > 2)


HOST = "host"
# The targets by the names that users write.
TARGETS = {
    "x86-64-v2": _x86(2),
    "x86-64-v3": _x86(3),
    "x86-64-v4": _x86(4),
    "aarch64-linux": Target("aarch64-unknown-linux-gnu", "generic", {"neon": True}, 16),
    "aarch64-macos": Target("aarch64-apple-darwin", "apple-m1", {"neon": True}, 16),
    "riscv64-linux": Target(
        "riscv64-unknown-linux-gnu",
        "generic-rv64",
        dict.fromkeys(("m", "a", "f", "d", "c"), True),
        16,
    ),
    "wasm32": Target(
        "wasm32-unknown-wasi",
        "generic",
        dict.fromkeys(("simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext"), True),
        16,
        fused=False,
    ),
}

# Targets of libraries with code for several levels, one of which is selected at run time, by name.
LEVELS = {"x86-64": ("x86-64-v2", "x86-64-v3", "x86-64-v4")}

# The name of this process's target; empty if it compiles for itself.
NAME = os.environ.get("INTAGLIO_TARGET", "")
# Whether code is written for another process, which has no Python interpreter.
FREESTANDING = NAME != ""


def chosen() -> Target | None:
    """The target of this process; None for the processor that it runs on.

    Raises ImportError for a name that is none.
    """
    if NAME in ("", HOST):
        return None
    if NAME not in TARGETS:
        raise ImportError(f"INTAGLIO_TARGET={NAME!r} is none of {', '.join([HOST, *TARGETS])}")
    return TARGETS[NAME]
