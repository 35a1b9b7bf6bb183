"""Distributions, samplers and losses as users call them; TensorFlow 2.21 was asked for the numbers."""

from typing import Any

import numpy as np
import pytest

from intaglio import tf


def test_numbers_of_a_seed_are_tensorflows():
    tf.random.set_seed(5)
    gamma = tf.random.gamma([3], [0.5, 2.0], beta=[2.0, 3.0])
    np.testing.assert_allclose(
        gamma, [[2.0721698, 0.17655176], [0.02321166, 1.0601109], [0.0664415, 0.4946696]], rtol=1e-6
    )
    poisson = tf.random.poisson([3], [4.0, 20.0])
    np.testing.assert_array_equal(poisson, [[3, 21], [3, 17], [5, 15]])
    stateless = tf.random.stateless_gamma([3], [1, 2], 2.0)
    np.testing.assert_allclose(stateless, [2.8172736, 1.9241365, 3.3360066], rtol=1e-6)
    counts = tf.random.stateless_poisson([3], [1, 2], 4.0)
    np.testing.assert_array_equal(counts, [6, 5, 6])


def test_distributions_have_their_means_and_deviations():
    n = 20000
    few = tf.random.stateless_binomial([n], [1, 2], 9.0, 0.3).numpy()
    assert abs(few.mean() - 2.7) < 0.05
    assert abs(few.var() - 1.89) < 0.1
    cut = tf.random.stateless_parameterized_truncated_normal(
        [n], [1, 2], 0.0, 1.0, 1.0, 3.0
    ).numpy()
    assert cut.min() >= 1
    assert cut.max() <= 3
    assert abs(cut.mean() - 1.5101) < 0.02


def test_gamma_is_differentiable_by_its_shape():
    alpha = tf.constant([0.7, 3.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        mean = tf.reduce_mean(
            tf.random.stateless_gamma([20000, 2], [1, 2], alpha, dtype=tf.float64), 0
        )
    # The mean is the shape: it moves as much.
    np.testing.assert_allclose(tape.gradient(mean, alpha), [1, 1], atol=0.05)


def test_all_classes_sampled_give_the_whole_softmax():
    rng = np.random.RandomState(0)
    weights, biases = rng.normal(size=(6, 4)), rng.normal(size=6)
    inputs, labels = rng.normal(size=(3, 4)), np.array([[1], [3], [0]])
    sampled = tf.random.all_candidate_sampler(labels, 1, 6, True)
    got = tf.nn.sampled_softmax_loss(weights, biases, labels, inputs, 6, 6, sampled_values=sampled)
    logits = inputs @ weights.T + biases
    wanted = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[:, 0], logits)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_nce_loss_is_tensorflows():
    rng = np.random.RandomState(0)
    weights, biases = (rng.normal(size=(20, 4)).astype("f"), rng.normal(size=20).astype("f"))
    inputs = rng.normal(size=(3, 4)).astype("f")
    tf.random.set_seed(5)
    loss = tf.nn.nce_loss(weights, biases, np.array([[1], [3], [0]]), inputs, 5, 20)
    np.testing.assert_allclose(loss, [15.638359, 4.4888964, 19.82315], rtol=1e-5)


@pytest.mark.parametrize("blank", [0, 2, -1])
def test_ctc_loss_with_any_blank(blank):
    logits = np.random.RandomState(0).normal(size=(6, 1, 4))
    rest = [k for k in range(4) if k != blank % 4]
    labels = [[rest[0], rest[0], rest[2]]]
    loss = tf.nn.ctc_loss(labels, logits, [3], [6], blank_index=blank)
    order = [*rest, blank % 4]
    same = tf.nn.ctc_loss([[0, 0, 2]], logits[:, :, order], [3], [6], blank_index=3)
    np.testing.assert_allclose(loss, same, rtol=1e-12)
    turned = logits.transpose(1, 0, 2)
    other = tf.nn.ctc_loss(labels, turned, [3], [6], logits_time_major=False, blank_index=blank)
    np.testing.assert_allclose(loss, other, rtol=1e-12)


def test_labels_without_repetitions():
    labels, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 4, 5, 5, 5]], [4, 5])
    np.testing.assert_array_equal(labels, [[1, 2, 0], [3, 4, 5]])
    np.testing.assert_array_equal(lengths, [2, 3])
    unique, places = tf.nn.ctc_unique_labels([[1, 1, 2, 2, 1], [3, 4, 3, 5, 5]])
    np.testing.assert_array_equal(unique, [[1, 2, 0, 0, 0], [3, 4, 5, 0, 0]])
    np.testing.assert_array_equal(places, [[0, 0, 1, 1, 0], [0, 1, 0, 2, 2]])


def test_initialisers_of_a_seed_are_tensorflows():
    made = tf.random_normal_initializer(seed=3)([3])
    np.testing.assert_allclose(made, [-0.03357924, 0.08380252, -0.04721227], rtol=1e-6)
    with pytest.raises(ValueError, match="floating point"):
        tf.random_normal_initializer()([2], tf.int32)
    with pytest.raises(TypeError, match="foo"):
        tf.ones_initializer()([2], foo=1)
    again = tf.random_uniform_initializer.from_config({"minval": 1, "maxval": 2})
    assert 1 <= float(again([])) < 2
    np.testing.assert_array_equal(tf.constant_initializer([1, 2])([2]), [1, 2])


def test_erosion_is_negated_dilation():
    x = np.random.RandomState(1).normal(size=(1, 4, 4, 1))
    plain: Any = {"strides": [1, 1, 1, 1], "data_format": "NHWC", "dilations": [1, 1, 1, 1]}
    flat = np.zeros((2, 2, 1))
    low = tf.nn.erosion2d(x, flat, padding="VALID", **plain).numpy()[0, :, :, 0]
    windows = np.lib.stride_tricks.sliding_window_view(x[0, :, :, 0], (2, 2))
    np.testing.assert_array_equal(low, windows.min(axis=(2, 3)))
    high = tf.nn.dilation2d(x, flat, padding="VALID", **plain).numpy()[0, :, :, 0]
    np.testing.assert_array_equal(high, windows.max(axis=(2, 3)))


def test_a_generators_binomial_numbers_need_a_shape_that_ends_with_the_parameters() -> None:
    generator = tf.random.Generator.from_seed(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end with"):
        generator.binomial([2], [1.0, 2.0, 3.0], 0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="int8"):
        generator.binomial([2], 5.0, 0.5, tf.int8)
    assert generator.state.numpy().tolist() == [1, 0, 0]


@pytest.mark.parametrize("loss", [tf.nn.sampled_softmax_loss, tf.nn.nce_loss])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("dtype", [tf.int32, tf.uint8, tf.int64])
def test_labels_of_any_integer_type(loss, given, dtype):
    """TensorFlow casts them; its samplers take int64 alone."""
    rng = np.random.default_rng(0)
    weights, biases = tf.constant(rng.normal(size=(10, 3))), tf.constant(rng.normal(size=10))
    inputs = tf.constant(rng.normal(size=(2, 3)))
    labels = tf.constant([[1], [2]], tf.int64)
    sampled = tf.random.uniform_candidate_sampler(labels, 1, 4, True, 10, seed=1)

    def value(labels):
        chosen = sampled if given else None
        return loss(weights, biases, labels, inputs, 4, 10, sampled_values=chosen)

    if given:
        np.testing.assert_allclose(value(tf.cast(labels, dtype)), value(labels))
    else:
        assert np.isfinite(value(tf.cast(labels, dtype))).all()
