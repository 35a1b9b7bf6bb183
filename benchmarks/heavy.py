"""Cases of heavy kernels: convolutions, products, normalisations, recurrent networks.

Every case is a function of arrays in the words of TensorFlow, JAX or torch, with gradients by what
they are taken of. Loaded in every peer's environment; compiled everywhere: Intaglio with
`jit_compile=True`, TensorFlow both as a graph and by XLA.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Timed = Callable[[], Any]
Arrays = tuple[np.ndarray, ...]


# Cases that end so allow Intaglio what `enable_tensor_float_32_execution` allows.
FAST = "_fast"


class Work(NamedTuple):
    """What is done: a title, shapes of the arrays, the work in three libraries' words, the
    indices of the arrays by which the sum of the result is differentiated, and the goal.

    Of a single gradient (`alone`) the gradient by the result is given to everybody: the sum's
    is no part of what is measured.
    """

    title: str
    shapes: tuple[tuple[int, ...], ...]
    tensorflow: Callable[..., Any]
    jax: Callable[..., Any]
    torch: Callable[..., Any]
    by: tuple[int, ...] = ()
    goal: float = 0.7
    alone: bool = False


def _tf_conv(tf: Any, padding: str = "SAME") -> Callable[..., Any]:
    return lambda x, w: tf.nn.conv2d(x, w, 1, padding)


def _jax_conv(jax: Any, padding: str = "SAME") -> Callable[..., Any]:
    order = ("NHWC", "HWIO", "NHWC")
    return lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=order)


def _torch_conv(torch: Any, padding: str = "SAME") -> Callable[..., Any]:
    return lambda x, w: torch.nn.functional.conv2d(x, w, padding=1 if padding == "SAME" else 0)


def _convolutions() -> dict[str, Work]:
    found: dict[str, Work] = {}
    for size, channels in ((32, 16), (16, 64), (8, 128)):
        shapes = (64, size, size, channels), (3, 3, channels, channels)
        for name, what, by in (
            ("", "", ()),
            ("_dx", ", gradient by the images", (0,)),
            ("_dw", ", gradient by the filters", (1,)),
        ):
            title = f"convolution, batch 64, {size}x{size}x{channels}, 3x3{what}"
            found[f"conv_{channels}{name}"] = Work(
                title, shapes, _tf_conv, _jax_conv, _torch_conv, by, 0.6, bool(by)
            )
    found["conv_200"] = Work(
        "convolution, 1x200x200x100, 3x3, 100 filters",
        ((1, 200, 200, 100), (3, 3, 100, 100)),
        lambda tf: _tf_conv(tf, "VALID"),
        lambda jax: _jax_conv(jax, "VALID"),
        lambda torch: _torch_conv(torch, "VALID"),
        (),
        0.6,
    )
    for name, work in [*found.items()]:
        title = f"{work.title}; less accuracy allowed"
        found[f"{name}{FAST}"] = work._replace(title=title)
    return found


def _products() -> dict[str, Work]:
    def plain(library: Any) -> Callable[..., Any]:
        return lambda a, b: a @ b

    def transposed(library: Any) -> Callable[..., Any]:
        return lambda a, b: a.T @ b

    found: dict[str, Work] = {}
    for shape in ((128,) * 3, (256,) * 3, (512,) * 3, (1024,) * 3, (32, 784, 128), (784, 32, 128)):
        rows, inner, columns = shape
        name = f"{rows}" if rows == inner == columns else f"{rows}_{inner}_{columns}"
        goal = 0.8 if rows * inner * columns <= 256**3 and rows == inner else 1.0
        found[f"matmul_{name}"] = Work(
            f"product {rows}x{inner} @ {inner}x{columns}",
            ((rows, inner), (inner, columns)),
            plain,
            plain,
            plain,
            (),
            goal,
        )
    found["matmul_turned"] = Work(
        "product 512x512, the left one transposed",
        ((512, 512),) * 2,
        lambda tf: lambda a, b: tf.matmul(a, b, transpose_a=True),
        transposed,
        transposed,
        (),
        1.0,
    )
    found["matmul_batch"] = Work(
        "256 products 32x64 @ 64x32", ((256, 32, 64), (256, 64, 32)), plain, plain, plain, (), 1.0
    )
    return found


# -- normalisations and blocks --------------------------------------------------------------


def _tf_softmax(tf: Any) -> Callable[..., Any]:
    return lambda x, w: tf.nn.softmax(x) * w


def _jax_softmax(jax: Any) -> Callable[..., Any]:
    return lambda x, w: jax.nn.softmax(x) * w


def _torch_softmax(torch: Any) -> Callable[..., Any]:
    return lambda x, w: torch.softmax(x, -1) * w


def _tf_layer_norm(tf: Any) -> Callable[..., Any]:
    def normal(x: Any, scale: Any, offset: Any) -> Any:
        mean = tf.reduce_mean(x, -1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-3) * scale + offset

    return normal


def _jax_layer_norm(jax: Any) -> Callable[..., Any]:
    def normal(x: Any, scale: Any, offset: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset

    return normal


def _torch_layer_norm(torch: Any) -> Callable[..., Any]:
    return lambda x, scale, offset: torch.nn.functional.layer_norm(
        x, x.shape[-1:], scale, offset, 1e-3
    )


def _tf_batch_norm(tf: Any) -> Callable[..., Any]:
    def normal(x: Any, scale: Any, offset: Any) -> Any:
        normalized = tf.raw_ops.FusedBatchNormV3(
            x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=1e-3
        )
        return tf.nn.relu(normalized[0])

    return normal


def _jax_batch_norm(jax: Any) -> Callable[..., Any]:
    def normal(x: Any, scale: Any, offset: Any) -> Any:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        normalized = (x - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + offset
        return jax.nn.relu(normalized)

    return normal


def _torch_batch_norm(torch: Any) -> Callable[..., Any]:
    def normal(x: Any, scale: Any, offset: Any) -> Any:
        images = x.permute(0, 3, 1, 2)
        normalized = torch.nn.functional.batch_norm(
            images, None, None, scale, offset, True, 0.0, 1e-3
        )
        return torch.relu(normalized)

    return normal


def _tf_mlp(tf: Any) -> Callable[..., Any]:
    return lambda x, a, b: tf.matmul(tf.nn.gelu(tf.matmul(x, a)), b)


def _jax_mlp(jax: Any) -> Callable[..., Any]:
    return lambda x, a, b: jax.nn.gelu(x @ a, approximate=False) @ b


def _torch_mlp(torch: Any) -> Callable[..., Any]:
    return lambda x, a, b: torch.nn.functional.gelu(x @ a) @ b


def _blocks() -> dict[str, Work]:
    image, vector = (64, 32, 32, 64), (64,)
    works = {
        "softmax": ("softmax", (image, image), _tf_softmax, _jax_softmax, _torch_softmax),
        "layer_norm": ("layer normalisation", (image, vector, vector), _tf_layer_norm, _jax_layer_norm, _torch_layer_norm),
        "batch_norm": ("batch normalisation and relu", (image, vector, vector), _tf_batch_norm, _jax_batch_norm, _torch_batch_norm),
        "gelu_mlp": ("block of products with gelu, 512x256 @ 256x1024 @ 1024x256", ((512, 256), (256, 1024), (1024, 256)), _tf_mlp, _jax_mlp, _torch_mlp),
    }  # fmt: skip
    found: dict[str, Work] = {}
    for name, (title, shapes, tf, jax, torch) in works.items():
        where = title if name == "gelu_mlp" else f"{title}, 64x32x32x64"
        found[name] = Work(where, shapes, tf, jax, torch)
        by = (0,) if name == "softmax" else tuple(range(len(shapes)))
        what = f"{where}, with gradients"
        found[f"{name}_step"] = Work(what, shapes, tf, jax, torch, by)
    return found


# -- a recurrent network --------------------------------------------------------------------

_LSTM = (32, 50, 128), (128, 512), (128, 512), (512,)


def _tf_lstm(tf: Any) -> Callable[..., Any]:
    def run(x: Any, w: Any, u: Any, b: Any) -> Any:
        inputs = tf.transpose(tf.tensordot(x, w, 1) + b, [1, 0, 2])
        h = c = tf.zeros([32, 128])
        for t in tf.range(50):
            i, f, g, o = tf.split(inputs[t] + tf.matmul(h, u), 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    return run


def _jax_lstm(jax: Any) -> Callable[..., Any]:
    jnp: Any = importlib.import_module("jax.numpy")

    def run(x: Any, w: Any, u: Any, b: Any) -> Any:
        def step(state: Any, inputs: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(inputs + h @ u, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), None

        zeros = jnp.zeros((32, 128))
        (h, _), _ = jax.lax.scan(step, (zeros, zeros), (x @ w + b).transpose(1, 0, 2))
        return h

    return run


def _torch_lstm(torch: Any) -> Callable[..., Any]:
    def run(x: Any, w: Any, u: Any, b: Any) -> Any:
        zeros = torch.zeros(1, 32, 128)
        weights = [w.T.contiguous(), u.T.contiguous(), b, torch.zeros(512)]
        outputs = torch.lstm(
            x, (zeros, zeros), weights, True, 1, 0.0, torch.is_grad_enabled(), False, True
        )
        return outputs[1][0]

    return run


def _recurrent() -> dict[str, Work]:
    title = "LSTM, batch 32, 50 steps, 128 units"
    words = _tf_lstm, _jax_lstm, _torch_lstm
    return {
        "lstm": Work(title, _LSTM, *words, (), 0.6),
        "lstm_step": Work(f"{title}, with gradients", _LSTM, *words, (1, 2, 3), 0.6),
    }


WORKS = {**_convolutions(), **_products(), **_blocks(), **_recurrent()}
PEERS = ("torch", "tensorflow", "xla", "jax")
CASES = {name: (work.title, PEERS, work.goal) for name, work in WORKS.items()}


def arrays(shapes: Sequence[tuple[int, ...]]) -> Arrays:
    """The same random numbers for everybody; matrices are scaled by their rows."""
    rng = np.random.default_rng(0)
    return tuple(
        [
            (rng.normal(size=s) * (s[0] if len(s) == 2 else 1) ** -0.5).astype("float32")
            for s in shapes
        ]
    )


def tensorflow_like(tf: Any, case: str, compiled: bool | None = None) -> Timed:
    """The case in TensorFlow's words."""
    work = WORKS[case]
    compute = work.tensorflow(tf)
    args = [tf.constant(a) for a in arrays(work.shapes)]

    def step(*args: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(args)
            total = tf.reduce_sum(compute(*args))
        return tape.gradient(total, [args[i] for i in work.by])

    def back(d: Any, *args: Any) -> Any:
        wanted = [args[i] for i in work.by]
        with tf.GradientTape() as tape:
            tape.watch(wanted)
            result = compute(*args)
        return tape.gradient(result, wanted, d)

    if work.alone:
        step, result = back, tf.function(compute)(*args)
        args = [tf.ones(result.shape), *args]
    ours = tf.__name__.startswith("intaglio")
    run = tf.function(step if work.by else compute, jit_compile=ours or compiled)
    if not (ours and case.endswith(FAST)):
        return lambda: run(*args)
    allow = tf.config.experimental.enable_tensor_float_32_execution

    def allowed() -> Any:
        allow(True)
        try:
            return run(*args)
        finally:
            allow(False)

    return allowed


def torch(case: str) -> Timed:
    """The case in torch's words; images have their channels last in memory."""
    torch: Any = importlib.import_module("torch")
    work = WORKS[case]
    compute = work.torch(torch)
    args = [torch.from_numpy(a) for a in arrays(work.shapes)]
    if case.startswith("conv"):
        orders = (0, 3, 1, 2), (3, 2, 0, 1)
        args = [
            g.permute(o).contiguous(memory_format=torch.channels_last)
            for g, o in zip(args, orders)  # noqa: B905 - older Pythons
        ]
    if work.alone:
        images, filters = args
        return _torch_gradient(torch, images, filters, work.by[0])
    if not work.by:

        def run() -> Any:
            with torch.no_grad():
                return compute(*args)

        return run
    for i in work.by:
        args[i].requires_grad_()
    wanted = [args[i] for i in work.by]
    return lambda: torch.autograd.grad(compute(*args).sum(), wanted)


def _torch_gradient(torch: Any, images: Any, filters: Any, by: int) -> Timed:
    """One gradient alone: autograd would compute the convolution too."""
    d = torch.ones_like(torch.nn.functional.conv2d(images, filters, padding=1))
    take = torch.nn.grad
    if by == 0:
        return lambda: take.conv2d_input(images.shape, filters, d, padding=1)
    return lambda: take.conv2d_weight(images, filters.shape, d, padding=1)


def jax(case: str) -> Timed:
    """The case in JAX's words."""
    jax: Any = importlib.import_module("jax")
    work = WORKS[case]
    compute = work.jax(jax)
    args = [jax.numpy.asarray(a) for a in arrays(work.shapes)]
    if work.by:
        compute = jax.grad(lambda *xs: work.jax(jax)(*xs).sum(), argnums=work.by)
    if work.alone:
        d = jax.numpy.ones_like(work.jax(jax)(*args))

        def compute(d: Any, *xs: Any) -> Any:
            grads = jax.vjp(work.jax(jax), *xs)[1](d)
            return [grads[i] for i in work.by]

        args = [d, *args]
    run = jax.jit(compute)
    return lambda: jax.block_until_ready(run(*args))
