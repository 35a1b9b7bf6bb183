"""The first call of machine code runs beside the interpreter, and has to agree with it."""

from __future__ import annotations

import itertools
import logging
import tracemalloc
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import compilation, fallback, first_call, perturbation, tiers
from intaglio.opdef import raw
from intaglio.optimize.pipeline import optimize

from . import background


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that train change over at their fourth call; the compiler's errors warn."""
    background.at_once(monkeypatch)
    monkeypatch.setattr(tiers, "MIN_CALLS", 1)
    monkeypatch.setattr(tiers, "MAX_CALLS", 1)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)
    monkeypatch.setattr(fallback, "VERIFY", False)
    monkeypatch.setattr(fallback, "_warned", set())


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether code agreed with the interpreter, at each change-over."""
    found: list[bool] = []
    agrees = first_call.Recorded.agrees

    def checked(recorded: first_call.Recorded, compiled: Any) -> bool:
        found.append(agrees(recorded, compiled))
        return found[-1]

    monkeypatch.setattr(first_call.Recorded, "agrees", checked)
    return found


def wrong_code(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Compiled functions return what `change` makes of their first result."""
    compiled = compilation.compiled

    def wrong(*args: Any, **kwargs: Any) -> Any:
        run = compiled(*args, **kwargs)

        def changed(*arrays: Any) -> Any:
            first, *others = run(*arrays)
            return change(first), *others

        return None if run is None else changed

    monkeypatch.setattr("intaglio.function.pipeline.native.compiled", wrong)


def step_of(v: Any) -> Any:
    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(tf.reduce_mean(tf.tanh(x), 0) * 0.1)
        return tf.matmul(x, x, transpose_b=True) + tf.reduce_sum(v), tf.exp(v)

    return step


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "is interpreted" in r.getMessage()]


def expected(x: Any, calls: int) -> Any:
    v = np.zeros(4, np.float32)
    for _ in range(calls):
        v = v + np.tanh(x).mean(0) * 0.1
    return x @ x.T + v.sum(), np.exp(v)


X = np.linspace(-1.0, 1.5, 12, dtype=np.float32).reshape(3, 4)


def test_code_that_agrees_is_called(checks: list[bool], caplog: pytest.LogCaptureFixture) -> None:
    v = tf.Variable(tf.zeros(4))
    step = step_of(v)
    with caplog.at_level(logging.WARNING):
        for n in range(1, 7):
            for mine, right in zip(step(tf.constant(X)), expected(X, n), strict=True):
                np.testing.assert_allclose(mine, right, rtol=1e-5)
    assert checks == [True] and not messages(caplog)


@pytest.mark.parametrize(
    "change", [lambda y: y + np.float32(0.05), lambda y: y[:2], lambda y: np.full_like(y, np.nan)]
)
def test_code_that_differs_is_not_called(
    monkeypatch: pytest.MonkeyPatch,
    checks: list[bool],
    caplog: pytest.LogCaptureFixture,
    change: Any,
) -> None:
    wrong_code(monkeypatch, change)
    v = tf.Variable(tf.zeros(4))
    step = step_of(v)
    with caplog.at_level(logging.WARNING):
        for n in range(1, 7):
            for mine, right in zip(step(tf.constant(X)), expected(X, n), strict=True):
                np.testing.assert_allclose(mine, right, rtol=1e-5)
    assert checks == [False]
    (message,) = messages(caplog)
    assert "step" in message and "where it is interpreted" in message


def test_large_results_are_compared_with_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturbation, "BLOCK", 1 << 14)
    a = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)
    b, samples = a.copy(), [a * np.float32(1 + 1e-6), a]
    b[[3, 1 << 19]] += 1.0
    whole = perturbation.differing(a, b, samples, perturbation.COARSE)
    tracemalloc.start()
    try:
        blocks = perturbation._differing_in_blocks(a, b, samples)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    for mine, right in zip(blocks, whole, strict=True):
        np.testing.assert_array_equal(mine, right)
    assert peak < a.nbytes


