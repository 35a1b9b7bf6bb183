"""Filters that are transformed once and kept while their variable is what it was."""

from __future__ import annotations

import functools
import gc
import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.runtime import entry
from intaglio.runtime import derived
from intaglio.runtime.derived import DERIVED, Derived

pytestmark = pytest.mark.skipif(not entry.AVAILABLE, reason="there are no kernels")


def layer(seed=0):
    """Images and a variable of filters whose transform is worth to be kept."""
    rng = np.random.default_rng(seed)
    x = tf.constant(rng.normal(size=(1, 16, 16, 64)).astype("f4"))
    return x, tf.Variable(rng.normal(size=(3, 3, 64, 64)).astype("f4"))


def sums(x, filters):
    """The convolution with numbers of which nothing can be cached."""
    return tf.nn.conv2d(x, tf.constant(filters), 1, "SAME").numpy()


@pytest.fixture(autouse=True)
def nothing_is_kept():
    gc.collect()
    DERIVED._kept.clear()
    DERIVED.size = 0


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("change", ["assign", "assign_add", "scatter_update"])
def test_filters_are_transformed_again_when_their_variable_changes(compiled, change):
    x, v = layer()
    call = functools.partial(tf.nn.conv2d, filters=v, strides=1, padding="SAME")
    if compiled:
        call = tf.function(call, jit_compile=True)
    for _ in range(3):
        np.testing.assert_array_equal(call(x).numpy(), sums(x, v.numpy()))
        gc.collect()
        assert DERIVED.size
        kept = DERIVED.size
        np.testing.assert_array_equal(call(x).numpy(), call(x).numpy())
        assert DERIVED.size == kept
        if change == "scatter_update":
            v.scatter_update(tf.IndexedSlices(tf.ones([1, 3, 64, 64]), [1]))
        else:
            getattr(v, change)(tf.ones_like(v))
    del v, call  # the last that hold the array
    gc.collect()
    assert not DERIVED.size


def test_a_variable_that_a_compiled_step_changes_in_place_is_transformed_again():
    x, v = layer()
    step = tf.function(lambda: v.assign_sub(0.1 * v), jit_compile=True)
    call = tf.function(lambda x: tf.nn.relu(tf.nn.conv2d(x, v, 1, "SAME") + 1.0), jit_compile=True)
    for _ in range(4):
        wanted = np.maximum(sums(x, v.numpy()) + np.float32(1), 0)
        np.testing.assert_array_equal(call(x).numpy(), wanted)
        step()


def test_a_function_that_trains_keeps_nothing():
    x, v = layer()

    @tf.function(jit_compile=True)
    def step(x):
        y = tf.nn.conv2d(x, v, 1, "SAME")
        v.assign_sub(tf.ones_like(v) * tf.reduce_mean(y))
        return y

    for _ in range(3):
        wanted = sums(x, v.numpy())
        DERIVED.forget(v.numpy())
        np.testing.assert_array_equal(step(x).numpy(), wanted)


def test_threads_that_assign_and_threads_that_read_agree():
    x, v = layer()
    call = tf.function(lambda x: tf.nn.conv2d(x, v, 1, "SAME"), jit_compile=True)
    filters = [v.numpy() * np.float32(k) for k in (1, 2, 3)]
    wanted = [sums(x, f) for f in filters]
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            y = call(x).numpy()
            if not any(np.array_equal(y, w) for w in wanted):
                wrong.append(y)

    readers = [threading.Thread(target=read) for _ in range(3)]
    call(x)
    for reader in readers:
        reader.start()
    for k in range(60):
        v.assign(filters[k % 3])
        v.assign_add(tf.zeros_like(v))
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong


def test_what_is_kept_has_a_limit_and_goes_with_its_array(monkeypatch):
    monkeypatch.setattr(derived, "MAX_CACHED_BYTES", 1000)
    kept = Derived()
    arrays = [np.ones(10) * i for i in range(20)]
    for a in arrays:
        assert kept.of(a, "twice", lambda a: a * 2)[0] == 2 * a[0]
    assert kept.size <= 1000
    assert kept.of(arrays[-1], "twice", lambda a: None) is not None
    a = arrays[-1]
    kept.forget(a)
    assert kept.of(a, "twice", lambda a: a * 3)[0] == 3 * a[0]
    del arrays, a
    gc.collect()
    assert not kept.size
    large = np.ones(500)
    assert len(kept.of(large, "same", np.copy)) == 500
    assert not kept.size
