"""Entries: what they recognise, and that anything else is bound as usual."""

import numpy as np
import pytest

from intaglio import tf
from intaglio.function import entry


def warm(f, *args, **kwargs):
    """Calls until there is an entry for calls like this one."""
    for _ in range(4):
        result = f(*args, **kwargs)
    return result


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((tf.ones([2]), tf.ones([2])), {}),
        ((tf.ones([2]), 3.0), {}),
        ((tf.ones([2]),), {"b": tf.ones([])}),
        (([tf.ones([2]), 2.0], {"k": tf.ones([]), "a": 1.0}), {}),
        (((tf.ones([2]), True), None), {}),
    ],
    ids=str,
)
def test_recognised_and_the_same_result(args, kwargs):
    def total(a, b=None):
        out = tf.constant(0.0)
        for value in tf.nest.flatten([a, b]):
            if value is not None and value is not True:
                out = out + value
        return out, [out]

    f = tf.function(total)
    first = f(*args, **kwargs)
    warm(f, *args, **kwargs)
    assert len(f._entries) == 1
    direct = f._entries[0](args, kwargs)
    assert direct is not entry.MISS
    np.testing.assert_array_equal(direct[0].numpy(), first[0].numpy())
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(
    "other",
    [
        (tf.ones([3]), 2, "s"),
        (tf.ones([2], tf.int32), 2, "s"),
        (tf.ones([2]), 3, "s"),
        (tf.ones([2]), 2.0, "s"),
        (tf.ones([2]), True, "s"),
        (tf.ones([2]), 2, "t"),
        (2, 2, "s"),
        (np.ones([2], np.float32), 2, "s"),
        ([tf.ones([2])], 2, "s"),
        (tf.ones([2]), 2),
        (tf.ones([2]), 2, "s", None),
    ],
    ids=str,
)
def test_misses(other):
    @tf.function
    def f(x, n, s="s", extra=None):
        return tf.constant(1)

    warm(f, tf.ones([2]), 2, "s")
    assert f._entries[0]((tf.ones([2]), 2, "s"), {}) is not entry.MISS
    assert f._entries[0](other, {}) is entry.MISS
    assert f._entries[0]((tf.ones([2]), 2), {"s": "s"}) is entry.MISS


def test_minus_zero_and_nan_are_never_confused():
    f = tf.function(lambda x: tf.constant(str(x)))
    for value in (0.0, -0.0, 0.0, -0.0, 0.0, -0.0, float("nan")):
        assert warm(f, value).numpy().decode() == str(value)


def test_alternating_shapes_have_an_entry_each():
    f = tf.function(lambda x: x + 1.0)
    a, b = tf.ones([1]), tf.ones([2])
    for _ in range(40):
        f(a), f(b)
    hits = [[e((t,), {}) is not entry.MISS for e in f._entries] for t in (a, b)]
    assert [any(h) for h in hits] == [True, True]


def test_a_new_trace_may_be_more_specific():
    f = tf.function(lambda x: tf.constant(x.shape.rank is None))
    f.get_concrete_function(tf.TensorSpec(None, tf.float32))
    t = tf.ones([2])
    assert bool(warm(f, t))
    f._trace  # noqa: B018 - a trace for exactly this shape
    bound, types, key = f._typed((t,), {})
    f._trace(key, bound, types, True)
    assert not bool(warm(f, t))


def test_relaxed_shapes_are_recognised_for_every_size():
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None, 2])])
    warm(f, tf.ones([1, 2]))
    (known,) = f._entries
    assert known((tf.ones([5, 2]),), {}).shape == (5, 2)
    assert known((tf.ones([5, 3]),), {}) is entry.MISS
    assert known((tf.ones([2]),), {}) is entry.MISS


def test_calls_under_tapes_and_in_graphs_are_bound():
    f = tf.function(lambda x: x * x)
    x = tf.constant(3.0)
    warm(f, x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 6.0
    outer = tf.function(lambda x: f(x) + 1.0)
    assert float(warm(outer, x)) == 10.0


def test_objects_known_by_identity():
    class Model:
        scale = 2.0

    f = tf.function(lambda model, x: x * model.scale)
    model, x = Model(), tf.constant(3.0)
    assert float(warm(f, model, x)) == 6.0
    assert f._entries[0]((model, x), {}) is not entry.MISS
    assert f._entries[0]((Model(), x), {}) is entry.MISS


@pytest.mark.parametrize("jit", [None, True])
def test_what_default_values_hold_may_change(jit):
    # TensorFlow 2.21 was asked: 2 traces for numbers, 1 for tensors.
    numbers, table, tensors, array = [2.0], {"k": 2.0}, [tf.constant(2.0)], np.float32([2.0])

    def f(x, a=numbers, b=tensors, c=array, *, d=table, **rest):
        return x * a[0] * b[0] * c[0] * d["k"]

    f = tf.function(f, jit_compile=jit)
    x = tf.constant(1.0)

    def product():
        return [float(f(x)) for _ in range(20)]

    assert product() == [16.0] * 20
    numbers[0] = 3.0
    assert product() == [24.0] * 20
    table["k"] = 3.0
    assert product() == [36.0] * 20
    table["unread"] = 1.0
    assert product() == [36.0] * 20
    assert f.experimental_get_tracing_count() == 4
    tensors[0] = tf.constant(3.0)
    array[0] = 3.0
    assert product() == [81.0] * 20
    assert f.experimental_get_tracing_count() == 4