def test_variables_and_streams_advance_once(checks: list[bool]) -> None:
    def run(seed: int, eagerly: bool) -> list[Any]:
        tf.random.set_seed(seed)
        v = tf.Variable(tf.zeros(3))

        @tf.function
        def step() -> Any:
            v.assign_add(tf.random.uniform([3], seed=7))
            return v * 2.0

        tf.config.run_functions_eagerly(eagerly)
        try:
            return [step().numpy() for _ in range(6)]
        finally:
            tf.config.run_functions_eagerly(False)

    traced = run(3, False)
    assert checks == [True]
    assert len({tuple(a) for a in traced}) == 6
    for a, b in itertools.pairwise(traced):
        assert ((b - a) >= 0).all() and ((b - a) <= 2.0).all()


def test_a_step_that_amplifies_rounding_agrees(checks: list[bool]) -> None:
    """Adam on a gradient that is nothing but rounding moves by the whole learning rate."""
    w, m, u = (tf.Variable(tf.ones([8]) * k) for k in (1.0, 0.0, 0.0))

    @tf.function
    def step(x: Any) -> Any:
        y = tf.nn.softmax(x * w)
        g = tf.reduce_sum(y - y * tf.reduce_sum(y, -1, keepdims=True), 0)  # 0, but for rounding
        m.assign(0.9 * m + 0.1 * g)
        u.assign(0.999 * u + 0.001 * g * g)
        w.assign_sub(0.01 * m / (tf.sqrt(u) + 1e-12))
        return w * 1.0

    x = tf.constant(np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32))
    for _ in range(6):
        step(x)
    assert checks == [True]


def test_errors_of_fast_algorithms_are_in_proportion_to_the_largest_element() -> None:
    """Winograd's convolutions and Fourier transforms give no exact zeros where only zeros meet."""

    @tf.function
    def f(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, 1, "SAME"), tf.matmul(x, w[0, 0]), tf.signal.rfft(x)

    x = np.zeros((1, 8, 8, 4), np.float32)
    x[0, 2, 2] = [3.0, -1.0, 2.0, 0.5]
    w = np.ones((3, 3, 4, 4), np.float32)
    concrete = f.get_concrete_function(tf.constant(x), tf.constant(w))
    graph = perturbation.perturbed(optimize(concrete.frozen), np.random.default_rng(0))
    run = first_call.interpreter.compiled(graph)
    for _ in range(3):
        convolved, product, spectrum = run(x, w, *concrete.capture_arrays)
        for normwise in (convolved, spectrum):
            far = normwise[0, 5:]
            assert far.any() and np.abs(far).max() < 1e-5 * np.abs(normwise).max()
        assert not product[0, 5:].any()


def test_perturbed_graphs_scatter_by_rounding_alone() -> None:
    @tf.function
    def f(x: Any, n: Any) -> Any:
        total = tf.zeros([4])
        for _ in tf.range(n):
            if tf.reduce_sum(x) > 0.0:
                total += tf.reduce_sum(tf.exp(x), 0)
            else:
                total -= tf.reduce_sum(tf.exp(x), 0)
        return total, tf.cast(total > 0.0, tf.int32), n * 2

    concrete = f.get_concrete_function(tf.constant(X), tf.constant(3))
    graph = optimize(concrete.frozen)
    generator = np.random.default_rng(0)
    noisy = perturbation.perturbed(graph, generator)
    run = first_call.interpreter.compiled(noisy)
    want = [v.numpy() for v in f(tf.constant(X), tf.constant(3))]
    runs = [run(X, np.int32(3), *concrete.capture_arrays) for _ in range(4)]
    assert any((r[0] != want[0]).any() for r in runs)
    for total, positive, twice in runs:
        np.testing.assert_allclose(total, want[0], rtol=1e-4)
        np.testing.assert_array_equal(positive, want[1])
        assert twice == 6
    assert perturbation.agree(want[0], want[0] * np.float32(1 + 1e-5), [r[0] for r in runs])
    assert not perturbation.agree(want[0], want[0] * np.float32(1.01), [r[0] for r in runs])


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [(tf.float32, False), (tf.float64, False), (tf.bfloat16, False), (tf.float16, True)],
)
def test_numbers_below_the_normal_ones_become_zero_at_random(dtype: Any, kept: bool) -> None:
    tiny = 2.0 ** {tf.float16: -15, tf.float64: -1023}.get(dtype, -127)
    values = tf.constant([tiny, 1.0] * 20, dtype)
    generator = np.random.default_rng(1)
    found = raw._Perturb(values, generator=generator, ulps=0.0).numpy().astype(np.float64)
    assert (found[1::2] == 1).all()
    assert set(found[::2]) == ({tiny} if kept else {0.0, tiny})


