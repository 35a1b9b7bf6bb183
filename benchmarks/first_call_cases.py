"""What `python -m benchmarks.first_calls` measures: calls of every family, as expressions.

Both libraries understand the same words. The names in an expression, but for `tf`, `grad` and `train`,
are the properties of `Data`, which are created before the call.
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

EAGER, ALL = ("eager",), ("eager", "graph", "jit")


class Case(NamedTuple):
    """An expression, and the modes in which it is measured."""

    text: str
    modes: tuple[str, ...] = ALL


def _cases(modes: tuple[str, ...], *texts: str) -> tuple[Case, ...]:
    return tuple([Case(text, modes) for text in texts])


FAMILIES: dict[str, tuple[Case, ...]] = {
    "convolutions": _cases(
        ALL,
        "tf.nn.conv2d(image, filters, 1, 'SAME')",
        "tf.nn.conv2d(image, grouped, 1, 'SAME')",
        "tf.nn.conv2d(photo, stem, 2, 'SAME')",
        "tf.nn.conv2d_transpose(image, upwards, [4, 64, 64, 8], 2, 'SAME')",
    )
    + _cases(
        EAGER,
        "tf.nn.conv2d(image, point, 1, 'SAME')",
        "tf.nn.conv2d(image, filters, 2, 'SAME')",
        "tf.nn.conv2d(image, filters, 1, 'SAME', dilations=2)",
        "tf.nn.conv2d(image, wide, 1, 'SAME')",
        "tf.nn.depthwise_conv2d(image, each, [1, 1, 1, 1], 'SAME')",
        "tf.nn.depthwise_conv2d(image, twice, [1, 2, 2, 1], 'SAME')",
        "tf.nn.separable_conv2d(image, each, point, [1, 1, 1, 1], 'SAME')",
        "tf.nn.conv1d(signal, taps, 1, 'SAME')",
        "tf.nn.conv1d(signal, taps, 1, 'VALID', dilations=4)",
        "tf.nn.conv3d(volume, cube, [1, 1, 1, 1, 1], 'SAME')",
        "tf.nn.conv2d(double(image), double(filters), 1, 'SAME')",
        "tf.nn.conv2d(half(image), half(filters), 1, 'SAME')",
        "tf.nn.conv2d(brain(image), brain(filters), 1, 'SAME')",
    ),
    "gradients of convolutions": _cases(
        ALL, "grad(lambda x, w: tf.nn.conv2d(x, w, 1, 'SAME'), image, filters)"
    )
    + _cases(
        EAGER,
        "grad(lambda x, w: tf.nn.conv2d(x, w, 2, 'SAME'), image, filters)",
        "grad(lambda x, w: tf.nn.conv2d(x, w, 1, 'SAME'), image, grouped)",
        "grad(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], 'SAME'), image, each)",
        "grad(lambda x, w: tf.nn.conv1d(x, w, 1, 'SAME'), signal, taps)",
        "grad(lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], 'SAME'), volume, cube)",
        "grad(lambda x, w: tf.nn.conv2d_transpose(x, w, [4, 64, 64, 8], 2, 'SAME'), image, upwards)",
    ),
    "pooling": _cases(
        EAGER,
        "tf.nn.max_pool2d(image, 2, 2, 'VALID')",
        "tf.nn.max_pool2d(image, 3, 2, 'SAME')",
        "tf.nn.avg_pool2d(image, 3, 1, 'SAME')",
        "tf.nn.max_pool3d(volume, 2, 2, 'SAME')",
        "grad(lambda x: tf.nn.max_pool2d(x, 2, 2, 'VALID'), image)",
        "grad(lambda x: tf.nn.avg_pool2d(x, 3, 2, 'SAME'), image)",
    ),
    "sorting": _cases(ALL, "tf.sort(table, axis=-1)", "tf.math.top_k(table, 5).values")
    + _cases(
        EAGER,
        "tf.argsort(table, axis=-1)",
        "tf.unique(numbers).y",
        "tf.searchsorted(line, table[0])",
        "tf.math.bincount(numbers)",
        "tf.math.unsorted_segment_sum(table, rows, 16)",
        "tf.cumsum(table, 1)",
        "tf.boolean_mask(table, table[:, 0] > 0)",
    ),
    "products": _cases(
        ALL,
        "tf.matmul(table, table, transpose_b=True)",
        "tf.matmul(half(table), half(table), transpose_b=True)",
        "tf.einsum('bijc,cd->bijd', image, point[0, 0])",
    )
    + _cases(
        EAGER,
        "tf.matmul(brain(table), brain(table), transpose_b=True)",
        "tf.matmul(double(table), double(table), transpose_b=True)",
        "tf.matmul(batch, batch)",
    ),
    "functions and reductions": _cases(
        ALL,
        "tf.nn.softmax(table)",
        "tf.exp(complex_table)",
        "tf.math.log(complex_table)",
        "tf.tanh(complex_table)",
        "tf.math.lgamma(tf.abs(table))",
    )
    + _cases(
        EAGER,
        "tf.nn.gelu(table)",
        "tf.exp(half(table))",
        "tf.reduce_sum(table, 0)",
        "tf.reduce_logsumexp(table, 1)",
        "tf.nn.moments(image, [0, 1, 2])",
        "tf.math.igamma(tf.abs(table), tf.abs(table))",
        "tf.nn.local_response_normalization(image)",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(rows, table)",
        "tf.nn.selu(table)",
        "tf.random.stateless_normal([512, 256], [1, 2])",
    ),
    "linear algebra and transforms": _cases(
        ALL,
        "tf.signal.rfft(signal[..., 0])",
        "tf.linalg.solve(batch, batch)",
        "tf.linalg.cholesky(positive)",
    )
    + _cases(
        EAGER,
        "tf.signal.fft2d(complex_table)",
        "tf.signal.stft(signal[..., 0], 64, 32)",
        "tf.linalg.inv(positive)",
        "tf.linalg.svd(batch, compute_uv=False)",
    ),
    "losses and steps": _cases(
        ALL,
        "tf.nn.ctc_loss(labels, sequences, [5] * 8, [40] * 8, logits_time_major=False, blank_index=0)",
        "train(lambda w: tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(image, w, 1, 'SAME')) ** 2), filters)",
        "train(lambda w: tf.reduce_mean(tf.nn.softmax(table @ w) ** 2), table[:256])",
        "train(lambda w: tf.reduce_mean(half_product(table, w)), table[:256])",
    ),
    "images and strings": _cases(
        EAGER,
        "tf.image.resize(photo, [100, 80])",
        "tf.image.adjust_hue(photo, 0.1)",
        "tf.image.rgb_to_hsv(photo)",
        "tf.strings.split(texts, ' ').flat_values",
        "tf.strings.to_hash_bucket_fast(texts, 100)",
        "tf.strings.regex_replace(texts, 'a+', 'b')",
        "tf.strings.as_string(table[0], scientific=True)",
    ),
}


class Data:
    """The arrays of expressions, each created when it is named."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        self.random = np.random.RandomState(0)

    def _normal(self, *shape: int) -> Any:
        return self.tf.constant(self.random.standard_normal(shape).astype(np.float32))

    @functools.cached_property
    def image(self) -> Any:
        """Four images of 32 by 32 pixels, 16 channels."""
        return self._normal(4, 32, 32, 16)

    @functools.cached_property
    def filters(self) -> Any:
        """3 by 3."""
        return self._normal(3, 3, 16, 32)

    @functools.cached_property
    def wide(self) -> Any:
        """5 by 5."""
        return self._normal(5, 5, 16, 32)

    @functools.cached_property
    def grouped(self) -> Any:
        """For four groups of channels."""
        return self._normal(3, 3, 4, 32)

    @functools.cached_property
    def upwards(self) -> Any:
        """For a transposed convolution."""
        return self._normal(3, 3, 8, 16)

    @functools.cached_property
    def point(self) -> Any:
        """1 by 1."""
        return self._normal(1, 1, 16, 32)

    @functools.cached_property
    def each(self) -> Any:
        """For every channel alone."""
        return self._normal(3, 3, 16, 1)

    @functools.cached_property
    def twice(self) -> Any:
        """Two for every channel."""
        return self._normal(3, 3, 16, 2)

    @functools.cached_property
    def photo(self) -> Any:
        """An image of 160 by 160 pixels, between 0 and 1."""
        return self.tf.constant(self.random.random_sample((1, 160, 160, 3)).astype(np.float32))

    @functools.cached_property
    def stem(self) -> Any:
        """7 by 7."""
        return self._normal(7, 7, 3, 32)

    @functools.cached_property
    def signal(self) -> Any:
        """Eight sequences."""
        return self._normal(8, 512, 16)

    @functools.cached_property
    def taps(self) -> Any:
        """Filters of sequences."""
        return self._normal(5, 16, 32)

    @functools.cached_property
    def volume(self) -> Any:
        """Two volumes."""
        return self._normal(2, 8, 16, 16, 8)

    @functools.cached_property
    def cube(self) -> Any:
        """Filters of volumes."""
        return self._normal(3, 3, 3, 8, 16)

    @functools.cached_property
    def table(self) -> Any:
        """A matrix of 512 by 256."""
        return self._normal(512, 256)

    @functools.cached_property
    def complex_table(self) -> Any:
        """Complex numbers, 128 by 128."""
        return self.tf.complex(self._normal(128, 128), self._normal(128, 128))

    @functools.cached_property
    def line(self) -> Any:
        """Sorted numbers."""
        return self.tf.constant(np.linspace(-3, 3, 1000, dtype=np.float32))

    @functools.cached_property
    def numbers(self) -> Any:
        """Integers below 1000."""
        return self.tf.constant(self.random.randint(0, 1000, 100_000).astype(np.int32))

    @functools.cached_property
    def rows(self) -> Any:
        """A number below 16 for every row of the table."""
        return self.tf.constant(self.random.randint(0, 16, 512).astype(np.int32))

    @functools.cached_property
    def batch(self) -> Any:
        """Square matrices of 32."""
        return self._normal(16, 32, 32)

    @functools.cached_property
    def positive(self) -> Any:
        """Positive definite matrices of 32."""
        root = self.random.standard_normal((16, 32, 32)).astype(np.float32)
        product = root @ root.swapaxes(1, 2) + 32 * np.eye(32, dtype=np.float32)
        return self.tf.constant(product)

    @functools.cached_property
    def sequences(self) -> Any:
        """Scores of 30 letters, at 40 times."""
        return self._normal(8, 40, 30)

    @functools.cached_property
    def labels(self) -> Any:
        """Five letters for each sequence."""
        return self.tf.constant(self.random.randint(1, 30, (8, 5)).astype(np.int32))

    @functools.cached_property
    def texts(self) -> Any:
        """Ten thousand strings of some words."""
        words = ["banana", "tree", "aardvark", "river", "a"]
        chosen = self.random.randint(0, len(words), (10_000, 4))
        return self.tf.constant([" ".join(words[i] for i in row) for row in chosen])


