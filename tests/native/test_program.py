"""Whole graphs as one native function: control flow, memory, variables, lists, and what they refuse."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.memory_plan import Arena
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize


def program_of(function, *args):
    """The function's graph for these arguments as a program."""
    concrete = tf.function(function, jit_compile=False).get_concrete_function(*args)
    return Program(optimize(concrete.frozen))


def check(function, *args):
    """The program gives, bit for bit, what the function gives eagerly."""
    program = program_of(function, *args)
    made = program.run(*[a._array for a in args])
    wanted = tf.nest.flatten(function(*args))
    for got, want in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(got, want.numpy())
        assert got.dtype == want.dtype and got.shape == want.shape
    return program


# -- control flow -----------------------------------------------------------------------------


def test_large_values_of_a_loop_alternate_in_memory():
    def swap(x, y):
        for _ in tf.range(7):
            x, y = y, x * 0.5 - y
        return x, y

    rng = np.random.default_rng(0)
    x, y = (tf.constant(rng.normal(size=(9, 8)).astype("float32")) for _ in range(2))
    check(swap, x, y)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_loops_of_any_trip_count_leave_their_inputs_alone(steps):
    def run(x, n):
        first = x
        for _ in tf.range(n):
            x = x + 1.0
        return x, first

    x = tf.zeros([5, 5])
    check(run, x, tf.constant(steps))
    assert not x.numpy().any()


def test_branches_return_inputs_and_new_values():
    def run(x, flag):
        y = x * 2.0
        if flag:
            a, b = x, y + 1.0
        else:
            a, b = y, x
        return a, b, y

    x = tf.reshape(tf.range(30.0), [5, 6])
    check(run, x, tf.constant(True))
    check(run, x, tf.constant(False))


def test_nested_loops_branches_and_cases():
    def run(x, n):
        total = tf.zeros([3])
        for i in tf.range(n):
            for j in tf.range(i):
                if tf.reduce_sum(x) > 3.0:
                    x = x * 0.5
                else:
                    x = x + tf.cast(j, tf.float32)
            total += tf.switch_case(
                i % 3, [lambda x=x: x, lambda x=x: x * 2.0, lambda x=x: x[::-1]]
            )
        return total, x

    check(run, tf.constant([1.0, 2.0, 3.0]), tf.constant(8))


def test_rows_at_indices_that_are_data():
    def run(x, i):
        y = tf.zeros([6])
        while i >= -4:
            y = y + x[i] - tf.gather(x, 0)
            i -= 1
        return y

    check(run, tf.reshape(tf.range(24.0), [4, 6]), tf.constant(3))


# -- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 2), (7, 6, 40)])
def test_indices_of_later_axes_that_are_data(shape):
    def run(x, i):
        return x[:, i], x[:, :, i], x[:, i] * 2.0

    x = tf.reshape(tf.range(float(np.prod(shape))), shape)
    for i in (0, 1, -1, -2):
        check(run, x, tf.constant(i))
    compiled = tf.function(run, jit_compile=True)
    compiled(x, tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        compiled(x, tf.constant(40))


def test_gradients_of_indices_of_later_axes_add_up_in_place():
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros([7, 40])
            for i in tf.range(6):
                h = h * 0.5 + tf.sin(x[:, -1 - i])
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, x)

    x = tf.reshape(tf.range(7.0 * 6.0 * 40.0), [7, 6, 40]) * 0.01
    program = program_of(run, x)
    added = [n.node for n in program.writer.notes if n.node.op.name == "_AddAt"]
    assert added and all(node.attrs["axis"] == 1 for node in added)
    for _ in range(2):
        np.testing.assert_allclose(program.run(x._array)[0], run(x), 1e-5, 1e-6)


