"""Activation functions of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.nn.layouts import channels_first
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def constant_like(value: float, x: Tensor) -> np.ndarray:
    """A Python number as a scalar of the tensor's dtype."""
    return np.asarray(value, x.dtype.numpy)


@dispatchable
def relu(features: Any, name: str | None = None) -> Tensor:
    """max(features, 0), for real numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/nn/relu

    >>> print(tf.nn.relu([-1.0, 2.0]).numpy())
    [0. 2.]
    """
    return raw.Relu(features, name=name)


@dispatchable
def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6), for real numbers of any shape.

    https://www.tensorflow.org/api_docs/python/tf/nn/relu6

    >>> print(tf.nn.relu6([-1.0, 2.0, 9.0]).numpy())
    [0. 2. 6.]
    """
    return raw.Relu6(features, name=name)


@dispatchable
def elu(features: Any, name: str | None = None) -> Tensor:
    """features where positive, else exp(features) - 1, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/elu

    >>> print(tf.nn.elu([-1.0, 2.0]).numpy().round(4))
    [-0.6321  2.    ]
    """
    return raw.Elu(features, name=name)


@dispatchable
def selu(features: Any, name: str | None = None) -> Tensor:
    """The scaled exponential linear unit, for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/selu

    >>> print(tf.nn.selu([-1.0, 2.0]).numpy().round(4))
    [-1.1113  2.1014]
    """
    return raw.Selu(features, name=name)


@dispatchable
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """features where positive, else alpha * features; integers become float32.

    https://www.tensorflow.org/api_docs/python/tf/nn/leaky_relu

    >>> print(tf.nn.leaky_relu([-1.0, 2.0]).numpy().round(4))
    [-0.2  2. ]
    """
    features = convert.to_tensor(features)
    if features.dtype.is_integer:
        features = raw.Cast(features, DstT=dtypes.float32)
    alpha = float(np.float32(np.asarray(alpha)))
    return raw.LeakyRelu(features, alpha=alpha, name=name)


@dispatchable
def softplus(features: Any, name: str | None = None) -> Tensor:
    """log(exp(features) + 1), for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/math/softplus

    >>> print(tf.nn.softplus([0.0, 2.0]).numpy().round(4))
    [0.6931 2.1269]
    """
    return raw.Softplus(features, name=name)


@dispatchable
def softsign(features: Any, name: str | None = None) -> Tensor:
    """features / (|features| + 1), for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/softsign

    >>> print(tf.nn.softsign([-1.0, 3.0]).numpy())
    [-0.5   0.75]
    """
    return raw.Softsign(features, name=name)


@dispatchable
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """The Gaussian error linear unit: features * P(X <= features) for a normal X.

    `approximate` computes it through tanh instead of the error function. Raises
    ValueError for anything but floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/gelu

    >>> print(tf.nn.gelu([-1.0, 2.0]).numpy().round(4))
    [-0.1587  1.9545]
    """
    with door.level().scoped(name or "Gelu"):
        x = convert.to_tensor(features)
        if not x.dtype.is_floating:
            raise ValueError(
                f"`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype!r}"
            )
        half, one = constant_like(0.5, x), constant_like(1.0, x)
        if approximate:
            cubed = raw.Pow(x, constant_like(3, x), name="Pow")
            inner = raw.AddV2(
                x, raw.Mul(constant_like(0.044715, x), cubed, name="mul_1"), name="add"
            )
            bent = raw.Tanh(
                raw.Mul(constant_like(0.7978845608028654, x), inner, name="mul_2"), name="Tanh"
            )
            return raw.Mul(
                raw.Mul(half, x, name="mul"), raw.AddV2(one, bent, name="add_1"), name="mul_3"
            )
        scaled = raw.Mul(raw.Neg(x, name="Neg"), constant_like(0.7071067811865476, x), name="mul_1")
        tail = raw.Erfc(scaled, name="Erfc")
        return raw.Mul(raw.Mul(half, x, name="mul"), tail, name="mul_2")


@dispatchable
def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """features * sigmoid(beta * features), for floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/nn/silu

    >>> print(tf.nn.silu([-1.0, 2.0]).numpy().round(4))
    [-0.2689  1.7616]
    """
    x = convert.to_tensor(features)
    beta = convert.to_tensor(beta, x.dtype)
    return raw.Mul(x, raw.Sigmoid(raw.Mul(beta, x, name="mul")), name="mul")


swish = silu


@dispatchable
def crelu(features: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """relu of the features and of their negatives, side by side along `axis`.

    https://www.tensorflow.org/api_docs/python/tf/nn/crelu

    >>> print(tf.nn.crelu([[-1.0, 2.0]]).numpy())
    [[0. 2. 1. 0.]]
    """
    with door.level().scoped(name or "CRelu"):
        x = convert.to_tensor(features)
        both = raw.ConcatV2([x, raw.Neg(x)], axis, name="concat")
        return raw.Relu(both)


@dispatchable
def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """value + bias, the vector `bias` along the channels.

    Channels are the last dimension, or the second for a `data_format` that begins with
    "NC". Raises ValueError for another data format; shapes that do not fit raise
    ValueError in graphs and InvalidArgumentError eagerly.

    https://www.tensorflow.org/api_docs/python/tf/nn/bias_add

    >>> print(tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy())
    [[11. 22.]]
    """
    if data_format is not None:
        if channels_first(data_format):
            data_format = "NCHW"
        elif data_format.startswith("N") and data_format.endswith("C"):
            data_format = "NHWC"
        else:
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. "
                f"Received: data_format={data_format}"
            )
    return raw.BiasAdd(value, bias, data_format=data_format or "NHWC", name=name)
