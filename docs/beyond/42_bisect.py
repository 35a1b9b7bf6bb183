"""The rewrite of the optimizer or of the compiler that makes a result wrong is found, or the op whose machine code is."""

import intaglio
from intaglio import tf
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door, raw
from intaglio.optimize import pipeline


def wrong(graph, fuel):
    """A pass with an error: Sigmoid for Tanh."""
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.op is raw.Tanh and fuel.burn():
            new.root = node
            with door.pushed(new):
                new.replace(node, [raw.Sigmoid(new.value(node.inputs[0]))])
        else:
            new.keep(node)
    return new.result()


@tf.function
def f(x):
    y = tf.tanh(x)
    return y * 2.0


x = tf.constant([1.0, 2.0])
assert intaglio.bisect(f, x) is None
pipeline.PASSES.append(("planted", wrong))
try:
    found = intaglio.bisect(f, x)
finally:
    pipeline.PASSES.pop()
assert (found.stage, found.step, found.rewrite) == ("optimizer", "planted", 1)
assert (found.before, found.after) == (["Tanh"], ["Sigmoid"])
assert found.lines[0].source == "y = tf.tanh(x)"
