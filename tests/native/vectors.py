"""One function of the builder, compiled over an array: what the tests of `native/` run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import Lanes, kind_of
from intaglio.native.vector_math.functions import Functions


def compiled(name: str, dtype: Any, vectors: int = 1, operands: int = 1) -> Callable[..., Any]:
    """`name` of the builder as a function of arrays of `dtype` of one size."""
    kind = kind_of(dtype)
    lanes = jit.WIDTH // kind.bytes
    given = [f"%x{i}" for i in range(operands)]
    code = Code("k", [f"ptr {x}" for x in (*given, "%result")] + ["i64 %n"])
    vector = f"<{lanes} x {kind.llvm}>"
    with code.loop("0", "%n", lanes) as index:
        values: list[Lanes] = []
        for x in given:
            place = code.at(kind.llvm, x, index)
            loaded = code.load(vector, place, kind.bytes)
            values.append(Lanes(kind, (loaded,) * vectors))
        result = getattr(Functions(code, lanes, vectors), name)(*values).names[-1]
        place = code.at(kind.llvm, "%result", index)
        code.do(f"store {vector} {result}, ptr {place}, align {kind.bytes}")
    code.do("ret void")
    made = jit.Module(module([code]))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    function = made.function("k", *[pointer] * (operands + 1), number)

    def run(*arrays: np.ndarray) -> np.ndarray:
        size = arrays[0].size
        whole = -(-size // lanes) * lanes
        padded = [np.zeros(whole, dtype) for _ in range(operands + 1)]
        for array, room in zip(arrays, padded, strict=False):
            room[:size] = array
        function(*[room.ctypes.data for room in padded], whole)
        return padded[-1][:size]

    run.keep = made  # type: ignore[attr-defined]  # kept alive with the function
    return run
