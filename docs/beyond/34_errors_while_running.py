"""An error of a graph has the line, the inputs' values, the iteration and the branch; `last_error` keeps them."""

import intaglio
from intaglio import tf


@tf.function
def f(table, n):
    total = 0.0
    for i in tf.range(n):
        if i > 1:
            total += table[i]
    return total


try:
    f(tf.constant([1.0, 2.0, 3.0]), tf.constant(5))
except tf.errors.InvalidArgumentError as e:
    text = "\n".join([str(e), *getattr(e, "__notes__", ())])
    assert "iteration 3" in text, text
    assert "total += table[i]" in text, text
else:
    raise AssertionError("no error")
assert any(value.shape == (3,) for value in intaglio.last_error.inputs.values())
