"""Random programs of what models are made of, as C libraries: equal to native code in this process.

    python -m tests.export.random_models [FIRST LAST | SEED ...]

Layers of networks in a random order, steps of training by several optimizers, loops with lists, images, signals,
matrices and segments; an open number of rows where they have one.
"""

from __future__ import annotations

import collections
import pathlib
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded

keras: Any = tf.keras
layers = keras.layers


class Model(NamedTuple):
    """A function, and the arguments of some calls of it."""

    function: Any
    calls: list[dict[str, Any]]


def _normal(rng: random.Random, *shape: int) -> Any:
    return np.random.default_rng(rng.getrandbits(32)).normal(size=shape).astype("float32")


def _concrete(f: Any, **shapes: Any) -> Any:
    specs = {k: tf.TensorSpec(s, t, name=k) for k, (s, t) in shapes.items()}
    return tf.function(f).get_concrete_function(**specs)


# -- networks ------------------------------------------------------------------------------------

SEQUENCE: list[Callable[[random.Random], Any]] = [
    lambda r: layers.LSTM(r.choice([3, 5, 8]), return_sequences=True),
    lambda r: layers.GRU(r.choice([3, 5]), return_sequences=True, reset_after=r.random() < 0.5),
    lambda r: layers.SimpleRNN(4, return_sequences=True, go_backwards=r.random() < 0.3),
    lambda r: layers.Bidirectional(
        r.choice([layers.LSTM, layers.GRU])(3, return_sequences=True),
        merge_mode=r.choice(["concat", "sum", "ave"]),
    ),
    lambda r: layers.Conv1D(4, r.choice([1, 3]), padding="same", activation="gelu"),
    lambda r: layers.Conv1D(4, 2, padding="causal", dilation_rate=2),
    lambda r: layers.SeparableConv1D(5, 3, padding="same"),
    lambda r: layers.Conv1DTranspose(3, 3, padding="same"),
    lambda r: layers.Dense(6, activation=r.choice(["swish", "elu", "softsign", "hard_sigmoid"])),
    lambda r: layers.LayerNormalization(),
    lambda r: layers.RMSNormalization(),
    lambda r: layers.BatchNormalization(),
    lambda r: layers.TimeDistributed(layers.Dense(3)),
    lambda r: layers.MaxPooling1D(2, padding="same"),
    lambda r: layers.Activation("softmax"),
    lambda r: layers.LeakyReLU(),
    lambda r: layers.PReLU(shared_axes=[1]),
]
IMAGE: list[Callable[[random.Random], Any]] = [
    lambda r: layers.Conv2D(4, 3, strides=r.choice([1, 2]), padding="same", activation="relu"),
    lambda r: layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
    lambda r: layers.SeparableConv2D(5, 3, padding="same", activation="selu"),
    lambda r: layers.Conv2DTranspose(3, 3, strides=r.choice([1, 2]), padding="same"),
    lambda r: layers.Conv2D(4, 3, dilation_rate=2, padding="same"),
    lambda r: layers.BatchNormalization(),
    lambda r: layers.GroupNormalization(groups=1),
    lambda r: layers.UnitNormalization(),
    lambda r: layers.AveragePooling2D(2, padding="same"),
    lambda r: layers.MaxPooling2D(3, strides=1, padding="same"),
    lambda r: layers.UpSampling2D(2, interpolation=r.choice(["nearest", "bilinear"])),
    lambda r: layers.ZeroPadding2D(1),
    lambda r: layers.Resizing(5, 6, interpolation=r.choice(["bilinear", "nearest", "bicubic"])),
    lambda r: layers.Rescaling(0.5, offset=-0.25),
    lambda r: layers.Permute((2, 1, 3)),
    lambda r: layers.ReLU(max_value=6.0),
]