class _Words:
    """Functions that expressions call."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf

    def half(self, x: Any) -> Any:
        """As float16."""
        return self.tf.cast(x, self.tf.float16)

    def brain(self, x: Any) -> Any:
        """As bfloat16."""
        return self.tf.cast(x, self.tf.bfloat16)

    def double(self, x: Any) -> Any:
        """As float64."""
        return self.tf.cast(x, self.tf.float64)

    def half_product(self, x: Any, w: Any) -> Any:
        """A layer in mixed precision."""
        y = self.tf.nn.relu(self.tf.matmul(self.half(x), self.half(w)))
        return self.tf.cast(y, self.tf.float32)

    def grad(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The gradients of a function's sum."""
        with self.tf.GradientTape() as tape:
            for x in arguments:
                tape.watch(x)
            value = function(*arguments)
        return tape.gradient(value, list(arguments))

    def train(self, loss_of: Callable[[Any], Any], weights: Any) -> Any:
        """A step of gradient descent."""
        with self.tf.GradientTape() as tape:
            tape.watch(weights)
            loss = loss_of(weights)
        return weights - 0.1 * tape.gradient(loss, weights)


_WORDS = ("half", "brain", "double", "half_product", "grad", "train")


def step(tf: Any, text: str) -> tuple[Callable[..., Any], list[Any]]:
    """The function of an expression, and its arguments."""
    data, words = Data(tf), _Words(tf)
    names = [n for n in vars(Data) if not n.startswith("_") and n in text]
    known = {"tf": tf, **{name: getattr(words, name) for name in _WORDS}}
    used = [n for n in names if n in _names(compile(text, text, "eval"))]
    source = f"first_call = lambda {', '.join(used)}: {text}\n"
    # Where AutoGraph looks for the source.
    linecache.cache[text] = (len(source), None, [source], text)
    exec(compile(source, text, "exec"), known)
    return known["first_call"], [getattr(data, n) for n in used]


def _names(code: Any) -> set[str]:
    """The global names of an expression, those of functions in it included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found
