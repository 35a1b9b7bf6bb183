"""What is fused, and that fused graphs give what the others give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir import verify
from intaglio.native import compiled
from intaglio.native.passes.elementwise_fusion import fuse_worthwhile
from intaglio.optimize.pipeline import optimize
from intaglio.runtime import interpreter

EXACT = ("add", "subtract", "multiply", "maximum")
UNARY = ("negative", "abs", "square", "floor")


def graph_of(function, *specs):
    return optimize(tf.function(function).get_concrete_function(*specs).frozen)


def kinds(graph):
    return [n.op.name for n in graph.nodes if n.op.name not in ("Placeholder", "Const")]


def test_a_chain_is_one_loop():
    graph = fuse_worthwhile(graph_of(lambda x: tf.tanh(x * 2.0) + 1.0, tf.TensorSpec([None, 3])))
    assert kinds(graph) == ["_FusedElementwise"]
    body = graph.nodes[-1].attrs["body"]
    assert kinds(body) == ["Mul", "Tanh", "AddV2"]
    assert graph.nodes[-1].name == "add"


def test_one_cheap_op_stays_as_it_is():
    graph = graph_of(lambda x, y: x + y, tf.TensorSpec([3]), tf.TensorSpec([3]))
    assert fuse_worthwhile(graph) is graph


def test_a_reduction_divides_clusters_that_need_it():
    def function(x):
        e = tf.exp(x - 1.0)
        return e / tf.reduce_sum(e, -1, keepdims=True) * 2.0

    graph = fuse_worthwhile(graph_of(function, tf.TensorSpec([8, 8])))
    verify.verify(graph)
    assert kinds(graph) == ["_FusedElementwise", "Sum", "_FusedElementwise"]


def test_a_loop_never_waits_for_itself():
    """add1 and add2 would fit one loop, but the sum of the first is part of the second."""

    def function(x):
        a = tf.exp(x) + x
        s = tf.reduce_sum(a)
        b = tf.exp(x) * s
        return a + b

    graph = graph_of(function, tf.TensorSpec([4]))
    fused = fuse_worthwhile(graph)
    verify.verify(fused)
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    wanted = interpreter.run_graph(graph, [x])
    np.testing.assert_allclose(compiled(graph)(x)[0], wanted[0], rtol=1e-6)


def test_values_of_unlike_shape_are_not_fused():
    def function(x, b):
        return x + tf.exp(b * 2.0 + 1.0)

    graph = fuse_worthwhile(graph_of(function, tf.TensorSpec([100, 8]), tf.TensorSpec([8])))
    bodies = [n.attrs["body"] for n in graph.nodes if "body" in n.attrs]
    assert [kinds(b) for b in bodies] == [["Mul", "AddV2", "Exp"]]


def test_effects_keep_their_order():
    v = tf.Variable(tf.ones([4]))

    def function(x):
        before = tf.exp(v * x)
        v.assign(before + 1.0)
        after = tf.exp(v * x)
        return before + after

    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([4]))
    graph = optimize(concrete.frozen)
    x = np.ones(4, np.float32)
    got = compiled(graph)(x, *concrete.capture_arrays)[0]
    first = np.exp(np.float32(1))
    np.testing.assert_allclose(got, first + np.exp(first + 1), rtol=1e-6)
    np.testing.assert_allclose(v.numpy(), first + 1, rtol=1e-6)


@st.composite
def programs(draw):
    steps = st.tuples(
        st.sampled_from((*EXACT, *UNARY, "sum", "rows")), st.integers(0, 30), st.integers(0, 30)
    )
    return draw(st.lists(steps, min_size=1, max_size=25))


@settings(deadline=None, max_examples=60)
@given(programs())
def test_fused_graphs_give_the_same_bits(steps):
    def function(x, b):
        values = [x, b]
        for name, i, j in steps:
            one, other = values[i % len(values)], values[j % len(values)]
            if name == "sum":
                values.append(tf.clip_by_value(tf.reduce_sum(one), -9.0, 9.0))
            elif name == "rows":
                values.append(tf.reduce_max(x + one, axis=0))
            elif name in EXACT:
                values.append(getattr(tf, name)(one, other))
            else:
                values.append(getattr(tf, name)(one))
        return values[-3:]

    for spec in (tf.TensorSpec([5, 4]), tf.TensorSpec([None, 4])):
        graph = graph_of(function, spec, tf.TensorSpec([4]))
        verify.verify(fuse_worthwhile(graph))
        rng = np.random.default_rng(0)
        arrays = [rng.integers(-3, 4, s).astype(np.float32) for s in ((5, 4), (4,))]
        wanted = interpreter.run_graph(graph, arrays)
        with np.errstate(all="ignore"):
            got = compiled(graph)(*arrays)
        for mine, theirs in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
