"""Elementwise expressions: one `scalar` rule serves every back end that builds it.

A rule `scalar(self, s, x, y)` calls methods of a builder `s`. `NumpyScalars` computes with NumPy; a compiler
has another builder with the same methods.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.opdef import short_floats
from intaglio.opdef.machine_code import MIN_ELEMENTS, loop_of_passes

# Number of elements in a block of a kernel with temporary arrays.
BLOCK_ELEMENTS = 1 << 15
# Maximum number of elements of an array that is not divided into blocks.
MIN_BLOCKED_ELEMENTS = 2 * BLOCK_ELEMENTS


# Number of elements from which on mispredicted branches cost more than a selection by bit masks.
MIN_UNPREDICTABLE_ELEMENTS = 1 << 11


def select(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, else `y`.

    Large arrays are combined with bit masks, which avoids mispredicted branches.
    """
    if condition.__class__ is not np.ndarray or condition.size < MIN_UNPREDICTABLE_ELEMENTS:
        return np.where(condition, x, y)
    dtype, shape = x.dtype, condition.shape
    alike = dtype == y.dtype and all(a.shape in ((), shape) for a in (x, y))
    if not alike or dtype.hasobject or dtype.itemsize > 8 or condition.dtype != np.bool_:
        return np.where(condition, x, y)
    whole = np.dtype(f"i{dtype.itemsize}")
    mixed = np.negative(condition.view(np.int8)).astype(whole)
    other = y.view(whole)
    np.bitwise_and(mixed, np.bitwise_xor(x.view(whole), other), out=mixed)
    return np.bitwise_xor(mixed, other, out=mixed).view(dtype)


class NumpyScalars:
    """The builder that computes with NumPy at once."""

    add = staticmethod(np.add)
    sub = staticmethod(np.subtract)
    mul = staticmethod(np.multiply)
    div = staticmethod(np.true_divide)
    neg = staticmethod(np.negative)
    abs = staticmethod(np.abs)
    sign = staticmethod(np.sign)
    square = staticmethod(np.square)
    sqrt = staticmethod(np.sqrt)
    exp = staticmethod(np.exp)
    expm1 = staticmethod(np.expm1)
    log = staticmethod(np.log)
    log1p = staticmethod(np.log1p)
    sin = staticmethod(np.sin)
    cos = staticmethod(np.cos)
    tan = staticmethod(np.tan)
    asin = staticmethod(np.arcsin)
    acos = staticmethod(np.arccos)
    atan = staticmethod(np.arctan)
    atan2 = staticmethod(np.arctan2)
    sinh = staticmethod(np.sinh)
    cosh = staticmethod(np.cosh)
    tanh = staticmethod(np.tanh)
    asinh = staticmethod(np.arcsinh)
    acosh = staticmethod(np.arccosh)
    atanh = staticmethod(np.arctanh)
    floor = staticmethod(np.floor)
    ceil = staticmethod(np.ceil)
    rint = staticmethod(np.rint)
    trunc = staticmethod(np.trunc)
    power = staticmethod(np.power)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    eq = staticmethod(np.equal)
    ne = staticmethod(np.not_equal)
    lt = staticmethod(np.less)
    le = staticmethod(np.less_equal)
    gt = staticmethod(np.greater)
    ge = staticmethod(np.greater_equal)
    logical_and = staticmethod(np.logical_and)
    logical_or = staticmethod(np.logical_or)
    logical_not = staticmethod(np.logical_not)
    bit_and = staticmethod(np.bitwise_and)
    bit_or = staticmethod(np.bitwise_or)
    bit_xor = staticmethod(np.bitwise_xor)
    invert = staticmethod(np.invert)
    isnan = staticmethod(np.isnan)
    isinf = staticmethod(np.isinf)
    isfinite = staticmethod(np.isfinite)
    conj = staticmethod(np.conjugate)
    real = staticmethod(np.real)
    imag = staticmethod(np.imag)
    select = staticmethod(select)

    @staticmethod
    def const(value: Any, like: Any) -> Any:
        """A constant of the type of `like`."""
        return like.dtype.type(value)


