"""Learning rates that fall with the steps: a tensor in graphs, eagerly a function without arguments.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/exponential_decay and the functions
beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.opdef import convert, raw
from intaglio.trace import scopes

# The rate at a step; the op that gives it has the name of the scope, the second argument.
_Rate = Callable[[Any, str], Any]


def _of_step(rate: _Rate, step: Any, name: str | None, default: str) -> Any:
    """The rate at a step, as the mode wants it. Raises ValueError without a step."""
    if step is None:
        raise ValueError(f"`global_step` is required for {default}.")

    def value() -> Any:
        with scopes.name_scope(name or default) as scope:
            return rate(convert.to_tensor(step), scope)

    return value if scopes.executing_eagerly() else value()


def _fraction(step: Any, decay_steps: Any, like: Any) -> Any:
    return raw.RealDiv(_cast(step, like), _cast(decay_steps, like))


def _cast(value: Any, like: Any) -> Any:
    tensor = convert.to_tensor(value)
    return tensor if tensor.dtype is like.dtype else raw.Cast(tensor, DstT=like.dtype)


def _number(value: float, like: Any) -> Any:
    return convert.to_tensor(value, like.dtype)


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`, of whole quotients if `staircase`.

    >>> rate = tf.compat.v1.train.exponential_decay(0.1, tf.constant(20), 10, 0.5)
    >>> print(round(float(rate()), 4))
    0.025
    """

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        power = _fraction(step, decay_steps, first)
        power = raw.Floor(power) if staircase else power
        return raw.Mul(first, raw.Pow(_cast(decay_rate, first), power), name=scope)

    return _of_step(rate, global_step, name, "ExponentialDecay")


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """`values[i]` up to `boundaries[i]` inclusive, and the last value after the last boundary.

    Raises ValueError for other than one value more than boundaries, or for boundaries of another dtype
    that `x` cannot have.
    """
    limits, rates = nest.flatten(boundaries), nest.flatten(values)
    if len(limits) != len(rates) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    def rate(step: Any, scope: str) -> Any:
        found = convert.to_tensor(rates[-1])
        for limit, value in reversed(list(zip(limits, rates, strict=False))):
            below = raw.LessEqual(step, _cast(limit, step))
            found = raw.SelectV2(below, _cast(value, found), found)
        return found

    return _of_step(rate, x, name, "PiecewiseConstant")


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """From one rate to another in `decay_steps`, which grow by themselves again and again if `cycle`."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        at, steps = _cast(step, first), _cast(decay_steps, first)
        if cycle:
            rounds = raw.Ceil(raw.RealDiv(at, steps))
            steps = raw.Mul(steps, raw.Maximum(rounds, _number(1.0, first)))
        else:
            at = raw.Minimum(at, steps)
        left = raw.Sub(_number(1.0, first), raw.RealDiv(at, steps))
        last = _cast(end_learning_rate, first)
        falling = raw.Mul(raw.Sub(first, last), raw.Pow(left, _cast(power, first)))
        return raw.Add(falling, last, name=scope)

    return _of_step(rate, global_step, name, "PolynomialDecay")


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        power = _fraction(step, decay_steps, first)
        power = raw.Floor(power) if staircase else power
        factor = raw.Exp(raw.Mul(raw.Neg(_cast(decay_rate, first)), power))
        return raw.Mul(first, factor, name=scope)

    return _of_step(rate, global_step, name, "ExponentialDecay")


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        power = _fraction(step, decay_steps, first)
        power = raw.Floor(power) if staircase else power
        below = raw.Add(_number(1.0, first), raw.Mul(_cast(decay_rate, first), power))
        return raw.RealDiv(first, below, name=scope)

    return _of_step(rate, global_step, name, "InverseTimeDecay")


def _cosine(fraction: Any, times: float = 1.0) -> Any:
    """Half of one and the cosine, 1 at 0 and 0 at 1."""
    angle = raw.Mul(_number(math.pi * times, fraction), fraction)
    return raw.Mul(_number(0.5, fraction), raw.Add(_number(1.0, fraction), raw.Cos(angle)))


def _done(step: Any, decay_steps: Any, like: Any) -> Any:
    """The part of the steps that is over, at most 1."""
    steps = _cast(decay_steps, like)
    return raw.RealDiv(raw.Minimum(_cast(step, like), steps), steps)


def cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    alpha: float = 0.0,
    name: str | None = None,
) -> Any:
    """Half a period of a cosine in `decay_steps`, down to `alpha * learning_rate`."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        wave = _cosine(_done(step, decay_steps, first))
        return raw.Mul(first, _above(wave, alpha))

    return _of_step(rate, global_step, name, "CosineDecay")


def _above(wave: Any, alpha: float) -> Any:
    return raw.Add(raw.Mul(_number(1.0 - alpha, wave), wave), _number(alpha, wave))


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Any:
    """Cosines one after the other: each `t_mul` times as long and `m_mul` times as high as the last."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        done = _fraction(step, first_decay_steps, first)
        one = _number(1.0, first)
        if t_mul == 1.0:
            number = raw.Floor(done)
            done = raw.Sub(done, number)
        else:
            grown = raw.Sub(one, raw.Mul(done, _number(1.0 - t_mul, first)))
            number = raw.Floor(raw.RealDiv(raw.Log(grown), _number(math.log(t_mul), first)))
            length = raw.Pow(_number(t_mul, first), number)
            before = raw.RealDiv(raw.Sub(one, length), _number(1.0 - t_mul, first))
            done = raw.RealDiv(raw.Sub(done, before), length)
        wave = raw.Mul(raw.Pow(_number(m_mul, first), number), _cosine(done))
        return raw.Mul(first, _above(wave, alpha), name=scope)

    return _of_step(rate, global_step, name, "SGDRDecay")


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Any:
    """A line down to 0, times a cosine of `num_periods` periods."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        done = _done(step, decay_steps, first)
        line = _on_a_line(done, None, num_periods, alpha, beta)
        return raw.Mul(first, line, name=scope)

    return _of_step(rate, global_step, name, "LinearCosineDecay")


def _on_a_line(done: Any, noise: Any, num_periods: float, alpha: float, beta: float) -> Any:
    line = raw.Sub(_number(1.0, done), done)
    if noise is not None:
        line = raw.Add(line, noise)
    wave = _cosine(done, 2.0 * num_periods)
    return raw.Add(raw.Mul(raw.Add(_number(alpha, done), line), wave), _number(beta, done))


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Any:
    """As `linear_cosine_decay`, with normal numbers added to the line, whose variance falls with the steps."""

    def rate(step: Any, scope: str) -> Any:
        first = convert.to_tensor(learning_rate)
        at = raw.Minimum(_cast(step, first), _cast(decay_steps, first))
        fall = raw.Pow(raw.Add(_number(1.0, first), at), _number(variance_decay, first))
        deviation = raw.Sqrt(raw.RealDiv(_number(initial_variance, first), fall))
        shape = np.zeros(0, np.int32)
        noise = raw.Mul(deviation, raw.RandomStandardNormal(shape, dtype=first.dtype))
        done = _done(step, decay_steps, first)
        line = _on_a_line(done, noise, num_periods, alpha, beta)
        return raw.Mul(first, line, name=scope)

    return _of_step(rate, global_step, name, "NoisyLinearCosineDecay")
