"""Memory begins with a line of the cache, also that of large constants."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.memory import CACHE_LINE_BYTES, MIN_ALIGNED_BYTES, aligned, copied


def begins(array):
    return array.ctypes.data % CACHE_LINE_BYTES == 0


def misaligned(count, dtype):
    """An array that begins one element after a line."""
    size = np.dtype(dtype).itemsize
    array = aligned((count + 1) * size).view(dtype)[1:]
    array[...] = np.arange(count) % 100
    return array


def test_what_is_aligned_begins_with_a_line():
    kept = [aligned(size) for size in (0, 8, 4096, MIN_ALIGNED_BYTES)]
    assert [a.nbytes for a in kept] == [0, 8, 4096, MIN_ALIGNED_BYTES]
    assert all(begins(a) for a in kept[1:])


@pytest.mark.parametrize("count", [7, MIN_ALIGNED_BYTES // 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_copies_share_nothing(count, order):
    array = np.asarray(misaligned(count * 2, np.float32).reshape(count, 2), order=order)
    copy = copied(array)
    np.testing.assert_array_equal(copy, array)
    assert copy.flags.c_contiguous and copy.flags.writeable
    assert not np.shares_memory(copy, array)
    assert begins(copy) or copy.nbytes < MIN_ALIGNED_BYTES


@pytest.mark.parametrize("dtype", [">f4", "f8", "i2", "?"])
def test_copies_of_another_dtype(dtype):
    array = misaligned(MIN_ALIGNED_BYTES, dtype)
    copy = copied(array, np.dtype(np.float32))
    assert copy.dtype == np.float32 and begins(copy)
    np.testing.assert_array_equal(copy, array.astype(np.float32))


def test_objects_are_copied_as_they_are():
    array = np.array([b"a", b"b"] * MIN_ALIGNED_BYTES, object)
    assert copied(array).tolist() == array.tolist()


@pytest.mark.parametrize("dtype", [None, tf.float32, tf.bfloat16])
@pytest.mark.parametrize("make", [tf.constant, tf.convert_to_tensor, tf.Variable])
def test_large_tensors_begin_with_a_line(make, dtype):
    array = misaligned(MIN_ALIGNED_BYTES, np.float32)
    tensor = make(array, dtype=dtype)
    assert begins(np.asarray(tf.convert_to_tensor(tensor)))
    array[:] = -1
    assert tensor.dtype == (dtype or tf.float32)
    assert float(tf.cast(tensor[5], tf.float32)) == 5.0


def test_capsules_of_results_that_lie_in_larger_memory():
    for x in (
        tf.constant(misaligned(MIN_ALIGNED_BYTES, np.float32)),
        tf.ones([MIN_ALIGNED_BYTES]) * 2.0 + 1.0,
    ):
        for tensor in (x, tf.function(lambda x: x + 1.0, jit_compile=True)(x)):
            capsule = tf.experimental.dlpack.to_dlpack(tensor)
            back = tf.experimental.dlpack.from_dlpack(capsule)
            np.testing.assert_array_equal(back, tensor)
