"""tf.function called in every form: arguments, outputs, methods, nesting, eager mode."""

import collections
import copy
import functools
import gc
import pickle
import weakref

import numpy as np
import pytest

from intaglio import tf

Pair = collections.namedtuple("Pair", "left right")


def test_decorator_with_and_without_arguments():
    @tf.function
    def plain(x):
        return x + 1

    @tf.function(reduce_retracing=True, jit_compile=True, autograph=False)
    def with_arguments(x):
        return x + 1

    assert int(plain(tf.constant(1))) == int(with_arguments(tf.constant(1))) == 2


def test_ops_are_recorded_once_and_run_every_time():
    traced = []

    @tf.function
    def double(a):
        traced.append(a)
        return a + a

    assert [float(double(tf.constant(v))) for v in (1.5, 2.5, 3.5)] == [3.0, 5.0, 7.0]
    assert list(map(str, traced)) == ['Tensor("a:0", shape=(), dtype=float32)']


def test_it_looks_like_the_python_function():
    def original(x):
        """The text."""
        return x

    made = tf.function(original)
    assert (made.__name__, made.__doc__) == ("original", "The text.")
    assert made.__wrapped__ is original and made.python_function is original
    assert type(made).__name__ == "Function"
    assert " object at 0x" in repr(made)
    made.label = 3
    assert made.label == 3 and weakref.ref(made)() is made


@pytest.mark.parametrize(
    "call",
    [
        lambda f, t: f(t),
        lambda f, t: f(t, 2),
        lambda f, t: f(a=t, b=2),
        lambda f, t: f(t, c=3, b=2),
    ],
)
def test_every_form_of_a_call_has_one_trace(call):
    @tf.function
    def f(a, b=2, *, c=3):
        return a + b + c

    t = tf.constant(1)
    f(t)
    for _ in range(4):
        assert int(call(f, t)) == 6
    assert f.experimental_get_tracing_count() == 1


def test_extra_positions_and_keywords():
    @tf.function
    def f(first, *rest, **named):
        total = first
        for value in rest:
            total = total + value
        return total + named["k"] + named.get("z", 0)

    one = tf.constant(1)
    assert int(f(one, one, one, k=one)) == 4
    assert int(f(one, z=5, k=one)) == 7
    assert int(f(one, k=one, z=5)) == 7
    assert f.experimental_get_tracing_count() == 2


def test_structured_outputs_come_back_in_their_structure():
    @tf.function
    def f(x):
        return {"b": (x, None), "a": [x + 1, Pair(x * 2, "text")]}

    out = f(tf.constant(3))
    assert list(out) == ["b", "a"]
    assert out["b"][1] is None and int(out["b"][0]) == 3
    assert type(out["a"][1]) is Pair and int(out["a"][1].left) == 6
    assert out["a"][1].right.numpy() == b"text"


def test_python_and_numpy_outputs_become_tensors():
    f = tf.function(lambda: (1, 2.5, np.ones(2), [True]))
    one, half, array, flags = f()
    assert (one.dtype, half.dtype, array.dtype) == (tf.int32, tf.float32, tf.float64)
    assert bool(flags[0])


def test_no_output_is_none():
    assert tf.function(lambda x: None)(tf.constant(1)) is None


def test_a_function_within_a_function_is_called_not_copied():
    @tf.function
    def inner(x):
        return x + 1

    @tf.function
    def outer(x):
        return inner(inner(x)) * 2

    assert int(outer(tf.constant(1))) == 6
    ops = [n.type for n in outer.get_concrete_function(tf.constant(1)).graph.nodes]
    assert ops.count("PartitionedCall") == 2
    assert inner.experimental_get_tracing_count() == 1


def test_a_function_in_a_plain_graph_becomes_a_node():
    f = tf.function(lambda x: x + 1)
    graph = tf.Graph()
    with graph.as_default():
        out = f(tf.constant(1))
    assert out.graph is graph and out.op.type == "PartitionedCall"


def test_captured_tensors():
    big = tf.constant(np.arange(300, dtype=np.float32))
    number = tf.constant(2)

    @tf.function
    def f(x):
        return x + big, number * 3

    out, scaled = f(tf.constant(1.0))
    assert out.numpy().tolist() == list(np.arange(300) + 1.0)
    assert int(scaled) == 6
    concrete = f.get_concrete_function(tf.constant(1.0))
    assert [t is big for t in concrete.captured_inputs] == [True]


class Adder:
    def __init__(self, by):
        self.by = by

    @tf.function
    def add(self, x):
        return x + self.by

    @tf.function
    def __call__(self, x):
        return x * self.by

    @classmethod
    @tf.function
    def of_class(cls, x):
        return x + 1

    @staticmethod
    @tf.function
    def static(x):
        return x + 2


def test_methods_have_traces_for_each_object():
    a, b = Adder(1), Adder(10)
    t = tf.constant(1)
    assert [int(a.add(t)), int(b.add(t)), int(a.add(t))] == [2, 11, 2]
    assert a.add is a.add and a.add is not b.add
    assert a.add.experimental_get_tracing_count() == 1
    assert int(a(t)) == 1 and int(b(t)) == 10
    assert int(Adder.of_class(t)) == int(a.of_class(t)) == 2
    assert int(Adder.static(t)) == int(a.static(t)) == 3
    assert int(Adder.add(a, t)) == 2


