"""A trace's error has the program's lines alone, the op, and the arguments by the names of the program."""

import traceback

from intaglio import tf


def layer(x, w):
    return tf.matmul(x, w)


@tf.function
def model(x, w):
    return layer(x, w)


for call in (model, model.python_function):
    try:
        call(tf.ones([2, 3]), tf.ones([4, 5]))
    except (ValueError, tf.errors.InvalidArgumentError) as e:
        frames = [f.name for f in traceback.extract_tb(e.__traceback__)]
        text = "".join(traceback.format_exception(e))
    else:
        raise AssertionError("no error")
    assert frames[-2:] == ["model", "layer"] or frames[-1] == "layer", frames
    assert "return tf.matmul(x, w)" in text
    assert "x" in text and "[2,3]" in text.replace(" ", "") and "[4,5]" in text.replace(" ", "")
