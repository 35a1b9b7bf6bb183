"""Products of float32 have the device's own precision, or all digits where TensorFloat-32 is forbidden."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


def _error(gpu, allowed):
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    random = np.random.default_rng(0)
    x = random.normal(size=(256, 256)).astype(np.float32)
    with tf.device(gpu):
        product = tf.matmul(tf.constant(x), tf.constant(x)).numpy()
    wanted = x.astype(np.float64) @ x
    return np.linalg.norm(product - wanted) / np.linalg.norm(wanted)


def test_all_digits(gpu):
    assert _error(gpu, False) < 1e-6


def test_tensor_float_32_is_the_default_of_gpus_that_have_it(real_gpu):
    (first, *_) = tf.config.list_physical_devices("GPU")
    if tf.config.experimental.get_device_details(first)["compute_capability"] < (8, 0):
        pytest.skip("the GPU has no TensorFloat-32")
    assert 1e-5 < _error(real_gpu, True) < 1e-2


@pytest.mark.parametrize("allowed", [True, False])
def test_programs_ask_for_it(gpu, allowed):
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    f = tf.function(
        lambda x, w: (tf.einsum("ij,jk->ik", x[0, 0], x[0, 0]), tf.nn.conv2d(x, w, 1, "SAME"))
    )
    x, w = tf.ones((1, 4, 4, 4)), tf.ones((2, 2, 4, 3))
    f = tf.function(f, jit_compile=True)
    text = f.experimental_get_compiler_ir(x, w)("stablehlo")
    assert text.count("precision = [HIGHEST, HIGHEST]") + text.count(
        "precision_config = [#stablehlo<precision HIGHEST>"
    ) == (0 if allowed else 2)
