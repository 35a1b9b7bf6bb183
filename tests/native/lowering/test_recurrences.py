"""Recurrent functions and their gradients as one native function: loops, and the lists between them."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.cpython.numpy_libraries import vector_bytes
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize


def lstm(x, w, u, b):
    """With the states of all steps in an array."""
    steps = tf.transpose(x, [1, 0, 2])
    h = c = tf.zeros([tf.shape(x)[0], u.shape[0]])
    states = tf.TensorArray(tf.float32, size=tf.shape(steps)[0])
    for t in tf.range(tf.shape(steps)[0]):
        i, f, g, o = tf.split(tf.matmul(steps[t], w) + tf.matmul(h, u) + b, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        states = states.write(t, h)
    return states.stack(), c


def gru(x, w, u, b):
    """With the inputs of all steps in an array."""
    h = tf.zeros([tf.shape(x)[0], u.shape[0]])
    steps = tf.shape(x)[1]
    inputs = tf.TensorArray(tf.float32, size=steps, element_shape=[None, x.shape[2]])
    inputs = inputs.unstack(tf.transpose(x, [1, 0, 2]))
    for t in tf.range(steps):
        iz, ir, ig = tf.split(tf.matmul(inputs.read(t), w) + b, 3, 1)
        hz, hr, hg = tf.split(tf.matmul(h, u), 3, 1)
        z = tf.sigmoid(iz + hz)
        h = z * h + (1.0 - z) * tf.tanh(ig + tf.sigmoid(ir + hr) * hg)
    return h


def _step(w, u, b):
    return lambda h, x: tf.tanh(tf.matmul(x, w) + tf.matmul(h, u) + b)


def simple(x, w, u, b):
    """Slices of the input, which is not transposed."""
    h, step = tf.zeros([tf.shape(x)[0], u.shape[0]]), _step(w, u, b)
    for t in tf.range(tf.shape(x)[1]):
        h = step(h, x[:, t])
    return h


def scan(x, w, u, b):
    """tf.scan."""
    start = tf.zeros([tf.shape(x)[0], u.shape[0]])
    return tf.scan(_step(w, u, b), tf.transpose(x, [1, 0, 2]), start)


def fold(x, w, u, b):
    """tf.foldl."""
    start = tf.zeros([tf.shape(x)[0], u.shape[0]])
    return tf.foldl(_step(w, u, b), tf.transpose(x, [1, 0, 2]), start)


def until(x, w, u, b):
    """How many steps there are depends on the data."""
    h, step, t = tf.zeros([tf.shape(x)[0], u.shape[0]]), _step(w, u, b), 0
    while tf.reduce_sum(h * h) < 3.0 and t < tf.shape(x)[1]:
        h = h + step(h, x[:, t])
        t += 1
    return h


FUNCTIONS = {
    f.__name__: (f, gates)
    for f, gates in ((lstm, 4), (gru, 3), (simple, 1), (scan, 1), (fold, 1), (until, 1))
}


def gradient(function):
    """The gradients of a sum of squares by all arguments."""

    def run(*args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            made = tf.nest.flatten(function(*args))
            total = tf.add_n([tf.reduce_sum(v * v) for v in made])
        return tape.gradient(total, args)

    return run


def given(gates, batch=3, steps=7, features=5, units=6):
    """Inputs, weights and bias."""
    rng = np.random.default_rng(0)
    wide = gates * units
    shapes = (batch, steps, features), (features, wide), (units, wide), (wide,)
    return [tf.constant((rng.normal(size=s) * 0.4).astype("float32")) for s in shapes]


# What the order of sums changes, relative to the largest result: vectors of 32 bytes have one of their own.
ROUNDING = 2e-6 if vector_bytes() == 64 else 5e-6


def same(got, want):
    """Both are equal up to the order of sums."""
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want), strict=True):
        a, b = np.asarray(a), b.numpy()
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=ROUNDING * np.abs(b).max())


def whole(function, args):
    """The function's graph as one program."""
    concrete = tf.function(function, jit_compile=False).get_concrete_function(*args)
    return Program(optimize(concrete.frozen))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_program_gives_what_is_computed_eagerly(name, order):
    function, gates = FUNCTIONS[name]
    if (name, order) == ("lstm", 2):
        pytest.skip("the gradient of an array's gradient is a list of lists")
    args = given(gates)
    for _ in range(order):
        function = gradient(function)
    program = whole(function, args)
    wanted = function(*args)
    for _ in range(2):  # the second time in memory that has been used
        same(program.run(*[a.numpy() for a in args]), wanted)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_interpreted_and_eager_gradients_agree(name, order):
    function, gates = FUNCTIONS[name]
    args = given(gates)
    for _ in range(order):
        function = gradient(function)
    wanted = function(*args)
    for compiled in (True, False):
        run = tf.function(function, jit_compile=compiled)
        same(run(*args), wanted)
        same(run(*args), wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_batch_and_any_number_of_steps(name):
    function, gates = FUNCTIONS[name]
    args = given(gates)
    rest = [tf.TensorSpec(a.shape, a.dtype) for a in args[1:]]
    for shape in ([None, 7, 5], [3, None, 5], [None, None, 5]):
        signature = [tf.TensorSpec(shape, tf.float32), *rest]
        run = tf.function(gradient(function), jit_compile=True, input_signature=signature)
        for batch, steps in ((3, 7), (2, 7), (3, 4)):
            if (shape[0] or batch, shape[1] or steps) == (batch, steps):
                sizes = given(gates, batch, steps)
                same(run(*sizes), gradient(function)(*sizes))


def test_gradients_outside_of_the_function():
    for function, gates in FUNCTIONS.values():
        args = given(gates)
        run = tf.function(function, jit_compile=True)
        for _ in range(2):
            same(gradient(run)(*args), gradient(function)(*args))


def test_lists_that_are_added_up():
    def twice(x, n):
        rows = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
        total = tf.zeros([20])
        for i in tf.range(n):
            total += rows.read(i % 4) * rows.read((i + 1) % 4)
        for i in tf.range(n):
            total = total * 0.5 + rows.read(3 - i % 4) ** 2.0
        return total

    x = tf.reshape(tf.range(80.0), [4, 20]) * 0.01
    run = gradient(lambda x: twice(x, 6))
    same(whole(run, [x]).run(x.numpy()), run(x))


def products(program):
    """The products in loops, and those outside."""
    found = [n for n in program.writer.notes if n.node.op.name == "MatMul"]
    return [n for n in found if n.depth], [n for n in found if not n.depth]


@pytest.mark.parametrize("name", ["gru", "scan", "fold"])
def test_inputs_are_multiplied_before_the_loop_and_weights_gathered_after_it(name):
    function, gates = FUNCTIONS[name]
    within, outside = products(whole(function, given(gates)))
    assert len(within) == 1 and len(outside) == 1  # by u and by w
    within, outside = products(whole(gradient(function), given(gates)))
    assert not any(n.node.attrs["transpose_a"] for n in within)
    # By w, and the gradients of w and u.
    assert sum(n.node.attrs["transpose_a"] for n in outside) == 2


def test_loops_that_may_end_early_multiply_as_they_go():
    function, gates = FUNCTIONS["until"]
    within, outside = products(whole(gradient(function), given(gates)))
    assert not outside
    assert len(within) == 6


def test_lists_as_long_as_their_loop_take_no_more_memory():
    def run(x):
        rows = tf.TensorArray(tf.float32, 5, element_shape=[100])
        for i in tf.range(5):
            x = tf.sin(x)
            rows = rows.write(i, x)
        return tf.reduce_sum(rows.stack(), 0)

    x = tf.linspace(0.0, 1.0, 100)
    program = whole(run, [x])
    np.testing.assert_allclose(program.run(x.numpy())[0], run(x), rtol=1e-6)
    assert program.memory < 20 * x.numpy().nbytes


def test_an_element_stays_what_it_was_when_its_list_changes():
    def run(x):
        rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(x)
        total = tf.zeros([20])
        for i in tf.range(3):
            before = rows.read(i)
            rows = rows.write(i, before * 2.0)
            rows = rows.write((i + 1) % 3, rows.read(i) + before)
            total = total * 0.5 + before
        return total, rows.stack()

    x = tf.reshape(tf.range(60.0), [3, 20])
    same(whole(run, [x]).run(x.numpy()), run(x))


# -- lists that programs take and give --------------------------------------------------------


def rows_of(handle):
    """The elements of a list as a function's result."""
    return tf.raw_ops.TensorListStack(
        input_handle=handle, element_shape=[20], element_dtype=tf.float32
    )


def growing(x, n):
    """A list of n elements."""
    shape, most = tf.constant([20]), tf.constant(-1)
    rows = tf.raw_ops.EmptyTensorList(
        element_shape=shape, max_num_elements=most, element_dtype=tf.float32
    )
    for _ in tf.range(n):
        x = x * 2.0
        rows = tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=x)
    return rows


