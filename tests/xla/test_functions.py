"""Functions with `jit_compile=True` as XLA programs: the same results as without XLA."""

from __future__ import annotations

import concurrent.futures
from typing import Any

import jax
import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.opdef.op import Rule
from intaglio.opdef.spec import Spec
from intaglio.runtime.resources import Locks, donate, give, new_variable, shared_arrays
from intaglio.xla import compilation, registry
from intaglio.xla.program import MAX_PROGRAMS, Programs


@pytest.fixture(autouse=True)
def _backend(monkeypatch):
    monkeypatch.setattr(compilation, "VERIFY", True)
    with intaglio.backend("xla"):
        yield


def compiled(function, *args):
    """What a function gives as an XLA program; all of it must be one."""
    run = tf.function(function, jit_compile=True)
    result = run(*args)
    assert "XLA programs" in run.get_concrete_function(*args).compile_report()
    return result


def assert_same(function, *args):
    """The function gives the same eagerly and on XLA; states of random ops begin anew."""
    tf.random.set_seed(7)
    wanted = tf.nest.flatten(tf.function(function)(*args))
    tf.random.set_seed(7)
    got = tf.nest.flatten(compiled(function, *args))
    for a, b in zip(got, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-6, atol=1e-6)


X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


def _branch(x):
    if tf.reduce_sum(x) > 0:
        y = x * 2
    else:
        y = -x
    return y


def _loop(x):
    total = tf.zeros(())
    for i in tf.range(5):
        if i > 2:
            total += tf.reduce_sum(x) * tf.cast(i, tf.float32)
        else:
            total -= 1.0
    return total


def _unknown_trip_count(x):
    count = 0
    while tf.reduce_sum(tf.abs(x)) < 100.0:
        x = x * 2.0
        count += 1
    return x, count


def _grown_list(x):
    rows = []
    for i in tf.range(4):
        rows.append(x * tf.cast(i, tf.float32))
    return tf.stack(rows)


def _nested_lists(x):
    rows = []
    for i in tf.range(3):
        for j in tf.range(2):
            rows.append(x[i] * tf.cast(j, tf.float32))
    return tf.stack(rows)


def _array(x):
    array = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        array = array.write(i, tf.reduce_sum(x[i]))
    return array.stack()


def _growing_array(x):
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in tf.range(4):
        array = array.write(i, x[i])
    return array.stack()


def _growing_value(x):
    total = x[:1]
    for _ in tf.range(3):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(total, tf.TensorShape([None, 3]))]
        )
        total = tf.concat([total, total * 2.0], 0)
    return total


def _loop_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(4):
            y = tf.sin(y) * x
    return tape.gradient(y, x)


def _branch_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x**2, lambda: tf.exp(x))
    return tape.gradient(y, x)


def _case(x):
    index = tf.cast(tf.reduce_sum(x) * 0 + 1, tf.int32)
    return tf.switch_case(index, [lambda: x, lambda: x + 1, lambda: x * 2])


def _scan(x):
    return tf.scan(lambda a, row: a + row, x), tf.map_fn(lambda row: tf.reduce_max(row), x)


def _called(x):
    inner = tf.function(lambda v: tf.nn.softmax(v) + 1)
    return inner(x) + inner(x * 2)


@pytest.mark.parametrize("x", [X, -X - 0.1])
@pytest.mark.parametrize(
    "function",
    [
        _branch,
        _loop,
        _unknown_trip_count,
        _grown_list,
        _nested_lists,
        _array,
        _growing_array,
        _growing_value,
        _loop_gradient,
        _branch_gradient,
        _case,
        _scan,
        _called,
    ],
)
def test_control_flow(function, x):
    assert_same(function, tf.constant(x))


def _random(x):
    return (
        tf.random.normal([5]),
        tf.random.uniform([3], dtype=tf.float64),
        tf.random.uniform([4], 0, 100, tf.int32),
        tf.random.shuffle(tf.range(6)),
        tf.random.stateless_normal([4], seed=[1, 2]),
        tf.random.stateless_uniform([4], seed=tf.cast(x[0, :2] * 10, tf.int32)),
    )


