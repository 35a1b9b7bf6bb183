"""Isotonic regression: the nearest sequence that does not rise."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import REAL, bfloat16, float16, float32, float64, int32
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import no_kernel


@op
class IsotonicRegression(Op):
    """The nearest sequence along the last dimension that does not rise, and its level parts.

    Neighbours that rise are pooled to their mean, and pools that still rise are pooled
    again. Which of them is pooled first makes no difference, so that all are in each round.
    """

    signature = "input: T; output_dtype: type = float32 -> output: output_dtype, segments: int32"
    T = REAL
    output_dtype = (float16, bfloat16, float32, float64)
    # What TensorFlow computes; other pairs of dtypes have no kernel.
    PAIRS = frozenset(
        [(d.name, d.name) for d in (float16, bfloat16, float32, float64)]
        + [("int8", "float32"), ("int16", "float32")]
        + [("int32", "float64"), ("int64", "float64")]
    )

    def infer(self, input: Spec, output_dtype: Any) -> Any:
        return Spec(output_dtype, input.shape), Spec(int32, input.shape)

    def kernel(self, input, output_dtype):
        if (input.dtype.name, output_dtype.name) not in self.PAIRS:
            raise no_kernel(self.name, input.dtype)
        shape = input.shape
        if not shape or not input.size:
            return input.astype(output_dtype.numpy), np.zeros(shape, np.int32)
        length = shape[-1]
        values = input.reshape(-1).astype(np.float64)
        first = np.arange(values.size) % length == 0  # of its row
        starts = np.arange(values.size)
        while True:
            sizes: Any = np.diff(np.append(starts, values.size))
            means = np.add.reduceat(values, starts) / sizes
            keep = np.ones(len(starts), bool)
            keep[1:] = first[starts[1:]] | (means[1:] <= means[:-1])
            if keep.all():
                break
            starts = starts[keep]
        part = np.repeat(np.arange(len(starts)), sizes).reshape(shape)
        segments = part - part[..., :1]
        level = np.repeat(means, sizes).reshape(shape)
        return level.astype(output_dtype.numpy), segments.astype(np.int32)

    def gradient(self, doutput, segments, input: Spec):
        return raw.Cast(_averaged(doutput, segments), DstT=input.dtype)


def _averaged(x: Any, segments: Any) -> Any:
    """Each block's mean at its indices: pooling is its own transpose."""
    same = raw.Equal(raw.ExpandDims(segments, np.int32(-1)), raw.ExpandDims(segments, np.int32(-2)))
    weights = raw.Cast(same, DstT=x.dtype)
    weights = raw.RealDiv(weights, raw.Sum(weights, np.int32(-1), keep_dims=True))
    column = raw.ExpandDims(x, np.int32(-1))
    return raw.Squeeze(raw.BatchMatMulV2(weights, column), axis=[-1])
