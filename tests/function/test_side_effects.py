"""Side effects of traces, state that was declared, and large constants."""

import io
import random
import time

import numpy as np
import pytest

import intaglio
from intaglio import tf

X = tf.constant([1.0, 2.0])
LOG = []
COUNT = 0


class Thing:
    """An object with attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def kinds(function, *args):
    f = tf.function(function)
    f(*(args or (X,)))
    return [e.kind for e in f.side_effects]


def test_kinds_of_effects(tmp_path, capsys):
    t = Thing(n=0, d={}, items=iter([1.0, 2.0]))

    def f(x):
        global COUNT
        t.n += 1
        t.d["k"] = 1
        LOG.append(1)
        COUNT += 1
        print("traced")
        setattr(t, "z", 1)  # noqa: B010
        with open(tmp_path / "a", "w") as file:
            file.write("text")
        x = x * random.random() + np.random.rand() + time.time()
        return x + next(t.items)

    assert kinds(f) == [
        "attribute",
        "item",
        "container",
        "variable",
        "print",
        "attribute",
        "files",
        "random",
        "clock",
        "iterator",
    ]


def test_what_is_no_effect():
    t = Thing(w=None)

    def f(x, values):
        if t.w is None:
            t.w = tf.Variable(1.0)
        local = []
        local.append(x)
        table = {}
        table["x"] = local.pop()
        values.append(1)  # the trace's own copy
        inner = Thing(k=1)
        inner.k += 1
        text = io.StringIO()
        del text
        return table["x"] * inner.k * t.w

    assert kinds(f, X, [1]) == []


def test_text_of_an_effect():
    t = Thing(n=0)

    @tf.function
    def f(x):
        t.n += 1
        return x

    f(X)
    (effect,) = f.side_effects
    line = f.python_function.__code__.co_firstlineno + 2
    expected = f"test_side_effects.py:{line}: t.n += 1: ran once, when the function was traced, not"
    assert str(effect).startswith(expected)


def test_error_policy_names_the_line():
    t = Thing(n=0)

    @tf.function
    def f(x):
        t.n += 1
        return x

    with intaglio.effects("error"), pytest.raises(intaglio.SideEffectError, match=r"t\.n \+= 1"):
        f(X)
    assert f(X) is not None


def test_replay_advances_counters():
    t = Thing(n=0, d={"k": 1.5})

    @tf.function
    def f(x):
        t.n += 2
        t.d["k"] -= 0.5
        return x

    with intaglio.effects("replay"):
        for _ in range(20):
            f(X)
    assert (t.n, t.d["k"]) == (40, -8.5)
    f(X)
    assert t.n == 40


def test_unknown_mode_of_effects():
    with pytest.raises(ValueError, match="effects takes 'record', 'error', 'replay'"):
        intaglio.effects("loud")


# -- state ---------------------------------------------------------------------------------


@pytest.mark.parametrize("jit", [None, True])
def test_state_is_read_and_written_back(jit):
    t = Thing(k=0, schedule=Thing(step=1.5), flag=False, table=np.zeros(2, np.float32))
    intaglio.python_state(t, "k", "schedule.step", "flag", "table")

    def python(x):
        t.k += 1
        if t.k % 2 == 0:
            t.schedule.step = t.schedule.step * 2.0
            t.flag = not t.flag
        for i in range(3):
            t.k = t.k + i
        t.table = t.table + x
        return x * t.schedule.step

    f = tf.function(python, jit_compile=jit)
    results, states = [], []
    for _ in range(6):
        results.append(f(X).numpy().tolist())
        states.append((t.k, t.schedule.step, t.flag, t.table.tolist()))
    assert f.experimental_get_tracing_count() == 1
    assert [type(v) for v in (t.k, t.schedule.step, t.flag)] == [int, float, bool]
    t.k, t.schedule.step, t.flag, t.table = 0, 1.5, False, np.zeros(2, np.float32)
    expected = [python(X.numpy()).tolist() for _ in range(6)]
    assert results == expected
    assert states[-1] == (t.k, t.schedule.step, t.flag, t.table.tolist())
    assert f.captures == ()
    assert f.side_effects == ()


def test_state_that_is_set_outside():
    t = Thing(k=1)
    intaglio.python_state(t, "k")
    f = tf.function(lambda x: x * tf.cast(t.k, tf.float32))
    assert [f(X).numpy()[0] for t.k in (1, 5, 7, 7)] == [1.0, 5.0, 7.0, 7.0]
    t.k = "text"
    with pytest.raises(TypeError, match="'k' is int32"):
        f(X)


def test_state_of_a_function_that_is_called_by_another():
    t = Thing(k=1)
    intaglio.python_state(t, "k")

    @tf.function
    def inner(x):
        t.k += 1
        return x

    @tf.function
    def outer(x):
        before = t.k
        for _ in tf.range(3):
            x = inner(x)
        return x, before, t.k

    assert [int(v) for v in outer(X)[1:]] == [1, 4]
    assert [int(v) for v in outer(X)[1:]] == [4, 7]
    assert t.k == 7


def test_state_survives_an_error_of_the_trace():
    t = Thing(k=1)
    intaglio.python_state(t, "k")

    @tf.function
    def f(x):
        t.k += 1
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        f(X)
    assert t.k == 1


def test_state_is_declared_outside():
    t = Thing(k=1)

    @tf.function
    def f(x):
        intaglio.python_state(t, "k")
        return x

    with pytest.raises(RuntimeError, match="outside of traced functions"):
        f(X)
    with pytest.raises(AttributeError):
        intaglio.python_state(t, "lacking")


# -- constants -----------------------------------------------------------------------------


def test_large_constants_are_listed_and_shared():
    table = np.ones((600, 600), np.float32)

    @tf.function
    def f(x):
        return tf.reduce_sum(tf.constant(table)) * x

    f(tf.constant(1.0))
    f(X)
    (constant,) = f.constants
    assert (constant.bytes, constant.traces) == (table.nbytes, 2)
    assert constant.where.lineno == f.python_function.__code__.co_firstlineno + 2
    assert str(constant).endswith("1.4 MB, in 2 traces")
    found = [
        node.attrs["value"]
        for trace in f._list_all_concrete_functions()
        for node in trace.graph.nodes
        if getattr(node.attrs.get("value"), "nbytes", 0) > 1e6
    ]
    assert len(found) == 2
    assert found[0] is found[1]
    assert not np.shares_memory(found[0], table)


def test_state_of_others_is_no_capture() -> None:
    """A trace that uses none of the declared attributes has no trace of them."""
    thing = Thing()
    thing.n = 1
    intaglio.python_state(thing, "n")

    @tf.function
    def doubled(x):
        return x * 2.0

    concrete = doubled.get_concrete_function(tf.constant(1.0))
    assert not concrete.captured_inputs and not concrete.graph.variables
    assert next(op.type for op in concrete.graph.get_operations()) == "Placeholder"
    assert doubled(tf.constant(2.0)).numpy() == 4
