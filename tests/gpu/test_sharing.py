"""Memory of a GPU shared with other libraries by DLPack."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from tests.gpu.conftest import NAME


def test_jax_shares_the_memory(gpu):
    jax = pytest.importorskip("jax")
    with tf.device(gpu):
        x = tf.range(10.0) * 1.0
    theirs = jax.dlpack.from_dlpack(x)
    assert theirs.unsafe_buffer_pointer() == x._buffer.unsafe_buffer_pointer()
    np.testing.assert_array_equal(np.asarray(theirs), np.arange(10.0, dtype=np.float32))


def test_there_and_back_is_the_same_tensor(real_gpu):
    with tf.device(real_gpu):
        x = tf.range(10.0) * 1.0
    back = tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x))
    assert back.device == NAME
    np.testing.assert_array_equal(back.numpy(), x.numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8])
def test_torch(real_gpu, dtype):
    torch = pytest.importorskip("torch")
    with tf.device(real_gpu):
        x = tf.constant(np.arange(100).astype(dtype)) + tf.ones((), dtype)
    theirs = torch.from_dlpack(x)
    assert theirs.is_cuda
    np.testing.assert_array_equal(theirs.cpu().numpy(), x.numpy())
    doubled = theirs * 2
    torch.cuda.synchronize()
    back = tf.experimental.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(doubled))
    assert back.device == NAME
    np.testing.assert_array_equal((back + x).numpy(), 3 * x.numpy())


def test_cupy(real_gpu):
    cupy = pytest.importorskip("cupy")
    with tf.device(real_gpu):
        x = tf.reshape(tf.range(12.0), (3, 4))
    theirs = cupy.from_dlpack(x)
    np.testing.assert_array_equal(cupy.asnumpy(theirs * 2), 2 * x.numpy())
    capsule = (theirs + 1).__dlpack__(stream=None)
    back = tf.experimental.dlpack.from_dlpack(capsule)
    np.testing.assert_array_equal(back.numpy(), x.numpy() + 1)
