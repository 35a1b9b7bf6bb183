"""Training steps for `benchmarks.gpu`: each written once over the functions of a library, and stepped by both.

`Steps` is a step here, on variables of the device, and the same by hand in JAX, on arrays that go in
and come back. Both start from the same numbers and see the same examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from intaglio import tf


class Library(NamedTuple):
    """The functions of a library under common names."""

    xp: Any
    softmax: Any
    log_softmax: Any
    relu: Any
    gelu: Any
    rsqrt: Any
    mean: Any
    einsum: Any
    take: Any
    convolve: Any
    cast: Any
    one_hot: Any
    uniform: Any


def _convolve_tf(x: Any, w: Any, stride: int) -> Any:
    return tf.nn.conv2d(x, w, stride, "SAME")


def _convolve_jax(x: Any, w: Any, stride: int) -> Any:
    form = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=form)


HERE = Library(
    tf,
    tf.nn.softmax,
    tf.nn.log_softmax,
    tf.nn.relu,
    lambda x: tf.nn.gelu(x, approximate=True),
    tf.math.rsqrt,
    lambda x, axis: tf.reduce_mean(x, axis, keepdims=True),
    tf.einsum,
    tf.gather,
    _convolve_tf,
    tf.cast,
    lambda labels, depth: tf.one_hot(labels, depth),
    lambda shape, seed: tf.random.stateless_uniform(shape, seed),
)
JAX = Library(
    jnp,
    jax.nn.softmax,
    jax.nn.log_softmax,
    jax.nn.relu,
    jax.nn.gelu,
    jax.lax.rsqrt,
    lambda x, axis: jnp.mean(x, axis, keepdims=True),
    jnp.einsum,
    lambda table, rows: jnp.take(table, rows, 0),
    _convolve_jax,
    lambda x, dtype: x.astype(np.dtype(getattr(dtype, "numpy", dtype))),
    jax.nn.one_hot,
    lambda shape, seed: jax.random.uniform(jax.random.wrap_key_data(seed.astype(np.uint32)), shape),
)


class Steps(NamedTuple):
    """A step here and in JAX: each returns the loss, which is on the device."""

    ours: Callable[[], Any]
    jaxs: Callable[[], Any]


Loss = Callable[[Library, dict[str, Any], Any, Any], Any]


def adam(loss: Loss, start: dict[str, np.ndarray], x: Any, y: Any) -> Steps:
    """Steps of Adam on a loss."""
    return Steps(_adam_here(loss, start, x, y), _adam_jax(loss, start, x, y))


RATE, FIRST, SECOND, TINY = 1e-3, 0.9, 0.999, 1e-8


def _adam_here(loss: Loss, start: dict[str, np.ndarray], x: Any, y: Any) -> Callable[[], Any]:
    variables = {n: tf.Variable(v) for n, v in start.items()}
    slots = {
        n: (tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v)))
        for n, v in variables.items()
    }
    inputs, labels = tf.constant(x), tf.constant(y)

    @tf.function
    def step(inputs: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(HERE, variables, inputs, labels)
        gradients = tape.gradient(value, list(variables.values()))
        for (name, variable), found in zip(variables.items(), gradients, strict=True):
            gradient = tf.convert_to_tensor(found)
            m, v = slots[name]
            m.assign(FIRST * m + (1.0 - FIRST) * gradient)
            v.assign(SECOND * v + (1.0 - SECOND) * gradient * gradient)
            variable.assign_sub(RATE * m / (tf.sqrt(v) + TINY))
        return value

    return lambda: step(inputs, labels)


def _adam_jax(loss: Loss, start: dict[str, np.ndarray], x: Any, y: Any) -> Callable[[], Any]:
    @jax.value_and_grad
    def value_of(p: Any, x: Any, y: Any) -> Any:
        return loss(JAX, p, x, y)

    def step(state: Any, x: Any, y: Any) -> Any:
        value, gradients = value_of({n: s[0] for n, s in state.items()}, x, y)
        new: dict[str, Any] = {}
        for name, (p, m, v) in state.items():
            g = gradients[name]
            m = FIRST * m + (1.0 - FIRST) * g
            v = SECOND * v + (1.0 - SECOND) * g * g
            new[name] = (p - RATE * m / (jnp.sqrt(v) + TINY), m, v)
        return new, value

    run = jax.jit(step, donate_argnums=0)
    state = {n: (jnp.asarray(v), jnp.zeros_like(v), jnp.zeros_like(v)) for n, v in start.items()}
    x, y = jnp.asarray(x), jnp.asarray(y)

    def call() -> Any:
        nonlocal state
        state, value = run(state, x, y)
        return value

    return call


# -- a residual network with CutMix ----------------------------------------------------------


class Residual(NamedTuple):
    """Sizes of the network: blocks of each of three stages, channels of the first, examples, pixels."""

    blocks: int = 3
    channels: int = 64
    batch: int = 256
    pixels: int = 32


def residual_network(size: Residual) -> Steps:
    """Cuts a box out of each image's neighbour, mixes the labels, and takes a step of Adam."""
    random = np.random.default_rng(0)
    start: dict[str, np.ndarray] = {}

    def weights(name: str, *dims: int) -> None:
        scale = (2.0 / np.prod(dims[:-1])) ** 0.5
        start[name] = (random.normal(size=dims) * scale).astype(np.float32)

    weights("stem", 3, 3, 3, size.channels)
    width = size.channels
    for stage in range(3):
        for block in range(size.blocks):
            name, wide = f"{stage}_{block}", size.channels << stage
            weights(f"{name}_a", 3, 3, width, wide)
            weights(f"{name}_b", 3, 3, wide, wide)
            start[f"{name}_scale"] = np.ones(wide, np.float32)
            start[f"{name}_shift"] = np.zeros(wide, np.float32)
            if width != wide:
                weights(f"{name}_skip", 1, 1, width, wide)
            width = wide
    weights("dense", width, 10)
    x = random.normal(size=(size.batch, size.pixels, size.pixels, 3)).astype(np.float32)
    y = random.integers(0, 10, size.batch).astype(np.int32)

    def loss(lib: Library, p: dict[str, Any], x: Any, y: Any) -> Any:
        x, share = _cut_and_mixed(lib, x, y[:2], size.pixels)
        labels = lib.one_hot(y, 10)
        wanted = share * labels + (1.0 - share) * lib.xp.roll(labels, 1, 0)
        y = lib.relu(_normalised(lib, lib.convolve(x, p["stem"], 1)))
        for stage in range(3):
            for block in range(size.blocks):
                y = _block(lib, p, f"{stage}_{block}", y, 2 if stage and not block else 1)
        logits = lib.xp.matmul(lib.mean(y, (1, 2))[:, 0, 0], p["dense"])
        products = wanted * lib.log_softmax(logits)
        return -lib.mean(products, (0, 1))[0, 0] * 10.0

    return adam(loss, start, x, y)


