"""Signatures may be nested and leave arguments free that are no tensors; an argument that does not fit is named."""

from intaglio import tf


@tf.function(input_signature=[{"ids": tf.TensorSpec([None], tf.int32), "w": tf.TensorSpec([2])}])
def f(batch):
    return tf.reduce_sum(batch["ids"]), batch["w"]


assert int(f({"ids": [1, 2], "w": [1.0, 2.0]})[0]) == 3
try:
    f({"ids": [1, 2], "w": [1.0, 2.0, 3.0]})
except TypeError as e:
    assert e.__notes__[0].startswith("batch['w'] is"), e.__notes__
else:
    raise AssertionError("no error")
