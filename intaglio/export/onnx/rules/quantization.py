"""Quantised values: linear quantisation in both directions, and the simulated one of training."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.scalars import Scalars
from intaglio.export.onnx.values import Operand, known
from intaglio.opdef import late
from intaglio.ops.nn import fake_quantization


def _fake(
    builder: Any,
    x: Operand,
    low: np.ndarray,
    high: np.ndarray,
    bits: int,
    narrow: bool,
    by_product: bool,
) -> Any:
    """Rounded to steps between two known numbers, of which one step is 0."""
    begin, end, step = fake_quantization.nudged(low, high, bits, narrow)
    step = np.where(step == 0, np.float32(1), step)
    scale = np.float32(1) / step
    zero = np.floor((-begin * scale if by_product else -begin / step) + np.float32(0.5))
    s = Scalars(builder)
    inside = s.maximum(s.minimum(x, end), begin)
    width = s.sub(inside, begin)
    steps = s.mul(width, scale) if by_product else s.div(width, step)
    found = s.mul(s.floor(s.add(s.sub(steps, zero), np.float32(0.5))), step)
    empty = (low == 0) & (high == 0)
    return s.select(empty, np.float32(0), found) if empty.any() else found


@onnx_rule(late.FakeQuantWithMinMaxArgs)
def _by_attributes(builder, inputs, min, max, num_bits, narrow_range) -> Any:
    low, high = np.float32(min), np.float32(max)
    return _fake(builder, inputs, np.asarray(low), np.asarray(high), num_bits, narrow_range, True)


def _of_values(op: Any, by_product: bool) -> None:
    @onnx_rule(op)
    def rule(builder, inputs, min, max, num_bits, narrow_range) -> Any:
        low, high = known(min, "the least number"), known(max, "the greatest number")
        return _fake(builder, inputs, low, high, num_bits, narrow_range, by_product)


_of_values(late.FakeQuantWithMinMaxVars, False)
_of_values(late.FakeQuantWithMinMaxVarsPerChannel, True)
