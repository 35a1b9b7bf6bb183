"""A profile of a run by the user's lines and ops, fused loops named: a table, HTML, speedscope, Chrome's trace, TensorBoard."""

import pathlib
import tempfile
import time

import numpy as np

import intaglio
from intaglio import tf


def slow(x):
    time.sleep(0.05)
    return x


@tf.function
def step(x):
    return tf.numpy_function(slow, [x], tf.float32) * 2.0


x = tf.constant(np.ones(8, np.float32))
step(x)
with intaglio.profile() as profile:
    for _ in range(4):
        step(x)
assert profile.lines[0].where.source == "time.sleep(0.05)"
with tempfile.TemporaryDirectory() as folder:
    intaglio.save_profile(profile, pathlib.Path(folder, "step.speedscope.json"))
    intaglio.save_profile(
        profile, pathlib.Path(folder, "logs")
    )  # what TensorBoard's profiler shows
    assert list(pathlib.Path(folder).rglob("*.xplane.pb"))
