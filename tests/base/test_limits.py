"""`INTAGLIO_LIMIT_DECODED`: a few bytes that claim to be many are refused before memory is taken."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from intaglio import tf
from intaglio.base import limits
from intaglio.base.errors import ResourceExhaustedError
from intaglio.graphdef import messages

LIMIT = 1 << 20
LARGE = 1 << 30


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits.LIMITS, "decoded", LIMIT)
    monkeypatch.setattr(limits.LIMITS, "allocated", LIMIT)


def gif(side: int, frames: int) -> bytes:
    """A small file of large frames of one colour."""
    images = [Image.new("RGB", (side, side), (50 * i, 0, 0)) for i in range(frames)]
    out = io.BytesIO()
    images[0].save(out, "GIF", save_all=True, append_images=images[1:])
    return out.getvalue()


def png(side: int, depth: int) -> bytes:
    """The header of a large image, and no pixels."""
    body = struct.pack(">IIBBBBB", side, side, depth, 2, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for name, data in ((b"IHDR", body), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")):
        check = zlib.crc32(name + data)
        out += struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)
    return out


DECODED: dict[str, Callable[[], Any]] = {
    "gif": lambda: tf.io.decode_gif(gif(400, 4)),
    "png": lambda: tf.io.decode_png(png(5000, 8)),
    "png of 16 bits": lambda: tf.io.decode_png(png(5000, 16), dtype=tf.uint16),
    "zlib": lambda: tf.io.decode_compressed(zlib.compress(bytes(4 * LIMIT)), "ZLIB"),
    "gzip": lambda: tf.io.decode_compressed(gzip.compress(bytes(4 * LIMIT)), "GZIP"),
    "as_string, width": lambda: tf.strings.as_string([1.0], width=LARGE),
    "as_string, precision": lambda: tf.strings.as_string([1.0], precision=LARGE),
    "padded raw": lambda: tf.io.decode_raw(["a"], tf.uint8, fixed_length=LARGE),
    "wav": lambda: tf.audio.decode_wav(
        tf.audio.encode_wav(tf.zeros([2, 1]), 8000), desired_samples=LARGE
    ),
    "splat": lambda: tf.reduce_sum(tf.io.parse_tensor(splat(), tf.float32)),
}
ALLOCATED: dict[str, Callable[[], Any]] = {
    "zeros": lambda: tf.zeros([LARGE]),
    "fill": lambda: tf.fill([LARGE, LARGE], 1.0),
    "eye": lambda: tf.eye(1 << 15),
    "constant": lambda: tf.constant(1.0, shape=[LARGE]),
    "range": lambda: tf.range(LARGE),
    "linspace": lambda: tf.linspace(0.0, 1.0, LARGE),
    "one_hot": lambda: tf.one_hot([1], LARGE),
    "tile": lambda: tf.tile([1.0], [LARGE]),
    "pad": lambda: tf.pad([1.0], [[LARGE, 0]]),
    "broadcast_to": lambda: tf.broadcast_to(1.0, [LARGE]),
    "scatter_nd": lambda: tf.scatter_nd([[1]], [1.0], [LARGE]),
    "segments": lambda: tf.math.unsorted_segment_sum([1.0], [0], LARGE),
    "bincount": lambda: tf.math.bincount([1], minlength=LARGE),
    "diag": lambda: tf.linalg.diag(tf.ones([1 << 12])),
    "normal": lambda: tf.random.normal([LARGE]),
    "stateless": lambda: tf.random.stateless_uniform([LARGE], [1, 2]),
    "resize": lambda: tf.image.resize(tf.ones([1, 2, 2, 1]), [1 << 14, 1 << 14]),
    "to_dense": lambda: tf.sparse.to_dense(tf.sparse.SparseTensor([[1]], [1.0], [LARGE])),
    "stitch": lambda: tf.dynamic_stitch([[LARGE]], [[1.0]]),
    "ragged range": lambda: tf.ragged.range(LARGE),
    "ragged ranges": lambda: tf.ragged.range([0.0, 1.0], [3.0, float(LARGE)]),
    "poisson of each": lambda: tf.random.poisson([LIMIT // 16], tf.ones([8])),
    "gamma of each": lambda: tf.random.gamma([LIMIT // 16], tf.ones([8])),
    "stateless gamma": lambda: tf.random.stateless_gamma([LIMIT // 4], [1, 2], 1.0),
    "double": lambda: tf.random.normal([LIMIT // 4], dtype=tf.float64),
    "stateless double": lambda: tf.random.stateless_normal([LIMIT // 4], [1, 2], dtype=tf.float64),
    "numpy's normal": lambda: tf.experimental.numpy.random.standard_normal(LIMIT // 4),
    "numpy's randint": lambda: tf.experimental.numpy.random.randint(0, 5, size=LIMIT // 4),
    "multinomial": lambda: tf.random.categorical([[0.0, 1.0]], LARGE),
    "histogram": lambda: tf.histogram_fixed_width([1.0], [0.0, 2.0], nbins=LARGE),
    "linspace of a vector": lambda: tf.raw_ops.LinSpace(start=0.0, stop=1.0, num=LARGE),
    "sorted segments": lambda: tf.math.segment_max([1.0], [LARGE]),
    "sparse segments": lambda: tf.sparse.segment_sum([1.0], [0], [LARGE]),
    "sparse segments of a number": lambda: tf.sparse.segment_mean([1.0], [0], [0], LARGE),
    "sparse product": lambda: tf.sparse.sparse_dense_matmul(
        tf.SparseTensor([[0, 0]], [1.0], [LARGE, 1]), [[1.0]]
    ),
    "classes": lambda: tf.random.uniform_candidate_sampler([[1]], 1, LARGE, False, 5),
    "crops": lambda: tf.image.crop_and_resize(
        tf.ones([1, 2, 2, 1]), [[0.0, 0.0, 1.0, 1.0]], [0], [1 << 14, 1 << 14]
    ),
    "patches": lambda: tf.image.extract_patches(
        tf.ones([1, 4, 4, 1]), [1, 1 << 12, 1 << 12, 1], [1] * 4, [1] * 4, "SAME"
    ),
    "wide patches": lambda: tf.image.extract_patches(
        tf.ones([1, 4, 4, 1]), [1, 2, 2, 1], [1] * 4, [1, 1 << 20, 1, 1], "SAME"
    ),
    "projected": lambda: tf.raw_ops.ImageProjectiveTransformV2(
        images=tf.ones([1, 2, 2, 1]),
        transforms=[[1.0, 0, 0, 0, 1.0, 0, 0, 0]],
        output_shape=[1 << 14, 1 << 14],
        interpolation="NEAREST",
    ),
    "all classes": lambda: tf.random.all_candidate_sampler([[1]], 1, LARGE, True),
}


def splat() -> bytes:
    """A serialized tensor of one value that stands for many."""
    proto = messages.TensorProto(dtype=tf.float32.as_datatype_enum, float_val=[1.0])
    proto.tensor_shape.dim.add(size=LARGE)
    return proto.SerializeToString()


@pytest.mark.parametrize("name", DECODED)
def test_what_is_decoded_is_limited(name: str) -> None:
    with pytest.raises(ResourceExhaustedError, match="more than the 1048576"):
        DECODED[name]()


@pytest.mark.parametrize("name", ALLOCATED)
def test_what_is_allocated_is_limited(name: str) -> None:
    with pytest.raises(ResourceExhaustedError, match="more than the 1048576"):
        ALLOCATED[name]()


@pytest.mark.parametrize("name", ["fill", "tile", "normal"])
def test_graphs_have_the_same_limit(name: str) -> None:
    with pytest.raises(ResourceExhaustedError, match="more than the 1048576"):
        tf.function(ALLOCATED[name])()


def test_what_is_small_is_decoded() -> None:
    assert tf.io.decode_gif(gif(20, 2)).shape == (2, 20, 20, 3)
    text = tf.io.decode_compressed(zlib.compress(bytes(1000)), "ZLIB")
    assert text.numpy() == bytes(1000)


def test_out_of_memory_is_an_error_of_tensorflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits.LIMITS, "allocated", 1 << 62)
    with pytest.raises(ResourceExhaustedError):
        tf.tile(tf.ones([1 << 10]), [1 << 46])
    with pytest.raises(ResourceExhaustedError):
        tf.function(lambda n: tf.tile(tf.ones([1 << 10]), [n]))(tf.constant(1 << 30) * 2**0)
    array = tf.constant(np.ones(1 << 20, np.uint8))
    with pytest.raises(ResourceExhaustedError):
        tf.broadcast_to(array, [1 << 30, 1 << 20]) + tf.constant(1, tf.uint8)


@pytest.mark.parametrize(("text", "fine"), [("1000", True), ("0", False), ("4G", False)])
def test_the_environment_sets_the_limit(text: str, fine: bool) -> None:
    script = "from intaglio.base.limits import LIMITS; print(LIMITS.decoded, LIMITS.allocated)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"INTAGLIO_LIMIT_DECODED": text, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    if fine:
        assert done.stdout.split() == ["1000", "1000"]
    else:
        assert "must be a number of bytes" in done.stderr
