"""Calls of tf.nn and tf.linalg, whose answers TensorFlow gave (see record.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any], Any]
A = np.arange(1, 7, dtype="float32").reshape(2, 3)
IMAGE = np.arange(32, dtype="float32").reshape(1, 4, 4, 2) / 8
LINE = np.arange(10, dtype="float32").reshape(1, 5, 2)
FILTERS = np.arange(16, dtype="float32").reshape(2, 2, 2, 2) - 7
NN: dict[str, Call] = {
    "gelu": lambda tf: tf.nn.gelu(A - 3),
    "gelu approximate": lambda tf: tf.nn.gelu(A - 3, approximate=True),
    "silu": lambda tf: tf.nn.silu(A - 3, beta=2.0),
    "crelu": lambda tf: tf.nn.crelu(A - 3),
    "leaky_relu int": lambda tf: tf.nn.leaky_relu([-2, 3], alpha=0.5),
    "bias_add NC": lambda tf: tf.nn.bias_add(A[..., None], [1.0, 2.0, 3.0], data_format="NCW"),
    "softmax axis": lambda tf: tf.nn.softmax(A, axis=0),
    "log_softmax axis": lambda tf: tf.nn.log_softmax(A, axis=-2),
    "softmax loss": lambda tf: tf.nn.softmax_cross_entropy_with_logits(A / 21, A),
    "softmax loss axis": lambda tf: tf.nn.softmax_cross_entropy_with_logits(A / 21, A, axis=0),
    "softmax loss vector": lambda tf: tf.nn.softmax_cross_entropy_with_logits(A[0] / 6, A[0]),
    "sparse loss": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], A),
    "sparse loss 3": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [[0, 1]], A[:, :2][None]
    ),
    "sparse loss scalar": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(1, A[0]),
    "sparse loss half": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        [2, 0], A.astype("float16")
    ),
    "sigmoid loss": lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(A / 6, A - 3),
    "weighted loss": lambda tf: tf.nn.weighted_cross_entropy_with_logits(A / 6, A - 3, 2.0),
    "poisson": lambda tf: tf.nn.log_poisson_loss(A, A / 4),
    "poisson full": lambda tf: tf.nn.log_poisson_loss(A, A / 4, compute_full_loss=True),
    "l2_loss": lambda tf: tf.nn.l2_loss(A),
    "conv1d": lambda tf: tf.nn.conv1d(LINE, FILTERS[0], 1, "SAME"),
    "conv1d dilated": lambda tf: tf.nn.conv1d(LINE, FILTERS[0], 1, "VALID", dilations=2),
    "conv2d": lambda tf: tf.nn.conv2d(IMAGE, FILTERS, [1, 2], [[0, 0], [1, 0], [0, 1], [0, 0]]),
    "conv3d": lambda tf: tf.nn.conv3d(
        IMAGE[..., None], FILTERS[..., None, :], [1, 1, 2, 1, 1], "SAME"
    ),
    "convolution": lambda tf: tf.nn.convolution(IMAGE, FILTERS, strides=2, padding="SAME"),
    "atrous": lambda tf: tf.nn.atrous_conv2d(IMAGE, FILTERS, 2, "SAME"),
    "depthwise": lambda tf: tf.nn.depthwise_conv2d(IMAGE, FILTERS, [1, 1, 1, 1], "VALID"),
    "depthwise dilated": lambda tf: tf.nn.depthwise_conv2d(
        IMAGE, FILTERS, [1, 1, 1, 1], "SAME", dilations=[2, 2]
    ),
    "separable": lambda tf: tf.nn.separable_conv2d(
        IMAGE, FILTERS, np.ones((1, 1, 4, 1), "float32"), [1, 2, 2, 1], "SAME"
    ),
    "conv1d_transpose": lambda tf: tf.nn.conv1d_transpose(LINE, FILTERS[0], [1, 10, 2], 2),
    "conv2d_transpose": lambda tf: tf.nn.conv2d_transpose(
        IMAGE[:, :2, :2], FILTERS, [1, 4, 4, 2], 2
    ),
    "conv_transpose": lambda tf: tf.nn.conv_transpose(
        IMAGE[:, :2, :2], FILTERS, [1, 5, 5, 2], 2, "VALID"
    ),
    "max_pool": lambda tf: tf.nn.max_pool(IMAGE, 3, 2, "SAME"),
    "max_pool1d": lambda tf: tf.nn.max_pool1d(LINE, 2, 2, "SAME"),
    "max_pool3d": lambda tf: tf.nn.max_pool3d(IMAGE[..., None], 2, 2, "SAME"),
    "max_pool explicit": lambda tf: tf.nn.max_pool2d(IMAGE, 2, 2, [[0, 0], [1, 1], [0, 0], [0, 0]]),
    "argmax": lambda tf: tf.nn.max_pool_with_argmax(IMAGE, 2, 2, "VALID"),
    "avg_pool": lambda tf: tf.nn.avg_pool(IMAGE, [3, 2], [2, 1], "SAME"),
    "avg_pool1d": lambda tf: tf.nn.avg_pool1d(LINE, 2, 1, "SAME"),
    "avg_pool3d": lambda tf: tf.nn.avg_pool3d(IMAGE[..., None], 2, 2, "SAME"),
    "pool": lambda tf: tf.nn.pool(IMAGE, [2, 2], "MAX", strides=[2, 2]),
    "pool dilated": lambda tf: tf.nn.pool(IMAGE, [2, 2], "AVG", dilations=[2, 1]),
    "moments": lambda tf: tf.nn.moments(A, [0]),
    "moments keep": lambda tf: tf.nn.moments(A, [0, 1], keepdims=True),
    "moments int": lambda tf: tf.nn.moments(np.array([1, 2, 4]), [0]),
    "weighted_moments": lambda tf: tf.nn.weighted_moments(A, [1], [[1.0], [2.0]]),
    "statistics": lambda tf: tf.nn.sufficient_statistics(A, [0], shift=1.0),
    "normalize_moments": lambda tf: tf.nn.normalize_moments(2.0, [3.0], [5.0], 1.0),
    "batch_normalization": lambda tf: tf.nn.batch_normalization(A, A[0], A[1], A[0], None, 0.01),
    "global normalization": lambda tf: tf.nn.batch_norm_with_global_normalization(
        A, A[0], A[1], A[0], A[1], 0.01, True
    ),
    "lrn": lambda tf: tf.nn.lrn(IMAGE, depth_radius=1, bias=2.0, alpha=0.5, beta=0.7),
    "l2_normalize": lambda tf: tf.nn.l2_normalize(A, 1),
    "zero_fraction": lambda tf: tf.nn.zero_fraction([0, 1, 0, 0]),
    "average": lambda tf: tf.nn.compute_average_loss([1.0, 2.0], sample_weight=[1.0, 3.0]),
    "stateless_dropout": lambda tf: tf.nn.experimental.stateless_dropout(A, 0.5, seed=[1, 2]),
    "general_dropout": lambda tf: tf.nn.experimental.general_dropout(
        A, 0.25, lambda shape, dtype: tf.constant(A / 10)
    ),
    "noise_shape": lambda tf: tf.nn.experimental.stateless_dropout(
        A, 0.5, seed=[3, 2], noise_shape=[None, 1]
    ),
    "embedding": lambda tf: tf.nn.embedding_lookup(A, [[1, 0], [0, 0]]),
    "embedding norm": lambda tf: tf.nn.embedding_lookup(A, [1, 0], max_norm=2.0),
    "embedding parts": lambda tf: tf.nn.embedding_lookup([A, A[:1] * 10], [0, 2, 1]),
    "in_top_k": lambda tf: tf.nn.in_top_k([1, 0], A[:, :2], 1),
}
LINALG: dict[str, Call] = {
    "matvec": lambda tf: tf.linalg.matvec(A, [1.0, 2.0], transpose_a=True),
    "tensordot 1": lambda tf: tf.tensordot(A, A.T, 1),
    "tensordot 0": lambda tf: tf.tensordot(A[0], A[1], 0),
    "tensordot axes": lambda tf: tf.tensordot(LINE, IMAGE, [[2], [3]]),
    "tensordot two": lambda tf: tf.tensordot(A, IMAGE[0, :3], [[1, 0], [0, -1]]),
    "einsum implicit": lambda tf: tf.einsum("ba,bc", A, A),
    "einsum three": lambda tf: tf.einsum("ab,cb,cd->ad", A, A, A),
    "einsum dots": lambda tf: tf.einsum("...ij,j->...i", IMAGE[0], A[0, :2]),
    "norm": lambda tf: tf.norm(A),
    "norm 1": lambda tf: tf.norm(A, 1, axis=1),
    "norm inf": lambda tf: tf.norm(A, np.inf, axis=-1, keepdims=True),
    "norm 3": lambda tf: tf.norm(A, 3, axis=0),
    "norm fro": lambda tf: tf.norm(A, "fro", axis=[0, 1]),
    "norm matrix 1": lambda tf: tf.norm(A, 1, axis=[0, 1]),
    "norm matrix inf": lambda tf: tf.norm(A, np.inf, axis=(0, 1), keepdims=True),
    "normalize": lambda tf: tf.linalg.normalize(A, axis=0),
    "trace": lambda tf: tf.linalg.trace(IMAGE[0]),
    "matrix_transpose": lambda tf: tf.linalg.matrix_transpose(LINE),
    "global_norm": lambda tf: tf.linalg.global_norm([A, None, A[0]]),
    "cross": lambda tf: tf.linalg.cross(A[0], A[1, ::-1]),
}
SQUARE = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
LINALG.update(
    {
        "cholesky": lambda tf: tf.linalg.cholesky(SQUARE),
        "cholesky_solve": lambda tf: tf.linalg.cholesky_solve(SQUARE, SQUARE[:, :1]),
        "inv": lambda tf: tf.linalg.inv(SQUARE),
        "solve": lambda tf: tf.linalg.solve(SQUARE, SQUARE[:, :1], adjoint=True),
        "triangular": lambda tf: tf.linalg.triangular_solve(SQUARE, SQUARE, lower=False),
        "lstsq tall": lambda tf: tf.linalg.lstsq(SQUARE[:, :2], SQUARE[:, 1:], l2_regularizer=0.1),
        "lstsq wide": lambda tf: tf.linalg.lstsq(SQUARE[:2], SQUARE[1:]),
        "lstsq slow": lambda tf: tf.linalg.lstsq(SQUARE[:, :2], SQUARE[:, 1:], fast=False),
        "det": lambda tf: tf.linalg.det(SQUARE),
        "slogdet": lambda tf: tf.linalg.slogdet(-SQUARE),
        "logdet": lambda tf: tf.linalg.logdet(SQUARE),
        "svd": lambda tf: tf.linalg.svd(SQUARE[:2], compute_uv=False),
        "eigvalsh": lambda tf: tf.linalg.eigvalsh(SQUARE),
        "pinv": lambda tf: tf.linalg.pinv(SQUARE[:2]),
        "matrix_rank": lambda tf: tf.linalg.matrix_rank([SQUARE, SQUARE * 0 + 1]),
        "norm 2": lambda tf: tf.norm(SQUARE, 2, axis=[0, 1]),
        "norm 2 keep": lambda tf: tf.norm(SQUARE[None], 2, axis=[0, 1], keepdims=True),
        "band_part": lambda tf: tf.linalg.band_part(SQUARE, 1, 0),
        "diag_part": lambda tf: tf.linalg.diag_part(SQUARE),
    }
)

CALLS = {**NN, **LINALG}


def arrays(result: Any) -> list[np.ndarray]:
    """The tensors that a call returned, as float64 arrays."""
    many = result if isinstance(result, (list, tuple)) else [result]
    return [np.asarray(t).astype(np.float64) for t in many]
