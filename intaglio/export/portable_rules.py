"""Ops without native code in other ops, by rules: what is linear as a product of matrices, dilations.

`portable_code.py` uses them where a graph would have no code, of operands of known shapes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, complex128, float64
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter

# The elements of a matrix that a linear op is written as, at most.
MAX_MATRIX_ELEMENTS = 1 << 18
Rule = Callable[[Node, Sequence[SymbolicTensor]], list[Any]]
_RULES: dict[str, Rule] = {}


class NoRule(Exception):
    """A node that no rule is for, or that a rule has no expression for."""


def by_rule(node: Node) -> list[SymbolicTensor]:
    """The outputs of a node in other ops, recorded in the graph that is written. Raises NoRule."""
    rule = _RULES.get(node.op.name)
    if rule is None:
        raise NoRule
    return rule(node, node.inputs)


def _rule(*ops: Op | OpReference) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        _RULES.update({op.name: function for op in ops})
        return function

    return register


def _known(value: SymbolicTensor) -> Any:
    if value.node.op is not raw.Const:
        raise NoRule
    return value.node.attrs["value"]


def _sizes(value: SymbolicTensor) -> tuple[int, ...]:
    return tuple([d for d in value.dims or () if d is not None])


# -- linear ops ------------------------------------------------------------------------------------


def _parts(array: Any) -> list[np.ndarray]:
    """An array as real ones."""
    array = np.asarray(array)
    return [array.real, array.imag] if array.dtype.kind == "c" else [array]


def _linear(
    value: Any, outs: Sequence[int], kind: DType, axes: int, kernel: Callable[[Any], Any]
) -> Any:
    """A function over the last axes that is linear over real numbers, by what it makes of basis vectors.

    It is computed in double precision, so that it is as exact as the transform itself.
    """
    dims = _sizes(value)
    taken, resulting = math.prod(dims[-axes:]), math.prod(outs[-axes:])
    if not 0 < taken * resulting <= MAX_MATRIX_ELEMENTS:
        raise NoRule
    identity = np.eye(taken).reshape(taken, *dims[-axes:])
    tensors = [value]
    basis = [identity]
    if value.dtype.is_complex:
        tensors = [
            raw.Real(value, Tout=value.dtype.real_dtype),
            raw.Imag(value, Tout=value.dtype.real_dtype),
        ]
        basis = [identity + 0j, identity * 1j]
    rows = np.array([-1, taken], np.int32)
    sums: list[Any] = []
    for tensor, vectors in zip(tensors, basis, strict=True):
        flat = raw.Reshape(raw.Cast(tensor, DstT=float64), rows)
        matrices = [p.reshape(taken, resulting) for p in _parts(kernel(vectors))]
        products = [raw.MatMul(flat, np.ascontiguousarray(m)) for m in matrices]
        sums = [raw.AddV2(a, b) for a, b in zip(sums, products, strict=True)] if sums else products
    shape = np.array(outs, np.int32)
    found = [raw.Reshape(raw.Cast(s, DstT=kind.real_dtype), shape) for s in sums]
    return raw.Complex(*found, Tout=kind) if kind.is_complex else found[0]


def _register_fourier(axes: int, *ops: OpReference) -> None:
    @_rule(*ops)
    def transformed(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
        value, *lengths = inputs
        (result,) = node.outputs
        known = [_known(v) for v in lengths]

        def kernel(vectors: Any) -> Any:
            found = interpreter.call_kernel(node.op, [vectors, *known], attrs)
            return interpreter.flat_result(node.op, found)[0]

        double = {"Tcomplex", "Treal", "Tout"} & {*node.attrs}
        attrs = {k: v for k, v in node.attrs.items() if k not in double}
        attrs |= {k: _doubled(node.attrs[k]) for k in double}
        return [_linear(value, _sizes(result), result.dtype, axes, kernel)]


def _doubled(dtype: Any) -> Any:
    return complex128 if dtype.is_complex else float64


for _axes, _ops in enumerate(
    (
        (late.FFT, late.IFFT, late.RFFT, late.IRFFT),
        (late.FFT2D, late.IFFT2D, late.RFFT2D, late.IRFFT2D),
        (late.FFT3D, late.IFFT3D, late.RFFT3D, late.IRFFT3D),
    ),
    1,
):
    _register_fourier(_axes, *_ops)


@_rule(raw.AvgPool3D)
def _averaged(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """Channels are rows of a product."""
    if node.attrs["data_format"] != "NDHWC":
        raise NoRule
    (value,), (result,) = inputs, node.outputs
    first, last = np.array([0, 4, 1, 2, 3], np.int32), np.array([0, 2, 3, 4, 1], np.int32)
    moved, dims = raw.Transpose(value, first), _sizes(result)

    def kernel(vectors: Any) -> Any:
        found = interpreter.call_kernel(node.op, [vectors[..., np.newaxis]], node.attrs)
        return interpreter.flat_result(node.op, found)[0][..., 0]

    outs = (dims[0], dims[4], *dims[1:4])
    return [raw.Transpose(_linear(moved, outs, result.dtype, 3, kernel), last)]


# -- the greatest of windows -----------------------------------------------------------------------


@_rule(raw.Dilation2D)
def _dilated(node: Node, inputs: Sequence[SymbolicTensor]) -> list[Any]:
    """The greatest of the sums for each element of the filter."""
    value, filter_ = inputs
    if not value.dtype.is_floating:
        raise NoRule
    sizes, window, outs = _sizes(value), _sizes(filter_), _sizes(node.outputs[0])
    steps, rates = node.attrs["strides"], node.attrs["rates"]
    padding = np.zeros((4, 2), np.int32)
    for i in (1, 2):
        reach = (outs[i] - 1) * steps[i] + (window[i - 1] - 1) * rates[i] + 1
        missing = max(reach - sizes[i], 0)
        padding[i] = missing // 2, missing - missing // 2
    lowest = np.asarray(-np.inf, value.dtype.numpy)
    padded = raw.PadV2(value, padding, lowest)
    best: Any = None
    for i in range(window[0]):
        for j in range(window[1]):
            begin = np.array([0, i * rates[1], j * rates[2], 0], np.int32)
            ends = [(n - 1) * step + 1 for n, step in zip(outs[1:3], steps[1:3], strict=True)]
            end = begin + np.array([sizes[0], *ends, sizes[3]], np.int32)
            strides = np.array(steps, np.int32)
            part = raw.StridedSlice(padded, begin, end, strides)
            tap = raw.StridedSlice(
                filter_, np.array([i, j], np.int32), np.array([i + 1, j + 1], np.int32),
                np.array([1, 1], np.int32), shrink_axis_mask=3,
            )  # fmt: skip
            total = raw.AddV2(part, tap)
            best = total if best is None else raw.Maximum(best, total)
    return [best]
