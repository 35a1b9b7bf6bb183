"""Assertions and number checks inside functions; texts as TensorFlow 2.21 words them."""

import pytest

from intaglio import tf

ONE_TWO, ONE_THREE = [1.0, 2.0], [1.0, 3.0]


def run(check, *values, spec=None):
    @tf.function(autograph=False)
    def traced(x, y):
        check(x, y)
        return x

    spec = spec or tf.TensorSpec(None, tf.float32)
    concrete = traced.get_concrete_function(spec, spec)
    return concrete(*[tf.constant(v) for v in values])


FAILURES = [
    (
        lambda x, y: tf.debugging.assert_equal(x, y),
        "assertion failed: [Condition x == y did not hold element-wise:] [x (x:0) = ] "
        "[1 2] [y (y:0) = ] [1 3]",
    ),
    (
        lambda x, y: tf.debugging.assert_less(x, y, "mm", summarize=1),
        "assertion failed: [mm] [Condition x < y did not hold element-wise:] "
        "[x (x:0) = ] [1...] [y (y:0) = ] [1...]",
    ),
    (
        lambda x, y: tf.debugging.assert_negative(x),
        "assertion failed: [] [Condition x < 0 did not hold element-wise:] [x (x:0) = ] [1 2]",
    ),
    (
        lambda x, y: tf.debugging.assert_non_positive(x, "mm"),
        "assertion failed: [mm.  ] [Condition x <= 0 did not hold element-wise:x (x:0) = ] [1 2]",
    ),
    (
        lambda x, y: tf.debugging.assert_rank(x, 2),
        "assertion failed: [] [Tensor x:0 must have rank] [2] [Received shape: ] [2]",
    ),
    (
        lambda x, y: tf.debugging.assert_rank_in(x, [2, 3], "mm"),
        "assertion failed: [mm.  ] [Tensor x:0 must have rank in] [2] [3] [Received shape: ] [2]",
    ),
    (
        lambda x, y: tf.debugging.assert_shapes([(x, ("N",)), (y, (3,))]),
        "assertion failed: [] [Specified explicitly] [Tensor y:0 dimension] [0] "
        "[must have size] [3] [Received shape: ] [2]",
    ),
    (lambda x, y: tf.debugging.assert_all_finite(x / 0.0, "mm"), "mm : Tensor had Inf values"),
    (
        lambda x, y: tf.debugging.Assert(x[0] > 5, ["a", x], summarize=1),
        "assertion failed: [a] [1...]",
    ),
]


@pytest.mark.parametrize(("check", "text"), FAILURES)
def test_failures_when_the_graph_runs(check, text):
    with pytest.raises(tf.errors.InvalidArgumentError) as got:
        run(check, ONE_TWO, ONE_THREE)
    assert text in str(got.value)


def test_what_is_true_passes():
    def check(x, y):
        tf.debugging.assert_less_equal(x, y)
        tf.debugging.assert_positive(x)
        tf.debugging.assert_near(x, x)
        tf.debugging.assert_rank_at_least(x, 1)
        tf.debugging.assert_shapes([(x, ("N",)), (y, ("N",))])

    assert run(check, ONE_TWO, ONE_THREE).numpy().tolist() == ONE_TWO


def test_known_values_fail_while_tracing():
    def check(x, y):
        tf.debugging.assert_equal(tf.shape(x), [5])

    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        run(check, ONE_TWO, ONE_TWO, spec=tf.TensorSpec([2], tf.float32))
    with pytest.raises(ValueError, match=r"Tensor x:0 must have rank 2\.  Received rank 1"):
        run(
            lambda x, y: tf.debugging.assert_rank(x, 2),
            ONE_TWO,
            ONE_TWO,
            spec=tf.TensorSpec([2], tf.float32),
        )


def test_check_numerics_in_functions_names_op_and_line():
    @tf.function
    def traced(x):
        y = tf.math.log(x)
        return y + 1.0

    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError) as got:
            traced(tf.constant([-1.0]))
    finally:
        tf.debugging.disable_check_numerics()
    text = str(got.value)
    assert 'Detected Infinity or NaN in output 0 of graph op "Log"' in text
    assert "y = tf.math.log(x)" in text
    assert ": Tensor had NaN values" in text


def test_check_numerics_differentiates():
    tf.debugging.enable_check_numerics()
    try:
        with tf.GradientTape() as tape:
            x = tf.constant(2.0)
            tape.watch(x)
            y = tf.math.log(x) * x
        slope = tape.gradient(y, x)
    finally:
        tf.debugging.disable_check_numerics()
    assert slope.numpy() == pytest.approx(1.6931472)


def test_assertions_on_tensors_of_outside_fail_while_they_are_traced():
    """Whether or not the branch is taken, with TensorFlow's names of the operands."""
    low, high = tf.constant([1.0, 5.0]), tf.constant([2.0, 3.0])

    @tf.function
    def f(use):
        if use:
            tf.debugging.assert_less(low, high, message="m")
        tf.debugging.assert_less_equal(low, high + 9.0)
        return 1

    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        f(tf.constant(False))
    text = "m\n    Condition x < y did not hold element-wise:\n"
    assert text in str(raised.value) and "assert_less/x:0) = \n    [1. 5.]" in str(raised.value)

    @tf.function
    def near():
        tf.debugging.assert_near(low, high)
        return 1

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x \(assert_near/x:0\) = "):
        near()
    positive = tf.function(lambda: (tf.debugging.assert_positive(low), tf.constant(1))[1])
    assert int(positive()) == 1
