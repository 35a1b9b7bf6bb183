"""Limits of the number of traces."""

import gc
import weakref

import pytest

import intaglio
from intaglio import tf


def ones(n):
    return tf.ones([n])


@pytest.fixture(autouse=True)
def _alone(no_other_traces):
    """Limits count the traces of all functions."""


def kept(f):
    return [t.structured_input_signature[0][0].shape[0] for t in f._list_all_concrete_functions()]


def test_those_used_longest_ago_are_removed():
    f = tf.function(lambda x: x + 1)
    with intaglio.trace_cache(max_traces=3):
        for n in (1, 2, 3):
            f(ones(n))
        f(ones(1))
        f(ones(4))
        assert sorted(kept(f)) == [1, 3, 4]
        assert f(ones(2)).numpy().tolist() == [2.0, 2.0]
        assert sorted(kept(f)) == [1, 2, 4]
    assert f.experimental_get_tracing_count() == 5
    for n in range(6, 12):
        f(ones(n))
    assert len(kept(f)) == 9


def test_a_trace_that_is_called_through_an_entry_stays():
    hot, cold = tf.function(lambda x: x + 1), tf.function(lambda x: x - 1)
    for _ in range(20):
        hot(ones(1))
    with intaglio.trace_cache(max_traces=4):
        for n in range(1, 20):
            cold(ones(n))
            for _ in range(20):
                hot(ones(1))
    assert hot.experimental_get_tracing_count() == 1


def test_bytes():
    f = tf.function(lambda x: x + tf.constant([1.0] * 100_000)[:1])
    f(ones(1))
    one = f.trace_bytes
    assert one > 400_000
    with intaglio.trace_cache(max_bytes=2 * one + 1000):
        for n in range(2, 6):
            f(ones(1) * n)
            f(tf.ones([n, 1]))
        assert f.trace_bytes <= 2 * one + 1000
        assert len(f._list_all_concrete_functions()) == 2


def test_a_removed_trace_is_freed():
    f = tf.function(lambda x: x + 1)
    with intaglio.trace_cache(max_traces=1):
        for _ in range(20):
            f(ones(1))
        graph = weakref.ref(f._list_all_concrete_functions()[0].graph)
        f(ones(2))
    gc.collect()
    assert graph() is None


def test_general_traces_and_variants():
    class Thing:
        k = 0

    thing = Thing()

    @tf.function(reduce_retracing=True)
    def f(x):
        return x * thing.k

    with intaglio.trace_cache(max_traces=2), intaglio.captures("retrace"):
        for k in range(5):
            thing.k = k
            for n in (1, 2, 3):
                assert f(ones(n)).numpy().tolist() == [float(k)] * n
            assert len(f._list_all_concrete_functions()) <= 2


def test_functions_that_make_variables_trace_again():
    class Model:
        def __init__(self):
            self.w = None

        @tf.function
        def f(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            return x * self.w

    model = Model()
    with intaglio.trace_cache(max_traces=1):
        for n in (1, 2, 1):
            assert model.f(ones(n)).numpy().tolist() == [2.0] * n


def test_limits_are_positive():
    with pytest.raises(ValueError, match="limits of 1 and more"):
        intaglio.trace_cache(max_traces=0)
