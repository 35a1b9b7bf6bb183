"""Names of what losses, metrics, learning rates and other functions give, which sessions fetch by name.

The names are those of TensorFlow 2.21, which was asked with `disable_v2_behavior`.
"""

from typing import Any

import pytest

from intaglio import tf

v1: Any = tf.compat.v1


def _floats():
    return v1.placeholder(tf.float32, [4, 3])


def _bools():
    return v1.placeholder(tf.bool, [4, 3])


def _classes():
    return v1.placeholder(tf.int64, [4])


def _step():
    return v1.train.get_or_create_global_step()


def _two(loss, **options):
    return lambda: loss(_floats(), _floats(), **options)


NAMES = {
    "absolute_difference/value": _two(v1.losses.absolute_difference),
    "cosine_distance_loss/value": _two(v1.losses.cosine_distance, axis=1),
    "hinge_loss/value": _two(v1.losses.hinge_loss),
    "huber_loss/value": _two(v1.losses.huber_loss),
    "log_loss/value": _two(v1.losses.log_loss),
    "mean_squared_error/value": _two(v1.losses.mean_squared_error),
    "mean_squared_error/Mul": _two(v1.losses.mean_squared_error, reduction="none"),
    "mine/value": _two(v1.losses.mean_squared_error, scope="mine"),
    "sigmoid_cross_entropy_loss/value": _two(v1.losses.sigmoid_cross_entropy),
    "softmax_cross_entropy_loss/value": _two(v1.losses.softmax_cross_entropy),
    "sparse_softmax_cross_entropy_loss/value": lambda: v1.losses.sparse_softmax_cross_entropy(
        _classes(), _floats()
    ),
    "weighted_loss/value": lambda: v1.losses.compute_weighted_loss(_floats()),
    "ExponentialDecay": lambda: v1.train.exponential_decay(0.1, _step(), 10, 0.5),
    "mine": lambda: v1.train.exponential_decay(0.1, _step(), 10, 0.5, name="mine"),
    "PolynomialDecay": lambda: v1.train.polynomial_decay(0.1, _step(), 10),
    "InverseTimeDecay": lambda: v1.train.inverse_time_decay(0.1, _step(), 10, 0.5),
    "SGDRDecay": lambda: v1.train.cosine_decay_restarts(0.1, _step(), 10),
    "LinearCosineDecay": lambda: v1.train.linear_cosine_decay(0.1, _step(), 10),
    "NoisyLinearCosineDecay": lambda: v1.train.noisy_linear_cosine_decay(0.1, _step(), 10),
    "true_positives/Identity": lambda: v1.metrics.true_positives(_bools(), _bools())[0],
    "accuracy/value": lambda: v1.metrics.accuracy(_classes(), _classes())[0],
    "accuracy/update_op": lambda: v1.metrics.accuracy(_classes(), _classes())[1],
    "ToFloat": lambda: v1.to_float(_classes()),
    "ToBFloat16": lambda: v1.to_bfloat16(_floats()),
    "ToComplex64": lambda: v1.to_complex64(_floats()),
    "concat": lambda: tf.concat([_floats(), _floats()], 1),
    "concat/concat": lambda: tf.concat([_floats()], 1),
    "div": lambda: v1.div(_floats(), _floats()),
    "multinomial/Multinomial": lambda: v1.multinomial(_floats(), 2),
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    with tf.Graph().as_default():
        assert NAMES[name]().name == f"{name}:0"


def test_averages_are_an_operation_of_their_name():
    with tf.Graph().as_default():
        variable = v1.get_variable("v", [2])
        average = v1.train.ExponentialMovingAverage(0.9, name="Mine")
        assert average.apply([variable]).name == "Mine"


def test_the_rate_is_fetched_by_name():
    with tf.Graph().as_default(), v1.Session() as session:
        step = _step()
        v1.train.exponential_decay(0.1, step, 10, 0.5, staircase=True)
        session.run([v1.global_variables_initializer(), step.assign(20)])
        assert session.run("ExponentialDecay:0") == pytest.approx(0.025)


def test_complex_numbers_are_divided():
    assert v1.div(tf.constant(3 + 1j), tf.constant(2 + 0j)).numpy() == 1.5 + 0.5j
