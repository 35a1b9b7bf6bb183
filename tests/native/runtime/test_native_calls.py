"""Calls of compiled functions in machine code: their guards, results and references."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

from intaglio import tf
from intaglio.cpython.portable import PORTABLE
from intaglio.native.runtime import tensor_objects
from intaglio.native.runtime.buffers import MIN_BYTES


def warm(function, *args, **kwargs):
    """The function after a few calls like this one; the first of its entries is machine code."""
    for _ in range(5):
        function(*args, **kwargs)
    native = type(function._entries[0]).__name__ == "builtin_function_or_method"
    assert native is tensor_objects.AVAILABLE
    return function._entries[0]


@pytest.fixture
def add():
    return tf.function(lambda x, y: x + y * 2.0, jit_compile=True)


def test_arguments_of_every_form():
    @tf.function(jit_compile=True)
    def total(d, pair, *, flag, more):
        return d["a"] + pair[0] * more[1] if flag else d["b"], pair[1][0] + 1.0

    def given(number):
        x = tf.fill([2, 3], float(number))
        return ({"a": x, "b": x * 2.0}, (x, [x])), {"flag": True, "more": [x, x]}

    args, kwargs = given(1.0)
    entry = warm(total, *args, **kwargs)
    for number in (2.0, 3.0):
        args, kwargs = given(number)
        first, second = entry(args, kwargs)
        np.testing.assert_array_equal(first, np.full([2, 3], number + number**2))
        np.testing.assert_array_equal(second, np.full([2, 3], number + 1.0))


@pytest.mark.skipif(PORTABLE, reason="reference counts do not show the owners")
def test_buffers_of_large_results_are_reused():
    x = tf.ones([MIN_BYTES // 4])
    both = tf.function(lambda x: (x + 1.0, x + 2.0), jit_compile=True)

    def places():
        return {np.from_dlpack(y).ctypes.data for y in both(x)}

    for _ in range(5):
        assert len(places()) == 2
    assert all(type(e).__name__ == "function" for e in both._entries)
    assert places() == places()


def test_what_is_not_recognised_falls_back(add):
    x = tf.ones([2, 2])
    entry = warm(add, x, x)
    others = [
        (tf.ones([3]), tf.ones([3])),
        (tf.ones([2, 2], tf.float64),) * 2,
        (tf.ones([2, 2, 1]), tf.ones([2, 2, 1])),
        (x, 1.0),
        (np.ones([2, 2], "f4"), x),
    ]
    for args in others:
        assert repr(entry(args, {})) == "<miss>"
        want = np.asarray(args[0]) + np.asarray(args[1]) * 2.0
        np.testing.assert_array_equal(add(*args), want)
    assert repr(entry((x,), {})) == "<miss>"
    assert repr(entry((x, x), {"more": 1})) == "<miss>"
    transposed = tf.constant(np.arange(4, dtype="f4").reshape(2, 2).T)
    np.testing.assert_array_equal(add(transposed, x), transposed.numpy() + 2.0)


def test_failed_calls_fall_back():
    divide = tf.function(lambda x, y: (x // y, x), jit_compile=True)
    x = tf.constant([4, 6])
    entry = warm(divide, x, x)
    if tensor_objects.AVAILABLE:
        assert repr(entry((x, tf.constant([1, 0])), {})) == "<miss>"
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        divide(x, tf.constant([1, 0]))


def test_captured_tensors_may_be_replaced():
    c = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: x + c, jit_compile=True)
    x = tf.zeros([2])
    warm(f, x)
    concrete = f.get_concrete_function(x)
    concrete.set_external_captures([tf.constant([5.0, 6.0])])
    np.testing.assert_array_equal(f(x), [5.0, 6.0])


def test_results_are_ordinary_tensors_and_nothing_leaks(add):
    x = tf.ones([2, 2])
    entry = warm(add, x, x)
    made = entry((x, x), {})
    assert type(made) is type(x) and made.shape == (2, 2)
    setattr(made, "note", "libraries keep notes on tensors")  # noqa: B010 - types know no such thing
    reference = weakref.ref(made)
    del made
    assert reference() is None
    watched = [np.dtype("f4"), type(x), x, x._array, np.ndarray]
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    for _ in range(1000):
        entry((x, x), {})
        entry((x,), {})
    gc.collect()
    assert all(abs(sys.getrefcount(o) - b) < 50 for o, b in zip(watched, before, strict=True))


def test_what_a_call_needs_dies_with_the_function():
    def make():
        f = tf.function(lambda x: x * 3.0, jit_compile=True)
        warm(f, tf.ones([4]))
        return weakref.ref(f.get_concrete_function(tf.ones([4])).optimized_run())

    reference = make()
    gc.collect()
    assert reference() is None


def test_tapes_and_graphs_see_such_calls(add):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    warm(add, x, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = add(x, x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.full([2, 2], 3.0))
    outer = tf.function(lambda x: add(x, x) + 1.0)
    np.testing.assert_array_equal(outer(x), x.numpy() * 3.0 + 1.0)


def test_the_layout_is_known_unless_the_build_is_portable():
    assert tensor_objects.AVAILABLE is not PORTABLE


@pytest.mark.skipif(not tensor_objects.AVAILABLE, reason="this is a portable build")
def test_portable_builds_do_the_same():
    """As on free-threaded builds: calls by generated Python, kernels by ctypes."""
    environment = dict(os.environ, INTAGLIO_PORTABLE="1")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout
    done = run.stdout.partition(" ")[0]
    assert done.count("s") == 2 and set(done) == {".", "s"}, done  # the two that say so