def test_the_interpreter_reports_failed_guards():
    @tf.function(jit_compile=True)
    def divided(x, y):
        return x // y

    one = tf.constant([4, 6])
    np.testing.assert_array_equal(divided(one, tf.constant([2, 4])), [2, 1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        divided(one, tf.constant([2, 0]))
    smallest = tf.constant([-(2**31), 7])
    made = divided(smallest, tf.constant([-1, 2]))
    np.testing.assert_array_equal(made, [-(2**31), 3])

    @tf.function(jit_compile=True)
    def element(x, i):
        return x[i] + 1.0

    row = tf.range(40.0)
    assert element(row, tf.constant(39)).numpy() == 40.0
    for wrong in (40, -41):
        with pytest.raises(tf.errors.InvalidArgumentError):
            element(row, tf.constant(wrong))


def test_refusing_leaves_variables_as_they_were():
    v = tf.Variable([1, 2, 3])

    @tf.function(jit_compile=True)
    def step(y):
        for _ in tf.range(2):
            v.assign_add([1, 1, 1])
            v.assign(v // y)

    step(tf.constant([1, 1, 1]))
    np.testing.assert_array_equal(v, [3, 4, 5])
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant([1, 0, 1]))


def test_values_without_elements_and_of_unknown_shape_are_not_native():
    with pytest.raises(Unsupported):
        program_of(lambda x: x + 1.0, tf.zeros([0]))
    with pytest.raises(Unsupported):
        program_of(lambda x: tf.boolean_mask(x, x > 0.0), tf.zeros([5]))


# -- lists ------------------------------------------------------------------------------------


def test_arrays_that_grow_and_are_stacked():
    def run(x, n):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            x = x * 1.5
            rows = rows.write(i, x)
        return rows.stack()

    for shape in ([3], [5, 7]):
        x = tf.ones(shape)
        program = program_of(run, x, tf.constant(4))
        (got,) = program.run(x._array, np.asarray(9, np.int32))
        np.testing.assert_array_equal(got, run(x, tf.constant(9)))


def test_arrays_of_a_known_size_are_read_and_written():
    def run(x):
        rows = tf.TensorArray(tf.float32, 4, element_shape=[3], clear_after_read=False)
        for i in tf.range(4):
            rows = rows.write(i, x + tf.cast(i, tf.float32))
        total = tf.zeros([3])
        for i in tf.range(4):
            total += rows.read(3 - i) * tf.cast(i, tf.float32)
        return total, rows.stack()

    check(run, tf.constant([1.0, 2.0, 3.0]))


def test_maps_and_scans():
    def run(x):
        return tf.map_fn(lambda row: row * 2.0, x), tf.scan(lambda a, b: a * 0.5 + b, x)

    x = tf.reshape(tf.range(12.0), [4, 3])
    compiled = tf.function(run, jit_compile=True)
    for got, want in zip(compiled(x), run(x), strict=True):
        np.testing.assert_array_equal(got, want)


# -- variables --------------------------------------------------------------------------------


def test_variables_are_written_in_place_unless_the_value_has_other_references():
    v = tf.Variable(np.zeros([20, 20], "float32"))

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        return tf.reduce_sum(x)

    x = tf.ones([20, 20])
    step(x)
    address = v.handle._array._value.ctypes.data
    step(x)
    assert v.handle._array._value.ctypes.data == address
    held = v.read_value()
    step(x)
    assert held.numpy()[0, 0] == 2.0 and v.numpy()[0, 0] == 3.0


def test_values_that_were_read_before_an_assignment_stay():
    v = tf.Variable(np.arange(30, dtype="float32"))

    @tf.function(jit_compile=True)
    def step():
        old = v.read_value()
        v.assign(v * 2.0)
        middle = v.read_value()
        v.assign(tf.reverse(v, [0]))
        return old, middle, v.read_value()

    for _ in range(3):
        before = v.numpy()
        old, middle, new = step()
        np.testing.assert_array_equal(old, before)
        np.testing.assert_array_equal(middle, before * 2)
        np.testing.assert_array_equal(new, (before * 2)[::-1])
        np.testing.assert_array_equal(new, v)


def test_a_variable_without_a_value_is_reported():
    v = tf.Variable(tf.ones([3]))
    f = tf.function(lambda: v.assign_add(tf.ones([3])) * 1.0, jit_compile=True)
    f()
    v.handle._array.clear()
    with pytest.raises(tf.errors.OpError):
        f()


def test_threads_add_to_one_variable():
    v = tf.Variable(np.zeros([50, 50], "float32"))

    @tf.function(jit_compile=True)
    def step(x):
        for _ in tf.range(3):
            v.assign_add(x)
        return x * 2.0

    x = tf.ones([50, 50])
    step(x)

    def work():
        for _ in range(100):
            step(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(v, np.full([50, 50], 3.0 * 401))


# -- memory -----------------------------------------------------------------------------------


def test_memory_is_used_again():
    def run(x):
        for _ in range(6):
            x = tf.transpose(tf.tanh(tf.transpose(x)) + 1.0)
        return x

    program = program_of(run, tf.zeros([40, 50]))
    assert program.memory <= 3 * 40 * 50 * 4 + 256


def test_blocks_that_are_released_join():
    arena = Arena()
    first, second, third = (arena.block(100) for _ in range(3))
    assert (first.offset, second.offset, third.offset, arena.size) == (0, 128, 256, 384)
    arena.hold(first)
    for block in (first, second):
        arena.release(block)
    assert arena.block(200).offset == 384
    arena.release(first)
    assert arena.block(256).offset == 0


def test_arrays_that_lie_otherwise_or_have_other_shapes():
    program = program_of(lambda x: x * 2.0 + 1.0, tf.zeros([4, 6]))
    x = np.arange(24, dtype="float32").reshape(6, 4).T
    np.testing.assert_array_equal(program.run(x)[0], x * 2 + 1)
    other = np.ones([2, 2], "float32")
    np.testing.assert_array_equal(program.run(other)[0], other * 2 + 1)
    scalar = program_of(lambda x: x + 1.0, tf.constant(1.0))
    assert scalar.run(np.float32(2.0))[0] == 3.0


# -- what has no code --------------------------------------------------------------------------


def test_an_op_without_code_does_not_keep_its_loop_from_being_native():
    def run(x, n):
        total = tf.zeros([4])
        for i in tf.range(n):
            total += tf.cumsum(x) * tf.cast(tf.argmax(x), tf.float32)
            x = tf.sort(x)[::-1] + tf.cast(i, tf.float32)
        return total, x

    check(run, tf.constant([2.0, 1.0, 4.0, 3.0]), tf.constant(5))


def test_errors_outside_of_native_code_are_reported_as_elsewhere():
    @tf.function(jit_compile=True)
    def run(x, at):
        for _ in tf.range(2):
            x = tf.tensor_scatter_nd_update(x, at, [9.0])
        return x

    x = tf.zeros([3])
    np.testing.assert_array_equal(run(x, tf.constant([[1]])), [0.0, 9.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"out of bounds|does not index"):
        run(x, tf.constant([[5]]))


def test_gradients_of_rows_add_up_in_place():
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros([20])
            for i in tf.range(5):
                h = h * 0.5 + tf.sin(x[i])
            loss = tf.reduce_sum(h * h)
        return tape.gradient(loss, x)

    x = tf.reshape(tf.range(100.0), [5, 20]) * 0.1
    program = program_of(run, x)
    assert any(n.node.op.name == "_AddAt" for n in program.writer.notes)
    for _ in range(2):
        np.testing.assert_allclose(program.run(x._array)[0], run(x), rtol=1e-6)