def shrinking(rows):
    """The sum of the last two elements, and a list without them and with that."""
    pop = tf.raw_ops.TensorListPopBack
    rest, last = pop(input_handle=rows, element_shape=[20], element_dtype=tf.float32)
    rest, other = pop(input_handle=rest, element_shape=[20], element_dtype=tf.float32)
    total = last + other
    return total, tf.raw_ops.TensorListPushBack(input_handle=rest, tensor=total)


def test_programs_hand_lists_to_each_other():
    x = tf.linspace(1.0, 2.0, 20)
    grow = tf.function(growing, jit_compile=True)
    shrink = tf.function(shrinking, jit_compile=True)
    for _ in range(2):
        rows = grow(x, tf.constant(5))
        before = rows_of(rows)
        total, others = shrink(rows)
        same(before, tf.stack([x * 2.0**i for i in range(1, 6)]))
        same(total, x * 48.0)
        same(rows_of(others), tf.stack([x * 2.0, x * 4.0, x * 8.0, x * 48.0]))
        np.testing.assert_array_equal(rows_of(rows), before)  # it is unchanged
        # A list that was changed outside is taken as it is then.
        more = tf.raw_ops.TensorListSetItem(input_handle=rows, index=4, item=x)
        same(shrink(more)[0], x * 17.0)
        same(shrink(rows)[0], x * 48.0)


