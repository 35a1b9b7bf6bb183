"""Functions of several lists: eager, interpreted, compiled, and changed over to machine code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir import walk
from intaglio.native import tiers
from intaglio.native.passes.list_order import NEW, own_lists
from intaglio.opdef import raw
from intaglio.optimize.pipeline import optimize

X = np.linspace(-1.0, 1.5, 12, dtype=np.float32).reshape(3, 4)
Y = np.linspace(0.5, -1.0, 15, dtype=np.float32).reshape(3, 5)


def two_maps(x, y):
    a = tf.map_fn(lambda e: tf.tanh(e) * tf.reduce_sum(e), x)
    b = tf.map_fn(lambda e: tf.exp(-e) * e[0], y)
    return tf.reduce_sum(a) + tf.reduce_sum(b), a, b


def two_scans(x, y):
    a = tf.scan(lambda s, e: s * 0.5 + e, x)
    return a, tf.scan(lambda s, e: s + tf.tanh(e), y), tf.foldl(tf.add, y)


def two_layers(x, y):
    """A recurrent net whose first layer's states the second one reads, large and small."""
    first = tf.TensorArray(tf.float32, 3)
    second = tf.TensorArray(tf.float32, 3)
    h, g = tf.zeros([4]), tf.zeros([4, 5])
    for t in tf.range(3):
        h = tf.tanh(x[t] + h)
        g = tf.tanh(h[:, None] * y[t] + g)
        first, second = first.write(t, h), second.write(t, g)
    return first.stack(), second.stack()


def dtypes(x, y):
    a = tf.map_fn(lambda e: tf.cast(e * 10.0, tf.int32), x, fn_output_signature=tf.int32)
    b = tf.map_fn(lambda e: e > 0.0, y, fn_output_signature=tf.bool)
    c = tf.map_fn(
        lambda e: tf.cast(tf.reduce_sum(e), tf.float64), y, fn_output_signature=tf.float64
    )
    return a, b, c


def nested(x, y):
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(3):
        row = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for j in tf.range(4):
            row = row.write(j, x[i, j] * y[i])
        rows = rows.write(i, row.stack())
    return rows.stack(), tf.map_fn(lambda e: tf.map_fn(lambda f: f * 2.0, e), x)


def branches(x, y):
    a, b = tf.TensorArray(tf.float32, 2), tf.TensorArray(tf.float32, 2)
    if tf.reduce_sum(x) > 0.0:
        a, b = a.write(0, x[0]), b.write(0, y[0])
    else:
        a, b = a.write(0, x[1]), b.write(0, y[1])
    return a.write(1, x[2]).stack(), b.write(1, y[2]).stack()


def stacked_in_branches(x, y):
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(tf.cast(tf.reduce_sum(x), tf.int32) + 1):
        rows = rows.write(i, y[0] * tf.cast(i, tf.float32))
    whole = rows.stack()
    total = tf.cond(x[0, 0] > 0.0, lambda: tf.reduce_sum(whole), lambda: tf.reduce_sum(whole * 2.0))
    for _ in tf.range(2):
        if total > -1.0:
            total += tf.reduce_mean(rows.stack())
    return total, whole


def stacked_before_it_changes(x, y):
    """Rows whose number is data, of a list that is written afterwards."""
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
    for i in tf.range(tf.cast(tf.reduce_sum(x), tf.int32) + 1):
        rows = rows.write(i, y[0])
    before = rows.stack()
    return before, rows.write(0, y[1] * 100.0).stack()


def unlike_elements(x, y):
    """One list for every element's shape."""
    a = tf.TensorArray(tf.float32, 1, infer_shape=False)
    return a.write(0, x).read(0), a.write(0, y).read(0)


PROGRAMS = [
    two_maps,
    two_scans,
    two_layers,
    dtypes,
    nested,
    branches,
    stacked_in_branches,
    stacked_before_it_changes,
    unlike_elements,
]


