"""`raise`, `assert` and `try` under tensors: the graph raises what Python would, where it would."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf

from .checklist import item


class Rejected(Exception):
    """An exception of a user, whose constructor takes more than a message."""

    def __init__(self, code: int, value: Any) -> None:
        super().__init__(f"{code}: {value}")
        self.code = code


def outcome(function: Callable[..., Any], *values: Any) -> Any:
    try:
        return function(*[tf.constant(v) for v in values]).numpy()
    except Exception as e:
        return type(e), str(e), e.args


def agree(function: Callable[..., Any], *calls: Any) -> None:
    """The same result, or an exception of the same class with the same text and arguments."""
    traced = tf.function(function)
    for call in [*calls, *calls]:
        assert outcome(traced, call) == outcome(function, call), call
    assert traced.experimental_get_tracing_count() == 1


def formatted(x: Any) -> Any:
    if x < 0:
        raise ValueError(f"negative: {x:.2f}, {x.shape}, {tf.abs(x)}")
    return tf.sqrt(x)


def nested(x: Any) -> Any:
    if x < 0:
        if x < -10:
            raise Rejected(7, x)
        else:  # noqa: RET506
            raise KeyError("small")
    elif x > 100:
        raise Rejected(8, "big")
    for i in tf.range(3):
        if x > tf.cast(i, tf.float32) + 50.0:
            raise Rejected(9, f"{i} {x}")
        x = x + 1.0
    while x < 10.0:
        x = x * 2.0
        if x == 8.0:
            raise RuntimeError("eight")
    return x


def at_the_end(x: Any) -> Any:
    if x > 0:
        return x
    raise ValueError("none")


def on_every_way(x: Any) -> Any:
    if x > 0:
        raise ValueError("a")
    else:  # noqa: RET506
        raise KeyError("b")


class Limits:
    def __init__(self, limit: Any) -> None:
        self.limit = limit

    def check(self, x: Any) -> Any:
        if x > self.limit:
            raise Rejected(1, f"{x} over {self.limit}")
        return x


def by_a_method(x: Any) -> Any:
    limits = Limits(x - 1.0)
    return limits.check(x - 3.0) + limits.check(x - x)


def handled_in_its_branch(x: Any) -> Any:
    if x > 0:
        try:
            raise ValueError("now")
        except ValueError as e:
            y = x + len(str(e))
    else:
        y = x
    return y


def the_same_object(x: Any) -> Any:
    error = Rejected(3, "made before")
    if x > 0:
        raise error
    return x


def in_a_python_loop(x: Any) -> Any:
    for k in range(4):
        if x > 10.0 * k:
            x = x - 1.0
        elif x == 7.0:
            raise Rejected(k, x)
    return x


PROGRAMS = [
    (formatted, [4.0, -4.0]),
    (nested, [-20.0, -4.0, 200.0, 52.5, 51.0, 1.0, 3.0]),
    (at_the_end, [1.0, -1.0]),
    (on_every_way, [1.0, -1.0]),
    (by_a_method, [2.0, 0.5]),
    (handled_in_its_branch, [1.0, -1.0]),
    (the_same_object, [1.0, -1.0]),
    (in_a_python_loop, [8.0, 7.0, 30.0, -1.0]),
]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
@item("silently wrong: raise")
def test_exceptions(function: Callable[..., Any], calls: list[float]) -> None:
    agree(function, *calls)


def test_the_traceback_ends_at_the_users_line() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            raise Rejected(5, x) from KeyError(f"cause {x}")
        return x

    traced = tf.function(f)
    for _ in range(3):
        with pytest.raises(Rejected) as caught:
            traced(tf.constant(2))
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (last.filename, last.name) == (__file__, "f")
        assert last.lineno == f.__code__.co_firstlineno + 2
        assert caught.value.code == 5
        assert repr(caught.value.__cause__) == "KeyError('cause 2')"
        assert "while the graph" in caught.value.__notes__[0]


def test_assertions() -> None:
    @tf.function
    def f(x: Any) -> Any:
        assert x > 0, f"positive, not {x}"
        total = x
        for i in tf.range(x):
            assert total + i < 6
            total = total + i
        return total

    assert f(tf.constant(2)).numpy() == 3
    # Both classes: Python's, and the one of TensorFlow's feature ASSERT_STATEMENTS; asked.
    for kind in (AssertionError, tf.errors.InvalidArgumentError):
        with pytest.raises(kind, match=r"assertion failed: \[positive, not -1\]"):
            f(tf.constant(-1))
        with pytest.raises(kind, match=r"assertion failed: \[Assertion error\]"):
            f(tf.constant(4))


def test_assertions_on_python_values() -> None:
    @tf.function
    def f(x: Any, flag: bool) -> Any:
        assert flag, "the flag"
        return x

    assert f(tf.constant(1), True).numpy() == 1
    with pytest.raises(AssertionError, match="the flag"):
        f(tf.constant(1), False)


def test_effects_before_an_exception_happen() -> None:
    seen = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        seen.assign_add(1)
        if x > 0:
            seen.assign_add(10)
            raise ValueError("stop")
        seen.assign_add(100)
        return x

    f(tf.constant(-1))
    with pytest.raises(ValueError, match="stop"):
        f(tf.constant(1))
    assert seen.numpy() == 112


@item("silently wrong: try")
def test_handlers_of_what_the_graph_raises_are_refused() -> None:
    def f(x: Any) -> Any:
        try:
            if x > 0:
                raise ValueError("later")
            y = x
        except (KeyError, ValueError):
            y = x + 100
        return y

    with pytest.raises(NotImplementedError, match="ValueError is raised under a tensor"):
        tf.function(f)(tf.constant(1))

    @tf.function
    def other(x: Any) -> Any:
        try:
            if x > 0:
                raise ValueError("later")
        except KeyError:
            x = x + 100
        return x

    assert other(tf.constant(-1)).numpy() == -1
    with pytest.raises(ValueError, match="later"):
        other(tf.constant(1))


@item("silently wrong: try")
def test_handlers_of_errors_of_ops_are_reported() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            y = tf.gather([1, 2], x)
        except tf.errors.InvalidArgumentError:
            y = -1
        return y

    with pytest.warns(UserWarning, match="sees errors of tracing only"):
        f(tf.constant(1))


def test_an_exception_that_nothing_decides_about_is_raised_while_tracing() -> None:
    traces = []

    @tf.function
    def f(x: Any) -> Any:
        traces.append(x)
        raise Rejected(2, "always")

    for _ in range(2):
        with pytest.raises(Rejected):
            f(tf.constant(1))
    assert len(traces) == 2


def in_order(x: Any) -> Any:
    if x > 5:
        raise ValueError(f"large: {x}")
    raise KeyError(f"{x}")


def test_exceptions_come_in_the_order_of_the_program() -> None:
    agree(in_order, 9.0, 1.0)
    seen = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        seen.assign_add(x)
        raise ValueError(f"stop at {x:02d}")

    for _ in range(2):
        with pytest.raises(ValueError, match="stop at 03"):
            f(tf.constant(3))
    assert seen.numpy() == 6


def test_gradients_of_what_may_raise() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x < 0:
            raise ValueError("negative")
        for _ in tf.range(3):
            x = x * x
            assert x < 1e6
            if x > 100.0:
                return x * 2.0
        return x

    x = tf.constant(1.1)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert slope.numpy() == pytest.approx(8 * 1.1**7, rel=1e-5)
    assert outer.gradient(slope, x).numpy() == pytest.approx(56 * 1.1**6, rel=1e-5)
    with pytest.raises(ValueError, match="negative"), tf.GradientTape() as tape:
        negative = tf.constant(-1.0)
        tape.watch(negative)
        f(negative)


def test_graphs_that_raise_are_written_as_assertions() -> None:
    traced = tf.function(formatted).get_concrete_function(tf.TensorSpec([]))
    text = str(traced.graph.as_graph_def())
    assert "Assert" in text and "_raises" not in text


def test_text_of_an_exception_has_values(recwarn: pytest.WarningsRecorder) -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 3:
            raise ValueError(f"{x} is too much")
        return x

    with pytest.raises(ValueError) as caught:
        f(tf.constant(5))
    assert str(caught.value) == "5 is too much"
    assert not recwarn.list
