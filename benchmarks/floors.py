"""What this machine can do at most: multiplications and additions, and bytes from memory.

No kernel is faster than the larger of its arithmetic at the one rate and its traffic at the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT
from intaglio.native.runtime import entry
from intaglio.native.runtime.thread_pool import thread_count

# Sums accumulated together: enough to hide the latency of one; and iterations of a part.
SUMS, ITERATIONS, PARTS = 16, 1 << 12, 64
# Elements of each array of the triad: more than caches hold.
ELEMENTS = 1 << 24


class Floors(NamedTuple):
    """Operations and bytes a second, on all threads and on one."""

    threads: int
    operations: float
    operations_alone: float
    bytes: float
    bytes_alone: float

    def text(self) -> str:
        """A line for people."""
        return (
            f"Floors of this machine, {self.threads} threads (one alone): "
            f"{self.operations / 1e9:.0f} ({self.operations_alone / 1e9:.0f}) GFLOP/s of float32, "
            f"{self.bytes / 1e9:.0f} ({self.bytes_alone / 1e9:.0f}) GB/s from memory."
        )


def _peak(tiles: Tiles) -> Code:
    """Each part: `ITERATIONS` times `SUMS` fused multiplications and additions of vectors."""
    code = Code("peak", entry.KERNEL)
    out = code.load("ptr", "%outs", 8)
    factor = tiles.read(code, code.load("ptr", "%ins", 8), "")
    zeros = [(tiles.vector, "zeroinitializer")] * SUMS
    with code.loop("%from", "%to") as part:
        with code.carrying("0", str(ITERATIONS), 1, *zeros) as iteration:
            iteration.following = [tiles.fma(code, factor, v, factor) for v in iteration.values]
        pointer = tiles.step(code, out, part, tiles.lanes * SUMS)
        for target, value in zip(
            tiles.pointers(code, pointer, SUMS), iteration.values, strict=True
        ):
            tiles.write(code, value, target)
    code.do("ret void")
    return code


def _triad(tiles: Tiles) -> Code:
    """a = b + 0.5 c, as Stream has it; a part is 64 vectors."""
    code = Code("triad", entry.KERNEL)
    b, c = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    out = code.load("ptr", "%outs", 8)
    size = tiles.lanes * 64
    half = "splat (float 0.5)"
    with code.loop("%from", "%to") as part:
        first = code.integer("mul", part, size)
        last = code.integer("add", first, size)
        with code.loop(first, last, tiles.lanes) as i:
            x, y = (tiles.read(code, code.at("float", p, i), "") for p in (b, c))
            tiles.write(code, tiles.fma(code, y, half, x), code.at("float", out, i))
    code.do("ret void")
    return code


def _source() -> Source:
    tiles = Tiles(FLOAT)
    return Source([Kernel(_peak(tiles), 1), Kernel(_triad(tiles), 2)])


def measured() -> Floors:
    """Measures; about a second."""
    library, lanes = Library(_source), Tiles(FLOAT).lanes
    factor = np.full(lanes, 0.5, np.float32)
    sums = np.empty(PARTS * SUMS * lanes, np.float32)
    a, b, c = (np.ones(ELEMENTS, np.float32) for _ in range(3))
    found: list[float] = []
    for shared in (True, False):
        peak = library.entry("peak", shared).for_dims((PARTS,))
        work = 2.0 * PARTS * ITERATIONS * SUMS * lanes
        found.append(work / _best(lambda peak=peak: peak(factor, sums)))
        triad = library.entry("triad", shared).for_dims((ELEMENTS // (64 * lanes),))
        found.append(3.0 * a.nbytes / _best(lambda triad=triad: triad(b, c, a)))
    return Floors(thread_count(), found[0], found[2], found[1], found[3])


def _best(run: Callable[[], Any], repeats: int = 40) -> float:
    run()
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    print(measured().text())
