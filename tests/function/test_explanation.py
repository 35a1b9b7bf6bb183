"""`Function.explain()`: what each trace has that the ones before it have not."""

from __future__ import annotations

import collections

import pytest

import intaglio
from intaglio import tf

Point = collections.namedtuple("Point", "a b")
X = tf.ones([4, 3])


class Thing:
    pass


def changes(*calls):
    """(path, was, now) of the changes of the last call's trace."""

    @tf.function
    def step(images, lam=None, *rest, batch=None):
        return tf.constant(0)

    for args, kwargs in calls:
        step(*args, **kwargs)
    return [(c.path, c.was, c.now) for c in step.explain()[-1].changes]


def call(*args, **kwargs):
    return args, kwargs


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (call(X, 0.5), call(X, 0.25), ("lam", "0.5", "0.25")),
        (call(X, 1), call(X, 1.0), ("lam", "1", "1.0")),
        (call(X, True), call(X, None), ("lam", "True", "None")),
        (call(X), call(tf.ones([5, 3])), ("images.shape[0]", "4", "5")),
        (call(X), call(tf.ones([4])), ("images.shape", "(4, 3)", "(4,)")),
        (call(X), call(tf.cast(X, tf.int32)), ("images.dtype", "float32", "int32")),
        (call(X, 0.5), call(X, tf.constant(0.5)), ("lam", "0.5", "a tensor of float32, shape ()")),
        (
            call(X),
            call(tf.Variable(X)),
            ("images", "a tensor of float32, shape (4, 3)", "a Variable of float32, shape (4, 3)"),
        ),
        (call(X, 0), call(X, 0, X), ("rest_0", "not there", "a tensor of float32, shape (4, 3)")),
        (call(X, batch={"n": [1, 2]}), call(X, batch={"n": [1, 3]}), ("batch['n'][1]", "2", "3")),
        (call(X, batch=[1]), call(X, batch=[1, 2]), ("batch", "a list of 1", "a list of 2")),
        (
            call(X, batch={"a": 1}),
            call(X, batch={"b": 1}),
            ("batch", "a dict of 'a'", "a dict of 'b'"),
        ),
        (call(X, batch=Point(1, 2)), call(X, batch=Point(1, 3)), ("batch.b", "2", "3")),
        (call(X, batch=(1,)), call(X, batch=[1]), ("batch", "a tuple of 1", "a list of 1")),
    ],
)
def test_what_changed(first, second, expected):
    assert changes(first, second) == [expected]


def test_the_nearest_trace_is_compared_with():
    @tf.function
    def step(x, n, flag):
        return x * n

    step(X, 1, True)
    step(tf.ones([9]), 2, False)
    step(X, 3, True)
    first, second, third = step.explain()
    assert (first.nearest, second.nearest, third.nearest) == (None, 1, 1)
    assert [c.path for c in second.changes] == ["x.shape", "n", "flag"]
    assert [c.path for c in third.changes] == ["n"]


def test_objects_and_what_helps():
    one, two = Thing(), Thing()
    ((path, was, now),) = changes(call(one), call(two))
    assert path == "images" and was == repr(one) and now == repr(two)

    @tf.function
    def step(x):
        return x

    step(1.0)
    step(2.0)
    (change,) = step.explain()[1].changes
    assert "pass tf.constant(x)" in change.advice
    assert str(change).startswith("x was 1.0, now 2.0: ")


def test_where_and_how_long():
    @tf.function
    def step(x):
        return x + 1

    assert step.explain() == () and str(step.explain()) == ""
    step(tf.constant(1))
    step(tf.constant(1.0))
    for reason in step.explain():
        assert reason.where.filename == __file__
        assert reason.where.source.startswith("step(tf.constant(1")
        assert 0 < reason.seconds < 60
    text = str(step.explain())
    assert text.startswith("1. ") and "\n2. " in text
    assert "x.dtype was int32, now float32: cast it to one dtype" in text


def test_concrete_functions_and_methods_are_explained_too():
    class Model:
        @tf.function
        def step(self, x):
            return x

    model = Model()
    model.step(tf.ones([2]))
    model.step.get_concrete_function(tf.TensorSpec([3]))
    assert [c.path for c in model.step.explain()[1].changes] == ["x.shape[0]"]


def test_a_function_defined_again_is_reported(caplog):
    for _ in range(5):
        tf.function(lambda x: x + 1)(tf.constant(1))
    assert "is a new one: make it once" in caplog.text


def test_notes_say_what_else_decides(no_other_traces: None) -> None:
    f = tf.function(lambda x, rate: x * rate)
    assert f.explain().notes == ()
    with intaglio.generalise("numbers"):
        f(tf.ones([1]), 0.5)
    with intaglio.stance("eager_on_miss", f), intaglio.retrace_budget(3):
        assert f.explain().notes == (
            "stance: eager_on_miss",
            "budget: 0 of 3 further traces",
            "generalised: rate: any float has the trace of the others",
        )
    with intaglio.retrace_budget(3, per="call_site"):
        f(tf.ones([2]), 0.5)
        assert "budget: 1 of 3 further traces from one line" in str(f.explain())
    with intaglio.trace_cache(max_traces=1):
        assert "removed: 1 traces, for trace_cache" in f.explain().notes
