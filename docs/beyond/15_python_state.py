"""Attributes that are declared as state are read at each call and written back after it."""

import intaglio
from intaglio import tf


class Trainer:
    def __init__(self):
        self.steps = 0
        self.rate = 1.0


trainer = Trainer()
intaglio.python_state(trainer, "steps", "rate")


@tf.function
def step(x):
    trainer.steps += 1
    if trainer.steps % 2 == 0:
        trainer.rate = trainer.rate * 0.5
    return x * trainer.rate


assert [float(step(tf.constant(8.0))) for _ in range(4)] == [8.0, 4.0, 4.0, 2.0]
assert (trainer.steps, trainer.rate) == (4, 0.25)
trainer.rate = 1.0
assert float(step(tf.constant(8.0))) == 8.0
assert step.experimental_get_tracing_count() == 1
