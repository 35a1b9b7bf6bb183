"""Writes the machine code that comes with a wheel: `python -m intaglio.tools.preparation [FOLDER]`.

For each archive a process runs the first calls of many programs, with the compiler set to its level, and everything that is compiled meanwhile goes into the archive which `intaglio.native.llvm.prepared` reads.
Calls are of two sizes, for kernels of few and of many columns differ, and of all dtypes that have kernels.
A processor that lacks a level writes no archive of it. `make wheels` runs this.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.native.llvm import background, prepared
from intaglio.opdef import raw
from intaglio.ops import compiled
from intaglio.ops.nn.softmax import SHORT_ROW

tf: Any = later.named("intaglio.tf")
# By archive: the level, and the processor of it for which instructions are chosen and ordered.
ARCHIVES = {
    "x86-64-v3": "x86-64-v3:skylake",
    "x86-64-v4": "x86-64-v4:skylake-avx512",
    "x86-64-v4-znver": "x86-64-v4:znver4",
}
_SPECIAL = (
    "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "dawsn", "expint",
    "fresnel_cos", "fresnel_sin", "spence",
)  # fmt: skip
_CHANNELS = ((3, 16), (16, 8), (16, 32), (32, 64), (3, 64))


def _normal(dtype: Any, *shape: int) -> Any:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return tf.cast(tf.constant(values), dtype)


def _with_gradients(function: Callable[..., Any], *arguments: Any) -> None:
    with tf.GradientTape() as tape:
        for x in arguments:
            tape.watch(x)
        value = function(*arguments)
    tape.gradient(value, list(arguments))


def _convolutions(dtype: Any) -> Iterator[Callable[[], Any]]:
    """Convolutions of every kind, with their gradients."""
    for channels, filters in _CHANNELS:
        x = _normal(dtype, 4, 48, 48, channels)
        for window, strides, dilations in ((3, 1, 1), (3, 2, 1), (1, 1, 1), (5, 1, 1), (3, 1, 2)):
            w = _normal(dtype, window, window, channels, filters)
            yield lambda x=x, w=w, s=strides, d=dilations: _with_gradients(
                lambda x, w: tf.nn.conv2d(x, w, s, "SAME", dilations=d), x, w
            )
        up = _normal(dtype, 3, 3, filters, channels)
        yield lambda x=x, up=up, filters=filters: _with_gradients(
            lambda x, up: tf.nn.conv2d_transpose(x, up, [4, 96, 96, filters], 2, "SAME"), x, up
        )
        sequences, taps = _normal(dtype, 8, 512, channels), _normal(dtype, 5, channels, filters)
        yield lambda x=sequences, w=taps: _with_gradients(
            lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), x, w
        )
    x = _normal(dtype, 4, 48, 48, 32)
    for groups in (2, 4, 8):
        w = _normal(dtype, 3, 3, 32 // groups, 64)
        yield lambda w=w: _with_gradients(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), x, w)
    for multiplier, strides in ((1, 1), (2, 1), (1, 2)):
        w, along = _normal(dtype, 3, 3, 32, multiplier), [1, strides, strides, 1]
        yield lambda w=w, along=along: _with_gradients(
            lambda x, w: tf.nn.depthwise_conv2d(x, w, along, "SAME"), x, w
        )
    volume, cube = _normal(dtype, 2, 8, 24, 24, 8), _normal(dtype, 3, 3, 3, 8, 16)
    yield lambda: _with_gradients(
        lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "SAME"), volume, cube
    )


def _pooling() -> Iterator[Callable[[], Any]]:
    x = _normal(tf.float32, 4, 64, 64, 32)
    for window, strides in ((2, 2), (3, 2), (3, 1)):
        for pool in (tf.nn.max_pool2d, tf.nn.avg_pool2d):
            yield lambda pool=pool, w=window, s=strides: _with_gradients(
                lambda x: pool(x, w, s, "SAME"), x
            )


def _products(dtype: Any) -> Iterator[Callable[[], Any]]:
    """Products of matrices, also transposed and in batches."""
    sizes = ((512, 256, 512), (1000, 64, 16), (64, 1024, 100), (128, 128, 3))
    by_vectors = ((512, 512, 1), (1024, 256, 2), (1024, 256, 3), (1024, 256, 4))
    for rows, inner, columns in (*sizes, *by_vectors):
        a, b = _normal(dtype, rows, inner), _normal(dtype, inner, columns)
        yield lambda a=a, b=b: _with_gradients(tf.matmul, a, b)
        transposed = tf.transpose(b)
        yield lambda a=a, b=transposed: _with_gradients(
            lambda a, b: tf.matmul(a, b, transpose_b=True), a, b
        )
    batch = _normal(dtype, 16, 64, 64)
    yield lambda: _with_gradients(tf.matmul, batch, batch)


def _functions(dtype: Any) -> Iterator[Callable[[], Any]]:
    """Functions of each element, sums and softmax."""
    x = _normal(dtype, 512, 512)
    positive = tf.abs(x) + tf.cast(0.5, dtype)
    activations = (tf.sigmoid, tf.nn.gelu, tf.nn.softplus, tf.nn.elu, tf.nn.selu)
    for function in (tf.exp, tf.tanh, tf.math.erf, tf.sin, *activations):
        yield lambda function=function: _with_gradients(function, x)
    for function in (tf.math.log, tf.math.lgamma, tf.math.digamma, tf.math.rsqrt, tf.sqrt):
        yield lambda function=function: function(positive)
    yield lambda: tf.math.igamma(positive, positive)
    for axis in (0, 1, None):
        for reduce in (tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_logsumexp):
            yield lambda reduce=reduce, axis=axis: reduce(x, axis)
    for function in (tf.nn.softmax, tf.nn.log_softmax):
        yield lambda function=function: _with_gradients(function, x)


def _special() -> Iterator[Callable[[], Any]]:
    """Functions whose code is long, of float32: half of an archive would be those of float64."""
    x = tf.abs(_normal(tf.float32, 256, 512)) + 0.5
    for name in _SPECIAL:
        function = getattr(tf.math.special, name)
        yield lambda function=function: function(x)
    yield lambda: tf.math.ndtri(tf.sigmoid(x))
    yield lambda: tf.math.erfinv(tf.tanh(x))
    for function in (tf.math.igammac, tf.math.zeta, tf.math.polygamma):
        yield lambda function=function: function(x + 1.0, x)
    yield lambda: tf.math.betainc(x, x, tf.sigmoid(x))


def _complex() -> Iterator[Callable[[], Any]]:
    z = tf.complex(_normal(tf.float32, 256, 256), _normal(tf.float32, 256, 256))
    for function in (tf.exp, tf.math.log, tf.tanh, tf.sqrt, tf.sin, tf.cos, tf.abs):
        yield lambda function=function: function(z)
    yield lambda: z / (z + 1.0)
    yield lambda: tf.signal.fft2d(z)
    for length in (256, 512, 1024, 2048):  # of most short-time spectra
        frames = _normal(tf.float32, 256, length)
        yield lambda x=frames: tf.signal.irfft(tf.signal.rfft(x))
        yield lambda x=frames: tf.signal.fft(tf.cast(x, tf.complex64))


def _declared() -> Iterator[Callable[[], Any]]:
    """Functions whose large arrays are machine code in eager calls, by the traits of their ops."""
    for op in raw.catalogue().values():
        dtypes = compiled.machine_dtypes(op) if op.compiled_when_large else ()
        if op.compiled_when_complex:
            dtypes = (*dtypes, np.dtype(np.complex64), np.dtype(np.complex128))
        for dtype in dtypes:
            x = tf.cast(tf.fill([1 << 14], 0.5), dtype)
            yield lambda op=op, x=x: op(*[x] * len(op.input_names))


def _short_rows() -> Iterator[Callable[[], Any]]:
    """Softmax of rows of few elements, which has a kernel for each length; cross entropies of few classes call it."""
    for length in range(2, SHORT_ROW + 1):
        x = tf.ones([(1 << 15) // length + 1, length])
        for function in (tf.nn.softmax, tf.nn.log_softmax):
            yield lambda function=function, x=x: function(x)


def _others() -> Iterator[Callable[[], Any]]:
    """Normalisation, random numbers, images and strings."""
    x = _normal(tf.float32, 4, 64, 64, 32)
    channels = tf.ones([32])
    yield lambda: _with_gradients(
        lambda x, scale: tf.raw_ops.FusedBatchNormV3(
            x=x, scale=scale, offset=channels, mean=[], variance=[]
        )[0],
        x,
        channels,
    )
    for draw in (tf.random.normal, tf.random.uniform, tf.random.truncated_normal):
        yield lambda draw=draw: draw([512, 512])
    yield lambda: tf.random.stateless_normal([512, 512], [1, 2])
    photo = tf.constant(np.random.default_rng(0).random((2, 160, 160, 3), np.float32))
    yield lambda: tf.image.rgb_to_hsv(photo)
    yield lambda: tf.image.hsv_to_rgb(photo)
    yield lambda: tf.image.adjust_hue(photo, 0.1)
    yield lambda: tf.image.adjust_saturation(photo, 0.5)
    for method in ("bilinear", "nearest", "bicubic", "area"):
        yield lambda method=method: tf.image.resize(photo, [100, 80], method)
    texts = tf.constant([f"tree {n} banana aardvark" for n in range(20_000)])
    yield lambda: tf.strings.regex_replace(texts, "a+", "b")
    yield lambda: tf.strings.regex_full_match(texts, ".*banana.*")
    yield lambda: tf.strings.to_hash_bucket_fast(texts, 100)
    yield lambda: tf.strings.upper(texts)
    yield lambda: tf.strings.length(texts)


def calls() -> Iterator[Callable[[], Any]]:
    """Everything that is called."""
    for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
        yield from _convolutions(dtype)
        yield from _products(dtype)
        yield from _functions(dtype)
    yield from _special()
    yield from _pooling()
    yield from _complex()
    yield from _declared()
    yield from _short_rows()
    yield from _others()


def collected() -> dict[bytes, bytes]:
    """The object files of what this process compiles for the calls, by their keys."""
    found: dict[bytes, bytes] = {}
    jit = later.named("intaglio.native.llvm.jit")
    compile_ = jit.compiled

    def compiled(text: str, effort: int = jit.KERNEL_EFFORT) -> bytes:
        code = compile_(text, effort)
        found[prepared.key_of(text, effort)] = code
        return code

    jit.compiled = compiled
    try:
        for call in calls():
            with contextlib.suppress(tf.errors.OpError, TypeError, ValueError):
                call()
        background.wait()
    finally:
        jit.compiled = compile_
    return found


def _write(folder: pathlib.Path) -> None:
    """Writes the archives of all levels that this processor has."""
    folder.mkdir(parents=True, exist_ok=True)
    for archive, processor in ARCHIVES.items():
        path = folder / f"{archive}.objects"
        with tempfile.TemporaryDirectory() as cache:
            own = {
                "INTAGLIO_PROCESSOR": processor,
                "INTAGLIO_CACHE": cache,
                "INTAGLIO_PREPARED": "",
            }
            command = [sys.executable, "-m", "intaglio.tools.preparation", "--collect", str(path)]
            subprocess.run(command, env={**os.environ, **own}, check=True)
        if path.exists():
            print(f"{path}: {path.stat().st_size >> 10} KB")


def main() -> None:
    """The command."""
    if sys.argv[1:2] == ["--collect"]:
        processor = later.named("intaglio.native.llvm.processor")
        path = pathlib.Path(sys.argv[2])
        if path.stem == processor.PREPARED:
            path.write_bytes(prepared.written(collected()))
        return
    _write(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else prepared.FOLDER))


if __name__ == "__main__":
    main()