def _cut_and_mixed(lib: Library, x: Any, seed: Any, pixels: int) -> tuple[Any, Any]:
    """The images with a random box of their neighbours', and the share that is their own."""
    numbers = lib.uniform((3,), seed)
    side = lib.xp.sqrt(numbers[0]) * pixels
    place = lib.cast(lib.xp.arange(pixels) if lib is JAX else lib.xp.range(pixels), np.float32)
    rows = lib.xp.abs(place - numbers[1] * pixels) < side / 2.0
    columns = lib.xp.abs(place - numbers[2] * pixels) < side / 2.0
    box = lib.cast(rows, np.float32)[:, None] * lib.cast(columns, np.float32)[None, :]
    mixed = x * (1.0 - box[None, :, :, None]) + lib.xp.roll(x, 1, 0) * box[None, :, :, None]
    return mixed, 1.0 - lib.mean(box, (0, 1))[0, 0]


def _normalised(lib: Library, x: Any) -> Any:
    centred = x - lib.mean(x, (0, 1, 2))
    return centred * lib.rsqrt(lib.mean(centred * centred, (0, 1, 2)) + 1e-3)


def _block(lib: Library, p: dict[str, Any], name: str, x: Any, stride: int) -> Any:
    y = lib.relu(_normalised(lib, lib.convolve(x, p[f"{name}_a"], stride)))
    y = _normalised(lib, lib.convolve(y, p[f"{name}_b"], 1))
    y = y * p[f"{name}_scale"] + p[f"{name}_shift"]
    skip = p.get(f"{name}_skip")
    return lib.relu(y + (x if skip is None else lib.convolve(x, skip, stride)))


