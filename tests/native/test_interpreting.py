"""Interpreted graphs whose elementwise ops go in loops: only the time differs."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import compilation, tiers
from intaglio.native.interpreting import InParts, Looped
from intaglio.native.passes import elementwise_fusion
from intaglio.native.regions import Regions
from intaglio.optimize.pipeline import optimize


def loops_of(f, *args):
    """The ops of each loop that a traced function has when it is interpreted."""
    graph = optimize(f.get_concrete_function(*args).frozen)
    return [
        ops_of(n.attrs["body"])
        for n in elementwise_fusion.fuse_exact(graph).nodes
        if n.op.name == "_FusedElementwise"
    ]


def ops_of(body):
    return [n.op.name for n in body.nodes if n.op.name not in ("Placeholder", "Const")]


def changed(f, *args):
    """The function's interpreted form, and that with loops."""
    run = f.get_concrete_function(*args).optimized_run()
    assert isinstance(run, Looped)
    before = run.run
    run.compile()
    run.compiling.join()
    assert run.run is not before
    return before, run.run


def normalised(x, mean):
    y = tf.nn.relu6((x - mean) * 2.0 + 1.0)
    return y, tf.reduce_sum(y, 0), tf.exp(y) / 3.0


X = np.random.default_rng(0).normal(size=(32, 40, 16)).astype(np.float32)
MEAN = np.random.default_rng(1).normal(size=16).astype(np.float32)


def test_loops_give_the_bits_of_the_ops_one_by_one():
    f = tf.function(normalised, jit_compile=False)
    before, after = changed(f, X, MEAN)
    for a, b in zip(before(X, MEAN), after(X, MEAN), strict=True):
        np.testing.assert_array_equal(a.view(np.int32), b.view(np.int32))


def test_functions_that_numpy_approximates_stay_its():
    f = tf.function(normalised, jit_compile=False)
    assert loops_of(f, X, MEAN) == [["Sub", "Mul", "AddV2", "Relu6"]]


@pytest.mark.parametrize("rows", [1000, None])
def test_functions_of_large_arrays_are_machine_code_everywhere(rows):
    spec = tf.TensorSpec([rows, 40, 256])
    f = tf.function(lambda x: x * tf.sigmoid(x * 2.0), jit_compile=False, input_signature=[spec])
    assert loops_of(f) == [["Mul", "Sigmoid", "Mul"]]
    before, after = changed(f)
    x = np.random.default_rng(3).normal(size=(rows or 7, 40, 256)).astype("f")
    np.testing.assert_array_equal(before(x)[0], after(x)[0])
    np.testing.assert_array_equal(tf.sigmoid(x * 2) * x, after(x)[0])


def test_a_graph_that_takes_long_changes_over_by_itself(monkeypatch):
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)
    f = tf.function(lambda x: x * 2.0 + 1.0, jit_compile=False)
    run = f.get_concrete_function(X).optimized_run()
    interpreted = run.run
    f(X)
    run.compiling.join()
    assert run.run is not interpreted
    np.testing.assert_array_equal(f(X), X * 2 + 1)


def test_small_arrays_are_left_alone():
    f = tf.function(lambda x: x * 2.0 + 1.0, jit_compile=False)
    run = f.get_concrete_function(tf.ones([10])).optimized_run()
    assert not isinstance(run, Looped)


def test_open_dims_and_broadcasts():
    spec = tf.TensorSpec([None, None, 4096])
    f = tf.function(lambda x, y: x * y + y, jit_compile=False, input_signature=[spec] * 2)
    _, after = changed(f)
    for shapes in (((2, 3), (2, 3)), ((1, 3), (2, 3)), ((2, 1), (1, 1)), ((0, 3), (1, 1))):
        x, y = (np.random.default_rng(2).normal(size=(*s, 4096)).astype("f") for s in shapes)
        np.testing.assert_array_equal(after(x, y)[0], x * y + y)


def test_shapes_that_do_not_fit_raise_the_error_of_the_op():
    spec = tf.TensorSpec([None, 4096])
    f = tf.function(lambda x, y: tf.sqrt(x + y), jit_compile=False, input_signature=[spec] * 2)
    changed(f)
    with pytest.raises(tf.errors.InvalidArgumentError, match="node add"):
        f(tf.ones([2, 4096]), tf.ones([3, 4096]))


def test_variables_are_updated_in_their_order():
    v = tf.Variable(tf.ones([64, 64]))

    @tf.function(jit_compile=False)
    def step(g):
        before = v * 2.0 - 1.0
        v.assign_sub(g * 0.5 + before * 0.25)
        return v * 2.0 + before

    g = tf.fill([64, 64], 2.0)
    changed(step, g)
    assert step(g).numpy()[0, 0] == (1 - 1.25) * 2 + 1
    np.testing.assert_array_equal(v, np.full([64, 64], -0.25))


