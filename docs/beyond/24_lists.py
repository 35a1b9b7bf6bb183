"""A list that a loop of the graph fills becomes a list in the graph, and is an ordinary one outside; `strict` refuses it as TensorFlow does."""

import intaglio
from intaglio import tf


@tf.function
def squares(n):
    found = []
    for i in tf.range(n):
        found.append(i * i)
    return tf.stack(found), len(found)


stacked, count = squares(tf.constant(4))
assert stacked.numpy().tolist() == [0, 1, 4, 9] and int(count) == 4


@tf.function
def listed(n):
    found = []
    for i in tf.range(n):
        found.append(i)
    return found


assert [int(t) for t in listed(tf.constant(3))] == [0, 1, 2]
with intaglio.strict():
    try:
        tf.function(squares.python_function)(tf.constant(4))
    except TypeError as e:
        assert type(e).__name__ == "InaccessibleTensorError"
    except ValueError as e:
        assert type(e).__name__ == "InaccessibleTensorError"
    else:
        raise AssertionError("no error")
