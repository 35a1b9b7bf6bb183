"""Features that cannot be parsed, with TensorFlow 2.21's classes of error."""

from __future__ import annotations

import pytest

from intaglio import tf

RECORD = tf.train.Example(
    features=tf.train.Features(
        feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
    )
).SerializeToString()
Fixed, Sequence, Variable = (
    tf.io.FixedLenFeature,
    tf.io.FixedLenSequenceFeature,
    tf.io.VarLenFeature,
)
Invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    ("feature", "eager", "graph", "text"),
    [
        (Fixed([None], tf.float32), ValueError, ValueError, "First dimension of shape"),
        (Fixed([None, 1], tf.float32), ValueError, ValueError, "First dimension of shape"),
        (Fixed([1, None], tf.float32), ValueError, ValueError, "All dimensions of shape"),
        (Fixed([2], None), ValueError, ValueError, "Missing type for feature x"),
        (Variable(None), ValueError, ValueError, "Missing type for feature x"),
        (Fixed([3], tf.float32, [1.0, 2.0]), Invalid, ValueError, "reshape"),
        (Fixed([2], tf.float32, 1.0), Invalid, ValueError, "reshape"),
        (Sequence([None], tf.float32, True), Invalid, ValueError, "unknown inner dimensions"),
        (Variable(tf.int32), Invalid, TypeError, "allowed values"),
        (5, ValueError, ValueError, "Unsupported int 5"),
    ],
)
def test_a_feature_that_is_none(feature, eager, graph, text):
    for parse, records in ((tf.io.parse_example, [RECORD]), (tf.io.parse_single_example, RECORD)):
        with pytest.raises(eager, match=text):
            parse(records, {"x": feature})
        with pytest.raises(graph, match=text):
            tf.function(parse)(records, {"x": feature})
