"""Functions that return empty structures, called until entries and optimised code serve them."""

from __future__ import annotations

import pytest

from intaglio import tf


@pytest.mark.parametrize("jit_compile", [None, True])
@pytest.mark.parametrize("empty", [(), [], {}, ((), [])])
def test_empty_structures_are_returned_by_every_call(empty, jit_compile) -> None:
    v = tf.Variable(0.0)

    def function(x):
        v.assign_add(x)
        return empty

    f = tf.function(function, jit_compile=jit_compile)
    for count in range(1, 7):
        assert f(tf.constant(1.0)) == empty
        assert v.numpy() == count


def test_errors_name_each_frame_once_also_from_the_second_call_on() -> None:
    inner = tf.function(lambda v, i: tf.gather(v, i))

    @tf.function
    def outer(x, i):
        return inner(x, i)

    counts = []
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            outer(tf.ones([3]), tf.constant(9))
        counts.append(str(caught.value).count("File "))
    assert len(set(counts)) == 1
