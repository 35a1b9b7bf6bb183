"""Normalization and dropout. Others of the kind are functions that ONNX defines."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.operators.random import uniform
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    cast,
    element,
    known,
    like,
    rank,
    shape,
    static,
    tensor,
)
from intaglio.opdef import raw


def _of_channels(v: Any, x: Any) -> Any:
    """A vector of channels, to broadcast with images."""
    return raw.Reshape(v, np.array([-1, *[1] * (rank(x) - 2)], np.int64))


@operator("BatchNormalization")
def _batch_norm(c, x, scale, bias, mean, variance) -> Any:
    x = tensor(x)
    epsilon, momentum = c.attr("epsilon", 1e-5), c.attr("momentum", 0.9)
    dtype = element(mean)
    if not c.attr("training_mode", 0):
        return _normalized(x, scale, bias, mean, variance, epsilon)
    axes = np.array([0, *range(2, rank(x))])
    wide = cast(x, dtype)
    own = raw.Mean(wide, axes)
    squares = raw.Mean(raw.Square(raw.Sub(wide, _of_channels(own, x))), axes)
    found = _normalized(x, scale, bias, own, squares, epsilon)
    old, new = like(momentum, mean), like(1 - momentum, mean)
    running = [
        raw.AddV2(raw.Mul(before, old), raw.Mul(now, new))
        for before, now in ((mean, own), (variance, squares))
    ]
    return found, *running


def _normalized(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    dtype = element(mean)
    factor = raw.Mul(cast(scale, dtype), raw.Rsqrt(raw.AddV2(variance, like(epsilon, mean))))
    centred = raw.Sub(cast(x, dtype), _of_channels(mean, x))
    found = raw.AddV2(raw.Mul(centred, _of_channels(factor, x)), _of_channels(cast(bias, dtype), x))
    return cast(found, element(x))


@operator("InstanceNormalization")
def _instance_norm(c, x, scale, bias) -> Any:
    x = tensor(x)
    axes = np.arange(2, rank(x))
    mean = raw.Mean(x, axes, keep_dims=True)
    centred = raw.Sub(x, mean)
    variance = raw.Mean(raw.Square(centred), axes, keep_dims=True)
    normal = raw.Mul(centred, raw.Rsqrt(raw.AddV2(variance, like(c.attr("epsilon", 1e-5), x))))
    return raw.AddV2(raw.Mul(normal, _of_channels(scale, x)), _of_channels(bias, x))


@operator("LRN")
def _local_response(c, x) -> Any:
    x = tensor(x)
    size = c.attr("size")
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    both = np.zeros((rank(x), 2), np.int64)
    both[1] = before, after
    squares = raw.Pad(raw.Square(x), both)
    count = shape(x)[1]
    total = None
    for i in range(size):
        begin = np.zeros(rank(x), np.int64)
        begin[1] = i
        sizes = raw.ConcatV2(
            [np.array([-1], np.int64), raw.Reshape(count, np.array([1])), np.full(rank(x) - 2, -1)],
            0,
        )
        part = raw.Slice(squares, begin, sizes)
        total = part if total is None else raw.AddV2(total, part)
    scaled = raw.Mul(total, like(c.attr("alpha", 1e-4) / size, x))
    base = raw.AddV2(scaled, like(c.attr("bias", 1.0), x))
    return raw.RealDiv(x, raw.Pow(base, like(c.attr("beta", 0.75), x)))


@operator("LpNormalization")
def _norm(c, x) -> Any:
    x = tensor(x)
    axis, p = np.array([c.attr("axis", -1) % rank(x)]), c.attr("p", 2)
    power = raw.Abs(x) if p == 1 else raw.Square(x)
    total = raw.Sum(power, axis, keep_dims=True)
    return raw.DivNoNan(x, total if p == 1 else raw.Sqrt(total))


@operator("Dropout")
def _dropout(c, x, ratio=None, training=None) -> Any:
    x = tensor(x)
    kept = raw.Fill(shape(x), np.asarray(True))
    trains = training is not None and bool(known(training, "whether dropout trains"))
    if not trains:
        return (raw.Identity(x), kept) if c.outputs > 1 else raw.Identity(x)
    rate = np.asarray(0.5, np.float32) if ratio is None else cast(ratio, dtypes.float32)
    if static(rate) is not None and float(known(rate, "the rate")) == 0:
        return (raw.Identity(x), kept) if c.outputs > 1 else raw.Identity(x)
    keep = raw.GreaterEqual(uniform(c, shape(x), dtypes.float32), rate)
    scale = cast(raw.RealDiv(np.float32(1), raw.Sub(np.float32(1), rate)), x.dtype)
    return raw.Mul(raw.Mul(x, cast(keep, x.dtype)), scale), keep
