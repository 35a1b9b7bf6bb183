"""What `python -m benchmarks.families` measures: calls of every family, as expressions.

Loaded in the environments of Intaglio and of TensorFlow: both understand the same words. The names
in an expression are the properties of `Data`, arrays of about n elements.
"""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Timed = Callable[[], Any]

SIZES = (10, 10**4, 10**7)
# Strings take a hundred bytes each: fewer of them are enough.
MOST_STRINGS = 10**5

FAMILIES: dict[str, tuple[str, ...]] = {
    "arithmetic": (
        "x + y", "x * y", "x / y", "x // y", "-x", "tf.abs(x)", "x * 2.0",
        "tf.square(x)", "tf.maximum(x, y)", "i + j", "i // j", "i % j",
        "tf.math.squared_difference(x, y)", "tf.add_n([x, y, x])", "m + row",
        "tf.clip_by_value(x, -1.0, 1.0)",
    ),
    "transcendental": (
        "tf.exp(x)", "tf.math.log(p)", "tf.sqrt(p)", "tf.math.rsqrt(p)", "tf.sin(x)",
        "tf.tanh(x)", "tf.sigmoid(x)", "tf.pow(p, y)", "tf.math.erf(x)",
        "tf.math.lgamma(p)", "tf.math.digamma(p)", "tf.atan2(x, y)",
        "tf.math.softplus(x)", "tf.math.igamma(p, p)",
    ),
    "comparison and logic": (
        "x < y", "i == j", "tf.logical_and(b, c)", "tf.logical_not(b)",
        "tf.math.is_nan(x)",
    ),
    "cast": (
        "tf.cast(x, tf.int32)", "tf.cast(i, tf.float32)", "tf.cast(x, tf.float64)",
        "tf.cast(b, tf.float32)", "tf.cast(x, tf.bfloat16)", "tf.cast(x, tf.float16)",
    ),
    "rounding": ("tf.round(x)", "tf.floor(x)", "tf.sign(x)"),
    "bits": (
        "tf.bitwise.bitwise_and(i, j)", "tf.bitwise.left_shift(j, j)",
        "tf.bitwise.invert(i)",
    ),
    "reduction": (
        "tf.reduce_sum(x)", "tf.reduce_sum(m, 0)", "tf.reduce_sum(m, 1)",
        "tf.reduce_mean(m, 0)", "tf.reduce_mean(m, 1)", "tf.reduce_max(m, 0)",
        "tf.reduce_max(m, 1)", "tf.reduce_prod(m, 1)", "tf.reduce_any(b)",
        "tf.reduce_sum(i)", "tf.argmax(m, 0)", "tf.argmax(m, 1)",
        "tf.math.reduce_logsumexp(m, 1)", "tf.math.reduce_std(m, 1)", "tf.norm(x)",
    ),
    "scan": ("tf.cumsum(x)", "tf.cumsum(m, 0)", "tf.math.cumprod(m, 1)"),
    "gather and scatter": (
        "tf.gather(x, at)", "tf.gather(m, at_row)", "tf.gather_nd(x, at_nd)",
        "tf.scatter_nd(at_nd, x, [n])", "tf.tensor_scatter_nd_add(x, at_nd, y)",
        "tf.boolean_mask(x, b)", "tf.one_hot(small, 8)",
    ),
    "segments": (
        "tf.math.segment_sum(x, ordered)", "tf.math.unsorted_segment_sum(x, at, n)",
        "tf.math.unsorted_segment_max(x, at, n)", "tf.math.bincount(small)",
    ),
    "joining": (
        "tf.concat([x, y], 0)", "tf.concat([m, m], 1)", "tf.stack([x, y])",
        "tf.stack([x, y], 1)", "tf.split(even, 2)", "tf.unstack(pair)",
        "tf.tile(x, [2])", "tf.pad(m, [[1, 1], [1, 1]])", "tf.repeat(x, 2)",
    ),
    "order": (
        "tf.transpose(m)", "tf.reverse(x, [0])", "tf.roll(x, 3, 0)",
        "tf.reshape(m, [-1])", "tf.expand_dims(x, 0)",
    ),
    "slicing": ("x[1:-1]", "x[::2]", "m[:, 0]", "m[1:, ..., tf.newaxis]"),
    "filling": (
        "tf.zeros([n])", "tf.fill([n], 2.0)", "tf.range(n)", "tf.linspace(0.0, 1.0, n)",
        "tf.ones_like(x)",
    ),
    "sorting": (
        "tf.sort(x)", "tf.argsort(x)", "tf.math.top_k(x, 5)", "tf.unique(small)",
        "tf.where(b)", "tf.where(b, x, y)", "tf.searchsorted(line, x)",
    ),
    "products": (
        "tf.matmul(m, m, transpose_b=True)", "tf.matmul(batch, batch)",
        "tf.einsum('ij,kj->ik', m, m)", "tf.tensordot(x, y, 1)", "tf.linalg.matvec(m, row)",
    ),
    "linear algebra": (
        "tf.linalg.cholesky(spd)", "tf.linalg.inv(spd)", "tf.linalg.det(spd)",
        "tf.linalg.solve(spd, batch)", "tf.linalg.diag_part(batch)",
        "tf.linalg.band_part(batch, 1, 1)",
    ),
    "convolution and pooling": (
        "tf.nn.conv2d(image, filters, 1, 'SAME')",
        "tf.nn.depthwise_conv2d(image, each, [1, 1, 1, 1], 'SAME')",
        "tf.nn.max_pool2d(image, 2, 2, 'VALID')", "tf.nn.avg_pool2d(image, 2, 2, 'VALID')",
        "tf.nn.bias_add(image, four)",
    ),
    "activations, normalisation and losses": (
        "tf.nn.relu(x)", "tf.nn.elu(x)", "tf.nn.gelu(x)", "tf.nn.leaky_relu(x)",
        "tf.nn.softmax(m)", "tf.nn.log_softmax(m)",
        "tf.nn.softmax_cross_entropy_with_logits(m, m)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(at_column, m)",
        "tf.nn.sigmoid_cross_entropy_with_logits(x, y)", "tf.nn.l2_normalize(m, 1)",
        "tf.nn.moments(m, [0])", "tf.nn.l2_loss(x)",
        "tf.nn.batch_normalization(m, row, row, row, row, 1.0)",
    ),
    "random": (
        "tf.random.uniform([n])", "tf.random.normal([n])",
        "tf.random.stateless_uniform([n], [1, 2])",
        "tf.random.stateless_normal([n], [1, 2])", "tf.random.shuffle(x)",
        "tf.random.truncated_normal([n])", "tf.random.categorical(m, 1)",
    ),
    "strings": (
        "tf.strings.length(s)", "tf.strings.upper(s)", "tf.strings.join([s, s])",
        "tf.strings.substr(s, 1, 2)", "tf.strings.to_hash_bucket_fast(s, 100)",
        "tf.strings.regex_replace(s, 'a+', 'b')", "tf.strings.split(s, ' ')",
        "tf.strings.as_string(small_string)", "tf.strings.to_number(digits)",
        "tf.strings.reduce_join(s)",
    ),
    "image": (
        "tf.image.resize(image, [8, 8])", "tf.image.flip_left_right(image)",
        "tf.image.rot90(image)", "tf.image.adjust_contrast(image, 2.0)",
        "tf.image.rgb_to_grayscale(rgb)", "tf.image.rgb_to_hsv(rgb)",
        "tf.image.adjust_saturation(rgb, 0.5)",
    ),
    "signal": (
        "tf.signal.rfft(x)", "tf.signal.fft(z)", "tf.signal.fft2d(zm)",
        "tf.signal.frame(x, 8, 4)", "tf.signal.stft(x, 8, 4)", "tf.signal.dct(m)",
    ),
    "sets and sparse": (
        "tf.sets.intersection(set_a, set_b)", "tf.sparse.from_dense(hollow)",
        "tf.sparse.to_dense(tf.sparse.from_dense(hollow))",
        "tf.sparse.reduce_sum(sp, 1)", "tf.sparse.reduce_max(sp, 0)", "tf.sparse.add(sp, sp)",
        "tf.sparse.sparse_dense_matmul(sp, m, adjoint_a=True)", "tf.sparse.concat(1, [sp, sp])",
        "tf.sparse.reorder(sp)", "tf.sparse.softmax(sp)", "tf.sparse.slice(sp, [0, 0], [9, 9])",
        "tf.sparse.segment_sum(m, at_row, at_row_ordered)",
        "tf.sparse.segment_mean(m, at_row, at_row_ordered)",
    ),
}  # fmt: skip


