"""Branches and iterations with an int and a float, or of other shapes, join where it is safe; else the error has both lines."""

from intaglio import tf


@tf.function
def chosen(flag):
    if flag:
        x = 1
    else:
        x = 1.5
    return x


assert [float(chosen(tf.constant(b))) for b in (True, False)] == [1.0, 1.5]


@tf.function
def growing(n):
    x = tf.constant([1])
    for i in tf.range(n):
        x = tf.concat([x, [i]], 0)
    return x


assert growing(tf.constant(2)).numpy().tolist() == [1, 0, 1]


@tf.function
def differing(flag):
    if flag:
        x = tf.constant(1)
    else:
        x = tf.constant(1.5)
    return x


try:
    differing(tf.constant(True))
except TypeError as e:
    text = "\n".join([str(e), *getattr(e, "__notes__", ())])
    assert "'x' is set at line" in text and "and at line" in text
    assert "tf.cast(x, tf.float32)" in text
else:
    raise AssertionError("no error")
