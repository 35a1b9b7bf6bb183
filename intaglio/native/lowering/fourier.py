"""Fourier transforms over the last axes, by the kernels of `kernels/fourier.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels.kinds import select
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import late
from intaglio.opdef.late import OpReference

COMPLEX = {"fft": (late.FFT, late.FFT2D, late.FFT3D), "ifft": (late.IFFT, late.IFFT2D, late.IFFT3D)}
REAL = {
    "rfft": (late.RFFT, late.RFFT2D, late.RFFT3D),
    "irfft": (late.IRFFT, late.IRFFT2D, late.IRFFT3D),
}


def _register(kind: str, axes: int, op: OpReference) -> None:
    @lowering(op)
    def transformed(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
        source, *lengths = inputs
        shape = source.shape
        if len(shape) < axes:
            raise Unsupported(f"{node.op.name} of a smaller rank")
        length = shape[-1]
        if lengths:
            length = _length(node, kind, shape, axes, lengths[0].known)
        double = node.outputs[0].dtype.real_dtype.size == 8
        run = select("fourier", kind, double, shape, axes, length)
        if run is None:
            raise Unsupported(f"{node.op.name} of {shape}")
        return stepped(w, node, run, [source])


def _length(node: Node, kind: str, shape: tuple[int, ...], axes: int, known: Any) -> int:
    """The length of the last axis of real arrays, where no axis is truncated."""
    if known is None:
        raise Unsupported(f"{node.op.name} of lengths that are data")
    *others, last = np.asarray(known).reshape(-1).tolist()
    own = last // 2 + 1 if kind == "irfft" else last
    if (*others, own) != shape[-axes:]:
        raise Unsupported(f"{node.op.name} of a part of {shape}")
    return last


for _table in (COMPLEX, REAL):
    for _kind, _ops in _table.items():
        for _axes, _op in enumerate(_ops, 1):
            _register(_kind, _axes, _op)