class Data:
    """Arrays of about n elements, created when an expression names them."""

    def __init__(self, tf: Any, n: int) -> None:
        self.tf, self.n = tf, n
        self.rng = np.random.RandomState(0)
        self.height = max(2, math.isqrt(n))
        self.width = max(2, n // self.height)
        self.side = 3 if n < 100 else 16

    def __getitem__(self, name: str) -> Any:
        if name in ("tf", "n"):
            return getattr(self, name)
        return getattr(self, name)

    def real(self, *shape: int) -> Any:
        """Numbers from -2 to 2."""
        return self.tf.constant(self.rng.uniform(-2, 2, shape).astype(np.float32))

    def whole(self, low: int, high: int, *shape: int) -> Any:
        """Integers."""
        return self.tf.constant(self.rng.randint(low, high, shape).astype(np.int32))

    x = functools.cached_property(lambda self: self.real(self.n))
    y = functools.cached_property(lambda self: self.real(self.n))
    z = functools.cached_property(lambda self: self.tf.complex(self.x, self.y))
    p = functools.cached_property(lambda self: self.tf.abs(self.x) + 0.1)
    i = functools.cached_property(lambda self: self.whole(-99, 99, self.n))
    j = functools.cached_property(lambda self: self.whole(1, 9, self.n))
    small = functools.cached_property(lambda self: self.whole(0, 8, self.n))
    at = functools.cached_property(lambda self: self.whole(0, self.n, self.n))
    at_nd = functools.cached_property(lambda self: self.tf.reshape(self.at, [-1, 1]))
    b = functools.cached_property(lambda self: self.x > 0)
    c = functools.cached_property(lambda self: self.y > 0)
    line = functools.cached_property(lambda self: self.tf.sort(self.y))
    ordered = functools.cached_property(lambda self: self.tf.range(self.n) // 4)
    even = functools.cached_property(lambda self: self.real(2 * (self.n // 2)))
    pair = functools.cached_property(lambda self: self.real(2, self.n // 2))
    m = functools.cached_property(lambda self: self.real(self.height, self.width))
    zm = functools.cached_property(lambda self: self.tf.complex(self.m, self.m))
    row = functools.cached_property(lambda self: self.tf.abs(self.real(self.width)))
    at_row = functools.cached_property(lambda self: self.whole(0, self.height, self.height))
    at_column = functools.cached_property(lambda self: self.whole(0, self.width, self.height))
    four = functools.cached_property(lambda self: self.real(4))

    @functools.cached_property
    def batch(self) -> Any:
        """Square matrices."""
        count = max(1, self.n // self.side**2)
        return self.real(count, self.side, self.side)

    @functools.cached_property
    def spd(self) -> Any:
        """Square matrices that are positive definite."""
        tf = self.tf
        return tf.matmul(self.batch, self.batch, transpose_b=True) + 9.0 * tf.eye(self.side)

    def pictures(self, channels: int) -> Any:
        """A batch of images."""
        count = 1 if self.n < 10**6 else 16
        side = max(2, math.isqrt(self.n // channels // count))
        return self.tf.abs(self.real(count, side, side, channels)) / 2.0

    image = functools.cached_property(lambda self: self.pictures(4))
    rgb = functools.cached_property(lambda self: self.pictures(3))
    filters = functools.cached_property(lambda self: self.real(3, 3, 4, 8))
    each = functools.cached_property(lambda self: self.real(3, 3, 4, 1))

    @functools.cached_property
    def digits(self) -> Any:
        """Numbers as strings."""
        count = min(self.n, MOST_STRINGS)
        return self.tf.constant([str(v) for v in self.rng.randint(0, 9999, count)])

    @functools.cached_property
    def s(self) -> Any:
        """Strings of two words."""
        count = min(self.n, MOST_STRINGS)
        return self.tf.constant([f"banana {v}" for v in range(count)])

    small_string = functools.cached_property(lambda self: self.small[:MOST_STRINGS])

    @functools.cached_property
    def set_a(self) -> Any:
        """Rows of up to five numbers."""
        return self.whole(0, 20, min(max(1, self.n // 5), MOST_STRINGS), 5)

    @functools.cached_property
    def set_b(self) -> Any:
        """Other rows."""
        return self.whole(0, 20, min(max(1, self.n // 5), MOST_STRINGS), 5)

    @functools.cached_property
    def hollow(self) -> Any:
        """A matrix with few elements that are not 0."""
        dense = self.rng.uniform(size=(self.height, self.width)) < 0.1
        return self.tf.constant(dense.astype(np.float32))

    sp = functools.cached_property(lambda self: self.tf.sparse.from_dense(self.hollow))
    at_row_ordered = functools.cached_property(lambda self: self.tf.sort(self.at_row))


@functools.lru_cache(maxsize=1)
def _data(peer: str, n: int) -> Data:
    module = {"intaglio": "intaglio.tf", "tensorflow": "tensorflow"}[peer]
    return Data(importlib.import_module(module), n)


def make(peer: str, case: str) -> Timed | None:
    """The case `family:number:n` as a function, or None if the library cannot do it."""
    family, number, n = case.split(":")
    text = FAMILIES[family.replace("_", " ")][int(number)]
    code = compile(f"lambda: {text}", case, "eval")
    data = _data(peer, int(n))
    inner = code.co_consts[0]
    try:
        names = {k: data[k] for k in inner.co_names if hasattr(Data, k) or k in "tfn"}
        timed: Timed = eval(code, names)
        timed()
    except Exception:
        return None
    return timed