def test_a_method_does_not_keep_its_object_alive():
    a = Adder(1)
    a.add(tf.constant(1))
    ref = weakref.ref(a)
    del a
    gc.collect()
    assert ref() is None


def test_objects_without_hash_or_weak_references():
    class Slots:
        __slots__ = ("by",)
        __hash__ = None

        @tf.function
        def add(self, x):
            return x + self.by

    s = Slots()
    s.by = 4
    assert int(s.add(tf.constant(1))) == 5


def test_partials_lambdas_and_callable_objects():
    t = tf.constant(1)
    assert int(tf.function(functools.partial(lambda a, b, c=3: a + b + c, 1))(t)) == 5
    assert int(tf.function(functools.partial(lambda a, b: a - b, b=4))(t)) == -3

    class Callable:
        def __call__(self, x):
            return x + 7

    assert int(tf.function(Callable())(t)) == 8


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="3 is not a callable object"):
        tf.function(3)


def test_run_functions_eagerly():
    seen = []

    @tf.function
    def f(x):
        seen.append(hasattr(x, "numpy"))
        return x + 1

    f(tf.constant(1))
    f(tf.constant(1))
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    f(tf.constant(1))
    assert seen == [False, True, True]


def module_level(x):
    return x + 1


kept = tf.function(module_level)


def test_pickling_needs_the_python_function_by_name():
    again = pickle.loads(pickle.dumps(kept))
    assert int(again(tf.constant(1))) == 2
    decorated = tf.function(lambda x: x)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(decorated)


def test_copies_are_the_function_itself():
    f = tf.function(lambda x: x)
    assert copy.deepcopy(f) is f


def test_two_functions_of_one_python_function_share_nothing():
    count = []

    def f(x):
        count.append(1)
        return x

    a, b = tf.function(f), tf.function(f)
    a(tf.constant(1)), a(tf.constant(2)), b(tf.constant(1))
    assert len(count) == 2


def test_executing_eagerly_and_inside_function():
    seen = []

    @tf.function
    def f():
        seen.append((tf.executing_eagerly(), tf.inside_function()))
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), tf.inside_function()))

    f()
    assert seen == [(False, True), (True, False)]
    assert tf.executing_eagerly() and not tf.inside_function()


def test_unneeded_work_is_not_done():
    @tf.function
    def f(x):
        tf.gather(x, [1])
        return x

    assert f(tf.constant([0.0])).numpy().tolist() == [0.0]


class Scale:
    def __init__(self, by):
        self.by = by

    @tf.function
    def times(self, x):
        return self.by * x


class Shifted(Scale):
    @tf.function
    def times(self, x):
        return super().times(x) + 1.0


class Boxed(tf.experimental.ExtensionType):
    x: tf.Tensor

    @tf.function
    def plus(self, y):
        return self.x + y


def test_methods_of_objects_without_other_references():
    assert Scale(2.0).times(3.0) == 6.0
    assert Shifted(2.0).times(3.0) == 7.0
    assert Boxed(tf.constant(1.0)).plus(3.0) == 4.0
    method = Scale(5.0).times
    assert method(2.0) == 10.0
    assert method(3.0) == 15.0


def test_methods_do_not_keep_deleted_objects_alive():
    owner = Scale(2.0)
    owner.times(1.0)
    assert owner.times is owner.times
    assert owner.times.__self__ is owner
    assert owner.times.experimental_get_tracing_count() == 1
    gone = weakref.ref(owner)
    method = owner.times
    del owner
    assert method(4.0) == 8.0
    del method
    gc.collect()
    assert gone() is None


def test_only_traces_that_succeed_are_counted() -> None:
    """Recorded from TensorFlow 2.21, which was asked for the counts."""

    @tf.function
    def sometimes(x, fails=False):
        if fails:
            raise ValueError("not traced")
        return x + 1

    @tf.function
    def creating(x):
        return tf.Variable(1.0) + x

    sometimes(tf.constant(1.0))
    for _ in range(2):
        with pytest.raises(ValueError, match="not traced"):
            sometimes(tf.constant(1.0), True)
        with pytest.raises(ValueError, match="only supports singleton"):
            creating(tf.constant(1.0))
    assert sometimes.experimental_get_tracing_count() == 1
    assert creating.experimental_get_tracing_count() == 1


def test_results_are_rid_of_variables():
    """A function returns composite values as `_convert_variables_to_tensors` gives them. TensorFlow was asked."""

    class Counted(tf.experimental.ExtensionType):
        x: tf.Tensor

        def _convert_variables_to_tensors(self):
            return Counted(self.x + 1)

    def call(v):
        return [Counted(v), {"a": Counted(v)}, v]

    first, second, third = tf.function(call)(tf.constant(1.0))
    assert (first.x.numpy(), second["a"].x.numpy(), third.numpy()) == (2.0, 2.0, 1.0)
    assert tf.function(lambda e: e.x)(Counted(tf.constant(1.0))).numpy() == 1.0
