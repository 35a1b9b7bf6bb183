"""Normalization, softmax, losses, and boxes of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.export.onnx.builder import BOOL, FLOAT32, INT64
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.rules.convolution import Layout
from intaglio.export.onnx.values import Operand, Unexportable, dims_of, is_known, rank_of
from intaglio.opdef import late, raw


@onnx_rule(raw.Softmax)
def _softmax(builder, logits) -> Any:
    return builder.add("Softmax", logits, axis=-1)


@onnx_rule(raw.LogSoftmax)
def _log_softmax(builder, logits) -> Any:
    return builder.add("LogSoftmax", logits, axis=-1)


@onnx_rule(raw.FusedBatchNorm)
def _batch_norm(
    builder, x, scale, offset, mean, variance, epsilon, data_format, is_training
) -> Any:
    found = _normalized(
        builder, x, scale, offset, mean, variance, epsilon, data_format, is_training
    )
    return [found, mean, variance, mean, variance]


@onnx_rule(raw.FusedBatchNormV2, raw.FusedBatchNormV3)
def _batch_norm_v3(
    builder, node, x, scale, offset, mean, variance, epsilon, data_format, is_training
) -> Any:
    found = _normalized(
        builder, x, scale, offset, mean, variance, epsilon, data_format, is_training
    )
    none = np.zeros((), np.dtype(mean.dtype))
    return [found, mean, variance, mean, variance, none][: len(node.outputs)]


def _normalized(
    builder: Any,
    x: Operand,
    scale: Operand,
    offset: Operand,
    mean: Operand,
    variance: Operand,
    epsilon: float,
    data_format: str,
    is_training: bool,
) -> Operand:
    if is_training:
        raise Unexportable("batch normalization that trains: call the model with training=False")
    layout = Layout(rank_of(x), data_format)
    moved = layout.to_onnx(builder, x)
    found = builder.add(
        "BatchNormalization", moved, scale, offset, mean, variance, epsilon=float(epsilon)
    )
    return layout.back(builder, found)


@onnx_rule(raw.LRN)
def _local_response(builder, input, depth_radius, bias, alpha, beta) -> Any:
    layout = Layout(4, "NHWC")
    size = 2 * depth_radius + 1
    options = {"size": size, "bias": float(bias), "alpha": float(alpha) * size, "beta": float(beta)}
    return layout.back(builder, builder.add("LRN", layout.to_onnx(builder, input), **options))


@onnx_rule(raw.SoftmaxCrossEntropyWithLogits)
def _cross_entropy(builder, features, labels) -> Any:
    logs = builder.add("LogSoftmax", features, axis=-1)
    product = builder.add("Mul", labels, logs)
    zero = builder.scalar(0, features)
    none = builder.add("Equal", labels, zero, dtype=BOOL)
    kept = builder.add("Where", none, zero, product, dtype=features.dtype)
    loss = builder.add("Neg", builder.add("ReduceSum", kept, np.array([-1]), keepdims=0))
    return loss, builder.add("Sub", builder.add("Exp", logs), labels)


@onnx_rule(raw.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(builder, features, labels) -> Any:
    dims = dims_of(features)
    if dims is None or dims[-1] is None:
        raise Unexportable("the number of classes must be known when the model is written")
    logs = builder.add("LogSoftmax", features, axis=-1)
    rows = builder.unsqueeze(builder.int64(labels), [-1])
    hot = builder.add("Equal", rows, np.arange(dims[-1]), dtype=BOOL)
    zero = builder.scalar(0, features)
    own = builder.add("Where", hot, logs, zero, dtype=features.dtype)
    loss = builder.add("Neg", builder.add("ReduceSum", own, np.array([-1]), keepdims=0))
    number = builder.cast(hot, features.dtype)
    return loss, builder.add("Sub", builder.add("Exp", logs), number)


# -- boxes -------------------------------------------------------------------------------------


def _selected(
    builder: Any, boxes: Operand, scores: Operand, count: Operand, overlap: Any, least: Any
) -> Operand:
    """The numbers of the boxes that are kept, best first."""
    operands = [
        builder.unsqueeze(builder.cast(boxes, FLOAT32), [0]),
        builder.unsqueeze(builder.cast(scores, FLOAT32), [0, 1]),
        builder.vector(count),
        *[None if v is None else _single(builder, v) for v in (overlap, least)],
    ]
    found = builder.add("NonMaxSuppression", *operands, dtype=INT64)
    numbers = builder.slice(found, np.array([2]), np.array([3]), np.array([1]))
    return builder.cast(builder.squeeze(numbers, [1]), np.int32)


def _single(builder: Any, x: Operand) -> Operand:
    x = builder.cast(x, FLOAT32)
    return np.asarray(x).reshape(1) if is_known(x) else builder.reshape(x, np.array([1]))


@onnx_rule(late.NonMaxSuppressionV2)
def _suppressed(builder, boxes, scores, max_output_size, iou_threshold) -> Any:
    return _selected(builder, boxes, scores, max_output_size, iou_threshold, None)


@onnx_rule(late.NonMaxSuppressionV3)
def _suppressed_by_score(
    builder, boxes, scores, max_output_size, iou_threshold, score_threshold
) -> Any:
    return _selected(builder, boxes, scores, max_output_size, iou_threshold, score_threshold)