def test_random_numbers_have_the_bits_of_the_host():
    tf.random.set_seed(3)
    run = tf.function(_random, jit_compile=True)
    got = [run(tf.constant(X)) for _ in range(2)]
    tf.random.set_seed(3)
    plain = tf.function(_random)
    for mine in got:
        for a, b in zip(mine[1:], plain(tf.constant(X))[1:], strict=True):
            # Normals go through logarithms, whose last bits may differ.
            np.testing.assert_allclose(a, b, rtol=3e-7)


def test_random_numbers_continue_in_a_loop():
    def draw(x):
        total = []
        for _ in tf.range(3):
            total.append(tf.random.uniform([2], seed=5) + x[0, 0] * 0)
        return tf.stack(total)

    assert_same(draw, tf.constant(X))


def test_truncated_normals():
    assert_same(lambda x: tf.random.truncated_normal([50], seed=1) + x[0, 0] * 0, tf.constant(X))


# -- variables ---------------------------------------------------------------------------------


def _trained(jit):
    tf.random.set_seed(1)
    weights = tf.Variable(np.ones((3, 2), np.float32))
    count = tf.Variable(0, dtype=tf.int64)

    @tf.function(jit_compile=jit)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ weights) ** 2)
        weights.assign_sub(0.5 * tape.gradient(loss, weights))
        count.assign_add(1)
        weights.scatter_nd_add([[0, 1]], [0.25])
        return loss

    losses = [step(tf.constant(X)).numpy() for _ in range(3)]
    return losses, weights.numpy(), count.numpy()


