"""Branches and loops, eagerly and in graphs. Answers and texts are TensorFlow 2.21's."""

import numpy as np
import pytest

from intaglio import tf

c = tf.constant


def staged(function):
    return tf.function(function, autograph=False)


def both(function, *args):
    """The function's result, checked to be the same eagerly and in a graph."""
    eager = tf.nest.map_structure(lambda t: c(t).numpy().tolist(), function(*args))
    graph = tf.nest.map_structure(lambda t: t.numpy().tolist(), staged(function)(*args))
    assert eager == graph
    return eager


def failure(function, *args):
    with pytest.raises(Exception) as caught:
        staged(function)(*args)
    return type(caught.value), str(caught.value)


# -- cond --------------------------------------------------------------------------------


def test_cond():
    def choose(p, x):
        return tf.cond(p, lambda: {"a": x * 2.0}, lambda: {"a": x + 1.0})

    assert both(choose, c(True), c(3.0)) == {"a": 6.0}
    assert both(choose, c(False), c(3.0)) == {"a": 4.0}


def test_only_one_branch_runs():
    v = tf.Variable(1.0)

    @staged
    def f(p):
        return tf.cond(p, lambda: v.assign_add(1.0), lambda: v * 5.0)

    assert [float(f(c(True))), float(f(c(False))), float(v)] == [2.0, 10.0, 2.0]
    types = [n.type for n in f.get_concrete_function(c(True)).graph.get_operations()]
    assert "If" in types
    assert f.get_concrete_function(c(True)).graph.variables == (v,)


def test_branches_without_effects_make_a_stateless_op():
    f = staged(lambda p: tf.cond(p, lambda: 1, lambda: 2))
    graph = f.get_concrete_function(c(True)).graph
    node = next(n for n in graph.get_operations() if "If" in n.type)
    assert (node.type, node.name) == ("StatelessIf", "cond")


def test_shapes_that_differ_are_joined():
    seen = []

    @staged
    def f(p):
        y = tf.cond(p, lambda: c([1.0, 2.0]), lambda: c([1.0]))
        seen.append(y.shape.as_list())
        return y

    assert f(c(False)).numpy().tolist() == [1.0]
    assert seen == [[None]]


def test_nested_cond_captures():
    def f(p, q, x):
        return tf.cond(
            p,
            lambda: tf.cond(q, lambda: x, lambda: x * 10.0),
            lambda: tf.cond(q, lambda: x + 1.0, lambda: -x),
        )

    results = [both(f, c(p), c(q), c(2.0)) for p in (True, False) for q in (True, False)]
    assert results == [2.0, 20.0, 3.0, -2.0]


def test_cond_errors():
    p = c(True)
    kind, text = failure(lambda p: tf.cond(p, lambda: c(1.0), lambda: c(1)), p)
    assert kind is TypeError
    assert text.startswith(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values."
    )
    assert "have different types" in text
    kind, text = failure(lambda p: tf.cond(p, lambda: {"a": 1}, lambda: {"b": 1}), p)
    assert kind is TypeError and "don't have the same set of keys" in text
    kind, text = failure(lambda p: tf.cond(p, lambda: [1], lambda: (1,)), p)
    assert kind is TypeError and "same sequence type" in text
    kind, text = failure(lambda p: tf.cond(p, lambda: None, lambda: 1), p)
    assert kind is ValueError and "Lengths of branch outputs of cond must match" in text
    kind, text = failure(lambda p: tf.cond(True, lambda: 1, lambda: 1), p)
    assert kind is TypeError and "pred must not be a Python bool" in text
    with pytest.raises(TypeError, match="'true_fn' must be callable"):
        tf.cond(p, 1, lambda: 1)


def test_tensors_of_a_branch_stay_inside():
    kept = []
    with pytest.raises((TypeError, tf.errors.OpError, ValueError), match="scope"):

        @staged
        def f(p):
            tf.cond(p, lambda: kept.append(c(1.0) + 1.0) or 1, lambda: 2)
            return kept[0] + 1.0

        f(c(True))


# -- case, switch_case -------------------------------------------------------------------


def test_switch_case():
    def f(i):
        return tf.switch_case(i, [lambda: 1, lambda: 2], default=lambda: 9)

    assert [both(f, c(i)) for i in (0, 1, 2, -1)] == [1, 2, 9, 9]

    def last(i):
        return tf.switch_case(i, {1: lambda: 2, 0: lambda: 1})

    assert [both(last, c(i)) for i in (0, 1, 7)] == [1, 2, 2]


