"""`Function.explain()`: what each trace has that the ones before it have not."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types

import numpy as np
import pytest

import intaglio
from intaglio import tf

Point = collections.namedtuple("Point", "a b")
X = tf.ones([4, 3])


class Thing:
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = 2


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


@pytest.mark.parametrize(
    ("first", "second", "advice"),
    [
        (call(X, True), call(X, False), "pass tf.constant(lam) for one that has both branches"),
        (call(X, None), call(X, X), "right where Python code tests for None"),
        (call(X, X), call(X, None), "right where Python code tests for None"),
        (call(X, "a"), call(X, b"b"), "pass tf.constant(lam) unless Python code needs it"),
        (call(X, 0.5), call(X, X), "pass such a tensor as lam at each call"),
        (call(X, [1]), call(X, [1, 1]), "pass one tensor, as with tf.stack"),
        (call(X, {"a": 1}), call(X, {"b": 1}), "pass the same keys"),
        (call(X, (1,)), call(X, [1]), "pass one kind"),
        (call(X), call(tf.Variable(X)), "tf.convert_to_tensor(images)"),
        (call(X), call(np.ones([4, 3])), "NumPy's own floats are float64"),
        (call(X, Color.RED), call(X, Color.BLUE), "each member has a trace of its own"),
    ],
)
def test_what_to_write_instead(first, second, advice):
    @tf.function
    def step(images, lam=None):
        return tf.constant(0)

    for args, kwargs in (first, second):
        step(*args, **kwargs)
    ((change,),) = [reason.changes for reason in step.explain()[1:]]
    assert advice in change.advice


def test_objects_that_are_gone_are_causes_too(caplog):
    step = tf.function(lambda x, thing: x + 1)
    for _ in range(6):
        step(X, Thing())
    reasons = step.explain()
    assert len(reasons) == step.experimental_get_tracing_count() == 6
    assert "thing was a Thing that is gone" in str(reasons[-1])
    assert "make it once and keep it" in str(reasons[-1])
    assert "removed: " in reasons.notes[0]
    assert "thing was a Thing that is gone" in caplog.text  # the warning names the cause
    assert intaglio.last_retrace() == reasons[-1]


def test_functions_are_named_by_their_line():
    step = tf.function(lambda x, g: g(x))
    for _ in range(2):
        step(X, lambda y: y * 2)
    (change,) = step.explain()[-1].changes
    assert "<lambda> (test_explanation.py:" in change.was
    assert "define it once, outside" in change.advice


def test_an_argument_without_a_hash_is_named():
    @dataclasses.dataclass
    class Config:
        rate: float

    step = tf.function(lambda x, config: x * config.rate)
    with pytest.raises(TypeError, match="Could not generate a generic TraceType") as caught:
        step(X, Config(0.5))
    assert "the argument 'config'" in "".join(caught.value.__notes__)


RATE = 1.0


def test_captured_values_that_have_changed_are_notes(monkeypatch):
    step = tf.function(lambda x: x * RATE)
    with intaglio.captures("freeze"):
        step(X)
        assert step.explain().notes == ()
        monkeypatch.setitem(globals(), "RATE", 2.0)
        (note,) = step.explain().notes
    assert note.startswith("stale: RATE: 1.0 -> 2.0 (read at test_explanation.py:")


def test_advice_on_shapes_knows_reduce_retracing():
    @tf.function(reduce_retracing=True)
    def step(x, n):
        return x * n

    for n in range(3):
        step(tf.ones([n + 2]), n)
    shape, number = step.explain()[-1].changes
    assert shape.path == "x.shape[0]" and number.path == "n"
    assert "differ in nothing else: repair n, or give" in shape.advice
    assert shape.advice == intaglio.last_retrace().changes[0].advice
    step(tf.ones([7]), 2)  # now only the shape differs: a trace that leaves it open
    assert [c.now for c in step.explain()[-1].changes] == ["None"]
    assert "with reduce_retracing=True" not in str(step.explain())


def test_a_changed_attribute_is_no_cause_where_it_makes_no_trace():
    holder = types.SimpleNamespace(rate=1.0)

    @tf.function
    def f(x, epoch):
        return x * holder.rate + epoch

    f(X, 0)
    holder.rate = 2.0
    f(X, 1)
    assert [c.path for c in f.explain()[-1].changes] == ["epoch"]
    with intaglio.captures("retrace"):
        holder.rate = 3.0
        f(X, 2)
        assert [c.path for c in f.explain()[-1].changes] == ["epoch", "holder.rate"]


def test_warning_about_methods_of_new_objects(caplog):
    class Layer:
        @tf.function
        def times(self, x):
            return x * 2.0

    layers = [Layer() for _ in range(6)]
    for layer in layers:
        layer.times(X)
    assert "the method of a new object" in caplog.text


def test_lines_are_those_of_the_program_that_calls_a_library(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "trainers.py").write_text("def fit(f, x):\n    return f(x)\n")
    program = compile((folder / "trainers.py").read_text(), str(folder / "trainers.py"), "exec")
    space = {}
    exec(program, space)
    f = tf.function(lambda x: x + 1)
    space["fit"](f, tf.zeros([2]))
    space["fit"](f, tf.zeros([3]))
    assert {reason.where.filename for reason in f.explain()} == {__file__}