def network(rng: random.Random) -> Model:
    """Layers behind each other, some beside others; the number of examples is open, or some number."""
    sequence = rng.random() < 0.55
    dims = (rng.choice([4, 7]), 5) if sequence else (6, 8, 3)
    source = keras.Input(dims)
    x, choices = source, SEQUENCE if sequence else IMAGE
    for _ in range(rng.randint(2, 4)):
        y = rng.choice(choices)(rng)(x)
        if y.shape == x.shape and rng.random() < 0.5:
            y = rng.choice([layers.Add, layers.Multiply, layers.Maximum])()([x, y])
        x = y
    if sequence and rng.random() < 0.4:
        x = layers.MultiHeadAttention(2, 3)(x, x)
    if sequence and rng.random() < 0.3:
        x = layers.Attention()([x, x])
    if rng.random() < 0.5:
        pool = layers.GlobalAveragePooling1D if sequence else layers.GlobalMaxPooling2D
        x = layers.Dense(3, activation="softmax")(pool()(x))
    model = keras.Model(source, x)
    count = rng.choice([None, None, 1, 3])
    concrete = _concrete(lambda x: {"y": model(x, training=False)}, x=((count, *dims), tf.float32))
    sizes = [count] * 2 if count else [1, 18]
    return Model(concrete, [{"x": _normal(rng, n, *dims)} for n in sizes])


def training(rng: random.Random) -> Model:
    """Steps of training: the losses of some, which the variables that they change follow from."""
    dims = (5,)
    model = keras.Sequential(
        [
            keras.Input(dims),
            layers.Dense(4, activation=rng.choice(["tanh", "relu", "softplus"])),
            rng.choice([layers.BatchNormalization, layers.LayerNormalization, layers.Flatten])(),
            layers.Dense(2),
        ]
    )
    kinds = ["Adam", "SGD", "RMSprop", "Adagrad", "AdamW", "Nadam", "Adamax", "Ftrl", "Lion"]
    optimizer = getattr(keras.optimizers, rng.choice(kinds))(0.01)
    optimizer.build(model.trainable_variables)
    loss = rng.choice([keras.losses.MeanSquaredError, keras.losses.Huber, keras.losses.LogCosh])()

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        found = tape.gradient(value, model.trainable_variables)
        if clips:
            found, _ = tf.clip_by_global_norm(found, 0.5)
        optimizer.apply_gradients(zip(found, model.trainable_variables, strict=True))
        return {"loss": value}

    clips = rng.random() < 0.4
    concrete = _concrete(step, x=((6, 5), tf.float32), y=((6, 2), tf.float32))
    return Model(concrete, [{"x": _normal(rng, 6, 5), "y": _normal(rng, 6, 2)} for _ in range(4)])


# -- other programs ------------------------------------------------------------------------------


def loop(rng: random.Random) -> Model:
    """A loop that writes a list, until a number or the data says so."""
    by_data, clears = rng.random() < 0.5, rng.random() < 0.5
    most = rng.choice([5, 70])

    def f(x: Any) -> Any:
        states = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=clears)
        state, i = x[0], 0
        while i < most and (not by_data or tf.reduce_sum(tf.abs(state)) < 40.0):
            state = state + tf.tanh(x[i % 4]) * 0.5
            states = states.write(i, state)
            i += 1
        every = states.stack()
        return {
            "last": state,
            "sum": tf.reduce_sum(every, 0),
            "count": tf.shape(every)[0],
            "all": every,
        }

    return Model(
        _concrete(f, x=((4, 3), tf.float32)), [{"x": _normal(rng, 4, 3) * k} for k in (1, 9)]
    )


