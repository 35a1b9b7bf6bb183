"""Traces run at once as they are, and optimised when they are called again."""

import numpy as np

from intaglio import tf
from intaglio.function import pipeline
from intaglio.runtime import interpreter


def test_both_forms_of_a_graph_agree():
    inner = tf.function(lambda x: x * 2.0 + 1.0)

    @tf.function
    def f(x):
        a, b = inner(x), inner(x)
        return a + b, [a * (tf.constant(2.0) * 3.0), x]

    concrete = f.get_concrete_function(tf.TensorSpec([None]))
    array = np.array([1.5, -0.0, np.inf], np.float32)
    quick = interpreter.run_nodes(concrete.frozen, array)
    optimized_run = pipeline.optimized_run(concrete.frozen)(array)
    for a, b in zip(quick, optimized_run, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_the_first_call_is_not_optimised_and_later_ones_are():
    f = tf.function(lambda x: x + 1)
    f(tf.constant(1))
    (concrete,) = f._list_all_concrete_functions()
    assert concrete._run is None
    for _ in range(3):
        assert int(f(tf.constant(1))) == 2
    assert concrete._run is not None


def test_effects_are_the_same_in_both_forms():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.assign_add(x)
        y = v * 2.0
        v.assign(y)
        return v + y

    eager = tf.Variable(0.0)
    for _ in range(5):
        eager.assign_add(1.0)
        y = eager * 2.0
        eager.assign(y)
        assert float(f(tf.constant(1.0))) == float(eager + y)
        assert float(v) == float(eager)
