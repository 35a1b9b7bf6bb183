"""The error about a tensor that has left its function says where it is kept."""

from intaglio import tf

history = []


@tf.function
def f(x):
    history.append(x * 2)
    return x


f(tf.constant(1.0))
try:
    history[0] + 1
except TypeError as e:
    (note,) = e.__notes__
    assert "still held by history[0], a global of" in note
else:
    raise AssertionError("no error")