IMAGE_STEPS: list[Callable[[Any], Any]] = [
    lambda x: tf.image.resize(x, [7, 5]),
    lambda x: tf.image.resize(x, [9, 9], method="bicubic", antialias=True),
    lambda x: tf.image.resize(x, [4, 4], method="area"),
    lambda x: tf.image.resize(x, [6, 7], method="nearest"),
    tf.image.flip_left_right,
    tf.image.rot90,
    lambda x: tf.image.adjust_contrast(x, 1.7),
    lambda x: tf.image.adjust_saturation(x, 0.4),
    lambda x: tf.image.adjust_hue(x, 0.2),
    lambda x: tf.image.adjust_gamma(tf.abs(x), 0.7),
    tf.image.per_image_standardization,
    lambda x: tf.image.rgb_to_hsv(tf.abs(x)),
    tf.image.rgb_to_yuv,
    tf.image.sobel_edges,
    lambda x: tf.image.central_crop(x, 0.6),
    lambda x: tf.image.pad_to_bounding_box(x, 1, 2, 20, 21),
    lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
    lambda x: tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9], [0.0, 1.0, 1.0, 0.0]], [1, 0], [4, 5]),
    lambda x: tf.image.total_variation(x),
    lambda x: tf.image.ssim(x, x * 0.9, 1.0, filter_size=3),
    lambda x: tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(x)),
    lambda x: tf.image.draw_bounding_boxes(x, [[[0.1, 0.2, 0.7, 0.9]]] * 2, [[0.5, 0.2, 0.1]]),
]  # fmt: skip
SIGNAL_STEPS: list[Callable[[Any], Any]] = [
    lambda x: tf.abs(tf.signal.stft(x, 8, 4)),
    lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 8, 4), 8, 4),
    tf.signal.dct,
    lambda x: tf.signal.idct(x, 3),
    lambda x: tf.math.real(tf.signal.ifft(tf.signal.fft(tf.cast(x, tf.complex64)))),
    lambda x: tf.signal.irfft(tf.signal.rfft(x)),
    lambda x: tf.signal.frame(x, 6, 3, pad_end=True),
    lambda x: tf.signal.overlap_and_add(tf.reshape(x, [2, 4, 8]), 3),
    lambda x: tf.signal.mdct(x, 8),
    lambda x: tf.abs(tf.signal.fft2d(tf.cast(tf.reshape(x, [2, 4, 8]), tf.complex64))),
    lambda x: tf.signal.fftshift(x, axes=1),
    lambda x: tf.cumsum(x, 1, exclusive=True) * tf.signal.hann_window(32),
]
MATRIX_STEPS: list[Callable[[Any], Any]] = [
    tf.linalg.inv,
    tf.linalg.det,
    lambda x: tf.linalg.slogdet(x).log_abs_determinant,
    lambda x: tf.linalg.cholesky(x @ tf.linalg.matrix_transpose(x) + tf.eye(4)),
    lambda x: tf.linalg.eigvalsh(x + tf.linalg.matrix_transpose(x)),
    lambda x: tf.linalg.svd(x, compute_uv=False),
    lambda x: tf.abs(tf.linalg.qr(x).r),
    lambda x: tf.linalg.solve(x + 5.0 * tf.eye(4), x),
    lambda x: tf.linalg.triangular_solve(x + 5.0 * tf.eye(4), x),
    tf.linalg.expm,
    lambda x: tf.linalg.lstsq(x[:, :, :2], x),
    lambda x: tf.linalg.band_part(x, 1, 0),
    lambda x: tf.linalg.diag(tf.linalg.diag_part(x)),
    lambda x: tf.linalg.tridiagonal_solve(x[:, :3] + 3.0, x[:, 3], diagonals_format="compact"),
    lambda x: tf.linalg.cross(x[..., :3], x[..., 1:]),
    lambda x: tf.linalg.pinv(x[:, :3]),
    lambda x: tf.einsum("bij,bkj->bik", x, x),
    lambda x: tf.math.real(tf.linalg.logm(tf.cast(x @ x + 9.0 * tf.eye(4), tf.complex64))),
    lambda x: tf.norm(x, axis=[1, 2]),
    lambda x: tf.linalg.matrix_rank(x),
]
SEGMENT_STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, i: tf.math.unsorted_segment_sum(x, i, 5),
    lambda x, i: tf.math.unsorted_segment_mean(x, i, 5),
    lambda x, i: tf.math.unsorted_segment_max(x, i, 5),
    lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 5),
    lambda x, i: tf.math.segment_sum(x, tf.sort(i))[:1],
    lambda x, i: tf.tensor_scatter_nd_add(tf.zeros([5, 3]), i[:, None], x),
    lambda x, i: tf.gather(x, tf.argsort(i, stable=True)),
    lambda x, i: tf.math.bincount(i, minlength=5, maxlength=5),
    lambda x, i: tf.one_hot(i, 5) @ tf.ones([5, 2]),
    lambda x, i: tf.dynamic_partition(x, i, 5)[2],
    lambda x, i: tf.boolean_mask(x, i > 1),
    lambda x, i: tf.unique(i).y,
    lambda x, i: tf.math.top_k(tf.transpose(x), 3).values,
    lambda x, i: tf.searchsorted(tf.sort(x[:, 0]), x[:, 1]),
    lambda x, i: tf.strings.to_hash_bucket_fast(tf.strings.as_string(i), 100),
    lambda x, i: tf.math.segment_mean(x, tf.sort(i)),
    lambda x, i: tf.RaggedTensor.from_value_rowids(x[:, 0], tf.sort(i), 5).to_tensor(),
]


