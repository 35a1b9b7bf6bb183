"""What the compiler gets wrong is interpreted, with one warning; verified, it is an error."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import compilation, fallback, tiers
from intaglio.native.lowering import rules
from intaglio.runtime import interpreter

from . import background


@pytest.fixture(params=["a rule", "LLVM", "the whole"])
def broken(request, monkeypatch):
    """A compiler that fails in one of its parts."""

    def fails(*args, **kwargs):
        raise AttributeError("'Rows' object has no attribute 'shape'")

    if request.param == "a rule":
        monkeypatch.setitem(rules.LOWERINGS, "Cumsum", fails)
    elif request.param == "LLVM":
        monkeypatch.setattr("intaglio.native.llvm.jit.module", fails)
    else:
        monkeypatch.setattr(compilation, "Regions", fails)
    return request.param


@pytest.fixture
def lenient(monkeypatch):
    """As in a program: errors of the compiler are no errors."""
    monkeypatch.setattr(fallback, "VERIFY", False)
    monkeypatch.setattr(fallback, "_warned", set())


def sums(x):
    for _ in tf.range(2):
        x = tf.cumsum(x * 2.0, 1)
    return x


GIVEN = np.arange(60, dtype=np.float32).reshape(3, 20)


def warnings_of(caplog):
    return [r.getMessage() for r in caplog.records if "is interpreted" in r.getMessage()]


@pytest.mark.usefixtures("lenient")
def test_a_compiled_function_goes_on_with_one_warning(broken, caplog):
    f = tf.function(sums, jit_compile=True)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            np.testing.assert_array_equal(f(tf.constant(GIVEN)), sums(tf.constant(GIVEN)))
    (message,) = warnings_of(caplog)
    assert "sums" in message
    assert "AttributeError" in message
    assert "please report it" in message
    assert ("Cumsum" in message) == (broken == "a rule")


def test_verified_it_raises(broken, monkeypatch):
    monkeypatch.setattr(fallback, "VERIFY", True)
    f = tf.function(sums, jit_compile=True)
    with pytest.raises(AttributeError, match="Rows"):
        f(tf.constant(GIVEN))


def training():
    v = tf.Variable(tf.zeros([3, 20]))

    @tf.function
    def step(x):
        v.assign_add(sums(x))
        return tf.reduce_sum(v)

    return v, step


@pytest.fixture
def soon(monkeypatch):
    background.at_once(monkeypatch)
    monkeypatch.setattr(tiers, "MIN_CALLS", 2)
    monkeypatch.setattr(tiers, "MAX_CALLS", 2)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)


@pytest.mark.usefixtures("lenient", "soon", "broken")
def test_a_step_that_cannot_change_over_goes_on_with_one_warning(caplog):
    v, step = training()
    with caplog.at_level(logging.WARNING):
        for i in range(1, 8):
            step(tf.constant(GIVEN))
            np.testing.assert_allclose(v, i * sums(tf.constant(GIVEN)), rtol=1e-6)
    (message,) = warnings_of(caplog)
    assert "step" in message


@pytest.mark.usefixtures("lenient", "soon")
def test_a_background_compiler_that_dies_warns(monkeypatch, caplog):
    def dies(graph, *args):
        raise KeyError("tile")

    monkeypatch.setattr("intaglio.function.pipeline._hot", dies)
    v, step = training()
    with caplog.at_level(logging.WARNING):
        for _ in range(8):
            step(tf.constant(GIVEN))
    (message,) = warnings_of(caplog)
    assert "KeyError: 'tile'" in message
    np.testing.assert_allclose(v, 8 * sums(tf.constant(GIVEN)), rtol=1e-6)


@pytest.mark.usefixtures("soon")
def test_verified_the_call_after_it_raises(monkeypatch):
    def dies(graph, *args):
        raise KeyError("tile")

    monkeypatch.setattr(fallback, "VERIFY", True)
    monkeypatch.setattr("intaglio.function.pipeline._hot", dies)
    _, step = training()
    with pytest.raises(KeyError, match="tile"):
        for _ in range(8):
            step(tf.constant(GIVEN))


@pytest.mark.usefixtures("lenient")
def test_errors_of_the_program_are_its_own(caplog):
    @tf.function(jit_compile=True)
    def f(x, i):
        return tf.gather(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant([1.0, 2.0]), tf.constant(7))
    assert not warnings_of(caplog)


@pytest.mark.usefixtures("lenient", "soon")
def test_code_that_fails_where_the_interpreter_does_not_is_dropped(monkeypatch, caplog):
    """What it has done to variables and random numbers did not happen."""

    def wrong(graph, *args):
        run = interpreter.compiled(graph)

        def fails(*arrays):
            run(*arrays)
            raise tf.errors.InvalidArgumentError(None, None, "incompatible shape")

        return fails

    def noisy():
        v = tf.Variable(tf.zeros([20]))

        @tf.function
        def step():
            v.assign_add(tf.random.normal([20], seed=3))
            return tf.reduce_sum(v)

        tf.random.set_seed(1)
        return v, step

    v, plain = noisy()
    want = [plain().numpy() for _ in range(4)]
    monkeypatch.setattr("intaglio.function.pipeline._hot", wrong)
    monkeypatch.setattr(tiers, "MIN_CALLS", 1)
    monkeypatch.setattr(tiers, "MAX_CALLS", 1)
    v, step = noisy()
    with caplog.at_level(logging.WARNING):
        got = [step().numpy() for _ in range(4)]
        more = [step().numpy() for _ in range(4)]
    np.testing.assert_allclose(got, want)
    assert len({float(x) for x in more}) == 4
    (message,) = warnings_of(caplog)
    assert "incompatible shape" in message
    np.testing.assert_allclose(tf.reduce_sum(v), more[-1])


@pytest.mark.usefixtures("lenient", "soon")
def test_an_error_of_the_program_does_not_keep_a_step_from_changing_over(caplog):
    v = tf.Variable(tf.zeros([4]))

    @tf.function
    def step(x, at):
        v.assign_add(x)
        return tf.gather(tf.exp(x - 1.0), at) + v[0]  # an exponential: not exact

    def call(at):
        return step(tf.ones([4]), tf.constant(at)).numpy()

    for _ in range(4):
        call(0)
    for _ in range(3):
        before = v.numpy()
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(9)
        np.testing.assert_array_equal(v, before + 1.0)
    for _ in range(3):
        before = v.numpy()
        assert call(1) == before[1] + 2.0
    concrete = step.get_concrete_function(tf.ones([4]), tf.constant(0))
    assert concrete.optimized_run().native
    assert not warnings_of(caplog)
