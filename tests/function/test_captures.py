"""What traces read of Python's state: which changes are noticed, and which are none."""

import collections
import gc
import logging
import types
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.function import captures
from tests.function.changes import CHANGES, UNCHANGED, Thing
from tests.function.implicit_changes import IMPLICIT

ALL_CHANGES = [pytest.param(c, id=c.__name__[1:]) for c in CHANGES]
ALL_CHANGES += [pytest.param(c, id=f"implicit-{n}") for n, c in IMPLICIT.items()]
SCALE = 2
SETTINGS = {"a": 2, "b": 3}
TABLE = np.array([1.0, 2.0], np.float32)


@pytest.fixture(autouse=True)
def default_policy():
    with intaglio.captures("warn", check_arrays=False):
        yield


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.WARNING)

    def texts():
        found = [r.getMessage() for r in caplog.records if "traced with values" in r.getMessage()]
        caplog.clear()
        return found

    return texts


X = tf.constant([1.0, 2.0])


def called(f, *args, times=20):
    for _ in range(times):
        result = f(*(args or (X,)))
    return result


def test_message_names_the_read_its_values_and_its_line(said):
    thing = Thing(k=1)

    @tf.function
    def f(x):
        return x * thing.k

    called(f)
    thing.k = 10
    assert called(f).numpy().tolist() == [1.0, 2.0]
    (text,) = said()
    line = f.python_function.__code__.co_firstlineno + 2
    assert f"thing.k: 1 -> 10 (read at test_captures.py:{line})" in text
    assert text.startswith("f was traced with values that have changed since")


@pytest.mark.parametrize("case", ALL_CHANGES)
@pytest.mark.parametrize("jit", [None, True])
def test_a_change_is_reported_once_and_the_trace_kept(case, jit, said):
    function, change, expected = case()
    f = tf.function(function, jit_compile=jit)
    before = called(f).numpy()
    assert said() == []
    change()
    assert np.array_equal(called(f).numpy(), before)
    (text,) = said()
    assert expected in text
    called(f)
    assert said() == []
    assert f.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("case", ALL_CHANGES)
def test_retracing_gives_what_python_gives(case):
    function, change, _ = case()
    with intaglio.captures("retrace"):
        f = tf.function(function)
        called(f)
        change()
        try:
            expected = function(X)
        except LookupError as e:
            with pytest.raises(type(e)):
                f(X)
            return
        result = called(f)
        assert np.array_equal(result.numpy(), tf.convert_to_tensor(expected).numpy())
        assert np.array_equal(np.signbit(result.numpy()), np.signbit(expected.numpy()))
        assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("case", ALL_CHANGES)
def test_error_policy_raises(case):
    function, change, expected = case()
    with intaglio.captures("error"):
        f = tf.function(function)
        called(f)
        change()
        for _ in range(2):
            with pytest.raises(intaglio.StaleCaptureError) as caught:
                f(X)
            assert expected in str(caught.value)


@pytest.mark.parametrize("case", ALL_CHANGES)
def test_freeze_policy_says_nothing(case, said):
    function, change, _ = case()
    with intaglio.captures("freeze"):
        f = tf.function(function)
        before = called(f).numpy()
        change()
        assert np.array_equal(called(f).numpy(), before)
        assert said() == []
    called(f)
    assert len(said()) == 1  # under the default again


# -- what is no change ---------------------------------------------------------------------


@pytest.mark.parametrize("case", UNCHANGED, ids=lambda c: c.__name__[3:])
@pytest.mark.parametrize("jit", [None, True])
def test_no_change(case, jit, said):
    function, change = case()
    with intaglio.captures("error"):
        f = tf.function(function, jit_compile=jit)
        called(f)
        count = f.experimental_get_tracing_count()
        for _ in range(3):
            change()
            called(f)
    assert f.experimental_get_tracing_count() == count
    assert said() == []


# -- globals, modules, scripts -----------------------------------------------------------------


def test_global_number_and_item(monkeypatch, said):
    @tf.function
    def f(x):
        return x * SCALE + SETTINGS["a"] + TABLE

    called(f)
    monkeypatch.setitem(SETTINGS, "b", 9)
    called(f)
    assert said() == []
    monkeypatch.setattr(f"{__name__}.SCALE", 5)
    monkeypatch.setitem(SETTINGS, "a", 9)
    called(f)
    (text,) = said()
    assert "SCALE: 2 -> 5" in text
    assert 'SETTINGS["a"]: 2 -> 9' in text


