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


Ragged = tf.io.RaggedFeature


@pytest.mark.parametrize(
    ("features", "text"),
    [
        ({"a": Variable(tf.int64), "r": Ragged(tf.int64, "a")}, "Ragged and sparse keys must not"),
        ({"a": Fixed([2], tf.int64), "r": Ragged(tf.int64, "a")}, "Dense and ragged keys must not"),
        (
            {"a": Variable(tf.int64), "c": Ragged(tf.float32, partitions=[Ragged.RowSplits("a")])},
            "Ragged and sparse keys must not intersect; ragged_keys: .'c', 'a'., sparse_keys: .'a'.",
        ),
        (
            {"a": Fixed([2], tf.int64), "s": tf.io.SparseFeature("a", "c", tf.float32, 5)},
            "Dense and sparse keys must not",
        ),
        ({"x": Ragged(tf.int64, "a"), "y": Ragged(tf.float32, "a")}, "Conflicting type .*int64"),
        (
            {"x": Ragged(tf.int64, "a"), "y": Ragged(tf.int64, "a", row_splits_dtype=tf.int64)},
            "Conflicting partition type .*int32.* vs .*int64.* for feature a",
        ),
    ],
)
def test_a_key_is_read_in_one_way(features, text):
    for parse, records in ((tf.io.parse_example, [RECORD]), (tf.io.parse_single_example, RECORD)):
        with pytest.raises(ValueError, match=text):
            parse(records, features)
    listed = {k: f for k, f in features.items() if not isinstance(f, (Fixed, tf.io.SparseFeature))}
    if listed == features:
        with pytest.raises(ValueError, match=text):
            tf.io.parse_sequence_example([b""], sequence_features=features)