def test_variables_are_read_and_written():
    got, wanted = _trained(True), _trained(False)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_variables_written_in_branches_and_loops():
    def make():
        v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

        def step(x):
            for i in tf.range(4):
                v.assign_add(tf.cast(i, tf.float32))
                if v > 3.0:
                    w.assign(w * 2.0 + x)
            return v + 0.0, w + 0.0

        return step

    x = tf.constant([1.0, -1.0])
    for a, b in zip(compiled(make(), x), tf.function(make())(x), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_variable_passed_twice_is_one():
    v = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def step(a, b):
        a.assign_add(1.0)
        return a + b

    assert step(v, v).numpy() == 4.0
    assert v.numpy() == 2.0


def test_generators_are_variables_of_programs():
    """Also where the counter, of two words, overflows the first: a draw of 3 numbers sets 3 * 256 aside."""

    def draws(generator, n):
        total = generator.normal([3]) + generator.truncated_normal([3])
        for _ in tf.range(n):
            total += generator.uniform([3])
        generator.skip(n)
        return total, generator.uniform_full_int([2], tf.int64)

    results = []
    for compiling in (True, False):
        generator = tf.random.Generator.from_state([-700, 5, 7], "philox")
        run = tf.function(lambda n, g=generator: draws(g, n), jit_compile=compiling)
        seen = [run(tf.constant(n)) for n in (2, 0, 3)]
        results.append(tf.nest.flatten([seen, generator.state]))
        assert not compiling or "which the host computes" not in run.compile_report()
    for got, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    assert results[0][-1].numpy()[1] == 6


def test_results_are_not_overwritten_by_the_next_call():
    v = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step():
        v.assign_add([1.0, 1.0])
        return v.read_value()

    first = step()
    before = v.numpy()
    step()
    np.testing.assert_array_equal(first, [2.0, 3.0])
    np.testing.assert_array_equal(before, [2.0, 3.0])
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(v.numpy(), [4.0, 5.0])


def test_variables_are_updated_in_place():
    v, scale = tf.Variable(np.ones((64, 64), np.float32)), tf.Variable(2.0)

    @tf.function(jit_compile=True)
    def step():
        v.assign_add(v * scale)
        return tf.reduce_sum(v)

    step(), step()
    resource = v.handle._array
    before = resource.on_device().unsafe_buffer_pointer()
    step()
    assert resource.on_device().unsafe_buffer_pointer() == before
    assert resource.on_device() is not None and v.numpy()[0, 0] == 27.0
    seen = v.read_value()  # which the next call must not write to
    step()
    assert seen.numpy()[0, 0] == 27.0 and v.numpy()[0, 0] == 81.0


def test_variables_of_programs_are_those_of_all_functions():
    v = tf.Variable(np.ones(3, np.float32))

    @tf.function(jit_compile=True)
    def add(x):
        v.assign_add(x)
        return v * 2.0

    def native(x):
        return add.python_function(x)

    with intaglio.backend("native"):
        by_native = tf.function(native, jit_compile=True)
        by_native(tf.ones(3))
    interpreted = tf.function(native)
    for n, run in enumerate([add, by_native, interpreted, add, by_native, add, interpreted], 2):
        np.testing.assert_array_equal(run(tf.ones(3)), np.full(3, 2.0 * n + 2.0))
    v.assign_add(tf.ones(3))
    v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    np.testing.assert_array_equal(v, [11.0, 10.0, 10.0])


def test_a_call_that_fails_leaves_the_variables():
    v = tf.Variable(np.ones((2, 2), np.float32))

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        return v @ x

    step(tf.ones((2, 2)))
    resource = v.handle._array
    with Locks([resource]):
        taken = donate([resource])
        assert resource.initialized
        give([resource], taken, taken)
    np.testing.assert_array_equal(v, np.full((2, 2), 2.0))
    step(tf.ones((2, 2)))
    np.testing.assert_array_equal(v, np.full((2, 2), 3.0))


def test_a_donation_of_a_variable_without_a_value_leaves_the_others():
    filled, empty = [new_variable(Spec(tf.float32, (2,)), "v") for _ in range(2)]
    value = np.ones(2, np.float32)
    filled.assign(value)
    with pytest.raises(tf.errors.FailedPreconditionError):
        donate([filled, empty])
    assert filled.read() is value and not empty.initialized
    taken = donate([filled])
    assert taken[0] is value and shared_arrays(taken) == []  # the host's are not written to
    give([filled], taken, [np.zeros(2, np.float32)])
    np.testing.assert_array_equal(filled.read(), [0.0, 0.0])
    give([filled], taken, taken)  # it is another donation's, or nobody's
    np.testing.assert_array_equal(filled.read(), [0.0, 0.0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16", "bool", "complex64"])
def test_variables_that_programs_only_read_are_those_of_the_host(dtype):
    """They are kept on the device while nobody writes them: by assignments, in place, or by another program."""
    numbers = np.array([[1, 0, 3], [4, 5, 6]]).astype(dtype)
    v = tf.Variable(numbers)
    read = tf.function(lambda x: tf.identity(v)[:, ::-1], jit_compile=True)
    write = tf.function(lambda x: v.assign(tf.reverse(v, [0])), jit_compile=True)

    def check():
        for _ in range(3):
            np.testing.assert_array_equal(read(1.0), v.numpy()[:, ::-1])

    before = v.read_value()
    check()
    assert type(v.handle._array.on_device()) is not np.ndarray
    v.assign(numbers[::-1])
    check()
    v[0, 1].assign(numbers[1, 2])
    check()
    v.scatter_update(tf.IndexedSlices(tf.constant(numbers[1:]), tf.constant([0])))
    check()
    write(1.0)
    write(1.0)
    check()
    write(1.0)
    check()
    np.testing.assert_array_equal(before, numbers)


def test_captured_tensors_stay_as_they_are():
    one, ints = tf.constant(np.arange(4.0)), tf.constant([3, 1], tf.int64)
    v = tf.Variable(np.zeros(4))

    @tf.function(jit_compile=True)
    def step(x):
        v.assign(one)  # the captured tensor's array is the variable's from now on
        v[0].assign(x)
        return one, ints, v.read_value()

    for k in range(4):
        found = step(tf.constant(float(k), tf.float64))
        np.testing.assert_array_equal(found[0], np.arange(4.0))
        np.testing.assert_array_equal(found[1], [3, 1])
        np.testing.assert_array_equal(found[2], [k, 1, 2, 3])
        assert found[1].dtype == tf.int64
    np.testing.assert_array_equal(one, np.arange(4.0))


def test_captures_of_later_calls_are_those_that_replace_them():
    one = tf.constant([1.0, 2.0])
    trace = tf.function(lambda x: x + one, jit_compile=True)
    concrete = trace.get_concrete_function(tf.TensorSpec([2]))
    for _ in range(3):
        np.testing.assert_array_equal(trace(tf.zeros(2)), [1.0, 2.0])
    concrete.set_external_captures([tf.constant([5.0, 6.0])])
    for _ in range(3):
        np.testing.assert_array_equal(trace(tf.zeros(2)), [5.0, 6.0])


def _failing_late(features: Any) -> Any:
    """The rule of an op whose program fails when it runs, once it is told to."""

    def compute(array: Any) -> Any:
        if np.max(array) > 5:
            raise ValueError("too large")
        return array

    return jax.pure_callback(
        compute, jax.ShapeDtypeStruct(features.shape, features.dtype), features
    )


@pytest.mark.parametrize("has_outputs", [True, False])
def test_a_program_that_fails_late_says_which_variables_are_lost(
    monkeypatch: pytest.MonkeyPatch, has_outputs: bool
):
    monkeypatch.setitem(registry.RULES, "Relu6", Rule(_failing_late))
    v = tf.Variable(np.ones(3, np.float32), name="weights")

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(tf.nn.relu6(x))
        return v + 1 if has_outputs else None

    step(tf.ones(3))  # the value is an array of the device now
    step(tf.ones(3))
    kept = v.read_value()  # which the program copies, so that nothing is lost
    if has_outputs:
        with pytest.raises(Exception, match="too large"):
            step(tf.fill([3], 9.0))
        np.testing.assert_array_equal(kept, np.full(3, 3.0))
    v.assign(kept)
    step(tf.zeros(3))
    del kept
    step(tf.zeros(3))
    with pytest.raises(tf.errors.DataLossError, match=r"(?s)weights.*lost its value.*too large"):
        step(tf.fill([3], 9.0))
        v.read_value()
    with pytest.raises(tf.errors.DataLossError, match="restore a checkpoint"):
        v.read_value()
    v.assign(tf.zeros(3))
    step(tf.ones(3))
    np.testing.assert_array_equal(v, np.ones(3))


@pytest.mark.parametrize(
    ("x", "y", "axes"),
    [
        ((4, 2, 3), (4, 3, 5), [0]),
        ((4, 2, 3), (3, 5), [0]),
        ((2, 1, 2, 3), (4, 3, 5), [0, 1]),
        ((2, 4, 2, 3), (1, 4, 3, 5), [1]),
        ((1, 2, 3), (1, 3, 5), [0]),
        ((4, 2, 3), (4, 3, 5), [0, 2]),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
def test_sums_of_products_are_one_product(x, y, axes, keepdims, adjoint):
    random = np.random.default_rng(1)
    a, b = [random.normal(size=s).astype(np.float32) for s in (x, y)]
    if adjoint:
        a = a.swapaxes(-1, -2)
    assert_same(
        lambda a, b: tf.reduce_sum(tf.matmul(a, b, transpose_a=adjoint), axes, keepdims),
        tf.constant(a),
        tf.constant(b),
    )


def test_a_gradient_of_weights_is_never_in_memory_by_example():
    weights = tf.Variable(tf.ones((8, 16)))

    @tf.function(jit_compile=True)
    def gradient(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(tf.matmul(x, weights)))
        return tape.gradient(loss, weights)

    x = tf.fill((5, 7, 8), 0.02)
    np.testing.assert_allclose(gradient(x), tf.function(gradient.python_function)(x), rtol=1e-6)
    assert "f32[5,8,16]" not in gradient.experimental_get_compiler_ir(x)("optimized_hlo")


# -- programs and shapes -----------------------------------------------------------------------


def test_programs_by_shape_are_bounded_and_explained():
    run = tf.function(
        lambda x: x * 2, jit_compile=True, input_signature=[tf.TensorSpec([None], tf.float32)]
    )
    for n in range(1, MAX_PROGRAMS + 4):
        np.testing.assert_array_equal(run(tf.ones(n)), np.full(n, 2.0))
    text = str(run.explain())
    assert text.count("XLA program for arguments") == MAX_PROGRAMS
    assert f"({MAX_PROGRAMS + 3},)" in text and "(1,)" not in text


def test_sizes_among_the_arguments_are_part_of_the_program():
    def squares(n):
        array = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            array = array.write(i, tf.cast(i, tf.float32) ** 2)
        return array.stack()

    run = tf.function(squares, jit_compile=True)
    for n in (3, 5, 3):
        np.testing.assert_array_equal(run(tf.constant(n)), np.arange(n) ** 2.0)
    assert "XLA programs" in run.compile_report()


def test_errors_name_the_node():
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def product(x, y):
        return tf.linalg.matmul(x, y)

    with pytest.raises(tf.errors.InvalidArgumentError):
        product(tf.ones([2, 3]), tf.ones([2, 3]))


def test_backends():
    assert intaglio.backend("xla") is not None
    with pytest.raises(ValueError, match="'native', 'xla'"):
        intaglio.backend("cuda")
    with intaglio.backend("native"):
        run = tf.function(lambda x: x + 1, jit_compile=True)
        run(tf.constant(1.0))
        assert "XLA" not in run.compile_report()


def test_without_jax_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "intaglio\[xla\]"'):
        intaglio.backend("xla")
    run = tf.function(lambda x: x + 1, jit_compile=True)
    with pytest.raises(ImportError, match=r'pip install "intaglio\[xla\]"'):
        run(tf.constant(1.0))


def test_threads_find_the_programs_of_their_shapes_while_others_are_dropped():
    graph = tf.function(lambda x: x + 1.0, input_signature=[tf.TensorSpec([None])])
    programs = Programs(graph.get_concrete_function().frozen, limit=2)
    arrays = [np.zeros(n, np.float32) for n in range(1, 6)]

    def shapes(first: int) -> list[bool]:
        order = [arrays[(first + i * (first + 1)) % len(arrays)] for i in range(500)]
        return [programs.program([a]).shapes == (a.shape,) for a in order]

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert all(all(found) for found in threads.map(shapes, range(4)))
    assert len(programs.programs) == 2


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        (tf.uint8, [0, 0, 1, 200, 255, 255, 0, 0]),
        (tf.int32, [-7, -(2**31), 1, 200, 70000, 2**31 - 1, -(2**31), 0]),
        (tf.uint64, [0, 0, 1, 200, 70000, 2**64 - 1, 0, 0]),
    ],
)
def test_casts_of_numbers_that_an_integer_dtype_does_not_have(dtype, wanted):
    # TensorFlow 2.21 was asked: with jit_compile=True it gives these, without it wraps around.
    x = tf.constant([-7.5, -1e19, 1.5, 200.0, 70000.0, 3e19, -np.inf, np.nan])
    assert compiled(lambda x: tf.cast(x, dtype), x).numpy().tolist() == wanted


def test_a_variable_that_gets_its_first_value():
    """The program of the first call has no value of the variable; those of later calls have one."""
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="first value")
    other = tf.Variable(1.0)

    @tf.function(jit_compile=True)
    def f(x, is_first):
        if is_first:
            tf.raw_ops.AssignVariableOp(resource=handle, value=x)
        else:
            before = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
            tf.raw_ops.AssignVariableOp(resource=handle, value=before + x)
        other.assign_add(1.0)

    for count in range(4):
        f(tf.constant([1.0, 2.0]), count == 0)
        f(tf.constant([1.0, 2.0]), False)
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
        np.testing.assert_array_equal(value.numpy(), [2.0 * (count + 1), 4.0 * (count + 1)])
        assert float(other) == 1.0 + 2.0 * (count + 1)
