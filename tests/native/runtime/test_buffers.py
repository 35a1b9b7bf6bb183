"""Buffers of large results are reused, and never while anything refers to them."""

from __future__ import annotations

import threading

import numpy as np

from intaglio import tf
from intaglio.base.memory import CACHE_LINE_BYTES
from intaglio.cpython.portable import PORTABLE
from intaglio.native.runtime.buffers import MAX_BYTES, MIN_BYTES, Buffers, allocator

SHAPE = (256, 512)
SIZE = 256 * 512 * 4


def new(buffers):
    return buffers.empty(SHAPE, np.float32, SIZE)


def address(array):
    return array.ctypes.data


def test_a_buffer_is_reused_once_it_is_free():
    buffers = Buffers()
    first = new(buffers)
    place = address(first)
    assert place % CACHE_LINE_BYTES == 0
    assert first.shape == SHAPE
    assert first.flags.c_contiguous
    assert first.flags.writeable
    part = first[3:, ::2]
    del first
    other = address(new(buffers))
    assert other != place
    del part
    # The buffer that was used last is reused first.
    again = new(buffers)
    assert address(again) == other
    held = memoryview(again)
    del again
    assert address(new(buffers)) == place
    held.release()


def test_sizes_that_are_nearly_equal_share_buffers():
    buffers = Buffers()
    place = address(new(buffers))
    other = buffers.empty((SIZE // 2 - 3,), np.int16, SIZE - 6)
    assert address(other) == place
    assert other.dtype == np.int16


def test_what_is_kept_is_bounded():
    buffers = Buffers(max_kept=3 * SIZE)
    used = [new(buffers) for _ in range(5)]
    places = {address(a) for a in used}
    assert len(places) == 5
    del used
    larger = buffers.empty((3 * SIZE,), np.uint8, 3 * SIZE)
    place = address(larger)
    del larger
    again = buffers.empty((3 * SIZE,), np.uint8, 3 * SIZE)
    assert address(again) == place


def test_small_and_huge_arrays_are_numpys():
    for count in (MIN_BYTES // 4 - 1, MAX_BYTES // 4 + 1):
        assert allocator((count,), np.float32)().base is None
    # Nor are other buffers reused where reference counts do not show the owners.
    assert (allocator((MIN_BYTES // 4,), np.float32)().base is None) is PORTABLE


def test_threads_never_share_a_buffer():
    buffers, wrong = Buffers(), []

    def work(number):
        for _ in range(300):
            mine = new(buffers)
            mine[:] = number
            other = new(buffers)
            other[:] = -number
            if not (mine == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_stay_what_they_are():
    double = tf.function(lambda x: tf.tanh(x) + x, jit_compile=True)
    x = tf.random.stateless_normal([300, 400], [1, 2])
    first = double(x)
    kept, view = first.numpy().copy(), first.numpy()[2:7]
    del first
    for _ in range(3):
        double(-x)
    np.testing.assert_array_equal(view, kept[2:7])
