"""Functions are traced and compiled for signatures before the first call; in the background too, while calls run eagerly."""

from intaglio import tf

ran = []


@tf.function
def f(x):
    ran.append(1)
    return x + 1


f.warmup([tf.TensorSpec([2]), (tf.TensorSpec([3]),)])
f(tf.zeros([2]))
f(tf.zeros([3]))
assert len(ran) == 2

future = f.warmup([tf.TensorSpec([None])], background=True)
assert f(tf.zeros([4])).shape == [4]
(trace,) = future.result()
assert trace.output_shapes.as_list() == [None]
