"""A trace is a text that reads back, with its source lines, and a program that runs on NumPy alone."""

import numpy as np

import intaglio
from intaglio import tf

weights = tf.Variable([[1.0, 2.0], [3.0, 4.0]])


@tf.function
def model(x):
    for _ in tf.range(3):
        x = tf.tanh(tf.linalg.matvec(weights, x))
    return x


x = tf.constant([1.0, -1.0])
result = model(x)
graph = intaglio.graph_of_text(model.to_text())
assert any(n.type == "StatelessWhile" or n.type == "While" for n in graph.nodes)

program = model.to_python()
assert not program.missing and "import intaglio" not in program
space = {"__name__": "program"}
exec(program, space)
run = space["program"]
found = run(x.numpy(), space["Variable"](weights.numpy()))
assert np.allclose(found, result.numpy())
