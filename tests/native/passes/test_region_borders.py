"""What crosses the borders of native regions: no list in part, no view that a function would copy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.dtypes import variant
from intaglio.ir import walk
from intaglio.native.compilation import compiled, exact
from intaglio.native.passes import region_borders
from intaglio.native.passes.use_def import users_of
from intaglio.native.regions import Regions
from intaglio.optimize.pipeline import optimize


def bodies(graph, is_exact):
    """The bodies of the native functions of a graph that is not native as a whole, and of graphs nested in it."""
    found = []
    for part in (graph, *walk.nested(graph)):
        regions = Regions(part, exact=is_exact)
        if regions.whole is None:
            found += [n.attrs["body"] for n in regions.mixed.nodes if n.op.name == "_Program"]
    return found


def names(body):
    return [n.op.name for n in body.nodes if n.op.name not in ("Placeholder", "Const")]


def assert_lists_stay(found):
    """No op takes a list of a body's inputs, except control flow."""
    for body in found:
        outer = {id(v) for v in body.inputs if v.dtype is variant}
        for node in body.nodes:
            assert node.op.control_flow or not outer & {id(v) for v in node.inputs}, node


STEPS = {
    "write": lambda x, a, i: (x * 0.5 + 1.0, a.write(i, x - 1.0)),
    "read": lambda x, a, i: (x + a.read(tf.maximum(i - 1, 0)) * 0.25, a),
    "rounds otherwise": lambda x, a, i: (tf.exp(-x * x), a),
    "numpy": lambda x, a, i: (x / tf.linalg.svd(x + tf.eye(3), compute_uv=False)[0], a),
    "choice": lambda x, a, i: (tf.where(x > 0.5, x * 0.5, x + 0.25), a),
}


@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6), st.booleans(), st.booleans()
)
def test_loops_over_lists_give_what_eager_calls_give(steps, is_exact, of_gradient):
    def work(x):
        a = tf.TensorArray(tf.float32, 5, clear_after_read=False, element_shape=[3, 3])
        a = a.write(0, x)
        for i in tf.range(1, 5):
            for step in steps:
                x, a = STEPS[step](x, a, i)
            a = a.write(i, x)
        return x, a.stack()

    def both(x):
        if not of_gradient:
            return work(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, stacked = work(x)
        return tape.gradient([y, stacked], x), y

    x = np.random.default_rng(3).uniform(0.1, 0.9, (3, 3)).astype("f")
    graph = optimize(tf.function(both).get_concrete_function(tf.constant(x)).frozen)
    assert_lists_stay(bodies(graph, is_exact))
    run = exact(graph) if is_exact else compiled(graph)
    with np.errstate(all="ignore"):
        for mine, theirs in zip(run(x), both(tf.constant(x)), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=1e-5)


def test_a_list_that_lives_in_a_region_is_native():
    def f(x):
        a = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            a = a.write(i, x * float(i) + 1.0)
        return tf.exp(a.stack()) * 2.0

    graph = optimize(tf.function(f).get_concrete_function(tf.ones([2])).frozen)
    (first, *_) = bodies(graph, True)
    assert {"TensorListSetItem", "TensorListStack"} <= {*names(first)}


def test_what_only_moves_is_left_to_the_interpreter():
    v = tf.Variable(np.random.default_rng(1).normal(size=(40, 40)).astype("f"))

    @tf.function
    def f(x):
        y = tf.maximum(x * 2.0 - 1.0, 0.0) + 0.5
        return tf.matmul(y, tf.transpose(v)), tf.exp(v[1:3]) + 1.0, v * 2.0

    graph = optimize(f.get_concrete_function(tf.ones([40, 40])).frozen)
    found = bodies(graph, True)
    assert found
    for body in found:
        moved = [v.node.op.name for v in body.outputs]
        assert not {"ReadVariableOp", "Transpose", "StridedSlice"} & {*moved}


def test_reads_stay_before_the_writes_that_follow_and_after_those_before():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    def f(x):
        before = v.read_value()
        v.assign_add(tf.maximum(x, 0.5) * 2.0)
        between = v.read_value()
        w.assign(w * 0.5 + between)
        v.assign_sub(w * 0.25)
        return tf.exp(before), tf.exp(between), tf.exp(v.read_value()), before, between

    traced = tf.function(f, jit_compile=True)
    x = tf.constant([0.25, 1.0])
    for make in (f, traced):
        v.assign([1.0, 2.0])
        w.assign([3.0, 4.0])
        got = [r.numpy() for r in make(x)]
        np.testing.assert_array_equal(got[3], [1.0, 2.0])
        np.testing.assert_array_equal(got[4], [2.0, 4.0])
        np.testing.assert_allclose(got[2], np.exp([2.0 - 0.875, 4.0 - 1.5]), rtol=1e-6)
    graph = optimize(traced.get_concrete_function(x).frozen)
    run = exact(graph)
    v.assign([1.0, 2.0])
    w.assign([3.0, 4.0])
    got = run(x.numpy(), v.handle._array, w.handle._array)
    np.testing.assert_array_equal(got[3], [1.0, 2.0])
    np.testing.assert_array_equal(got[4], [2.0, 4.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool", "float16"])
def test_functions_take_numpys_scalars_and_views(dtype):
    def f(a, x):
        y = tf.where(x > tf.cast(a, x.dtype), x, tf.cast(a, x.dtype))
        return y, tf.logical_not(a > tf.zeros([], a.dtype)) if a.dtype != tf.bool else a

    specs = [tf.TensorSpec([], dtype), tf.TensorSpec([3, 4], tf.float32)]
    run = compiled(optimize(tf.function(f, input_signature=specs).get_concrete_function().frozen))
    scalar = np.dtype(dtype).type(1)
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("f").T
    want = np.where(x > 1, x, np.float32(1))
    for _ in range(3):
        for a in (scalar, np.asarray(scalar)):
            np.testing.assert_array_equal(run(a, x)[0], want)
            np.testing.assert_array_equal(run(a, x.copy())[0], want)


def test_a_refused_call_leaves_the_function_ready_for_the_next():
    @tf.function(jit_compile=True)
    def f(x, i):
        return tf.gather(x * 2.0, i) + 1.0

    x = tf.constant([1.0, 2.0, 3.0])
    for _ in range(3):
        assert f(x, 2).numpy() == 7.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(x, 5)


def test_a_read_that_waits_for_another_one_stays_behind_it():
    v = tf.Variable(tf.range(6.0))

    @tf.function
    def step(x):
        first = v.read_value()
        y = tf.tanh(x * first) + tf.exp(-x)
        return v.read_value(), y

    graph = step.get_concrete_function(tf.ones([6])).frozen
    region = [n for n in graph.nodes if n.op.name != "Placeholder"]
    first, second, *_ = [n for n in region if n.op.name == "ReadVariableOp"]
    moved = region_borders.removable_moves(region, users_of(graph))
    assert id(second) in moved and id(first) not in moved
    second.control = (first,)  # as the reads of a called function that is inlined
    moved = region_borders.removable_moves(region, users_of(graph))
    assert id(second) not in moved
