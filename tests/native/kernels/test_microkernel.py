"""The table of tiles: a library compiles those that the columns of its products need."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from intaglio.native.kernels.microkernel import TILE_VECTORS, Tiles, parts_for
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import DOUBLE, FLOAT

# One process multiplies matrices of one width alone, with no code on disk: what it does not need
# is null in the table, and calling it would end the process.
ONE_WIDTH = """
import sys
import numpy as np
from intaglio.native.kernels import matmul
for dtype in ("float32", "float64"):
    for rows in (1, 5, 6, 7, 12, 13, 40):
        a = np.ones((rows, 30), dtype)
        b = np.ones((30, int(sys.argv[1])), dtype)
        run = matmul.product(a.shape, b.shape, dtype=dtype)
        assert run is not None
        assert (run(a, b) == 30).all()
"""


def parts_of_panels(columns: int, tiles: Tiles) -> set[int]:
    """What the loop over panels of a kernel looks up: vectors of a panel, less one."""
    panels = range(0, columns, tiles.width)
    return {-(-min(tiles.width, columns - j) // tiles.lanes) - 1 for j in panels}


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
def test_the_parts_are_those_of_the_panels(kind):
    tiles = Tiles(kind)
    for columns in range(1, 5 * tiles.width):
        assert parts_for(columns, kind) == parts_of_panels(columns, tiles), columns
    assert parts_for(0, kind) == set()


@pytest.mark.parametrize("columns", [1, 16, 17, 33, 64, 65, 130])
def test_a_process_needs_the_tiles_of_its_widths_alone(columns, tmp_path):
    command = [sys.executable, "-c", ONE_WIDTH, str(columns)]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "INTAGLIO_CACHE": str(tmp_path)}
    )
    assert run.returncode == 0, run.stderr


def numbered(number: int) -> str:
    """A module with a table of one function, which stores a number."""
    code = Code("store", ["ptr %to"])
    code.do(f"store i64 {number}, ptr %to, align 8")
    code.do("ret void")
    return "@part = constant [2 x ptr] [ptr null, ptr @store]\n" + module([code])


def test_parts_are_compiled_once_and_found_by_other_modules():
    compiled: list[int] = []

    def part(number: int) -> str:
        compiled.append(number)
        return numbered(number)

    parts = {n: (lambda n=n: part(n)) for n in range(TILE_VECTORS)}
    table = jit.SharedTable("intaglio_test_table", 2, parts)
    table.define([1])
    table.define([1])
    assert compiled == [1]
    reader = Code("call", ["i64 %at", "ptr %to"])
    entry = reader.load("ptr", reader.at("ptr", f"@{table.name}", "%at"), 8)
    reader.do(f"call void {entry}(ptr %to)")
    reader.do("ret void")
    calling = jit.Module(table.declaration + module([reader]))
    call = calling.function("call", ctypes.c_int64, ctypes.c_void_p)
    value = ctypes.c_int64()
    call(3, ctypes.byref(value))
    assert value.value == 1
    table.define()
    assert sorted(compiled) == [*range(TILE_VECTORS)]
    for number in range(TILE_VECTORS):
        call(2 * number + 1, ctypes.byref(value))
        assert value.value == number
