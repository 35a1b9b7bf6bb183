"""When a call is large enough for machine code: one policy for all kernels that NumPy has too.

Work is counted in multiplications. A call of little work is NumPy's: the call of compiled code costs more
than it saves. Beyond that it matters whether the bits are NumPy's own. A kernel with bits of its own is chosen
by the size of the call alone (`intaglio.ops.compiled.select_kernel`), so that the same call gives the same
bits every time, eagerly and in graphs. One with the bits of NumPy's (`exact_kernel`) may come at any call,
and which of the two computed is never visible: it is compiled once calls of its kind have done enough work
to pay for that, mostly in the background. Without a compiler NumPy computes everything.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.hooks import HOOKS

Kernel = Callable[..., Any]

# Below so many multiplications or comparisons NumPy is nearly as fast; above, OpenBLAS takes several
# threads for a product, and waits for each of them even where other programs keep it from running.
MIN_COMPILED_WORK = 1 << 18
# After so much work of one kind a compiler is worth loading, which takes longer than any call.
MIN_TOTAL_WORK = 1 << 22
# Below so much a ufunc of NumPy's is faster than the call of a compiled loop over the elements.
MIN_LOOP_WORK = 1 << 14
# What NumPy takes for an element of an expression that it computes in several passes,
WORK_PER_PASSES = 2
# for one of 16-bit floats, which it computes one by one,
WORK_PER_SHORT = 4
# for a function such as exp, and for one of several polynomials or series.
WORK_PER_FUNCTION = 32
WORK_PER_POLYNOMIALS = 512

# The elements from which on such loops are large.
MIN_ELEMENTS = MIN_LOOP_WORK // WORK_PER_PASSES
MIN_SHORT_ELEMENTS = MIN_LOOP_WORK // WORK_PER_SHORT

# False compiles at once what could wait.
IN_BACKGROUND = True
# Set once a kernel has been requested: the compiler is loaded, and another kernel costs little.
_compiler_loaded = threading.Event()
# The work of each kind that NumPy has done.
_done: dict[str, int] = {}


def kernel(kind: str, *description: Any) -> Kernel | None:
    """The kernel of a kind, compiled at once; None if there is none."""
    _note_request()
    return HOOKS.select_kernel(kind, *description)


def exact_kernel(kind: str, work: int, *description: Any, quick: bool = False) -> Kernel | None:
    """A kernel with the bits of the NumPy code, which may replace it at any call.

    It is compiled once calls of its kind together have done enough work to pay for that: at once by
    a call that alone does so much, else in the background, and NumPy computes until it is there. Where
    NumPy is `quick` too, no call waits.
    """
    done = _done.get(kind, 0)
    if done < MIN_TOTAL_WORK:
        is_loaded = _compiler_loaded.is_set()
        enough = min(MIN_TOTAL_WORK, MIN_COMPILED_WORK) if is_loaded else MIN_TOTAL_WORK
        if done < enough:
            _done[kind] = done = done + work
            if done < enough:
                return None
    if not IN_BACKGROUND or (work >= MIN_TOTAL_WORK and not quick):
        return kernel(kind, *description)
    _note_request()
    return HOOKS.kernel_when_ready(kind, *description)


def exact_loop(
    op: Any, dtypes: tuple[Any, ...], work: int, attrs: Sequence[tuple[str, Any]] = ()
) -> Kernel | None:
    """The loop of an elementwise op over arrays of these dtypes, with the bits of its kernel.

    None as long as NumPy is to compute, or if an approximation of NumPy's has other bits.
    """
    if work < MIN_LOOP_WORK:
        return None
    # Kernels are found by their attributes: -0.0 equals another number, and NaN not itself.
    if any([isinstance(a, float) and str(a) in ("-0.0", "nan") for _, a in attrs]):
        return None
    return exact_kernel("exact elementwise", work, op, dtypes, tuple(attrs), quick=True)


def loop_of_passes(op: Any, arguments: Sequence[Any]) -> Callable[[], Any] | None:
    """The result of a kernel of several passes for its inputs and the attributes behind them, as a
    function to call; None where `exact_loop` is."""
    count = len(op.input_names)
    arrays = arguments[:count]
    dtypes = tuple([a.dtype for a in arrays])
    if not all(map(_is_wide, dtypes)) or not _broadcast(arrays):
        return None
    attrs = tuple(zip(op.rules["scalar"].takes[1 + count :], arguments[count:], strict=True))
    run = exact_loop(op, dtypes, WORK_PER_PASSES * max([a.size for a in arrays]), attrs)
    return None if run is None else lambda: run(*arrays)


def _note_request() -> None:
    if not _compiler_loaded.is_set():  # setting it takes a lock
        _compiler_loaded.set()


def _broadcast(arrays: Sequence[Any]) -> bool:
    """False for shapes that do not fit, of which the op's kernel raises the error."""
    shape = arrays[0].shape
    if all([not a.ndim or a.shape == shape for a in arrays]):
        return True
    try:
        np.broadcast_shapes(*[a.shape for a in arrays])
    except ValueError:
        return False
    return True


def _is_wide(dtype: Any) -> bool:
    """True for bools, integers, and floats of 32 and 64 bits."""
    return dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize in (4, 8))
