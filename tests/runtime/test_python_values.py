"""Python numbers and lists beside tensors, which eager calls convert without the door."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import door, raw
from intaglio.runtime.direct_calls import DECLINED, direct
from tests.ops import samples
from tests.ops.calls import assert_same

ALL = samples.load()


def python_value(array: np.ndarray) -> object:
    """The array as a Python number or a list of integers; None if it is neither."""
    if array.ndim == 0 and array.dtype.kind in "if" and np.isfinite(array):
        return array.item()
    listed = array.dtype in (np.int32, np.float32, np.float64) and np.isfinite(array).all()
    return array.tolist() if listed and 0 < array.size <= 8 else None


def cases():
    """(op, arguments, name of an input that another tensor determines the dtype of)"""
    for name, found in ALL.items():
        op = raw.catalogue()[name]
        if op.has_lists or op.stateful or op.has_graphs:
            continue
        for sample in found:
            if sample.error is not None:
                continue
            for arg in op.sig.inputs:
                value = sample.args.get(arg.name)
                shared = [a for a in op.sig.inputs if a is not arg and arg.var and a.var == arg.var]
                if shared and isinstance(value, np.ndarray) and python_value(value) is not None:
                    yield op, sample.args, arg.name


CASES = [*cases()]


def test_there_are_samples_of_many_ops():
    assert len({op.name for op, _, _ in CASES}) > 30


@pytest.mark.parametrize("op", sorted({op.name for op, _, _ in CASES}))
def test_a_python_value_is_the_tensor(op):
    for found, args, name in CASES:
        if found.name != op:
            continue
        tensors = {k: tf.constant(v) if isinstance(v, np.ndarray) else v for k, v in args.items()}
        wanted = found(**tensors)
        given = found(**{**tensors, name: python_value(args[name])})
        for mine, theirs in zip(tf.nest.flatten(given), tf.nest.flatten(wanted), strict=True):
            assert mine.dtype is theirs.dtype
            assert_same(np.asarray(mine), np.asarray(theirs), f"{op}({name})")


def test_the_first_operand_takes_the_dtype_of_the_tensor():
    call = direct(raw.Sub)
    x = tf.constant([1, 2], tf.int8)
    assert call((), 1, x).dtype is tf.int8
    assert call((), 1, 2).dtype is tf.int32
    for refused in (1.5, True, 1000, [1, 2], "a"):
        assert call((), refused, x) is DECLINED
    assert call((), 1, tf.constant(["a"])) is DECLINED
    assert call((), 1, tf.Variable(2.0)) is DECLINED


def test_tapes_record_the_tensor_of_a_python_value():
    x = tf.constant([2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.divide(1.0, x) + tf.subtract(3.0, x)
    np.testing.assert_array_equal(tape.gradient(y, x), -1 / np.array([4.0, 16.0]) - 1)


@pytest.mark.parametrize("paddings", [[[1, 0], [0, 2]], ((1, 0), (0, 2)), [(1, 0), [0, 2]]])
def test_short_matrices_of_integers_are_converted(paddings):
    found = direct(raw.Pad)((), tf.ones([1, 1]), paddings)
    np.testing.assert_array_equal(found, np.pad(np.ones((1, 1)), ((1, 0), (0, 2))))


def test_short_lists_of_floats_are_converted():
    call = direct(raw.AddV2)
    for dtype in (tf.float32, tf.float64):
        x = tf.constant([1.0, 2.0], dtype)
        found = call((), [0.1, -0.2], x)
        assert found.dtype is dtype
        np.testing.assert_array_equal(found, tf.constant([0.1, -0.2], dtype) + x)
    for refused in ([1, 0.5], [True, 0.5], [1e39, 0.0], [float("nan"), 0.0], [[0.5]], []):
        assert call((), refused, tf.ones([2])) is DECLINED
    assert call((), [0.5], tf.constant([1], tf.int32)) is DECLINED


@pytest.mark.parametrize("paddings", [[[1, 0], [0]], [[1, 0], [0, 2.0]], [[True, 0], [0, 1]], [[]]])
def test_other_matrices_are_left_to_the_door(paddings):
    assert direct(raw.Pad)((), tf.ones([1, 1]), paddings) is DECLINED


RANDOM = {
    "RandomUniform": lambda call: call([2, 3], dtype=tf.float64, seed=3),
    "RandomStandardNormal": lambda call: call([5], dtype=tf.float32, seed2=4),
    "TruncatedNormal": lambda call: call([5], dtype=tf.float16, seed=3),
    "RandomUniformInt": lambda call: call([4], 0, tf.constant(99, tf.int64), seed=3),
    "RandomShuffle": lambda call: call(tf.range(9), seed=3),
    "Multinomial": lambda call: call(tf.ones([2, 3]), 4, seed=3, output_dtype=tf.int32),
    "RandomGamma": lambda call: call([2], tf.constant([1.5, 2.0]), seed=3),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_ops_go_on_with_one_stream_by_either_path(name):
    op = raw.catalogue()[name]

    def by_door(*args, **kwargs):
        return door.call(op, args, kwargs, None)

    def directly(*args, **kwargs):
        found = direct(op)((), *args, **kwargs)
        assert found is not DECLINED
        return found

    draws = []
    for calls in ((by_door,) * 4, (directly,) * 4, (directly, by_door, by_door, directly)):
        tf.random.set_seed(7)
        draws.append([RANDOM[name](call).numpy() for call in calls])
    for other in draws[1:]:
        np.testing.assert_array_equal(other, draws[0])
    assert any((a != b).any() for a, b in itertools.pairwise(draws[0]))
