"""Recurrences over sequences of several lengths: eager, in a graph, compiled, and as NumPy computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

CLOSE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12}
Cell = Callable[..., tuple[Any, ...]]


def _lstm(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    h, c = state
    i, f, g, o = m.split(m.concat([x, h]) @ w[0] + w[1], 4)
    c = m.sigmoid(f) * c + m.sigmoid(i) * m.tanh(g)
    return m.sigmoid(o) * m.tanh(c), c


def _gru(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    (h,) = state
    z, r = m.split(m.sigmoid(m.concat([x, h]) @ w[0] + w[1]), 2)
    return (z * h + (1 - z) * m.tanh(m.concat([x, r * h]) @ w[2]),)


def _gru_reset_after(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    (h,) = state
    xz, xr, xh = m.split(x @ w[0], 3)
    hz, hr, hh = m.split(h @ w[1], 3)
    z, r = m.sigmoid(xz + hz), m.sigmoid(xr + hr)
    return (z * h + (1 - z) * m.tanh(xh + r * hh),)


def _plain(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    return (m.tanh(x @ w[0] + state[0] @ w[1]),)


def _projected(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    i, g, o = m.split(m.concat([x, state[0]]) @ w[0], 3)
    return ((m.sigmoid(o) * m.tanh(m.sigmoid(i) * g)) @ w[1],)


def _stacked(m: Any, x: Any, state: Any, w: Any) -> tuple[Any, ...]:
    low = _plain(m, x, state[:1], w[:2])
    return (*low, *_plain(m, low[0], state[1:], w[2:]))


def shapes_of(cell: str, d: int, h: int) -> list[tuple[int, ...]]:
    """The shapes of a cell's weights, for so many inputs and outputs."""
    return {
        "lstm": [(d + h, 4 * h), (4 * h,)],
        "gru": [(d + h, 2 * h), (2 * h,), (d + h, h)],
        "gru_reset_after": [(d, 3 * h), (h, 3 * h)],
        "plain": [(d, h), (h, h)],
        "projected": [(d + h, 3 * (h + 2)), (h + 2, h)],
        "stacked": [(d, h), (h, h), (h, h), (h, h)],
    }[cell]


CELLS: dict[str, Cell] = {
    "lstm": _lstm,
    "gru": _gru,
    "gru_reset_after": _gru_reset_after,
    "plain": _plain,
    "projected": _projected,
    "stacked": _stacked,
}
STATES = {"lstm": 2, "stacked": 2}


class InNumPy:
    """The functions that cells call, of NumPy."""

    tanh = staticmethod(np.tanh)

    @staticmethod
    def sigmoid(x: Any) -> Any:
        """Of moderate numbers."""
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def split(x: Any, n: int) -> Any:
        """Equal parts of the last axis."""
        return np.split(x, n, 1)

    @staticmethod
    def concat(xs: Any) -> Any:
        """Side by side."""
        return np.concatenate(xs, 1)


class InTensors:
    """The same of tensors."""

    tanh, sigmoid = staticmethod(tf.tanh), staticmethod(tf.sigmoid)

    @staticmethod
    def split(x: Any, n: int) -> Any:
        """Equal parts of the last axis."""
        return tf.split(x, n, 1)

    @staticmethod
    def concat(xs: Any) -> Any:
        """Side by side."""
        return tf.concat(xs, 1)


def expected(cell: str, x: Any, lengths: Any, weights: Any, h: int, backwards: bool) -> Any:
    """The states after all steps, and after each: a step beyond a sequence changes nothing."""
    batch, steps, _ = x.shape
    state = tuple([np.zeros((batch, h), x.dtype) for _ in range(STATES.get(cell, 1))])
    seen = []
    for t in range(steps)[:: -1 if backwards else 1]:
        new = CELLS[cell](InNumPy, x[:, t], state, weights)
        inside = (t < lengths)[:, None]
        state = tuple([np.where(inside, a, b) for a, b in zip(new, state, strict=True)])
        seen.append(state[0])
    return state, np.stack(seen, 1) if seen else np.zeros((batch, 0, h), x.dtype)