def test_attribute_of_a_module_of_the_user(monkeypatch, said):
    settings_module = types.ModuleType("user_settings")
    settings_module.rate = 0.5
    monkeypatch.setitem(globals(), "user_settings", settings_module)

    @tf.function
    def f(x):
        return x * user_settings.rate  # noqa: F821

    called(f)
    settings_module.rate = 0.25
    called(f)
    assert "user_settings.rate: 0.5 -> 0.25" in said()[0]


def test_function_of_a_script_that_is_defined_again(said):
    space = {"__name__": "__main__", "tf": tf}

    def define(text, name):
        import linecache

        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)

    define("def g(x):\n    return x + 1\n", "<cell 1>")
    define("@tf.function\ndef f(x):\n    return g(x)\n", "<cell 2>")
    f = space["f"]
    called(f)
    define("def g(x):\n    return x + 1\n", "<cell 3>")  # the same cell again
    assert called(f).numpy().tolist() == [2.0, 3.0]
    assert said() == []
    define("def g(x):\n    return x + 2\n", "<cell 4>")
    assert called(f).numpy().tolist() == [2.0, 3.0]
    assert "g: " in said()[0]


# -- how it goes together with the rest ----------------------------------------------------


def test_what_a_traced_function_reads_is_read_by_those_that_call_it(said):
    t = Thing(k=1)

    @tf.function
    def inner(x):
        return x * t.k

    @tf.function
    def outer(x):
        return inner(x) + 1

    called(inner)
    called(outer)
    t.k = 2
    called(outer)
    assert "outer was traced with" in said()[0]
    with intaglio.captures("retrace"):
        assert called(outer).numpy().tolist() == [3.0, 5.0]


def test_retracing_returns_to_an_earlier_trace():
    t = Thing(k=1)

    @tf.function
    def f(x):
        return x * t.k

    with intaglio.captures("retrace"):
        for k in (1, 2, 3, 1, 2, 3, 3, 1):
            t.k = k
            assert called(f, times=12).numpy().tolist() == [k, 2.0 * k]
    assert f.experimental_get_tracing_count() == 3
    assert len(f._list_all_concrete_functions()) == 3
    assert "t.k was 1, now 2: a captured Python value" in str(f.explain())


def test_calls_under_a_tape_notice_too(said):
    t = Thing(k=1)

    @tf.function
    def f(x):
        return x * t.k

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        return tape.gradient(y, X).numpy().tolist()

    for _ in range(20):
        gradient()
    t.k = 3
    assert gradient() == [1.0, 1.0]
    assert len(said()) == 1
    with intaglio.captures("retrace"):
        assert gradient() == [3.0, 3.0]


def test_each_method_watches_its_own_object(said):
    class Model:
        def __init__(self, k):
            self.k = k

        @tf.function
        def f(self, x):
            return x * self.k

    one, other = Model(1), Model(2)
    called(one.f)
    called(other.f)
    one.k = 5
    called(other.f)
    assert said() == []
    called(one.f)
    assert "self.k: 1 -> 5" in said()[0]


def test_arguments_that_are_objects(said):
    t = Thing(k=1)

    @tf.function
    def f(x, thing):
        return x * thing.k

    called(f, X, t)
    t.k = 2
    called(f, X, t)
    assert "thing.k: 1 -> 2" in said()[0]
    assert called(f, X, Thing(k=3)).numpy().tolist() == [3.0, 6.0]


def test_nothing_is_kept_alive():
    class Model:
        def __init__(self):
            self.inner = Thing(k=2, owner=self)
            self.layers = [Thing(k=1, owner=self)]
            self.table = np.ones(2, np.float32)

        @tf.function
        def f(self, x):
            for layer in self.layers:
                x = x * layer.k
            return x * self.inner.k + self.table

    for jit in (False, True):
        model = Model()
        if jit:
            model.g = tf.function(model.f.python_function, jit_compile=True)
        called(model.f)
        found = weakref.ref(model)
        del model
        gc.collect()
        assert found() is None


def test_an_owner_that_is_gone_is_no_change(said):
    t = Thing(k=1)
    space, weak = [t], weakref.ref(t)

    @tf.function
    def f(x, things):
        return x * things()

    def read():
        return weak().k

    called(f, X, read)
    space.clear()
    del t
    gc.collect()
    called(f, X, read)
    assert said() == []