def test_bodies_and_called_functions_have_loops_too(monkeypatch):
    made = []
    whole = compilation.FusedKernel
    monkeypatch.setattr(compilation, "FusedKernel", lambda g: made.append(g) or whole(g))

    @tf.function(jit_compile=False)
    def f(x):
        for _ in tf.range(3):
            x = tf.sqrt(tf.abs(x)) * 2.0 + 1.0
        return tf.exp(x)

    before, after = changed(f, X)
    np.testing.assert_array_equal(before(X)[0], after(X)[0])
    assert ops_of(made[0]) == ["Abs", "Sqrt", "Mul", "AddV2"]


# -- parts that give the same bits -----------------------------------------------------------


def parts_of(f, *args):
    """The function interpreted, and with its parts as native functions; and the ops of each part."""
    run = f.get_concrete_function(*args).optimized_run()
    assert isinstance(run, InParts)
    graph = optimize(f.get_concrete_function(*args).frozen)
    regions = Regions(graph, exact=True)
    bodies = [n.attrs["body"] for n in regions.mixed.nodes if n.op.name == "_Program"]
    before = run.run
    run.compile()
    run.compiling.join()
    assert run.run is not before
    return before, run, [ops_of(b) for b in bodies]


def test_parts_around_ops_that_round_otherwise_are_native_functions():
    @tf.function
    def f(x, w):
        y = tf.maximum(x * 2.0 - 1.0, 0.0) + 0.5
        y = tf.tanh(y @ w)
        return tf.where(y > 0.1, y * y, -y) + 1.0

    x = np.random.default_rng(5).normal(size=(6, 7)).astype("f")
    w = np.random.default_rng(6).normal(size=(7, 7)).astype("f")
    before, run, parts = parts_of(f, x, w)
    assert len(parts) == 2 and "Maximum" in parts[0] and "SelectV2" in parts[1]
    assert "bits" in run.state
    np.testing.assert_array_equal(before(x, w)[0], run(x, w)[0])
    run.compiling.join()
    np.testing.assert_array_equal(before(x, w)[0], run(x, w)[0])
    assert not run.native and "are compiled" in run.state


@pytest.mark.parametrize("function", [tf.abs, tf.sqrt, tf.math.rsqrt], ids=["abs", "sqrt", "rsqrt"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("count", [50, 20000])
def test_sizes_and_roots_of_complex_numbers_stay_numpys(monkeypatch, function, dtype, count):
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)
    monkeypatch.setattr(tiers, "MAX_BREAK_EVEN_CALLS", 0)

    @tf.function
    def f(z):
        x = tf.maximum(tf.math.real(z), 0.0) * 2.0 + 1.0
        return function(z), x, function(z) * 2.0, tf.exp(x)

    rng = np.random.default_rng(7)
    z = tf.constant((rng.normal(size=count) + 1j * rng.normal(size=count)).astype(dtype))
    want = function(z).numpy()
    for _ in range(4):
        found, _, doubled, _ = f(z)
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(doubled, want * 2)
        run = f.get_concrete_function(z).optimized_run()
        if run.compiling is not None:
            run.compiling.join()
    assert run.agreed


def test_loops_that_are_exact_are_jumps_and_others_have_parts():
    @tf.function
    def f(x, n):
        while tf.reduce_any(x < 10.0):
            x = tf.where(x < 10.0, x * 2.0, x) + 1.0
        for _ in tf.range(n):
            x = tf.maximum(tf.exp(-x) - 0.5, x * 0.5) + 1.0
        return x

    x, n = np.linspace(1, 3, 5, dtype="f"), np.int32(4)
    before, run, parts = parts_of(f, x, n)
    assert any("StatelessWhile" in p for p in parts)
    for _ in range(2):
        np.testing.assert_array_equal(before(x, n)[0], run(x, n)[0])


def test_effects_stay_in_their_order_and_happen_once(monkeypatch):
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)
    v, seen = tf.Variable([1.0, 2.0], trainable=False), []

    @tf.function
    def f(x):
        v.assign(v * 2.0 + x)
        tf.py_function(lambda a: seen.append(a.numpy().tolist()), [v + 0.0], [])
        v.assign_sub(tf.maximum(x, 0.5) * 0.25)
        return tf.exp(v) * 0.0 + v

    x, expected = tf.constant([0.5, -0.5]), np.float32([1, 2])
    for n in range(6):
        result = f(x).numpy()
        seen_then = expected * 2 + x.numpy()
        expected = seen_then - np.maximum(x.numpy(), np.float32(0.5)) * np.float32(0.25)
        np.testing.assert_array_equal(result, expected)
        assert seen[n] == seen_then.tolist() and len(seen) == n + 1
        run = f.get_concrete_function(x).optimized_run()
        for core in getattr(run, "cores", [run]):
            if core.compiling is not None:
                core.compiling.join()
    assert "are compiled" in run.state


def test_an_error_in_a_part_is_that_of_its_node():
    @tf.function
    def f(x, i):
        y = tf.exp(x) + 0.0
        z = tf.gather(tf.maximum(x, 0.0) * 2.0, i)
        return y, z + 1.0

    x = np.ones(5, "f")
    parts = parts_of(f, x, np.int32(1))[2]
    assert parts
    assert f(x, tf.constant(4))[1].numpy() == 3.0
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            f(x, tf.constant(5))
    assert f(x, tf.constant(4))[1].numpy() == 3.0