def by_loop(cell: str, x: Any, lengths: Any, weights: Any, h: int, backwards: bool) -> Any:
    """In a loop, the states chosen by a condition."""
    steps = tf.shape(x)[1]
    state = tuple([tf.zeros([tf.shape(x)[0], h], x.dtype) for _ in range(STATES.get(cell, 1))])
    seen = tf.TensorArray(x.dtype, size=steps, element_shape=[x.shape[0], h])
    for i in tf.range(steps):
        t = steps - 1 - i if backwards else i
        new = CELLS[cell](InTensors, x[:, t], state, weights)
        inside = (t < lengths)[:, None]
        state = tuple([tf.where(inside, a, b) for a, b in zip(new, state, strict=True)])
        seen = seen.write(i, state[0])
    return state, tf.transpose(seen.stack(), [1, 0, 2])


def by_scan(cell: str, x: Any, lengths: Any, weights: Any, h: int, backwards: bool) -> Any:
    """By `tf.scan`, the states mixed by a mask of numbers."""
    mask = tf.transpose(tf.sequence_mask(lengths, tf.shape(x)[1], x.dtype))[:, :, None]
    start = tuple([tf.zeros([x.shape[0], h], x.dtype) for _ in range(STATES.get(cell, 1))])

    def step(state: Any, now: Any) -> Any:
        x_t, m = now
        new = CELLS[cell](InTensors, x_t, state, weights)
        return tuple([m * a + (1 - m) * b for a, b in zip(new, state, strict=True)])

    states = tf.scan(step, (tf.transpose(x, [1, 0, 2]), mask), start, reverse=backwards)
    last = 0 if backwards else -1
    seen = states[0][::-1] if backwards else states[0]
    return tuple([s[last] for s in states]), tf.transpose(seen, [1, 0, 2])


def with_gradients(run: Any, cell: str, x: Any, lengths: Any, weights: Any, *rest: Any) -> Any:
    """The results, then the gradients of a sum of them by the sequences and the weights."""
    with tf.GradientTape() as tape:
        tape.watch([x, *weights])
        states, seen = run(cell, x, lengths, weights, *rest)
        factors = tf.cast(tf.range(1, tf.size(seen) + 1) % 7, x.dtype)
        total = tf.reduce_sum(tf.reshape(seen, [-1]) * factors)
        for state in states:
            total += tf.reduce_sum(state * state)
    gradients = tape.gradient(total, [x, *weights], unconnected_gradients="zero")
    return [*states, seen, *gradients]


@pytest.mark.parametrize("how", [by_loop, by_scan])
@pytest.mark.parametrize("cell", CELLS)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_every_mode_gives_the_same(cell: str, how: Any, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["float32", "float64", "float16"]))
    batch, h, d = (data.draw(st.integers(1, n)) for n in (5, 6, 4))
    steps = data.draw(st.integers(0 if how is by_loop else 1, 9))
    lengths = data.draw(st.lists(st.integers(0, steps), min_size=batch, max_size=batch))
    backwards = data.draw(st.booleans())
    if data.draw(st.booleans()):  # large enough for a cell to have code of its own
        batch, h, d = 12, 32, 24
    lengths = np.resize(np.array(lengths, np.int32), batch)
    rng = np.random.default_rng(steps)
    x = rng.standard_normal((batch, steps, d)).astype(dtype)
    weights = [
        (rng.standard_normal(s) / max(s[0], 1) ** 0.5).astype(dtype) for s in shapes_of(cell, d, h)
    ]
    arguments = tf.constant(x), tf.constant(lengths), [tf.constant(w) for w in weights]

    def run(x: Any, lengths: Any, weights: Any) -> Any:
        return with_gradients(how, cell, x, lengths, weights, h, backwards)

    eager = [np.asarray(r) for r in run(*arguments)]
    wide_weights = [w.astype("float64") for w in weights]
    states, seen = expected(cell, x.astype("float64"), lengths, wide_weights, h, backwards)
    close = CLOSE[dtype]
    for found, wanted in zip(eager, [*states, seen], strict=False):
        np.testing.assert_allclose(found, wanted, rtol=close, atol=close)
    open_shape = tf.TensorSpec([batch, None, d], dtype)
    signature = [
        open_shape,
        tf.TensorSpec([batch], tf.int32),
        [tf.TensorSpec(w.shape, dtype) for w in weights],
    ]
    modes = {
        "graph": tf.function(run),
        "open": tf.function(run, input_signature=signature),
        "jit": tf.function(run, jit_compile=True),
    }
    for name, function in modes.items():
        for _ in range(2):
            for found, wanted in zip(function(*arguments), eager, strict=True):
                scale = max(float(np.abs(wanted.astype("float64")).max(initial=0)), 1.0)
                np.testing.assert_allclose(
                    np.asarray(found), wanted, rtol=close, atol=3 * close * scale, err_msg=name
                )