# -- GPT-2 ---------------------------------------------------------------------------------------


class Transformer(NamedTuple):
    """Sizes of the model; the defaults are those of GPT-2 small, with its words rounded up to 128."""

    layers: int = 12
    width: int = 768
    heads: int = 12
    words: int = 50304
    length: int = 512
    batch: int = 8


def language_model(size: Transformer, dtype: Any) -> Steps:
    """A step of Adam on the next word of each; products are of `dtype`, variables and sums of float32."""
    random = np.random.default_rng(0)
    start: dict[str, np.ndarray] = {}

    def weights(name: str, *dims: int) -> None:
        start[name] = (random.normal(size=dims) * 0.02).astype(np.float32)

    d = size.width
    weights("words", size.words, d)
    weights("places", size.length, d)
    for i in range(size.layers):
        for name, dims in (
            ("qkv", (d, 3 * d)),
            ("out", (d, d)),
            ("up", (d, 4 * d)),
            ("down", (4 * d, d)),
        ):
            weights(f"{i}_{name}", *dims)
            start[f"{i}_{name}_bias"] = np.zeros(dims[-1], np.float32)
    for name in [f"{i}_{n}" for i in range(size.layers) for n in "ab"] + ["last"]:
        start[f"{name}_scale"] = np.ones(d, np.float32)
        start[f"{name}_shift"] = np.zeros(d, np.float32)
    tokens = random.integers(0, size.words, (size.batch, size.length + 1)).astype(np.int32)
    mask = np.triu(np.full((size.length, size.length), -1e9, np.float32), 1)

    def loss(lib: Library, p: dict[str, Any], x: Any, y: Any) -> Any:
        h = lib.take(p["words"], x) + p["places"]
        for i in range(size.layers):
            h = h + _attention(lib, p, size, f"{i}", _layer_norm(lib, p, f"{i}_a", h), mask, dtype)
            up = lib.gelu(_dense(lib, p, f"{i}_up", _layer_norm(lib, p, f"{i}_b", h), dtype))
            h = h + lib.cast(_dense(lib, p, f"{i}_down", up, dtype), np.float32)
        h = lib.cast(_layer_norm(lib, p, "last", h), dtype)
        logits = lib.einsum("btd,wd->btw", h, lib.cast(p["words"], dtype))
        return _cross_entropy(lib, lib.cast(logits, np.float32), y)

    return adam(loss, start, tokens[:, :-1], tokens[:, 1:])


def _cross_entropy(lib: Library, logits: Any, y: Any) -> Any:
    if lib is HERE:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        return tf.reduce_mean(losses)
    own = jnp.take_along_axis(logits, y[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - own)


def _layer_norm(lib: Library, p: dict[str, Any], name: str, x: Any) -> Any:
    centred = x - lib.mean(x, (-1,))
    y = centred * lib.rsqrt(lib.mean(centred * centred, (-1,)) + 1e-5)
    return y * p[f"{name}_scale"] + p[f"{name}_shift"]


def _dense(lib: Library, p: dict[str, Any], name: str, x: Any, dtype: Any) -> Any:
    product = lib.einsum("btd,de->bte", lib.cast(x, dtype), lib.cast(p[name], dtype))
    return product + lib.cast(p[f"{name}_bias"], dtype)


def _attention(
    lib: Library, p: dict[str, Any], size: Transformer, i: str, x: Any, mask: Any, dtype: Any
) -> Any:
    depth = size.width // size.heads
    qkv = lib.xp.reshape(
        _dense(lib, p, f"{i}_qkv", x, dtype), (size.batch, size.length, 3, size.heads, depth)
    )
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = lib.cast(lib.einsum("bqhd,bkhd->bhqk", q, k), np.float32) * depth**-0.5 + mask
    mixed = lib.einsum("bhqk,bkhd->bqhd", lib.cast(lib.softmax(scores), dtype), v)
    mixed = lib.xp.reshape(mixed, (size.batch, size.length, size.width))
    return lib.cast(_dense(lib, p, f"{i}_out", mixed, dtype), np.float32)
