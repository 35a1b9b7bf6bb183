"""Variables in native code: what was read stays what it was, and effects keep their order."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import tiers
from tests.native.on_variables import AT, LARGE, READS, UNCHANGED, WRITES, agree, modes


@pytest.mark.parametrize("name", UNCHANGED)
def test_what_was_read_is_as_before_the_assignment(name):
    def program(v, u):
        old = UNCHANGED[name](v)
        v.assign_add(u)
        again = UNCHANGED[name](v)
        v.assign(tf.sqrt(u))
        u.assign_add(v)
        return old, again

    agree(program)


AFTERWARDS = {
    "sum": lambda y: tf.reduce_sum(y, -1),
    "softmax": tf.nn.softmax,
    "slice": lambda y: y[1:3, 2:4] if len(y.shape) == 2 else y[..., 2:4],
    "product": lambda y: y @ tf.ones([y.shape[-1], 3], y.dtype) if len(y.shape) > 1 else y,
}


@pytest.mark.parametrize("name", [n for n in UNCHANGED if n != "bitcast"])
def test_what_comes_after_sees_the_right_shape(name):
    def program(v, u):
        value = UNCHANGED[name](v)
        return [then(value) for then in AFTERWARDS.values()]

    eager, *others = modes(program)
    for other in others:
        for want, got in zip(eager, other, strict=True):
            assert want.shape == got.shape
            np.testing.assert_allclose(want, got, 1e-5)


def test_assignments_of_each_others_values():
    def program(v, u):
        one, other = tf.tile(v, [1, 1]), tf.reverse(u, [])
        v.assign(other)
        u.assign(one)
        return one, other, v + u

    agree(program)


def test_a_branch_that_assigns_overwrites_nothing_that_is_used_afterwards():
    def program(v, u):
        old, part = tf.tile(v, [1, 1]), v[2:4]

        def change():
            inner = tf.guarantee_const(v)
            v.assign(u + 1)
            return inner + v

        made = tf.cond(tf.reduce_sum(u) > 0, change, lambda: v - 1)
        return old, part, made

    agree(program)


def test_a_loop_that_assigns_overwrites_nothing_that_is_used_afterwards():
    def program(v, u):
        old = tf.reverse(v, [])

        def iteration(i, total, kept):
            now = tf.tile(v, [1, 1])
            v.assign_add(u)
            return i + 1, total + now, now

        _, total, kept = tf.while_loop(
            lambda i, *_: i < 3, iteration, (0, tf.zeros_like(u), tf.tile(v, [1, 1]))
        )
        return old, total, kept, v + 1

    agree(program)


def test_a_branchs_result_is_assigned():
    def program(v, u):
        old = tf.tile(v, [1, 1])
        v.assign(tf.cond(tf.reduce_sum(u) > 0, lambda: u * 2, lambda: old))
        return old, v[:2]

    agree(program)


def test_a_list_of_a_variables_rows_outlives_the_assignment():
    def program(v, u):
        rows = tf.TensorArray(tf.float32, 6, clear_after_read=False).unstack(tf.tile(v, [1, 1]))
        v.assign(u)
        return rows.read(3), rows.stack(), v + 1

    agree(program)


def test_a_list_that_begins_in_the_middle_of_a_value_is_stacked_from_there():
    # Its length is not known, so that the caller takes the rows out of the function's memory.
    def program(v, u):
        rows = tf.raw_ops.TensorListFromTensor(tensor=tf.sqrt(v)[1:], element_shape=[8])
        rows, _ = tf.raw_ops.TensorListPopBack(
            input_handle=rows, element_shape=[8], element_dtype=tf.float32
        )
        v.assign(u)
        return tf.raw_ops.TensorListStack(
            input_handle=rows, element_shape=[8], element_dtype=tf.float32, num_elements=-1
        )

    agree(program)


# -- the order of effects ----------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("read", READS)
def test_reads_and_writes_keep_their_order(read, write):
    def program(v, u):
        x = tf.sqrt(u + 1.0)
        before = READS[read](v)
        WRITES[write](v, x)
        between = READS[read](v)
        v.assign_add(x)
        after = READS[read](v)
        WRITES[write](v, x * 2.0)
        return before, between, after, READS[read](v), READS["gather"](u)

    agree(program)


def test_gathered_rows_of_a_variable_are_written_to_another():
    def program(v, u):
        u.assign_add(v)
        v.scatter_nd_add(AT, tf.gather(u, AT[:, 0]))
        return tf.gather(v, AT[:, 0])

    agree(program)


@pytest.fixture
def soon(monkeypatch):
    """Every graph that trains is compiled after the first call, and runs as code from the third on."""
    monkeypatch.setattr(tiers, "MIN_CALLS", 1)
    monkeypatch.setattr(tiers, "MAX_CALLS", 1)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)
    monkeypatch.setattr(tiers, "HOT_SHARE", 0.0)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("read", READS)
def test_reads_after_writes_of_plain_functions_that_become_code(read):
    def program(v, u):
        x = tf.sqrt(u + 1.0)
        before = READS[read](u)
        u.assign_add(x)
        after = READS[read](u)
        v.scatter_nd_add(AT, tf.gather(u, AT[:, 0]))
        return before, after, READS[read](v)

    eager, plain = ([tf.Variable(LARGE), tf.Variable(LARGE * 2)] for _ in range(2))
    function = tf.function(lambda: program(*plain))
    run = None
    for _ in range(6):
        for want, got in zip(program(*eager), function(), strict=True):
            np.testing.assert_allclose(want, got, rtol=1e-6)
        run = function.get_concrete_function().optimized_run()
        if run.compiling is not None:
            run.compiling.join()
    assert run.native
    for want, got in zip(eager, plain, strict=True):
        np.testing.assert_allclose(want.numpy(), got.numpy(), rtol=1e-6)
