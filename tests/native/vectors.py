"""One function of the builder, compiled over an array: what the tests of `native/` run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native import llvm
from intaglio.native.code import Code, module
from intaglio.native.functions import Functions
from intaglio.native.lanes import Lanes, kind_of


def compiled(name: str, dtype: Any, vectors: int = 1) -> Callable[[np.ndarray], Any]:
    """`name` of the builder as a function of an array of `dtype`."""
    kind = kind_of(dtype)
    lanes = llvm.WIDTH // kind.bytes
    code = Code("k", ["ptr %x", "ptr %y", "i64 %n"])
    vector = f"<{lanes} x {kind.llvm}>"
    with code.loop("0", "%n", lanes) as index:
        place = code.at(kind.llvm, "%x", index)
        value = Lanes(kind, (code.load(vector, place, kind.bytes),) * vectors)
        result = getattr(Functions(code, lanes, vectors), name)(value).names[-1]
        place = code.at(kind.llvm, "%y", index)
        code.do(f"store {vector} {result}, ptr {place}, align {kind.bytes}")
    code.do("ret void")
    made = llvm.Module(module([code]))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    function = made.function("k", pointer, pointer, number)

    def run(x: np.ndarray) -> np.ndarray:
        whole = -(-x.size // lanes) * lanes
        padded = np.zeros(whole, dtype)
        padded[: x.size] = x
        result = np.empty_like(padded)
        function(padded.ctypes.data, result.ctypes.data, whole)
        return result[: x.size]

    run.keep = made  # type: ignore[attr-defined]
    return run
