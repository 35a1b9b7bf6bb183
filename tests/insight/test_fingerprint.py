"""Fingerprints: equal for equal graphs, whatever else is traced, and no others."""

import intaglio
from intaglio import tf


def looped(x, k=2.0):
    for _ in tf.range(3):
        x = x * k
    return x


def test_equal_graphs_are_equal() -> None:
    one, other = tf.function(looped), tf.function(looped)
    one(tf.ones([2]))
    tf.function(lambda x: x)(tf.ones([1]))
    other(tf.ones([2]))
    assert intaglio.fingerprint(one) == intaglio.fingerprint(other)
    assert intaglio.fingerprint(one) == intaglio.fingerprint(one.to_text())


def test_order_of_traces_does_not_count() -> None:
    one, other = tf.function(looped), tf.function(looped)
    for f, sizes in ((one, (2, 3)), (other, (3, 2))):
        for n in sizes:
            f(tf.ones([n]))
    assert intaglio.fingerprint(one) == intaglio.fingerprint(other)


def test_constants_dtypes_and_ops_count() -> None:
    def of(function, *args):
        return intaglio.fingerprint(tf.function(function).get_concrete_function(*args))

    x = tf.TensorSpec([2])
    found = [
        of(looped, x),
        of(looped, x, 3.0),
        of(looped, tf.TensorSpec([3])),
        of(looped, tf.TensorSpec([2], tf.float64)),
        of(lambda x: x * 2.0, x),
    ]
    assert len(set(found)) == len(found)