def _of_steps(rng: random.Random, steps: Any, *shapes: Any, ids: bool = False) -> Model:
    chosen = rng.sample(steps, 3)

    def f(**arguments: Any) -> Any:
        return {f"y{k}": step(*arguments.values()) for k, step in enumerate(chosen)}

    specs: dict[str, Any] = {"x": (shapes[0], tf.float32)}
    if ids:
        specs["i"] = (shapes[0][:1], tf.int32)
    names = list(specs)
    function = (lambda x, i: f(x=x, i=i)) if ids else (lambda x: f(x=x))
    calls: list[dict[str, Any]] = []
    for _ in range(2):
        arguments: dict[str, Any] = {"x": _normal(rng, *shapes[0])}
        if ids:
            arguments["i"] = np.array([rng.randrange(5) for _ in range(shapes[0][0])], np.int32)
        calls.append({n: arguments[n] for n in names})
    return Model(_concrete(function, **specs), calls)


FAMILIES: list[Callable[[random.Random], Model]] = [
    network,
    network,
    training,
    loop,
    lambda rng: _of_steps(rng, IMAGE_STEPS, (2, 8, 9, 3)),
    lambda rng: _of_steps(rng, SIGNAL_STEPS, (2, 32)),
    lambda rng: _of_steps(rng, MATRIX_STEPS, (2, 4, 4)),
    lambda rng: _of_steps(rng, SEGMENT_STEPS, (8, 3), ids=True),
]


def outcome(seed: int, folder: pathlib.Path) -> tuple[str, str]:
    """What became of a program: "equal" or "not exported", and why. Raises AssertionError where results differ."""
    rng = random.Random(seed)
    keras.utils.set_random_seed(seed)
    model = FAMILIES[seed % len(FAMILIES)](rng)
    try:
        made = intaglio.export_library(model.function, folder / f"m{seed}", kinds=["shared"])
    except intaglio.ExportError as e:
        assert "error of Intaglio" not in str(e), f"seed {seed}: {e}"
        return "not exported", str(e)
    library = Loaded(made)
    ports = {p.label: p for p in made.interface.functions[0].outputs}
    labels = {p.name: p.label for p in ports.values()}
    for arguments in model.calls:
        found = library.call("run", arguments)
        expected = model.function(**{k: tf.constant(v) for k, v in arguments.items()})
        for label, value in expected.items():
            mine, own = found[label], value.numpy()
            if ports[label].extent:
                dims = found[labels[ports[label].extent]]
                mine = mine[: int(np.prod(dims))].reshape(dims)
            largest = np.abs(own[np.isfinite(own)]).max(initial=0.0) if own.size else 0.0
            assert mine.shape == own.shape, f"seed {seed}, {label}: {mine.shape}, not {own.shape}"
            np.testing.assert_allclose(
                mine, own, rtol=2e-5, atol=2e-5 * float(largest), err_msg=f"seed {seed}, {label}"
            )
    library.close()
    return "equal", ""


def main(arguments: list[str]) -> None:
    """The command."""
    numbers = [int(a) for a in arguments] or [0, 64]
    seeds = range(*numbers) if len(numbers) == 2 else numbers
    found: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                kind, why = outcome(seed, pathlib.Path(folder))
            except Exception as e:
                kind, why = "wrong", f"{type(e).__name__}: {e}"[:600]
            found[kind] += 1
            if kind != "equal":
                print(seed, kind, why, flush=True)
    print(dict(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
