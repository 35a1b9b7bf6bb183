"""`intaglio.generalise`: open dimensions, and Python numbers as inputs where their values are not needed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf


def traces(f: Any) -> int:
    return f.experimental_get_tracing_count()


def test_twelve_floats_are_one_trace() -> None:
    f = tf.function(lambda x, rate: x * rate)
    with intaglio.generalise("numbers"):
        for n in range(12):
            assert f(tf.ones([2]), n / 8).numpy().tolist() == [n / 8, n / 8]
    assert traces(f) == 1
    (decision,) = f.generalised
    assert (decision.path, decision.general) == ("rate", True)
    assert str(decision) == "rate: any float has the trace of the others"


def test_off_by_default() -> None:
    f = tf.function(lambda x: x + 1)
    f(1)
    f(2)
    assert (traces(f), f.generalised) == (2, ())


def test_a_number_whose_value_is_needed() -> None:
    @tf.function
    def f(x: Any, n: Any, rate: Any) -> Any:
        if n > 2:
            x = x + 1.0
        return x * rate

    with intaglio.generalise():
        results = [float(f(tf.constant(1.0), n, r)) for n in (1, 3) for r in (0.5, 0.25)]
    assert results == [0.5, 0.25, 1.0, 0.5]
    assert traces(f) == 2
    needed = {d.path: d for d in f.generalised}
    assert not needed["n"].general
    assert needed["n"].where.source == "if n > 2:"
    assert needed["rate"].general


USES = {
    "branch": lambda x, n: x + 1 if n else x,
    "range": lambda x, n: sum([x for _ in range(int(n))], x),
    "format": lambda x, n: tf.strings.join([tf.strings.as_string(x), f"{n}"]),
    "shape": lambda x, n: tf.fill([int(n)], x),
    "equality": lambda x, n: x if n == 2 else -x,
    "key": lambda x, n: {1: x, 2: -x}.get(n, x),
    "isinstance": lambda x, n: x * 2 if isinstance(n, (int, float)) else x * 3,
    "numpy": lambda x, n: x + np.float32(n),
    "power": lambda x, n: x * 2**n,
    "method": lambda x, n: x + n.real,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", [int, float])
def test_every_use_gives_what_it_gives_without(use: str, kind: type) -> None:
    x = tf.constant(3.0)
    plain, general = tf.function(USES[use]), tf.function(USES[use])
    for n in (1, 2, 4):
        expected = plain(x, kind(n))
        with intaglio.generalise():
            found = general(x, kind(n))
        assert found.dtype is expected.dtype
        assert np.array_equal(found.numpy(), expected.numpy())


VALUES = {
    int: st.integers(-100, 100),
    float: st.floats(-4.0, 4.0, width=32).filter(lambda v: v == 0 or abs(v) > 1e-3),
}
STEPS = st.lists(
    st.sampled_from(["n + 2", "2 - n", "n * 3", "-n", "abs(n)", "n + n", "+n", "n - 1", "n / 2"]),
    max_size=3,
)
ENDS = [
    "x + n",
    "n - x",
    "x * n",
    "tf.stack([x, n])",
    "tf.maximum(x, n)",
    "x + tf.constant(n)",
    "n",
]


@settings(max_examples=40)
@given(st.data(), st.sampled_from([int, float]), STEPS, st.sampled_from(ENDS))
def test_arithmetic_is_that_of_python(data: Any, kind: type, steps: list[str], end: str) -> None:
    """Any expression gives the bits and the dtype, or the error, that it gives with the number itself."""
    dtype = data.draw(st.sampled_from([tf.float32, tf.float64, tf.float16, tf.int32, tf.int8]))
    body = "\n".join(f"    n = {step}" for step in steps)
    space: dict[str, Any] = {"tf": tf}
    exec(f"def f(x, n):\n{body}\n    return {end}", space)
    plain = tf.function(space["f"], autograph=False)
    general = tf.function(space["f"], autograph=False)
    for value in data.draw(st.lists(VALUES[kind], min_size=2, max_size=3)):
        x = tf.cast(tf.constant(2), dtype)
        expected = _outcome(lambda x=x, value=value: plain(x, value))
        with intaglio.generalise("numbers"):
            found = _outcome(lambda x=x, value=value: general(x, value))
        assert found == expected


def _outcome(call: Any) -> Any:
    try:
        result = call()
    except (TypeError, ValueError) as e:
        return type(e)
    return result.dtype, result.numpy().tobytes()


@pytest.mark.parametrize("jit", [None, True])
def test_functions_that_are_called_get_the_number(jit: bool | None) -> None:
    inner = tf.function(lambda x, n: x * n, jit_compile=jit)
    outer = tf.function(lambda x, n: inner(x, n) + inner(x, n * 3))
    with intaglio.generalise("numbers"):
        for n in (0.5, 1.5, 2.5):
            assert float(outer(tf.constant(2.0), n)) == 8 * n
            assert float(inner(tf.constant(2.0), n)) == 2 * n
    assert (traces(outer), traces(inner)) == (1, 1)


def test_called_functions_that_need_the_number() -> None:
    @tf.function
    def inner(x: Any, n: Any) -> Any:
        return x if n > 1 else -x

    outer = tf.function(lambda x, n: inner(x, n))
    with intaglio.generalise("numbers"):
        assert [float(outer(tf.constant(2.0), n)) for n in (0.5, 1.5)] == [-2.0, 2.0]
    (decision,) = outer.generalised
    assert decision.where.source == "return x if n > 1 else -x"


def test_large_integers_keep_traces_of_their_own() -> None:
    f = tf.function(lambda x, n: x + tf.constant(n, tf.int64))
    with intaglio.generalise():
        for n in (1, 2**40, 2, 2**40 + 1):
            assert int(f(tf.constant(0, tf.int64), n)) == n
    assert traces(f) == 3


def test_numbers_in_structures_and_keywords() -> None:
    @tf.function
    def f(x: Any, *, options: Any) -> Any:
        return x * options["rate"] + options["shift"][0]

    with intaglio.generalise():
        for n in (0.5, 1.5, 2.5):
            assert float(f(tf.constant(2.0), options={"rate": n, "shift": [n]})) == 3 * n
    assert traces(f) == 1
    assert {d.path for d in f.generalised} == {"options['rate']", "options['shift'][0]"}


@pytest.mark.parametrize("jit", [None, True])
def test_repeated_calls_and_gradients(jit: bool | None) -> None:
    v = tf.Variable(2.0)
    f = tf.function(lambda rate: v * rate, jit_compile=jit)
    with intaglio.generalise():
        for n in range(12):
            with tf.GradientTape() as tape:
                result = f(n / 4)
            assert float(result) == n / 2
            assert float(tape.gradient(result, v)) == n / 4
            assert float(f(n / 4)) == n / 2
    assert traces(f) == 1


def test_a_trace_that_keeps_the_number_is_not_general() -> None:
    """What is kept of a trace must be the number itself."""
    kept: list[Any] = []

    @tf.function
    def f(x: Any, n: Any) -> Any:
        kept.append(n)
        return x * n

    with intaglio.generalise():
        f(tf.constant(1.0), 2.0)
        f(tf.constant(1.0), 3.0)
    assert kept[-1] == 3.0
    assert [d.general for d in f.generalised] == [False]


def test_errors_are_those_of_the_function() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        raise KeyError(n)

    with intaglio.generalise(), pytest.raises(KeyError):
        f(tf.constant(1.0), 2.0)
    assert traces(f) == 0


def test_dimensions_from_the_second_size_on() -> None:
    f = tf.function(lambda x, y: tf.reduce_sum(x) + y)
    with intaglio.generalise("dimensions"):
        for n in range(1, 9):
            assert float(f(tf.ones([n, 3]), tf.constant(1.0))) == 3 * n + 1
    assert traces(f) == 2
    (decision,) = f.generalised
    assert str(decision) == "x.shape[0]: left open from the second size on"


def test_both_together() -> None:
    f = tf.function(lambda x, rate: x * rate)
    with intaglio.generalise():
        for n in range(1, 9):
            f(tf.ones([n]), n / 2)
    assert traces(f) == 2


def test_memory_of_numbers_is_bounded() -> None:
    f = tf.function(lambda x, rate: x * rate)
    with intaglio.generalise():
        for n in range(3000):
            f(tf.constant(1.0), float(n))
    assert traces(f) == 1
    assert len(f._cache._found) < 1100


def test_other_choices_are_refused() -> None:
    with pytest.raises(ValueError, match="'functions', 'objects', not 'shapes'"):
        intaglio.generalise("shapes")


def test_environment() -> None:
    code = (
        "from intaglio import tf\n"
        "f = tf.function(lambda x: x + 1)\n"
        "f(1); f(2)\n"
        "print(f.experimental_get_tracing_count())"
    )
    for value, count in (("numbers", "1"), ("dimensions", "2"), ("1", "1")):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"INTAGLIO_GENERALISE": value, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert run.stdout.strip() == count