def test_elements_of_arrays_count_on_request(said):
    t = Thing(a=np.array([1.0, 2.0], np.float32))

    @tf.function
    def f(x):
        return x + t.a

    called(f)
    t.a[0] = 5.0
    called(f)
    assert said() == []
    with intaglio.captures(check_arrays=True):
        g = tf.function(f.python_function)
        called(g)
        t.a[0] = 6.0
        called(g)
    assert "t.a: other elements -> these elements" in said()[0]


def test_captures_lists_the_reads():
    t = Thing(k=1, items=[1, 2])

    @tf.function
    def f(x):
        for k in t.items:
            x *= k
        return x * t.k

    assert f.captures == ()
    f(X)
    assert {r.name: (r.before(), r.now()) for r in f.captures} == {
        "t.items": ("[1, 2]", "[1, 2]"),
        "t.k": ("1", "1"),
    }
    assert all(r.where.filename == __file__ for r in f.captures)


def test_unknown_policy():
    with pytest.raises(ValueError, match="captures takes 'warn', 'retrace', 'error', 'freeze'"):
        intaglio.captures("loud")
    assert captures.POLICY.mode == "warn"


def test_unconverted_code_is_read_from_its_bytecode(said):
    t = Thing(k=1)

    @tf.autograph.experimental.do_not_convert
    def helper(x):
        return x * t.k

    f, g = tf.function(lambda x: helper(x)), tf.function(lambda x: x * t.k, autograph=False)
    called(f)
    called(g)
    assert said() == []
    t.k = 2
    called(f)
    called(g)
    assert ["t.k: 1 -> 2" in text for text in said()] == [True, True]


def test_defaultdict_gets_no_items(said):
    t = collections.defaultdict(int, k=1)

    @tf.function
    def f(x):
        return x * t["k"]

    called(f)
    del t["k"]
    called(f)
    assert len(said()) == 1
    assert "k" not in t


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["k", "item", "cell", "element", "inner", "same"]), min_size=1, max_size=6
    )
)
def test_under_retrace_every_call_is_as_python(steps):
    t = Thing(k=1.0, inner=Thing(k=2.0), same=1)
    items, table, cell = [1.0, 2.0], {"k": 3.0, "n": 0}, 4.0

    def python(x):
        y = x * t.k + t.inner.k * cell
        for element in items:
            y = y + element * table["k"]
        return y

    f = tf.function(python)
    with intaglio.captures("retrace"):
        called(f, times=5)
        for i, step in enumerate(steps):
            if step == "k":
                t.k += 1.0
            elif step == "item":
                table["k"] += i
            elif step == "cell":
                cell = cell * 2
            elif step == "element":
                items.append(float(i))
            elif step == "inner":
                t.inner = Thing(k=float(i))
            else:
                t.k = float(str(t.k))
                table["n"] += 1
            np.testing.assert_allclose(called(f, times=5), python(X))


LIMIT = None


def test_globals_that_are_only_compared_with_none():
    global LIMIT

    @tf.function
    def f(x):
        if LIMIT is None:
            return x
        return x * 2

    with intaglio.captures("retrace"):
        assert int(f(tf.constant(3))) == 3
        assert [r.name for r in f.captures] == ["LIMIT"]
        try:
            LIMIT = 1
            assert int(f(tf.constant(3))) == 6
            LIMIT = 2  # is not None either
            assert int(f(tf.constant(3))) == 6
        finally:
            LIMIT = None
        assert int(f(tf.constant(3))) == 3
    assert f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("kind", [list, dict, collections.deque])
def test_long_containers_are_compared_by_samples(kind, said):
    numbers = range(10_000)
    t = {n: n for n in numbers} if kind is dict else kind(numbers)
    f = tf.function(lambda x: x * sum(t.values() if kind is dict else t))
    called(f)
    (read,) = [r for r in f.captures if r.aspect == "contents"]
    assert len(read.kept.kept) < 200
    assert said() == []
    t[0] = -1
    called(f)
    assert len(said()) == 1
    if kind is dict:
        with intaglio.captures("warn"):
            g = tf.function(lambda x: x * sum(t.values()))
            called(g)
            t[-1] = t.pop(0)  # as many as before, one of the samples is gone
            called(g)
        assert any("t:" in text for text in said())