INF, NAN = float("inf"), float("nan")
LARGE = float(np.finfo(np.float32).max)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.complex64])
def test_what_is_not_finite_agrees_with_itself_alone(kind: Any) -> None:
    """But for sums that overflow, which are an infinity in one order and NaN in another."""
    values = [1.0, 0.0, -2.0, INF, -INF, NAN]
    for a in values:
        for b in values:
            same = a == b or (np.isnan(a) and np.isnan(b))
            overflows = {np.isnan(a), np.isnan(b)} == {np.isinf(a), np.isinf(b)} == {True, False}
            agree = perturbation.agree(np.array([1, a], kind), np.array([1, b], kind), [])
            assert agree == (same or overflows), (a, b)


@pytest.mark.parametrize(
    ("reference", "other", "samples", "agree"),
    [
        (INF, LARGE, [INF, INF], False),
        (INF, LARGE, [INF, LARGE], True),
        (INF, -INF, [INF, -INF], True),
        (LARGE, INF, [LARGE], False),
        (LARGE, INF, [LARGE, INF], True),
        (1.0, 1.1, [1.0, 1.0001], False),
        (1.0, 1.1, [1.0, 1.01], True),
        (1.0, -1.0, [1.0, 0.9], True),
        (1e-6, -1e-6, [1e-6, 1e-6], False),
    ],
)
def test_what_perturbed_runs_have_is_rounding(
    reference: float, other: float, samples: list[float], agree: bool
) -> None:
    a, b, *others = (np.array([x], np.float32) for x in (reference, other, *samples))
    assert perturbation.agree(a, b, others) is agree


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_few_elements_that_cancel_are_rounding_without_a_perturbed_run(dtype: str) -> None:
    eps = np.finfo(dtype).eps
    reference = np.linspace(1.0, 2.0, 3000).astype(dtype)
    reference[[7, 900]] = eps / 8, 0  # sums that cancel: nothing but rounding is left
    other = reference.copy()
    other[[7, 900]] = -eps, eps / 2
    assert perturbation.agree(reference, other, [])
    other[7] = 64 * eps  # more than a sum of elements near 2 rounds
    assert not perturbation.agree(reference, other, [])


def test_cancellation_explains_neither_many_elements_nor_infinities_nor_integers() -> None:
    reference = np.ones(3000, np.float32)
    reference[:40] = 1e-8
    many = reference.copy()
    many[:40] = -1e-8
    assert not perturbation.agree(reference, many, [])
    infinite = reference.copy()
    infinite[0] = np.inf
    assert not perturbation.agree(reference, infinite, [])
    assert not perturbation.agree(infinite, reference, [])
    counts = np.full(3000, 10**9)
    one_more = counts.copy()
    one_more[5] += 1
    assert not perturbation.agree(counts, one_more, [])


def test_code_is_checked_without_perturbed_runs_where_sums_cancel(
    checks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def rounded_otherwise(product: Any) -> Any:
        changed = np.array(product)
        changed[5, 3] += np.finfo(np.float32).eps * np.abs(changed).max()
        return changed

    runs: list[Any] = []
    monkeypatch.setattr(perturbation, "perturbed", runs.append)
    wrong_code(monkeypatch, rounded_otherwise)
    x = np.random.default_rng(0).normal(size=(64, 96)).astype(np.float32)
    y = np.random.default_rng(1).normal(size=(96, 64)).astype(np.float32)
    y[:, 3] -= (y[:, 3] @ x[5]) / (x[5] @ x[5]) * x[5]  # orthogonal: the product is rounding alone
    v = tf.Variable(tf.zeros([64]))

    @tf.function
    def step(x: Any, y: Any) -> Any:
        v.assign_add(tf.reduce_mean(tf.tanh(x), 1) * 0.1)
        return tf.matmul(x, y), tf.reduce_sum(v)

    for _ in range(6):
        product, _ = step(tf.constant(x), tf.constant(y))
    assert checks == [True] and not runs
    np.testing.assert_allclose(product, x @ y, rtol=1e-3, atol=1e-5)
