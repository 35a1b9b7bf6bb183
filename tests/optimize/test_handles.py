"""A function that captures a variable which it is also called with: two names for one resource."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir.resources import origin
from intaglio.optimize.handles import share_handles

START = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def results(function, mode: str):
    """What calls of `function(v)(v)` give, and the variable afterwards."""
    v = tf.Variable(START)
    body = function(v)
    if mode == "eager":
        run = lambda: body(v)  # noqa: E731
    elif mode == "graph":
        traced = tf.function(body)
        run = tf.function(lambda: tf.identity(traced(v)))
    elif mode == "compiled":
        traced = tf.function(body)
        run = tf.function(lambda: tf.identity(traced(v)), jit_compile=True)
    else:
        traced = tf.function(body, jit_compile=True)
        outer = True if mode == "both compiled" else None
        run = tf.function(lambda: tf.identity(traced(v)), jit_compile=outer)
    found = [run().numpy()]
    for _ in range(2):  # graphs are optimised from the second call on
        v.assign(START)
        found.append(run().numpy())
    return found, v.numpy()


def assert_same(function) -> None:
    expected, variable = results(function, "eager")
    for mode in ("graph", "compiled", "compiled inside", "both compiled"):
        got, after = results(function, mode)
        np.testing.assert_array_equal(got, expected, err_msg=mode)
        np.testing.assert_array_equal(after, variable, err_msg=mode)


def in_a_branch(v):
    def body(p):
        if v[0] > 0.0:
            v.assign_add(p)
            v.assign_add(p)
        return p + 0.0

    return body


def in_a_loop(v):
    def body(p):
        for _ in tf.range(3):
            for _ in range(2):
                v.scatter_nd_add([[0]], tf.cast(p, tf.float64)[:1])
        return p + 0.0

    return body


def read_between(v):
    def body(p):
        before = p + 0.0
        for _ in tf.range(2):
            a = p + 0.0
            v.assign_add(tf.ones([5], tf.float64))
            before += p - a
            if before[0] > 2.0:
                p.assign(v * 2.0)
                before += v
        return before + p

    return body


@pytest.mark.parametrize("function", [in_a_branch, in_a_loop, read_between])
def test_writes_by_one_name_are_read_by_the_other(function) -> None:
    assert_same(function)


STATEMENTS = st.sampled_from(["add", "double", "row", "read"])
NAMES = st.sampled_from([0, 1])
PROGRAMS = st.recursive(
    st.tuples(STATEMENTS, NAMES, NAMES),
    lambda inner: st.tuples(
        st.sampled_from(["if", "for", "call"]), NAMES, st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=6,
)


def carried_out(program, names, total):
    """`total` after a statement on the variable by its two names."""
    kind, name, rest = program
    to = names[name]
    if kind == "if":

        def branch():
            return block(rest, names, total)

        return tf.cond(to[0] < 40.0, branch, lambda: total + 1.0)
    if kind == "for":

        def step(i, total):
            return i + 1, block(rest, names, total)

        return tf.while_loop(lambda i, total: i < 2, step, [0, total])[1]
    if kind == "call":
        return tf.function(lambda p, t: block(rest, [p, names[1]], t))(to, total)
    source = names[rest]
    if kind == "add":
        to.assign_add(source * 0.5 + 1.0)
    elif kind == "double":
        to.assign(source + to)
    elif kind == "row":
        to.scatter_nd_add([[1]], source[:1])
    else:
        total = total + source * 0.25
    return total


def block(programs, names, total):
    for program in programs:
        total = carried_out(program, names, total)
    return total


@given(st.lists(PROGRAMS, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_random_programs_of_two_names(programs) -> None:
    def function(v):
        def body(p):
            return block(programs, [p, v], tf.zeros([5], tf.float64)) + p + v

        return body

    assert_same(function)


def test_graphs_use_one_input_for_each_resource() -> None:
    v = tf.Variable(START)
    body = tf.function(in_a_loop(v))
    graph = tf.function(lambda: tf.identity(body(v))).get_concrete_function().frozen
    shared = share_handles(graph)
    (call,) = [n for n in shared.nodes if n.op.control_flow == "call"]
    callee = call.attrs["f"]
    used = {id(origin(x)) for n in callee.nodes for x in n.inputs if x.dtype is tf.resource}
    assert len([x for x in callee.inputs if x.dtype is tf.resource]) == 2
    assert len(used) == 1
    assert share_handles(shared) is shared
