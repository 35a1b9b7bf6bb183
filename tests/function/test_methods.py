"""Methods decorated with tf.function are converted like functions."""

from __future__ import annotations

from intaglio import tf


class Counter(tf.Module):
    @tf.function
    def down(self, n: tf.Tensor) -> tf.Tensor:
        count = tf.constant(0)
        while n > 1:
            n = n - 1
            count += 1
        return count


def test_control_flow_of_a_method_becomes_part_of_the_graph() -> None:
    assert int(Counter().down(tf.constant(5))) == 4
