"""Kernels with bits of their own for large arrays, chosen by shapes and dtypes alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from intaglio.opdef import machine_code, short_floats
from intaglio.opdef.machine_code import WORK_PER_FUNCTION, Kernel
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars, in_blocks

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


def select_kernel(kind: str, dtype: Any, work: int, *description: Any) -> Kernel | None:
    """A kernel for arrays of this dtype and description, if there is one and it is worth it."""
    if work < machine_code.MIN_COMPILED_WORK:
        return None
    if dtype == np.float64 and kind in DOUBLED:
        kind = f"double {kind}"
    elif dtype != np.float32:
        if kind not in SHORT or dtype.name not in ("float16", "bfloat16"):
            return None
        kind = f"{dtype.name} {kind}"
    return machine_code.kernel(kind, *description)


class CompiledFunction(Op):
    """A function of each element that NumPy computes in several passes: `numpy_kernel`.

    Large arrays of float32 are computed by machine code of the rule `scalar`, and so are those of 16-bit
    floats, which are rounded once; those of float64, where NumPy takes longer than for an exponential, or
    where the family says so.
    """

    compiled_when_large = True
    work_per_element = WORK_PER_FUNCTION
    compiled_in_double: ClassVar[bool] = False
    numpy_kernel: ClassVar[Kernel]

    def computed(self, *arrays: Any) -> Any:
        """The result for arrays of one dtype, by machine code if the result is large."""
        # The shapes of small arrays need not be broadcast.
        if (
            self.work_per_element * math.prod([x.size for x in arrays])
            < machine_code.MIN_COMPILED_WORK
        ):
            return self.numpy_kernel(*arrays)
        dtype = arrays[0].dtype
        size = math.prod(np.broadcast_shapes(*[x.shape for x in arrays]))
        work = self.work_per_element * size
        if work >= machine_code.MIN_COMPILED_WORK and short_floats.is_short(dtype):
            wide = [short_floats.widened(x) for x in arrays]
            return short_floats.rounded(self.computed(*wide), dtype)
        # NumPy has an exponential of float64 that is fast where the processor has long vectors.
        kind = "series" if len(machine_dtypes(self)) > 1 else "function"
        run = select_kernel(kind, dtype, work, self)
        return self.numpy_kernel(*arrays) if run is None else run(*arrays)


class CompiledUnary(CompiledFunction):
    """A function of one tensor."""

    def kernel(self, x):
        if self.work_per_element * x.size < machine_code.MIN_COMPILED_WORK:  # most arrays are small
            return self.numpy_kernel(x)
        return self.computed(x)


class CompiledExpression(CompiledFunction):
    """A function whose NumPy kernel is the rule `scalar`, computed in blocks."""

    def numpy_kernel(self, *arrays):
        """The rule computed by NumPy."""
        return _in_blocks(self)(*arrays)


@functools.cache
def _in_blocks(op: Op) -> Kernel:
    return in_blocks(functools.partial(op.rules["scalar"].fn, NumpyScalars))


class LibraryFunction(CompiledUnary):
    """A function of one tensor that NumPy has as a ufunc, `numpy_kernel`.

    NumPy has vector code of these for few processors. On the others its loop calls the C library for
    each element, which takes ten times as long as our vector code.
    """

    compiled_in_double = True


def by_numbers(function: Callable[[float], float], kernel: Kernel, most: int) -> Kernel:
    """A kernel of one array that computes few elements, up to `most`, by a function of Python's numbers: NumPy
    takes longer for the steps of a function than for so many elements."""

    def run(x: Any) -> Any:
        if x.size > most:
            return kernel(x)
        numbers = x.reshape(-1).astype(np.float64).tolist()
        found = np.fromiter(map(function, numbers), np.float64, len(numbers))
        return found.astype(x.dtype).reshape(x.shape)

    return run


def machine_dtypes(op: Op) -> tuple[np.dtype[Any], ...]:
    """The dtypes of which large arrays are machine code, for an op of `CompiledFunction`."""
    single, double = np.dtype(np.float32), np.dtype(np.float64)
    known = isinstance(op, CompiledFunction) and op.compiled_in_double
    return (single, double) if known or op.work_per_element > WORK_PER_FUNCTION else (single,)
