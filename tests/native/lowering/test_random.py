"""Random numbers, orders and categories of compiled functions, many at a time: eager code's."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


def both(function, *arrays):
    """What eager and compiled code give for the same arguments."""
    given = [tf.constant(a) for a in arrays]
    call = tf.function(function, jit_compile=True)
    made = call(*given)
    report = call.compile_report()
    assert "NumPy" not in report, report
    return function(*given), made


@pytest.mark.parametrize("count", [1, 63, 64, 65, 70_001])
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_truncated_normals_take_block_after_block(count, dtype):
    wanted, made = both(
        lambda seed: tf.random.stateless_truncated_normal([count], seed, dtype=dtype),
        np.array([3, 4]),
    )
    wanted, made = (np.asarray(x.numpy(), np.float64) for x in (wanted, made))
    assert np.abs(made).max() <= 2
    # A unit in the last place of 2: logarithms and sines are rounded.
    unit = {2: 2**-7, 4: 2**-21, 8: 2**-50}[dtype.size]
    np.testing.assert_allclose(made, wanted, rtol=0, atol=unit)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_uniform_numbers_of_16_bits_are_the_same(dtype):
    wanted, made = both(
        lambda seed: tf.random.stateless_uniform([70_001], seed, dtype=dtype), np.array([3, 4])
    )
    np.testing.assert_array_equal(made.numpy(), wanted.numpy())


def test_normals_of_float64_differ_in_their_last_digits_at_most():
    wanted, made = both(
        lambda seed: tf.random.stateless_normal([70_001], seed, dtype=tf.float64), np.array([3, 4])
    )
    np.testing.assert_allclose(made, wanted, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("shape", [(1,), (2,), (3, 5), (1000, 7)])
def test_a_shuffle_is_the_eager_one(shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    wanted, made = both(
        lambda x, seed: tf.random.experimental.stateless_shuffle(x, seed), x, np.array([3, 4])
    )
    np.testing.assert_array_equal(made, wanted)
    assert sorted(made.numpy().reshape(-1)) == list(range(x.size))


def test_shuffles_of_a_stream_go_on_where_the_last_one_ended():
    call = tf.function(lambda x: tf.random.shuffle(x, seed=7), jit_compile=True)
    plain = tf.function(lambda x: tf.random.shuffle(x, seed=7))
    x = tf.range(100)
    orders = [(call(x).numpy().tolist(), plain(x).numpy().tolist()) for _ in range(4)]
    assert all(made == wanted for made, wanted in orders)
    assert len({tuple(made) for made, _ in orders}) == 4


@pytest.mark.parametrize("classes", [1, 2, 9, 1000])
@pytest.mark.parametrize("count", [1, 50])
def test_categories_are_the_eager_ones(classes, count):
    logits = np.random.default_rng(2).normal(size=(6, classes)).astype("f4")
    logits[1] = -np.inf
    logits[2, ::2] = np.nan
    logits[3, -1] = np.inf
    logits[4] *= 300
    wanted, made = both(
        lambda x, seed: tf.random.stateless_categorical(x, count, seed), logits, np.array([3, 4])
    )
    np.testing.assert_array_equal(made, wanted)


def test_a_text_is_drawn_letter_by_letter_in_machine_code():
    table = np.random.default_rng(2).normal(size=(20, 20)).astype("f4") * 3

    def drawn(table):
        letter, letters = tf.constant(0, tf.int64), tf.TensorArray(tf.int64, 50)
        for i in tf.range(50):
            row = tf.gather(table, letter)[None]
            letter = tf.random.stateless_categorical(row, 1, [i, 1])[0, 0]
            letters = letters.write(i, letter)
        return letters.stack()

    wanted, made = both(drawn, table)
    np.testing.assert_array_equal(made, wanted)
