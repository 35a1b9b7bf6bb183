"""The table of tiles: a library compiles those that its products need."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio.native.kernels import matmul
from intaglio.native.kernels.microkernel import TALL_TILE_ROWS, TILE_ROWS, Tiles, tiles_for
from intaglio.native.llvm import background, jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.vectors import DOUBLE, FLOAT

# A process multiplies matrices of one shape alone, with no code on disk: what it does not need is
# null in the table, or stands in for others, and calling null would end the process.
ONE_SHAPE = """
import sys
import numpy as np
from intaglio.native.kernels import matmul
rows, columns = map(int, sys.argv[1:])
for dtype in ("float32", "float64"):
    a = np.ones((rows, 30), dtype)
    b = np.ones((30, columns), dtype)
    run = matmul.product(a.shape, b.shape, dtype=dtype)
    assert run is not None
    assert (run(a, b) == 30).all()
"""


def looked_up(begin: int, end: int, columns: int, tiles: Tiles) -> set[int]:
    """What a kernel looks up in the table for a range of rows, panel by panel."""
    found: set[int] = set()
    for j in range(0, columns, tiles.width):
        before = -(-min(tiles.width, columns - j) // tiles.lanes) - 1
        most = TALL_TILE_ROWS if before == 0 else TILE_ROWS
        for i in range(begin, end, most):
            found.add(before * TALL_TILE_ROWS + min(most, end - i))
    return found


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE])
def test_the_entries_are_those_that_a_kernel_looks_up(kind):
    tiles = Tiles(kind)
    for columns in {*range(1, 2 * tiles.width + 1, 3), tiles.width, tiles.width + 1, tiles.lanes}:
        assert not tiles_for(columns, kind, 0)
        of_all = tiles_for(columns, kind)
        for rows in range(1, 40):
            needed = tiles_for(columns, kind, rows)
            assert needed <= of_all
            for begin in range(0, rows, TILE_ROWS):
                for end in {rows, *range(begin + TILE_ROWS, rows, TILE_ROWS)}:
                    assert looked_up(begin, end, columns, tiles) <= needed, (rows, columns)
        for begin, end in ((1, 5), (3, 20), (7, 8), (0, 40)):
            assert looked_up(begin, end, columns, tiles) <= of_all


@pytest.mark.parametrize("shape", [(1, 1), (5, 17), (12, 64), (40, 33), (7, 130), (100, 16)])
def test_a_process_compiles_the_tiles_of_its_shapes_alone(shape, tmp_path):
    command = [sys.executable, "-c", ONE_SHAPE, *map(str, shape)]
    run = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "INTAGLIO_CACHE": str(tmp_path)}
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(rows=st.integers(1, 30), inner=st.integers(0, 70), columns=st.integers(1, 150))
@settings(max_examples=25, deadline=None)
def test_generic_tiles_give_the_bits_of_specialized_ones(dtype, rows, inner, columns):
    rng = np.random.default_rng(rows * columns)
    a, b = (
        rng.normal(size=(rows, inner)).astype(dtype),
        rng.normal(size=(inner, columns)).astype(dtype),
    )
    run = matmul.product(a.shape, b.shape, dtype=np.dtype(dtype))
    assume(run is not None)
    first = run(a, b).copy()
    background.wait()
    np.testing.assert_array_equal(run(a, b), first)
    np.testing.assert_allclose(first, a @ b, rtol=1e-4, atol=1e-4)


def test_one_module_stands_in_for_all_heights_of_tiles():
    command = [sys.executable, "-c", FIRST_TILES]
    environment = {**os.environ, "INTAGLIO_CACHE": ""}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr


FIRST_TILES = """
import os
import numpy as np
from intaglio.native.kernels import matmul, microkernel
from intaglio.native.llvm import background, jit
from intaglio.native.llvm.vectors import FLOAT

background.BUSY.is_quiet = lambda: False  # nothing is compiled in the background yet
table = microkernel.Tiles(FLOAT).table()
rng = np.random.default_rng(0)
a, b = (rng.normal(size=s).astype("float32") for s in ((29, 40), (40, 14)))
run = matmul.product(a.shape, b.shape)
first = run(a, b).copy()
assert len(table._standing_in) == 1 and not table._defined
for thread in [*background._threads]:
    assert thread.is_alive()
if os.fork() == 0:  # the child compiles what the parent had not
    del background.BUSY.is_quiet
    background.wait()
    os._exit(0 if len(table._defined) > 1 and (run(a, b) == first).all() else 1)
_, status = os.wait()
assert status == 0, status
del background.BUSY.is_quiet
background.wait()
assert len(table._defined) > 1
assert (run(a, b) == first).all()
"""


def storing(number: int) -> str:
    """A module with a function that stores a number."""
    code = Code("store", ["ptr %to"])
    code.do(f"store i64 {number}, ptr %to, align 8")
    code.do("ret void")
    return module([code])


def test_entries_are_compiled_once_and_found_by_other_modules():
    compiled: list[int] = []

    def write(number: int) -> tuple[str, str]:
        compiled.append(number)
        return "store", storing(number)

    table = jit.SharedTable("intaglio_test_table", [1, 3, 4], write)
    table.define([3])
    table.define([3])
    assert compiled == [3]
    reader = Code("call", ["i64 %at", "ptr %to"])
    entry = reader.load("ptr", reader.at("ptr", f"@{table.name}", "%at"), 8)
    reader.do(f"call void {entry}(ptr %to)")
    reader.do("ret void")
    calling = jit.Module(table.declaration + module([reader]))
    call = calling.function("call", ctypes.c_int64, ctypes.c_void_p)
    value = ctypes.c_int64()
    call(3, ctypes.byref(value))
    assert value.value == 3
    table.define()
    assert compiled == [3, 1, 4]
    for number in compiled:
        call(number, ctypes.byref(value))
        assert value.value == number
