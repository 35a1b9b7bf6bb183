"""The warning about frequent retracing; when it comes was checked with TensorFlow 2.21."""

import functools
import gc
import logging

import pytest

import intaglio
from intaglio import tf
from intaglio.function import retracing


@pytest.fixture
def warnings(caplog):
    retracing._detectors.clear()  # they are shared by all functions of one code object
    caplog.set_level(logging.WARNING, "tensorflow")
    return caplog


def texts(warnings):
    return [r.getMessage() for r in warnings.records if "retracing" in r.getMessage()]


def test_five_traces_in_five_calls(warnings):
    @tf.function
    def f(n):
        return tf.constant(n)

    for n in range(4):
        f(n)
    assert texts(warnings) == []
    f(4)
    (text,) = texts(warnings)
    assert text.startswith(
        f"5 out of the last 5 calls to {f.python_function!r} triggered tf.function retracing. Tracing is expensive"
    )
    theirs, ours = text.split(" The last one: ")
    assert theirs.endswith(
        "https://www.tensorflow.org/api_docs/python/tf/function for  more details."
    )
    assert ours.startswith("n was 3, now 4: a Python number is part of the trace")
    f(5)
    assert texts(warnings)[1].startswith("6 out of the last 6 calls")
    f(6)
    f(7)
    assert len(texts(warnings)) == 2


def test_calls_without_tracing_count(warnings):
    @tf.function
    def f(n):
        return tf.constant(n)

    for n in range(5):
        for _ in range(8):
            f(n)
    assert texts(warnings) == []


def test_functions_defined_in_a_loop_are_noticed(warnings):
    for _ in range(5):

        @tf.function
        def f(x):
            return x

        f(tf.constant(1))
    assert len(texts(warnings)) == 1


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [
        (2, ["5 out of the last 9 calls", "6 out of the last 11 calls"]),
        (3, ["5 out of the last 13 calls", "5 out of the last 13 calls"]),
    ],
)
def test_how_many_of_how_many(warnings, repeat, expected):
    @tf.function
    def f(n):
        return tf.constant(n)

    for n in range(12):
        for _ in range(repeat):
            f(n)
    assert [t.split(" to <")[0] for t in texts(warnings)] == expected


def test_calls_in_another_trace_do_not_count(warnings):
    """As in TensorFlow: neither as traces nor as calls, in functions as in datasets."""

    @tf.function
    def inner(x):
        return x * 2

    @tf.function
    def outer(x):
        for k in range(1, 9):
            x = x + tf.reduce_sum(inner(tf.zeros([k])))
        return x

    outer(tf.constant(1.0))
    for k in range(8):
        tf.data.Dataset.range(2).map(tf.function(lambda x, k=k: x + k))
        tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([k]))
    assert texts(warnings) == []
    for k in range(9, 14):
        inner(tf.zeros([k]))
    (text,) = texts(warnings)
    assert text.startswith("5 out of the last 5 calls")


def _wrapped(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x)

    return wrapper


@pytest.mark.parametrize("wrapper", [tf.autograph.experimental.do_not_convert, _wrapped])
def test_functions_in_one_kind_of_wrapper_are_apart(warnings, wrapper):
    """As in TensorFlow: the wrapper is one for all, the functions are not."""

    def one(x):
        return x + 1

    def two(x):
        return x + 2

    for _ in range(4):
        for function in (one, two):
            tf.function(wrapper(function))(tf.constant(1))
    assert texts(warnings) == []
    tf.function(wrapper(one))(tf.constant(1))
    (text,) = texts(warnings)
    assert "one" in text


def test_last_retrace_is_that_of_the_last_function() -> None:
    f, g = (tf.function(lambda x: x) for _ in range(2))
    for n in (1, 2):
        f(tf.zeros([n]))
    assert intaglio.last_retrace() == f.explain()[-1]
    g(tf.zeros([1]))  # no retrace
    assert intaglio.last_retrace() == f.explain()[-1]
    g(tf.zeros([2]))
    assert intaglio.last_retrace() == g.explain()[-1]
    assert intaglio.last_retrace().changes[0].path == "x.shape[0]"
    del g
    gc.collect()
    assert intaglio.last_retrace() is None