@pytest.mark.parametrize(
    ("branches", "index", "error", "text"),
    [
        ({0: int, 5: int}, c(1), ValueError, "contiguous range of .0 to 2. but found"),
        ([int], 1, TypeError, "'branch_index' must be a Tensor, got <class 'int'>"),
        ([int], c(1.0), TypeError, "'branch_index' must be an integer Tensor"),
        ([], c(1), ValueError, "Must provide at least one item in 'branch_fns'"),
        (3, c(1), TypeError, "'branch_fns' must be a list, tuple, or dict"),
        ({"a": int}, c(1), TypeError, "key must be a Python `int`"),
    ],
)
def test_switch_case_errors(branches, index, error, text):
    with pytest.raises(error, match=text):
        tf.switch_case(index, branches)


def test_case():
    def f(x):
        pairs = [(x > 1, lambda: 1), (x > 0, lambda: 2)]
        return tf.case(pairs, default=lambda: 3)

    assert [both(f, c(i)) for i in (2, 1, 0)] == [1, 2, 3]


def test_case_demands_a_true_condition():
    def none(x):
        return tf.case([(x > 5, lambda: 1), (x > 4, lambda: 2)])

    def two(x):
        return tf.case([(x > 0, lambda: 1), (x > 1, lambda: 2)], exclusive=True)

    for function, text in ((none, "None of conditions"), (two, "exclusive=True")):
        for run in (function, staged(function)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                run(c(3))


# -- while_loop --------------------------------------------------------------------------


def test_while_loop():
    def f(n):
        return tf.while_loop(
            lambda i, d: i < n, lambda i, d: [i + 1, {"a": d["a"] * 2.0}], [0, {"a": 1.0}]
        )

    assert both(f, c(5)) == [5, {"a": 32.0}]
    assert both(f, c(0)) == [0, {"a": 1.0}]


def test_maximum_iterations():
    def f(n):
        return tf.while_loop(lambda i: True, lambda i: [i + 1], [n], maximum_iterations=3)

    assert both(f, c(4)) == [7]


def test_loops_change_variables():
    v = tf.Variable(1.0)

    @staged
    def f(n):
        def body(i):
            v.assign(v * 2.0)
            return [i + 1]

        tf.while_loop(lambda i: i < n, body, [0])
        return v.read_value()

    assert float(f(c(4))) == 16.0


def test_shapes_of_loop_variables():
    def grow(n, **options):
        return tf.while_loop(
            lambda i, a: i < n, lambda i, a: [i + 1, tf.concat([a, a], 0)], [0, c([1.0])], **options
        )

    kind, text = failure(grow, c(3))
    assert kind is ValueError
    assert text.endswith(
        "enters the loop with shape (1,), but has shape (2,) after one iteration. To allow the shape to vary across "
        "iterations, use the `shape_invariants` argument of tf.while_loop to specify a less-specific shape."
    )
    free = [tf.TensorShape([]), tf.TensorShape([None])]
    assert both(lambda n: grow(n, shape_invariants=free), c(3)) == [3, [1.0] * 8]


def test_loop_errors():
    def changed(n):
        return tf.while_loop(
            lambda i, a: i < n, lambda i, a: [i + 1, tf.cast(a, tf.int32)], [0, c(1.0)]
        )

    kind, text = failure(changed, c(3))
    assert kind is TypeError and "type should remain constant" in text
    kind, text = failure(
        lambda n: tf.while_loop(lambda i, a: i < n, lambda i, a: [i + 1], [0, 1]), c(3)
    )
    assert kind is ValueError and "don't have the same nested structure" in text
    with pytest.raises(TypeError, match="'cond' must be callable"):
        tf.while_loop(3, lambda i: i, [1])
    with pytest.raises(ValueError, match="'loop_vars' must be provided"):
        tf.while_loop(lambda: True, list, [])


# -- rows --------------------------------------------------------------------------------


def test_map_fn():
    x = c([1.0, 2.0, 3.0])
    assert both(lambda x: tf.map_fn(lambda r: r * r, x), x) == [1.0, 4.0, 9.0]

    def pairs(x, y):
        return tf.map_fn(
            lambda r: (r[0] + r[1], tf.cast(r[0], tf.int32)),
            (x, y),
            fn_output_signature=(tf.float32, tf.int32),
        )

    assert both(pairs, x, x) == ([2.0, 4.0, 6.0], [1, 2, 3])
    words = c(["a", "b"])
    assert both(lambda s: tf.map_fn(lambda w: w + "!", s), words) == [b"a!", b"b!"]


def test_map_fn_of_unknown_length():
    f = tf.function(
        lambda x: tf.map_fn(lambda r: r * 2.0, x),
        input_signature=[tf.TensorSpec([None, 2])],
        autograph=False,
    )
    assert f([[1.0, 2.0]]).numpy().tolist() == [[2.0, 4.0]]
    assert f(tf.zeros([0, 2])).shape == [0, 2]


def test_folds_and_scans():
    x = c([1.0, 2.0, 3.0])

    def digits(a, r):
        return a * 10.0 + r

    assert both(lambda x: tf.foldl(digits, x), x) == 123.0
    assert both(lambda x: tf.foldr(digits, x), x) == 321.0
    assert both(lambda x: tf.foldl(digits, x, c(7.0)), x) == 7123.0
    assert both(lambda x: tf.scan(digits, x), x) == [1.0, 12.0, 123.0]
    assert both(lambda x: tf.scan(digits, x, reverse=True), x) == [321.0, 32.0, 3.0]

    def two(a, r):
        return (a[0] + r, a[1] * r)

    start = (c(0.0), c(1.0))
    assert both(lambda x: tf.scan(two, x, start), x) == ([1.0, 3.0, 6.0], [1.0, 2.0, 6.0])


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        (lambda x: tf.map_fn(lambda r: r * r, x), [2.0, 4.0, 6.0]),
        (lambda x: tf.scan(lambda a, r: a * r, x), [9.0, 4.0, 2.0]),
        (lambda x: tf.foldl(lambda a, r: a * r, x), [6.0, 3.0, 2.0]),
    ],
)
def test_gradients_by_rows(function, answer):
    x = c([1.0, 2.0, 3.0])
    for run in (function, staged(function)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        assert tape.gradient(y, x).numpy().tolist() == answer


# -- order -------------------------------------------------------------------------------


def test_group_and_tuple():
    assert tf.group(c(1)) is None and tf.no_op() is None
    with tf.Graph().as_default() as graph:
        x = c(1.0, name="x")
        done = tf.group(x)
        assert (done.name, done.type) == ("group_deps", "NoOp")
        assert done.control_inputs == [x.op]
        (y,) = tf.tuple([x])
        assert y.op.control_inputs[0].name == "tuple/group_deps"
        with pytest.raises(TypeError, match="should be zero or more"):
            tf.group(3)
    assert graph.get_operation_by_name("tuple/control_dependency") is y.op


def test_operations_as_results_of_branches():
    v = tf.Variable(1.0)

    @staged
    def f(p):
        done = tf.cond(p, lambda: v.assign(2.0, read_value=False), tf.no_op)
        return done, v.read_value()

    assert [t.numpy() for t in f(c(False))] == [True, 1.0]
    assert [t.numpy() for t in f(c(True))] == [True, 2.0]


def test_loops_without_gradient():
    def f(x):
        return tf.while_loop(
            lambda i, a: i < 2, lambda i, a: (i + 1, a * 2.0), (0, x), back_prop=False
        )[1]

    for run in (f, staged(f)):
        with tf.GradientTape() as tape:
            x = c(1.0)
            tape.watch(x)
            y = run(x)
        assert float(y) == 4.0 and tape.gradient(y, x) is None


def test_branches_and_loops_keep_indexed_slices():
    """Asked of TensorFlow: int32 and int64 indices in two branches make int64 ones."""

    def double(s):
        return tf.IndexedSlices(s.values * 2, s.indices, s.dense_shape)

    def wide(s):
        return tf.IndexedSlices(s.values, tf.cast(s.indices, tf.int64), s.dense_shape)

    @tf.function
    def f(p, x, i):
        s = tf.IndexedSlices(x, i, tf.constant([4, 3]))
        chosen = tf.cond(p, lambda: double(s), lambda: s)
        assert isinstance(chosen, tf.IndexedSlices)
        mixed = tf.cond(p, lambda: wide(s), lambda: s)
        assert mixed.indices.dtype == tf.int64
        (looped,) = tf.while_loop(
            lambda s: tf.reduce_sum(s.values) < 100, lambda s: (double(s),), (chosen,)
        )
        with pytest.raises(TypeError, match="same number, type, and overall structure"):
            tf.cond(p, lambda: s, lambda: tf.ones((4, 3)))
        return chosen, mixed, looped

    results = f(tf.constant(True), tf.ones((2, 3)), tf.constant([1, 3]))
    sums = [float(tf.reduce_sum(r.values)) for r in results]
    assert sums == [12.0, 6.0, 192.0]
    assert [r.indices.numpy().tolist() for r in results] == [[1, 3]] * 3
    assert tf.convert_to_tensor(results[0])[1].numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("kind", [np.float32, np.dtype("float32"), float, "float32", tf.float32])
def test_the_type_of_rows_may_be_one_of_numpy(kind):
    """A class of NumPy has an attribute `dtype`, which is not its dtype. TensorFlow was asked."""
    x = tf.constant([1.0, 2.0])

    def twice(row):
        return row * 2

    for found in (
        tf.map_fn(twice, x, fn_output_signature=kind),
        tf.function(lambda v: tf.map_fn(twice, v, fn_output_signature=kind))(x),
        tf.py_function(twice, [x], kind),
        tf.numpy_function(twice, [x], kind),
    ):
        assert found.dtype is tf.float32
        assert found.numpy().tolist() == [2.0, 4.0]
    assert tf.map_fn(twice, x[:0], fn_output_signature=kind).shape == [0]
