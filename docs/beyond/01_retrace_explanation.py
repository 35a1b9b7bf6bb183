"""Each trace has its cause: what differs from the nearest earlier one, where it was called, what it cost, what to write instead."""

import intaglio
from intaglio import tf


@tf.function
def step(batch, rate):
    return tf.reduce_sum(batch["ids"]) * rate


step({"ids": tf.ones([2, 4])}, 1.0)
step({"ids": tf.ones([2, 4])}, 2.0)
step({"ids": tf.ones([2, 7])}, 2.0)
reason = intaglio.last_retrace()
assert reason == step.explain()[-1]
(change,) = reason.changes
assert (change.path, change.was, change.now) == ("batch['ids'].shape[1]", "4", "7")
assert reason.nearest == 2 and reason.seconds > 0
assert reason.where.source == 'step({"ids": tf.ones([2, 7])}, 2.0)'
assert "leave the dimension open" in change.advice
