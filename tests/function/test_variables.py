"""Variables in functions: captured, passed, made; the texts are TensorFlow 2.21's."""

import gc
import weakref

import pytest

from intaglio import tf

SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
    "created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)


def test_captured_by_reference():
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x * v)
    two = tf.constant(2.0)
    assert [float(f(two)) for _ in range(3)] == [2.0] * 3
    v.assign(10.0)
    assert float(f(two)) == 20.0
    concrete = f.get_concrete_function(two)
    assert concrete.variables[0] is v and concrete.trainable_variables[0] is v
    assert concrete.captured_inputs[0] is v.handle
    assert concrete.output_shapes == []  # what the handle refers to has a known shape
    assert [t.name for t in concrete.inputs] == ["x:0", "mul/ReadVariableOp/resource:0"]


def test_tracing_does_not_run_anything():
    v = tf.Variable(0)
    f = tf.function(lambda: v.assign_add(1))
    concrete = f.get_concrete_function()
    assert int(v) == 0
    assert int(concrete()) == 1 and int(v) == 1


def test_as_arguments_by_shape_and_alias():
    traces = []

    @tf.function
    def f(a, b):
        traces.append(1)
        a.assign(a + 1.0)
        return a + b

    v, w = tf.Variable(1.0), tf.Variable(10.0)
    assert float(f(v, w)) == 12.0
    assert float(f(v, v)) == 6.0
    assert float(f(w, v)) == 14.0
    for _ in range(8):
        f(v, w), f(v, v), f(w, v)
    assert len(traces) == 2
    text = f.pretty_printed_concrete_signatures()
    assert "VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0)" in text
    f(tf.Variable([1.0]), v)
    assert len(traces) == 3


def test_functions_do_not_keep_argument_variables_alive():
    f = tf.function(lambda v: v + 1.0)
    v = tf.Variable(1.0)
    for _ in range(6):
        f(v)
    ref = weakref.ref(v)
    del v
    gc.collect()
    assert ref() is None


class Count:
    def __init__(self, start=0):
        self.count = None
        self.start = start

    @tf.function
    def __call__(self):
        if self.count is None:
            self.count = tf.Variable(self.start)
        return self.count.assign_add(1)


def test_created_on_the_first_call():
    a, b = Count(), Count(10)
    assert [int(a()), int(a()), int(b()), int(a())] == [1, 2, 11, 3]
    assert isinstance(a.count, tf.Variable) and int(a.count) == 3
    function = Count.__call__.__get__(a)
    assert function.experimental_get_tracing_count() == 2


@pytest.mark.parametrize("keep", [[], None])
def test_created_on_every_call_is_refused(keep):
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        if keep is not None:
            keep.append(v)
        return v

    with pytest.raises(ValueError) as raised:
        f(1.0)
    text = str(raised.value)
    assert text.startswith("in user code:") and SINGLETON in text
    assert "v = tf.Variable(1.0)" in text


def test_created_on_a_later_call_is_refused():
    made = []

    @tf.function
    def f(n):
        if n == 2:
            made.append(tf.Variable(1.0))
        return tf.constant(n)

    f(1)
    with pytest.raises(ValueError, match="Creating variables on a non-first call"):
        f(2)


def test_a_first_value_computed_in_the_function():
    class M:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.ones([2]) * 3.0)
            return self.v * x

    m = M()
    assert m(tf.constant(2.0)).numpy().tolist() == [6.0, 6.0]
    assert m(tf.constant(3.0)).numpy().tolist() == [9.0, 9.0]


def test_a_first_value_that_depends_on_the_argument():
    class M:
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(x * 2.0)
            return self.v + x

    assert float(M()(tf.constant(3.0))) == 9.0
    m = M()
    with pytest.raises(ValueError, match="depends on the argument"):
        M.__call__.__get__(m).get_concrete_function(tf.TensorSpec([]))


def test_created_in_an_inner_function():
    class M:
        v = None

        @tf.function
        def inner(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return self.v * x

        @tf.function
        def outer(self, x):
            return self.inner(x) + 1.0

    m = M()
    assert [float(m.outer(tf.constant(3.0))) for _ in range(3)] == [7.0] * 3


def test_init_scope_makes_variables_of_the_outside():
    made = []

    @tf.function
    def f():
        if not made:
            with tf.init_scope():
                made.append(tf.Variable(5.0))
        return made[0] + 1.0

    assert float(f()) == 6.0 and int(made[0].assign_add(1.0)) == 6
    assert float(f()) == 7.0
    assert f.experimental_get_tracing_count() == 1


def test_gradients_through_functions_that_use_variables():
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * v * x)
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = f(tf.constant(2.0))
        assert float(tape.gradient(y, v)) == 12.0
    outer = tf.function(lambda x: f(x) + v)
    with tf.GradientTape() as tape:
        y = outer(tf.constant(2.0))
    assert float(tape.gradient(y, v)) == 13.0


def test_a_tape_inside_a_function():
    v = tf.Variable(3.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = (v * x - 1.0) * (v * x - 1.0)
        g = tape.gradient(loss, v)
        v.assign_sub(0.1 * g)
        return loss

    losses = [float(step(tf.constant(1.0))) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)
    assert step.experimental_get_tracing_count() == 1


ROW = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))


@pytest.mark.parametrize(
    ("write", "is_used"),  # TensorFlow 2.21 was asked
    [
        (lambda v: v.assign([1.0, 3.0]), True),
        (lambda v: v.assign_add([1.0, 3.0]), True),
        (lambda v: v.assign_sub([1.0, 3.0]), True),
        (lambda v: v.scatter_add(ROW), True),
        (lambda v: v.scatter_update(ROW), True),
        (lambda v: v.scatter_nd_add([[0]], [1.0]), True),
        (lambda v: v[:1].assign([2.0]), True),
        (lambda v: v.assign([1.0, 3.0], read_value=False), False),
        (lambda v: v.assign_add([1.0, 3.0], read_value=False), False),
    ],
)
def test_variables_that_are_written_alone_are_used(write, is_used):
    v, fixed = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0], trainable=False)

    @tf.function
    def step():
        write(v)
        write(fixed)

    concrete = step.get_concrete_function()
    assert {id(u) for u in concrete.variables} == ({id(v), id(fixed)} if is_used else set())
    assert [u is v for u in concrete.trainable_variables] == [True] * is_used
    for call in (lambda: (write(v), write(fixed)), step, step):
        with tf.GradientTape() as tape:
            call()
        assert [u is v for u in tape.watched_variables()] == [True] * is_used


def test_a_variable_that_is_two_unused_arguments_is_one_input():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function
    def inner(unused, x, unused_too):
        w.assign_sub(x * 0.5)
        return w * 2.0

    graph = inner.get_concrete_function(v, w, v).frozen
    assert len({id(n) for n in graph.nodes}) == len(graph.nodes)
    outer = tf.function(lambda x: inner(v, w, v) + x, jit_compile=True)
    assert outer(tf.ones([2])).numpy().tolist() == [4.0, 5.0]
