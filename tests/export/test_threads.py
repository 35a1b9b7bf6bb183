"""Libraries whose functions use threads of their caller give the same bits with and without them."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.programs import SECONDS

MAIN = str(pathlib.Path(__file__).with_name("threads.c"))
pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def _weights(*shape: int) -> Any:
    rng = np.random.default_rng(0)
    return tf.Variable((rng.normal(size=shape) / np.sqrt(shape[0])).astype("float32"))


def product() -> Any:
    weights = _weights(256, 512)
    return (128, 256), lambda x: tf.nn.softmax(tf.nn.relu(tf.matmul(x, weights)))


def convolution() -> Any:
    filters = _weights(3, 3, 16, 32)
    return (1, 48, 48, 16), lambda x: tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME"))


def infinite_convolution() -> Any:
    """An infinite weight under padding: flagged blocks are computed again, by the caller's threads."""
    filters = _weights(3, 3, 16, 32)
    filters[0, 0, 0, 0].assign(np.inf)
    return (1, 48, 48, 16), lambda x: tf.nn.conv2d(x, filters, 1, "SAME")


def elementwise() -> Any:
    return (400, 400), lambda x: tf.exp(tf.sin(x) * 2.0) + tf.transpose(x)


def recurrence() -> Any:
    """A loop whose rows are independent: each task takes some through all iterations."""
    kernel, recurrent = _weights(64, 128), _weights(128, 128)

    def f(x: Any) -> Any:
        state = tf.zeros([64, 128])
        for t in tf.range(20):
            state = tf.tanh(tf.matmul(x[:, t], kernel) + tf.matmul(state, recurrent))
        return state

    return (64, 20, 64), f


def reduction() -> Any:
    return (300, 500), lambda x: tf.concat([tf.reduce_sum(x, 1), tf.reduce_max(x, 0)], 0)


@pytest.mark.parametrize("target", ["host", "x86-64"])
@pytest.mark.parametrize(
    "make", [product, convolution, infinite_convolution, elementwise, recurrence, reduction]
)
def test_threads(make: Any, target: str, tmp_path: pathlib.Path) -> None:
    shape, function = make()
    concrete = tf.function(function, jit_compile=True).get_concrete_function(
        tf.TensorSpec(shape, tf.float32, name="x")
    )
    library = intaglio.export_library(
        concrete, tmp_path / "model", target=target, kinds=["object"], threads=4
    )
    (port,) = library.interface.functions[0].outputs
    path, count = str(tmp_path / "main"), int(np.prod(shape))
    sizes = [f"-DMODEL_INPUT={count}", f"-DMODEL_OUTPUT={port.count}", f"-I{tmp_path}"]
    command = ["cc", "-O1", "-pthread", *sizes, MAIN, str(library.paths["object"]), "-lm"]
    subprocess.run([*command, "-o", path], check=True, timeout=SECONDS)
    done = subprocess.run([path], capture_output=True, timeout=SECONDS)
    assert done.returncode == 0, done
    calls, tasks = map(int, done.stdout.split())
    assert calls >= 2
    assert tasks > 1
    x = ((np.arange(count) * 7919) % 1000 / np.float32(1000) - np.float32(0.5)).astype("float32")
    expected = concrete(tf.constant(x.reshape(shape))).numpy().reshape(-1)[:8]
    found = np.frombuffer(done.stderr, "float32")
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_one_thread_has_no_function_for_it(tmp_path: pathlib.Path) -> None:
    concrete = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([3], name="x"))
    library = intaglio.export_library(concrete, tmp_path / "model", kinds=["object"])
    assert "parallel_for" not in library.paths["header"].read_text()


@pytest.mark.parametrize(("target", "threads"), [("host", 0), ("wasm32", 2)])
def test_numbers_of_threads(target: str, threads: int, tmp_path: pathlib.Path) -> None:
    concrete = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([3], name="x"))
    with pytest.raises(intaglio.ExportError, match=f"threads={threads}: write a number from 1 on"):
        intaglio.export_library(concrete, tmp_path / "model", target=target, threads=threads)
