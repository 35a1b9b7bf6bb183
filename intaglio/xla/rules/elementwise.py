"""Elementwise ops whose kernels look at their data, which functions of `jax.lax` do not need to."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.ops.math import incomplete_gamma
from intaglio.ops.nn import fake_quantization
from intaglio.xla import kernels
from intaglio.xla.arrays import Array
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, is_traced


@xla(raw.Cast)
def _cast(x, DstT: DType) -> Any:
    if not is_traced(x) or not DstT.is_numpy_compatible:
        raise Untraceable("a conversion of what is no array")
    if x.dtype.kind == "c" and DstT.numpy.kind != "c":
        x = jnp.real(x)
    return x.astype(DstT.numpy)


@xla(raw.Sign)
def _sign(x) -> Any:
    if x.dtype.kind != "c":
        return jnp.sign(x)
    size = jnp.abs(x)
    return jnp.where(size == 0, jnp.zeros((), x.dtype), x / jnp.where(size == 0, 1, size))


@xla(raw.Rsqrt)
def _reciprocal_root(x) -> Any:
    if x.dtype.kind == "c":
        raise Untraceable("its expression is as good")
    return lax.rsqrt(_wide(x)).astype(x.dtype)


def _nonzero(y: Any) -> Any:
    """The divisor of an integer division; 0 is no error in an XLA program, and divides as 1."""
    return jnp.where(y == 0, jnp.ones((), y.dtype), y) if y.dtype.kind in "iu" else y


@xla(raw.FloorDiv)
def _floor_divide(x, y) -> Any:
    if x.dtype.kind not in "iu":
        return jnp.floor(jnp.true_divide(x, y))
    return jnp.floor_divide(x, _nonzero(jnp.asarray(y)))


@xla(raw.FloorMod, raw.Mod)
def _modulo(x, y, node) -> Any:
    y = _nonzero(jnp.asarray(y))
    return jnp.fmod(x, y) if node.op is raw.Mod else jnp.remainder(x, y)


@xla(raw.Betainc)
def _betainc(a, b, x) -> Any:
    return lax.betainc(*jnp.broadcast_arrays(a, b, x))


@xla(raw.Igamma)
def _igamma(a, x) -> Any:
    a, x = jnp.broadcast_arrays(a, x)
    return _with_edges(a, x, lax.igamma(a, x), 0.0, 1.0)


@xla(raw.Igammac)
def _igammac(a, x) -> Any:
    a, x = jnp.broadcast_arrays(a, x)
    return _with_edges(a, x, lax.igammac(a, x), 1.0, 0.0)


def _with_edges(a: Any, x: Any, value: Any, at_zero: float, far: float) -> Any:
    """An incomplete gamma function, with TensorFlow's values where an argument is 0 or infinite."""
    regular = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
    edges = kernels.retargeted(incomplete_gamma._edges)
    found = edges(*[Array(v) for v in (a, x, regular, value)], at_zero, far)
    return found.value.astype(a.dtype)


@xla(raw.IgammaGradA)
def _igamma_gradient(a, x) -> Any:
    return lax.igamma_grad_a(*jnp.broadcast_arrays(a, x))


@xla(late.RandomGammaGrad)
def _gamma_gradient(alpha, sample) -> Any:
    operands = jnp.broadcast_arrays(alpha, sample)
    return lax.random_gamma_grad(*operands)  # pyright: ignore[reportCallIssue]  # it finds the dtype


@xla(raw.Zeta)
def _zeta(x, q) -> Any:
    return lax.zeta(*jnp.broadcast_arrays(x, q))


@xla(raw.Polygamma)
def _polygamma(a, x) -> Any:
    return lax.polygamma(*jnp.broadcast_arrays(a, x))


def _of_one(op: Any, function: Any) -> None:
    @xla(op)
    def rule(x) -> Any:
        return function(_wide(x)).astype(x.dtype)


for _op, _function in (
    (late.BesselI0, lambda x: lax.bessel_i0e(x) * jnp.exp(jnp.abs(x))),
    (late.BesselI0e, lax.bessel_i0e),
    (late.BesselI1, lambda x: lax.bessel_i1e(x) * jnp.exp(jnp.abs(x))),
    (late.BesselI1e, lax.bessel_i1e),
    (late.Spence, lambda x: jax.scipy.special.spence(x)),
):
    _of_one(_op, _function)


@xla(raw.Softmax)
def _softmax(logits) -> Any:
    return jax.nn.softmax(_wide(logits), axis=-1).astype(logits.dtype)


@xla(raw.LogSoftmax)
def _log_softmax(logits) -> Any:
    return jax.nn.log_softmax(_wide(logits), axis=-1).astype(logits.dtype)


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else jnp.asarray(x)


@xla(raw.SoftmaxCrossEntropyWithLogits)
def _cross_entropy(features, labels) -> Any:
    x, y = jnp.broadcast_arrays(_wide(features), _wide(labels))
    logs = jax.nn.log_softmax(x, axis=-1)
    loss = -jnp.sum(jnp.where(y == 0, 0, y * logs), axis=-1)
    return loss.astype(features.dtype), (jnp.exp(logs) - y).astype(features.dtype)


@xla(raw.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(features, labels) -> Any:
    x = _wide(features)
    logs = jax.nn.log_softmax(x, axis=-1)
    valid = (labels >= 0) & (labels < x.shape[-1])
    hot = jax.nn.one_hot(labels, x.shape[-1], dtype=x.dtype)
    loss = jnp.where(valid, -jnp.sum(jnp.where(hot == 0, 0, logs), axis=-1), jnp.nan)
    gradient = jnp.where(valid[:, None], jnp.exp(logs) - hot, jnp.nan)
    return loss.astype(features.dtype), gradient.astype(features.dtype)


def _fake_range(min: Any, max: Any, bits: int, narrow: bool) -> Any:
    """The range that has 0 among its steps, and the size of a step."""
    return kernels.retargeted(fake_quantization.nudged)(Array(min), Array(max), bits, narrow)


@xla(late.FakeQuantWithMinMaxVars)
def _fake_quantized(inputs, min, max, num_bits, narrow_range) -> Any:
    steps = kernels.retargeted(fake_quantization._by_division)
    found = steps(Array(inputs), *_fake_range(min, max, num_bits, narrow_range)).value
    return jnp.where((min == 0) & (max == 0), jnp.zeros((), inputs.dtype), found)


@xla(late.FakeQuantWithMinMaxVarsGradient)
def _fake_gradient(gradients, inputs, min, max, num_bits, narrow_range) -> Any:
    low, high, _ = [v.value for v in _fake_range(min, max, num_bits, narrow_range)]
    none = (min == 0) & (max == 0)
    below, above = (inputs < low) & ~none, (inputs > high) & ~none
    inside = jnp.where(below | above, jnp.zeros((), inputs.dtype), gradients)
    return inside, *[jnp.sum(jnp.where(part, gradients, 0)) for part in (below, above)]
