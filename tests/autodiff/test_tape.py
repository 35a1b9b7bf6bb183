"""GradientTape over eager ops. Answers and messages asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from tests.autodiff.orders import assert_derivatives


def grad(function, x, sources=None, **options):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x if sources is None else sources, **options)


def test_gradient_reaches_sources_beyond_other_sources():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    dx, dy = tape.gradient(z, [x, y])
    assert (float(dx), float(dy)) == (108.0, 18.0)


def test_sources_and_targets_may_be_structures():
    x = tf.constant(3.0)
    found = grad(lambda v: [v * v, {"k": v * v}], x, {"a": x, "b": [x, x]})
    assert float(found["a"]) == 12.0
    assert [float(v) for v in found["b"]] == [12.0, 12.0]


def test_targets_that_are_no_scalars_are_summed():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(grad(lambda v: v * v, x), [2.0, 4.0])


def test_output_gradients_weight_the_targets():
    x = tf.constant([1.0, 2.0])
    found = grad(lambda v: v * v, x, output_gradients=tf.constant([1.0, 10.0]))
    np.testing.assert_array_equal(found, [2.0, 40.0])


def test_higher_orders():
    assert_derivatives(lambda x: x * x * x * x - 2.0 * x * x, 1.3)


def test_a_tape_can_be_used_once():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="only be used to compute one set of gradients"):
        tape.gradient(y, x)


def test_a_persistent_tape_again_and_inside_its_block():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
    assert float(first) == 27.0
    assert float(tape.gradient(y, x)) == 27.0
    assert float(tape.gradient(first, x)) == 18.0


def test_a_tape_inside_its_block_is_spent_by_gradient():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.gradient(y, x)
        with pytest.raises(RuntimeError):
            tape.gradient(y, x)


def test_unconnected_sources():
    x, other = tf.constant(3.0), tf.constant([1.0, 2.0])
    assert grad(lambda v: v * v, x, other) is None
    zeros = grad(lambda v: v * v, x, [tf.constant([1, 2]), other], unconnected_gradients="zero")
    assert zeros[0].dtype == tf.int32
    np.testing.assert_array_equal(zeros[1], [0.0, 0.0])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'foo'"):
        grad(lambda v: v, x, unconnected_gradients="foo")


def test_only_watched_tensors_have_gradients():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_integers_have_no_gradients(caplog):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None


def test_stop_recording_and_reset():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * y
        assert tape.gradient(z, x) is None
        tape.reset()
        tape.watch(x)
        w = x * 5.0
    assert tape.gradient(y, x) is None
    assert float(tape.gradient(w, x)) == 5.0


@pytest.mark.parametrize("jit", [None, True])
def test_what_stops_or_resets_a_tape_inside_a_loop_or_branch_leaves_it_where_it_records(jit):
    def stopped_in_loop(tape, x, y):
        for _ in tf.range(3):
            with tape.stop_recording():
                z = y * x
            y = y * x + 0.0 * z
        return y

    def stopped_in_branch(tape, x, y):
        if x[0] > 0.0:
            with tape.stop_recording():
                z = y * x
            y = y * x + z
        return y

    def stopped_in_function(tape, x, y):
        @tf.function
        def inner(y):
            with tape.stop_recording():
                z = y * x
            return y * x + z

        return inner(y)

    def reset_in_loop(tape, x, y):
        for i in tf.range(3):
            if i == 1:
                tape.reset()
                tape.watch(x)
            y = y * x
        return y

    # TensorFlow 2.21's answers. What a loop computes is one operation of the tape.
    wanted = {
        stopped_in_loop: [4.0, -32.0, 108.0],
        stopped_in_branch: [4.0, -8.0, 12.0],
        stopped_in_function: [4.0, -8.0, 12.0],
        reset_in_loop: [4.0, -32.0, 108.0],
    }
    for compute, gradient in wanted.items():

        @tf.function(jit_compile=jit)
        def f(x, compute=compute):
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = tf.reduce_sum(compute(tape, x, x))
            return tape.gradient(total, x)

        np.testing.assert_allclose(f(tf.constant([1.0, -2.0, 3.0])), gradient)


def test_misuse_is_refused():
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.reset()
    with tape:
        with pytest.raises(ValueError, match="re-enter an already-active tape"), tape:
            pass
        with pytest.raises(ValueError, match="Passed in object a of type 'str'"):
            tape.watch("a")
        tape.watch(x)
        y = x * x
    with pytest.raises(TypeError, match="received None"):
        tape.gradient(None, x)
    assert float(tape.gradient(y, x)) == 6.0


def test_variables_are_watched_when_read():
    v, w = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * w
    assert tape.watched_variables() == (v,)
    dv, dw = tape.gradient(y, [v, w])
    assert float(dv) == 3.0
    assert dw is None
    assert tape.watched_variables() == (v,)


def test_watch_accessed_variables_false():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert tape.gradient(y, [v, w])[0] is None


def test_complex_gradients_are_conjugated():
    z = tf.constant(1 + 2j)
    assert complex(grad(lambda v: v * v, z).numpy()) == 2 - 4j


def test_ops_without_gradient_are_named():
    x = tf.constant([[3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.Sum(input=x, axis=0)
        z = tf.raw_ops.Greater(x=y, y=0.0)
    assert not z.dtype.is_floating
    assert tape.gradient(y, x) is not None


def test_a_broadcast_operand_gets_the_sum():
    x = tf.constant([[1.0], [2.0]])
    y = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = x * y
    dx, dy = tape.gradient(z, [x, y])
    np.testing.assert_array_equal(dx, [[6.0], [6.0]])
    np.testing.assert_array_equal(dy, [3.0, 3.0, 3.0])


def test_tapes_of_other_levels_do_not_see_ops():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            y = x * x
    del y
    with tf.GradientTape() as tape:
        tape.watch(x)

        @tf.function
        def inside():
            return x * x

        z = inside()
    assert float(tape.gradient(z, x)) == 6.0


def test_structures_without_gradients_are_refused():
    class Pair(tf.experimental.ExtensionType):
        a: tf.Tensor

    pair = Pair(tf.constant([1.0, 2.0]))
    text = "Type Pair is not supported as a gradient source or gradient target."
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(pair)
        y = pair.a * pair.a
    with pytest.raises(ValueError, match=text):
        tape.gradient(y, pair)
    with pytest.raises(ValueError, match=text):
        tape.gradient(Pair(y), pair.a)
    assert tape.gradient(y, pair.a).numpy().tolist() == [2.0, 4.0]


def test_errors_name_ops_without_gradient_in_graphs():
    def bits(x):
        return tf.raw_ops.Bitcast(input=x, type=tf.float32, name="bits")

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = bits(x)
    with pytest.raises(LookupError, match="gradient registry has no entry for: Bitcast"):
        tape.gradient(y, x)
    with pytest.raises(LookupError, match="No gradient defined for operation'bits'"):
        tf.function(lambda x: tf.gradients(bits(x), x))(x)


def test_batch_jacobian_by_a_variable():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = x * x
    found = tape.batch_jacobian(y, x).numpy()
    assert found.tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]
