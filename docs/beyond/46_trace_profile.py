"""What tracing made of each line: ops, milliseconds, bytes and how often the line ran; as a table, and for speedscope."""

import json
import pathlib
import tempfile

from intaglio import tf


@tf.function
def f(x):
    for _ in range(100):
        x = tf.tanh(x) * 2.0
    return tf.reduce_sum(x)


f(tf.ones([8]))
profile = f.trace_profile()
line = profile[0]
assert line.where.source == "x = tf.tanh(x) * 2.0"
assert line.times == 100 and line.ops["Tanh"] == line.ops["Mul"] == 100
assert line.milliseconds > 0 and line.bytes > 0
with tempfile.TemporaryDirectory() as folder:
    profile.save(pathlib.Path(folder, "f.speedscope.json"))
    assert json.loads(pathlib.Path(folder, "f.speedscope.json").read_text())["profiles"]