class _Tracer:
    """The builder that detects rules of a single primitive, whose kernel is the ufunc itself."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args: (name, args)

    @staticmethod
    def const(value: Any, like: Any) -> Any:
        return object()


def primitive_of(rule: Callable[..., Any], arity: int) -> str | None:
    """The primitive that a `scalar` rule of `arity` inputs is, None for longer expressions."""
    arguments = tuple([object() for _ in range(arity)])
    try:
        traced = rule(_Tracer(), *arguments)
    except Exception:  # the rule looks at its arguments' types: it is no single primitive
        return None
    if isinstance(traced, tuple) and len(traced) == 2 and traced[1] == arguments:
        return traced[0]
    return None


def kernel_of(rule: Callable[..., Any], arity: int) -> tuple[Callable[..., Any], bool]:
    """The NumPy kernel of a `scalar` rule, and whether it is one primitive without temporaries."""
    primitive = primitive_of(rule, arity)
    if primitive is not None:
        return getattr(NumpyScalars, primitive), True
    return functools.partial(rule, NumpyScalars), False


def computed_wide(kernel: Callable[..., Any], inputs: int) -> Callable[..., Any]:
    """A wrapper of a kernel of `inputs` floating arrays (and attributes) that widens 16-bit floats to float32.

    Its result is rounded to their dtype once.
    """

    def computed(*arrays: Any) -> Any:
        if arrays[0].dtype.itemsize != 2:
            return kernel(*arrays)
        dtype = arrays[0].dtype
        wide = [short_floats.widened(x) for x in arrays[:inputs]]
        return short_floats.rounded(kernel(*wide, *arrays[inputs:]), dtype)

    return computed


def in_blocks(kernel: Callable[..., Any], op: Any = None) -> Callable[..., Any]:
    """A wrapper that runs an elementwise kernel on blocks, so that its temporary arrays stay small.

    A block fits into a processor's cache, and of all arrays only the result is as large as the inputs.
    Operands have the shape of the largest one, or no dims; others are computed in one call. Large arrays
    are computed by exact machine code of the `op`, if one is given and has some.
    """

    def blocked(*arrays: Any) -> Any:
        largest = arrays[0] if len(arrays) == 1 else _largest(arrays)
        if largest.size <= MIN_ELEMENTS:
            return kernel(*arrays)
        run = None if op is None else loop_of_passes(op, arrays)
        if run is not None:
            return run()
        if largest.size <= MIN_BLOCKED_ELEMENTS:
            return kernel(*arrays)
        flat = [_flat(a, largest.shape) for a in arrays]
        if any(f is None for f in flat):
            return kernel(*arrays)
        result = parts = None
        for start in range(0, largest.size, BLOCK_ELEMENTS):
            stop = start + BLOCK_ELEMENTS
            part = kernel(
                *[
                    f[start:stop] if a.__class__ is np.ndarray and a.ndim else a
                    for f, a in zip(flat, arrays, strict=True)
                ]
            )
            if result is None or parts is None:
                if part is NotImplemented or isinstance(part, tuple):
                    return kernel(*arrays)
                result = np.empty(largest.shape, part.dtype)
                parts = result.reshape(-1)
            parts[start:stop] = part
        return result

    return blocked


def _largest(arrays: Sequence[Any]) -> Any:
    """The operand with the most elements; attributes behind the operands have no arrays."""
    found = arrays[0]
    for x in arrays[1:]:
        if x.__class__ is np.ndarray and x.size > found.size:
            found = x
    return found


def _flat(x: Any, shape: tuple[int, ...]) -> Any:
    """The array flattened, or unchanged if it is the same for all blocks; None for other shapes."""
    if x.__class__ is not np.ndarray or not x.ndim:
        return x
    if x.shape != shape or not x.flags.c_contiguous:
        return None
    return x.reshape(-1)