def test_lists_that_a_program_cannot_take_are_the_interpreters():
    shrink = tf.function(shrinking, jit_compile=True)
    x = tf.linspace(1.0, 2.0, 20)
    grow = tf.function(growing, jit_compile=True)
    same(shrink(grow(x, tf.constant(2)))[0], x * 6.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty list"):
        shrink(grow(x, tf.constant(1)))
    unset = tf.raw_ops.TensorListReserve(
        element_shape=[20], num_elements=3, element_dtype=tf.float32
    )
    same(shrink(unset)[0], tf.zeros([20]))


def test_stacks_of_loops_take_no_more_memory_than_their_elements():
    function, gates = FUNCTIONS["gru"]
    program = whole(gradient(function), given(gates, batch=8, steps=30, units=16))
    # Eight values of a batch for each iteration, two products of all rows, and stacks of both sides.
    assert program.memory < 30 * 8 * 16 * 4 * 24


def test_lists_of_loops_grow_further():
    def run(x):
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[20])
        empty = rows.stack()
        kept = tf.raw_ops.EmptyTensorList(
            element_shape=[20], max_num_elements=-1, element_dtype=tf.float32
        )
        push = tf.raw_ops.TensorListPushBack
        for _ in tf.range(3):
            kept = push(input_handle=kept, tensor=x)
            x = x * 2.0
        shorter = kept
        for _ in tf.range(4):
            kept = push(input_handle=kept, tensor=x)
            x = x + 1.0
        kept = push(input_handle=kept, tensor=x * 0.5)
        stack = tf.raw_ops.TensorListStack
        both = [
            stack(input_handle=k, element_shape=[20], element_dtype=tf.float32)
            for k in (kept, shorter)
        ]
        return [*both, tf.shape(empty)]

    x = tf.linspace(0.0, 1.0, 20)
    compiled = tf.function(run, jit_compile=True)
    for _ in range(2):
        same(compiled(x), run(x))


def test_lists_that_one_branch_pushes_to():
    def run(x, n):
        rows = tf.raw_ops.EmptyTensorList(
            element_shape=[20], max_num_elements=-1, element_dtype=tf.float32
        )
        for i in tf.range(n):
            if i % 2 == 0:
                rows = tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=x)
            x = x * 2.0
        return rows_of(rows)

    x, n = tf.linspace(0.0, 1.0, 20), tf.constant(5)
    same(whole(run, [x, n]).run(x.numpy(), n.numpy()), run(x, n))