def agree(want, got):
    for a, b in zip(tf.nest.flatten(want), tf.nest.flatten(got), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_lists_are_those_of_eager_programs(program):
    given = tf.constant(X), tf.constant(Y)
    want = program(*given)
    agree(want, tf.function(program)(*given))
    agree(want, tf.function(program, jit_compile=True)(*given))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_step_with_lists_changes_over(program, monkeypatch):
    monkeypatch.setattr(tiers, "MIN_CALLS", 2)
    monkeypatch.setattr(tiers, "MAX_CALLS", 2)
    monkeypatch.setattr(tiers, "MIN_INTERPRETED_SECONDS", 0.0)
    v = tf.Variable(0.0)

    @tf.function
    def step(x, y):
        v.assign_add(1.0)
        return program(x * v, y)

    for i in range(1, 8):
        x, y = tf.constant(X), tf.constant(Y)
        agree(program(x * float(i), y), step(x, y))


def test_each_new_list_is_of_its_own():
    given = [tf.TensorSpec([3, 4]), tf.TensorSpec([3, 5])]
    graph = optimize(tf.function(two_maps).get_concrete_function(*given).frozen)
    own = own_lists(graph)
    assert sum(n.op in NEW for n in graph.nodes) == 1
    made = [n for n in own.nodes if n.op in NEW]
    users = walk.uses(own)
    assert len(made) == 2
    assert all(len(users[id(n.outputs[0])]) == 1 for n in made)


def test_a_list_keeps_what_is_declared_of_it_through_machine_code():
    """Its limit, and the shape of its elements, which are not those that happen to be there."""
    empty = tf.raw_ops.EmptyTensorList(
        element_shape=-1, max_num_elements=3, element_dtype=tf.float32
    )

    @tf.function(jit_compile=True)
    def push(handle, item):
        return tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=item)

    handle = push(push(empty, tf.ones([4])), tf.ones([4]))
    longer = tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=tf.ones([5]))
    assert tf.raw_ops.TensorListLength(input_handle=longer).numpy() == 3
    handle = push(handle, tf.ones([4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="full list"):
        push(handle, tf.ones([4]))


@pytest.mark.parametrize("width", [4, 17, 70])
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("initial", [False, True])
def test_a_list_grows_within_a_loop_and_after_it(width, rows, initial):
    """The gradient of a scan: its loop pushes elements onto a list, and one is pushed after it."""
    x = tf.constant(np.linspace(-1.0, 1.0, rows * width).reshape(rows, width), tf.float32)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            start = tf.ones([width]) if initial else None
            y = tf.reduce_sum(tf.scan(lambda s, e: tf.sin(s) + e, x, start) ** 2)
        return tape.gradient(y, x)

    def pushes(x):
        ta = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[width])
        h = x[0]
        for i in tf.range(rows):
            h = tf.tanh(h) + x[i]
            ta = ta.write(ta.size(), h)
        ta = ta.write(ta.size(), h * 2.0)
        for i in tf.range(rows):
            h = tf.cos(h) * x[i]
            ta = ta.write(ta.size(), h)
        return ta.write(ta.size(), h - 1.0).stack()

    for f in (gradient, pushes):
        np.testing.assert_allclose(tf.function(f, jit_compile=True)(x), f(x), rtol=1e-4, atol=1e-5)


def test_lists_of_elements_without_numbers() -> None:
    """They have a length; what is read of them has no numbers either."""

    @tf.function(jit_compile=True)
    def f(x, n):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[0, 2])
        i = 0
        while i < n and x[i] > 0.0:
            rows = rows.write(i, tf.zeros([0, 2]))
            i += 1
        read = rows.read(0) if n > 0 else tf.zeros([0, 2])
        return rows.size(), tf.reduce_sum(read), x * 2.0

    size, total, twice = f(tf.constant([1.0, 2.0, -1.0]), tf.constant(3))
    assert (size.numpy(), total.numpy()) == (2, 0.0)
    assert twice.numpy().tolist() == [2.0, 4.0, -2.0]


def test_lists_that_are_resized() -> None:
    """To fewer elements, and to more, which are zeros, also where the list had others there before."""

    @tf.function(jit_compile=True)
    def f(x, fewer):
        form = np.array([2], np.int32)
        whole = raw.TensorListFromTensor(x, form)
        cut = raw.TensorListResize(whole, fewer)
        grown = raw.TensorListResize(cut, np.int32(5))
        rows = raw.TensorListStack(grown, form, element_dtype=tf.float32, num_elements=5)
        return rows, raw.TensorListStack(whole, form, element_dtype=tf.float32, num_elements=3)

    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(3, 2)
    for fewer in (0, 1, 2, 3):
        rows, whole = f(tf.constant(x), tf.constant(fewer))
        np.testing.assert_array_equal(rows, np.pad(x[:fewer], [(0, 5 - fewer), (0, 0)]))
        np.testing.assert_array_equal(whole, x)


UPDATES = st.lists(
    st.tuples(st.sampled_from(["set", "push", "pop", "shrink", "grow"]), st.integers(0, 7)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@given(UPDATES, st.integers(0, 127), st.sampled_from([2, 40]))
@example([("shrink", 0), ("set", 0)], 0b110, 2)
@example([("shrink", 0), ("set", 1)], 0b101, 2)
@example([("pop", 0), ("set", 0)], 0b110, 40)
@example([("shrink", 0), ("shrink", 1), ("set", 2)], 0b1011, 40)
def test_an_update_of_a_list_leaves_all_others(steps, results: int, width: int) -> None:
    """Each step makes a list of one of those before, which may be used again.

    Only some are results (bits): the last use of a list is to be an update as well.
    """
    form = np.array([width], np.int32)

    def f(x, one):
        whole = raw.TensorListReserve(form, np.int32(3), element_dtype=tf.float32)
        for i in range(3):
            whole = raw.TensorListSetItem(whole, i, x * (i + 1.0))
        lists, popped = [(whole, 3)], []
        for number, (step, which) in enumerate(steps):
            old, size = lists[which % len(lists)]
            item = x * (number + 10.0)
            if step == "push":
                lists.append((raw.TensorListPushBack(old, item), size + 1))
            elif step == "grow":
                lists.append((raw.TensorListResize(old, one + size), size + 1))
            elif size and step == "set":
                lists.append((raw.TensorListSetItem(old, number % size, item), size))
            elif size and step == "pop":
                new, last = raw.TensorListPopBack(old, form, element_dtype=tf.float32)
                lists.append((new, size - 1))
                popped.append(last)
            elif size:
                lists.append((raw.TensorListResize(old, size - one), size - 1))
        found = [a for i, (a, _) in enumerate(lists) if results >> i & 1]
        return [raw.TensorListStack(a, form, element_dtype=tf.float32) for a in found], popped

    arguments = tf.ones([width]), tf.constant(1)
    want, got = f(*arguments), tf.function(f, jit_compile=True)(*arguments)
    tf.nest.map_structure(np.testing.assert_array_equal, got, want)
