"""Fused ops read variables where the program reads them: between the effects before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir.graph import Graph
from intaglio.ir.verify import verify
from intaglio.native.passes.outlining import Cluster, outline
from intaglio.opdef import raw

# Arrays of these shapes are in memory, not in registers.
SHAPE = (6, 40)


def elementwise(u: Any, v: Any, w: Any, x: Any) -> Any:
    u.assign_sub(x)
    w[0].assign(u[-1])
    v.scatter_update(tf.IndexedSlices(x[:1], [4]))
    u.assign_add(v.read_value())
    return u + w


def reduced(u: Any, v: Any, w: Any, x: Any) -> Any:
    first = tf.reduce_sum(x * v)
    v.scatter_update(tf.IndexedSlices(tf.fill([1, SHAPE[1]], first), [3]))
    return first, tf.reduce_sum(x * v)


def reduced_rows(u: Any, v: Any, w: Any, x: Any) -> Any:
    first = tf.reduce_sum(x * v, 0)
    v.scatter_add(tf.IndexedSlices(first[tf.newaxis], [2]))
    second = tf.reduce_max(x - v, 0)
    v.scatter_sub(tf.IndexedSlices(second[tf.newaxis], [2]))
    return first, second, tf.reduce_max(x - v, 0), tf.reduce_sum(x * v, 0)


def branching(u: Any, v: Any, w: Any, x: Any) -> Any:
    first = tf.exp(-tf.abs(x)) * v
    if tf.reduce_sum(first) > 0.0:
        v.assign(x)
    else:
        v.assign_add(first)
    return first + tf.exp(-tf.abs(x)) * v, tf.reduce_mean(first - x), tf.reduce_mean(v - x)


def run(f: Any, jit_compile: bool | None, calls: int = 3) -> list[np.ndarray]:
    """All that some calls give, and the variables afterwards."""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=SHAPE).astype(np.float32))
    variables = [tf.Variable(rng.normal(size=SHAPE).astype(np.float32)) for _ in range(3)]

    def bound(x: Any) -> Any:
        return f(*variables, x)

    function = bound if jit_compile is False else tf.function(bound, jit_compile=jit_compile)
    results = [tf.nest.flatten(function(x)) for _ in range(calls)]
    return [r.numpy() for call in results for r in call] + [v.numpy() for v in variables]


@pytest.mark.parametrize("f", [elementwise, reduced, reduced_rows, branching])
@pytest.mark.parametrize("jit_compile", [None, True])
def test_what_is_computed_after_a_write_sees_it(f: Any, jit_compile: bool | None) -> None:
    for got, want in zip(run(f, jit_compile), run(f, False), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


VARIABLES, ROWS = ("u", "v"), ("[0]", "[2]", "[4]")
LINES = [
    "<a>.assign(<x> * 0.5)",
    "<a>.assign_add(<x> * 0.25)",
    "<a>.assign_sub(tf.tanh(<x>))",
    "<a>.scatter_update(tf.IndexedSlices(<x>[1:2], <i>))",
    "<a>.scatter_add(tf.IndexedSlices(tf.reduce_mean(<x>, 0, keepdims=True), <i>))",
    "<a><i>.assign(<x>[3])",
    "<a>[1:3].assign(<x>[-2:])",
    "x = tf.tanh(<x> + <a>)",
    "y = <x> * <a>",
    "y = y - tf.reduce_mean(<x> * <a>)",
    "y = <x> - tf.reduce_max(<a> - y, 1, keepdims=True)",
    "x = tf.nn.softmax(<x> * <a>)",
    "x = x + <a>[2] * y[0]",
    "t = t + tf.reduce_sum(<x> * <a>, 1)",
    "t = t + tf.reduce_max(<x> - <a>, 1)",
]


@st.composite
def bodies(draw: Any) -> str:
    """Lines of a program on three variables and two tensors."""
    lines = draw(st.lists(st.sampled_from(LINES), min_size=4, max_size=16))
    kinds = {"<a>": VARIABLES, "<x>": ("x", "y", *VARIABLES), "<i>": ROWS}
    for kind, names in kinds.items():
        for number, line in enumerate(lines):
            while kind in line:
                line = line.replace(kind, draw(st.sampled_from(names)), 1)
            lines[number] = line
    return "\n    ".join(
        ["def f(u, v, w, x):", "y, t = x, tf.zeros([6])", *lines, "return x, y, t"]
    )


@given(bodies())
@settings(max_examples=25)
def test_programs_give_what_they_give_eagerly(source: str) -> None:
    note(source)
    space: dict[str, Any] = {"tf": tf}
    exec(source, space)
    for got, want in zip(run(space["f"], True, 1), run(space["f"], False, 1), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_a_cluster_that_waits_for_itself_is_left_out() -> None:
    v = tf.Variable(tf.ones(SHAPE))

    def f(x: Any) -> Any:
        first = tf.tanh(x)
        v.assign_add(first)
        return tf.tanh(x * v.read_value())

    graph: Graph = tf.function(f).get_concrete_function(tf.TensorSpec(SHAPE)).frozen
    cluster = Cluster(1)
    cluster.nodes += [n for n in graph.nodes if n.op is raw.Tanh]
    assert len(cluster.nodes) == 2
    assert outline(graph, [cluster], raw._FusedElementwise) is graph
    cluster.nodes.pop()
    outlined = outline(graph, [cluster], raw._FusedElementwise)
    verify(outlined)
    effects = [n.name for n in graph.nodes if n.op.stateful]
    assert [n.name for n in outlined.nodes if n.op.stateful] == effects
