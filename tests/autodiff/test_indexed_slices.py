"""IndexedSlices. Answers asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

M = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_conversion_adds_rows_of_one_index():
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0]), tf.constant([4, 3]))
    assert slices.shape == (4, 3)
    assert slices.dtype == tf.float32
    dense = tf.convert_to_tensor(slices)
    np.testing.assert_array_equal(dense, [[2, 2, 2], [0] * 3, [0] * 3, [0] * 3])
    np.testing.assert_array_equal(tf.convert_to_tensor(-slices), -dense)


def test_conversion_needs_the_shape():
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0])))


@pytest.mark.parametrize("make", [lambda: M, lambda: tf.Variable(M)], ids=["tensor", "variable"])
def test_gradients_of_gathers(make):
    v = make()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
        one = tf.gather(v, [0, 0])
        two = one + tf.gather(v, [1, 0])
        mixed = one + v
        along = tf.gather(v, [0, 0], axis=1)
    found = tape.gradient(one, v)
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_array_equal(found.indices, [0, 0])
    np.testing.assert_array_equal(found.dense_shape, [2, 2])
    found = tape.gradient(two, v)
    assert isinstance(found, tf.IndexedSlices)
    assert len(found.indices) == 4
    np.testing.assert_array_equal(tape.gradient(mixed, v), [[3, 3], [1, 1]])
    np.testing.assert_array_equal(tape.gradient(along, v), [[2, 0], [2, 0]])


def test_they_pass_through_functions_as_values():
    @tf.function
    def double(s):
        return tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)

    out = double(tf.IndexedSlices(M, tf.constant([0, 0]), tf.constant([2, 2])))
    assert isinstance(out, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(out), [[8, 12], [0, 0]])


def test_spec():
    spec = tf.IndexedSlicesSpec([4, 3])
    assert repr(spec) == (
        "IndexedSlicesSpec(TensorShape([4, 3]), tf.float32, tf.int64, None, TensorShape([None]))"
    )
    assert spec.is_compatible_with(
        tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0], tf.int64))
    ) in (True, False)


def gathered(p):
    return tf.gather(p, [0, 1])


def gathered_twice(p):
    return tf.gather(p, tf.constant([0, 1], tf.int64)) + tf.gather(p, [3, 1])


def dense(p):
    return tf.convert_to_tensor(p)[:2] * 3.0


def elsewhere(p):
    return tf.ones([2, 2])


ROWS = {
    gathered: [1.0, 1.0, 0.0, 0.0, 0.0],
    gathered_twice: [1.0, 2.0, 0.0, 1.0, 0.0],
    dense: [3.0, 3.0, 0.0, 0.0, 0.0],
    elsewhere: [0.0] * 5,
}


@pytest.mark.parametrize("of_variable", [False, True])
@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (gathered, gathered),
        (gathered, dense),
        (elsewhere, gathered),
        (gathered_twice, gathered),
        (dense, gathered_twice),
    ],
)
def test_a_gather_in_one_branch_makes_the_gradient_of_all_sparse(
    first, second, unknown, of_variable
) -> None:
    """As in TensorFlow 2.21, which was asked for each of these pairs."""
    shape = [None, 2] if unknown else [5, 2]
    v = tf.Variable(tf.ones([5, 2]), shape=shape)
    kinds: list[type] = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.bool), tf.TensorSpec(shape)])
    def f(c, p):
        source = v if of_variable else p
        with tf.GradientTape() as tape:
            tape.watch(source)
            y = tf.cond(c, lambda: first(source), lambda: second(source))
        gradient = tape.gradient(y, source)
        kinds.append(type(gradient))
        return tf.convert_to_tensor(gradient)

    for which, choice in ((True, first), (False, second)):
        found = f(tf.constant(which), tf.ones([5, 2]))
        assert found.numpy().tolist() == [[n, n] for n in ROWS[choice]]
    assert kinds == [tf.IndexedSlices]


def test_switch_cases_and_watched_calls_give_slices_too() -> None:
    v = tf.Variable(tf.ones([5, 2]))

    @tf.function
    def f(i):
        choices = [lambda: gathered(v), lambda: gathered_twice(v) ** 2.0]
        return tf.switch_case(i, choices)

    for i, rows in enumerate([[1.0, 1.0, 0.0, 0.0, 0.0], [4.0, 8.0, 0.0, 4.0, 0.0]]):
        with tf.GradientTape() as tape:
            y = f(tf.constant(i))
        gradient = tape.gradient(y, v)
        assert isinstance(gradient, tf.IndexedSlices)
        assert tf.convert_to_tensor(gradient).numpy().tolist() == [[n, n] for n in rows]


def test_loops_add_gathers_up_to_a_dense_gradient() -> None:
    """TensorFlow 2.21, asked, gives a plain tensor here."""
    v = tf.Variable(tf.ones([5, 2]))

    @tf.function
    def f(n):
        with tf.GradientTape() as tape:
            y = tf.zeros([2, 2])
            for i in tf.range(n):
                y += tf.cond(i > 0, lambda: gathered(v), lambda: dense(v))
        gradient = tape.gradient(y, v)
        assert isinstance(gradient, tf.Tensor)
        return gradient

    assert f(tf.constant(3)).numpy()[:, 0].tolist() == [5.0, 5.0, 0.0, 0.0, 0.0]
