"""Graphs are compared by the user's lines: two traces, before and after a pass, or the texts of two revisions."""

import intaglio
from intaglio import tf


def model(x, training):
    x = tf.nn.relu(x)
    if training:
        x = tf.nn.dropout(x, 0.5)
    return tf.reduce_sum(x)


f = tf.function(model)
spec = tf.TensorSpec([4])
saved = f.get_concrete_function(spec, False).to_text()  # as a file of an earlier revision
(line,) = [
    d
    for d in intaglio.graph_diff(saved, f.get_concrete_function(spec, True))
    if d.where.function == "model"
]
assert line.where.source == "x = tf.nn.dropout(x, 0.5)"
assert {c.kind for c in line.changes} == {"added"}
