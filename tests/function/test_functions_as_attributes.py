"""Ops that run functions take concrete functions; TensorFlow was asked for results and errors."""

import pytest

from intaglio import tf

R = tf.raw_ops
SCALAR = tf.TensorSpec([], tf.int32)
TYPES = [tf.int32]


def concrete(function):
    return tf.function(function).get_concrete_function(SCALAR)


MORE, LESS, SMALL = concrete(lambda x: x + 1), concrete(lambda x: x - 1), concrete(lambda x: x < 5)
CALLS = {
    "PartitionedCall": (lambda x: R.PartitionedCall(args=[x], Tout=TYPES, f=MORE), 4),
    "StatefulPartitionedCall": (
        lambda x: R.StatefulPartitionedCall(args=[x], Tout=TYPES, f=MORE),
        4,
    ),
    "If": (
        lambda x: R.If(cond=x > 0, input=[x], Tout=TYPES, then_branch=MORE, else_branch=LESS),
        4,
    ),
    "StatelessIf": (
        lambda x: R.StatelessIf(
            cond=x < 0, input=[x], Tout=TYPES, then_branch=MORE, else_branch=LESS
        ),
        2,
    ),
    "While": (lambda x: R.While(input=[x], cond=SMALL, body=MORE), 5),
    "StatelessWhile": (lambda x: R.StatelessWhile(input=[x], cond=SMALL, body=MORE), 5),
    "Case": (lambda x: R.Case(branch_index=1, input=[x], Tout=TYPES, branches=[MORE, LESS]), 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_op_runs_a_concrete_function(name):
    call, expected = CALLS[name]
    for run in (call, tf.function(call), tf.function(call, jit_compile=True)):
        (result,) = run(tf.constant(3))
        assert int(result) == expected


def test_captures_are_the_last_arguments():
    v = tf.Variable(3)
    function = concrete(lambda x: x + v)
    (result,) = R.StatefulPartitionedCall(
        args=[tf.constant(4), *function.captured_inputs], Tout=TYPES, f=function
    )
    assert int(result) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes 2 inputs"):
        R.StatefulPartitionedCall(args=[tf.constant(4)], Tout=TYPES, f=function)


@pytest.mark.parametrize("other", ["name", tf.function(lambda x: x), 3])
def test_what_is_no_concrete_function_is_refused(other):
    with pytest.raises(TypeError, match="to a func for argument f"):
        R.PartitionedCall(args=[3], Tout=TYPES, f=other)
    with pytest.raises(TypeError, match="to a func for argument branches"):
        R.Case(branch_index=0, input=[1], Tout=TYPES, branches=[MORE, other])
