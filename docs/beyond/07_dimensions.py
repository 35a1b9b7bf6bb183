"""Open dimensions have names and constraints; a call that breaks one is refused with the argument and the axis."""

import intaglio
from intaglio import tf

d = intaglio.dims("B>=1, T<=512")


@tf.function(input_signature=[d.spec(["B", "T", 64]), d.spec(["B"], tf.int32)])
def f(x, lengths):
    return tf.reduce_sum(x)


for batch in (1, 2, 7):
    f(tf.ones([batch, 10, 64]), tf.ones([batch], tf.int32))
assert f.experimental_get_tracing_count() == 1
for x, lengths, said in (
    (
        tf.ones([2, 10, 64]),
        tf.ones([3], tf.int32),
        "lengths.shape[0] is 3, but B is 2, the size of x.shape[0]",
    ),
    (
        tf.ones([2, 600, 64]),
        tf.ones([2], tf.int32),
        "T<=512 does not hold, for T is 600, the size of x.shape[1]",
    ),
):
    try:
        f(x, lengths)
    except intaglio.DimensionError as e:
        assert str(e) == f"f: {said}"
    else:
        raise AssertionError("no error")
