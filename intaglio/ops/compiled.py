"""Selection of compiled kernels for large arrays; without a compiler NumPy computes everything.

Whether a kernel is used depends on shapes and dtypes alone, so that the same call gives the
same bits every time, eagerly and in graphs; only one that gives NumPy's own bits may depend on
what went before.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from intaglio.opdef import short_floats
from intaglio.opdef.op import Op
from intaglio.ops.hooks import HOOKS

Kernel = Callable[..., Any]

# Below so many multiplications or comparisons NumPy is nearly as fast; above, OpenBLAS takes several
# threads for a product, and waits for each of them even where other programs keep it from running.
MIN_COMPILED_WORK = 1 << 18
# After so much work of one kind a compiler is worth loading, which takes longer than any call.
MIN_TOTAL_WORK = 1 << 22
# What a function such as exp takes for a number, in multiplications.
WORK_PER_FUNCTION = 32
# The kinds that there are for float64 too.
DOUBLED = (
    "product",
    "products",
    "convolution",
    "convolution filter gradient",
    "convolution input gradient",
    "reduction",
    "series",
    "softmax",
    "sparse product",
)
# Those that there are for 16-bit floats, where the processor multiplies matrices of these.
SHORT = (
    "product",
    "products",
    "convolution",
    "convolution filter gradient",
    "convolution input gradient",
    "reduction",
    "softmax",
)
_done: dict[str, int] = {}


def select_kernel(kind: str, dtype: Any, work: int, *description: Any) -> Kernel | None:
    """A kernel for arrays of this dtype and description, if there is one and it is worth it."""
    if work < MIN_COMPILED_WORK:
        return None
    if dtype == np.float64 and kind in DOUBLED:
        kind = f"double {kind}"
    elif dtype != np.float32:
        if kind not in SHORT or dtype.name not in ("float16", "bfloat16"):
            return None
        kind = f"{dtype.name} {kind}"
    return _selected(kind, *description)


class CompiledFunction(Op):
    """A function of each element that NumPy computes in several passes: `numpy_kernel`.

    Large arrays of float32 are computed by machine code of the rule `scalar`, and so are those of 16-bit
    floats, which are rounded once; those of float64, where NumPy takes longer than for an exponential.
    """

    compiled_when_large = True
    work_per_element = WORK_PER_FUNCTION
    numpy_kernel: ClassVar[Kernel]

    def computed(self, *arrays: Any) -> Any:
        """The result for arrays of one dtype, by machine code if the result is large."""
        # The shapes of small arrays need not be broadcast.
        if self.work_per_element * math.prod([x.size for x in arrays]) < MIN_COMPILED_WORK:
            return self.numpy_kernel(*arrays)
        dtype = arrays[0].dtype
        size = math.prod(np.broadcast_shapes(*[x.shape for x in arrays]))
        work = self.work_per_element * size
        if work >= MIN_COMPILED_WORK and short_floats.is_short(dtype):
            wide = [short_floats.widened(x) for x in arrays]
            return short_floats.rounded(self.computed(*wide), dtype)
        # NumPy has an exponential of float64 that is fast, but no series.
        kind = "series" if len(machine_dtypes(self)) > 1 else "function"
        run = select_kernel(kind, dtype, work, self)
        return self.numpy_kernel(*arrays) if run is None else run(*arrays)


class CompiledUnary(CompiledFunction):
    """A function of one tensor."""

    def kernel(self, x):
        if self.work_per_element * x.size < MIN_COMPILED_WORK:  # most arrays are small
            return self.numpy_kernel(x)
        return self.computed(x)


def machine_dtypes(op: Op) -> tuple[np.dtype[Any], ...]:
    """The dtypes of which large arrays are machine code, for an op of `CompiledFunction`."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    return (single, double) if op.work_per_element > WORK_PER_FUNCTION else (single,)


def compiled_function(
    kind: str, work: int, *description: Any, quick: bool = False
) -> Kernel | None:
    """A kernel with the bits of the NumPy code, which may replace it at any call.

    It is compiled once calls of its kind together have done enough work to pay for that: at once by
    a call that alone does so much, else in the background, and NumPy computes until it is there. Where
    NumPy is `quick` too, no call waits.
    """
    done = _done.get(kind, 0)
    enough = min(MIN_TOTAL_WORK, MIN_COMPILED_WORK) if _compiler_loaded.is_set() else MIN_TOTAL_WORK
    if done < enough:
        _done[kind] = done = done + work
        if done < enough:
            return None
    if not IN_BACKGROUND or (work >= MIN_TOTAL_WORK and not quick):
        return _selected(kind, *description)
    return _when_ready(kind, *description)


# False compiles at once what could wait.
IN_BACKGROUND = True
# Set once a kernel has been requested: the compiler is loaded, and another kernel costs little.
_compiler_loaded = threading.Event()


def _selected(kind: str, *description: Any) -> Kernel | None:
    _note_request()
    return HOOKS.select_kernel(kind, *description)


def _note_request() -> None:
    if not _compiler_loaded.is_set():  # setting it takes a lock
        _compiler_loaded.set()


def _when_ready(kind: str, *description: Any) -> Kernel | None:
    _note_request()
    return HOOKS.kernel_when_ready(kind, *description)
