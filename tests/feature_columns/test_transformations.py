"""What feature columns make of features; numbers, names and errors were asked of TensorFlow 2.21."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.feature_columns.serialization import (
    deserialize_feature_column,
    serialize_feature_column,
)
from intaglio.feature_columns.transformation import (
    FeatureTransformationCache,
    StateManager,
    lengths,
    sparse_input,
)

fc = tf.feature_column
v1: Any = tf.compat.v1
WORD = fc.categorical_column_with_hash_bucket("word", 10)
PRICE = fc.numeric_column("price")
BUCKETS = fc.bucketized_column(PRICE, [0.0, 1.0, 5.0])
COLOR = fc.categorical_column_with_vocabulary_list("color", ["red", "blue"], num_oov_buckets=2)
NUMBER = fc.categorical_column_with_vocabulary_list("number", [3, 5, 7], default_value=1)
DAY = fc.categorical_column_with_identity("day", 4, default_value=0)
CROSS = fc.crossed_column([BUCKETS, "word", DAY], 50)
WEIGHTED = fc.weighted_categorical_column(COLOR, "weight")
SIZES = fc.numeric_column("sizes", shape=(2,))


def _sparse(*values: Any) -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0]], list(values), [2, 2])


def _features() -> dict[str, Any]:
    return {
        "word": tf.constant([["a", "b"], ["c", ""]]),
        "sizes": tf.constant([[1, 2], [3, 4]]),
        "price": tf.constant([[0.5], [7.0]]),
        "color": _sparse("red", "zzz", "blue"),
        "weight": _sparse(0.5, 2.0, 3.0),
        "number": tf.constant([[3, 7], [9, -1]]),
        "day": tf.constant([2, 9]),
    }


def _values(rows: int, columns: int) -> Any:
    return v1.constant_initializer(np.arange(float(rows * columns)).reshape(rows, columns))


def _cache(**features: Any) -> FeatureTransformationCache:
    return FeatureTransformationCache(features)


@pytest.mark.parametrize(
    ("column", "ids", "weights"),
    [
        (WORD, [9, 2, 2], None),
        (COLOR, [0, 2, 1], None),
        (NUMBER, [0, 2, 1], None),
        (DAY, [2, 0], None),
        (CROSS, [43, 11, 26, 27], None),
        (BUCKETS, [1, 3], None),
        (WEIGHTED, [0, 2, 1], [0.5, 2.0, 3.0]),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_categories(column: Any, ids: Any, weights: Any, traced: bool) -> None:
    def values() -> Any:
        found = column.get_sparse_tensors(FeatureTransformationCache(_features()), None)
        return found.id_tensor.values, () if weights is None else found.weight_tensor.values

    own, own_weights = tf.function(values)() if traced else values()
    assert own.numpy().tolist() == ids
    assert weights is None or own_weights.numpy().tolist() == weights


@pytest.mark.parametrize(
    ("column", "rows", "names"),
    [
        (SIZES, [[1, 2], [3, 4]], []),
        (BUCKETS, [[0, 1, 0, 0], [0, 0, 0, 1]], []),
        (fc.indicator_column(COLOR), [[1, 0, 1, 0], [0, 1, 0, 0]], []),
        (fc.indicator_column(WEIGHTED), [[0.5, 0, 2, 0], [0, 3, 0, 0]], []),
        (fc.indicator_column(NUMBER), [[1, 0, 1], [0, 1, 0]], []),
        (
            fc.embedding_column(WORD, 3, initializer=_values(10, 3)),
            [[16.5, 17.5, 18.5], [6, 7, 8]],
            ["input_layer/word_embedding/embedding_weights:0"],
        ),
        (
            fc.embedding_column(WEIGHTED, 2, "sqrtn", initializer=_values(4, 2)),
            [[3.8805702, 5.0932484], [2, 3]],
            ["input_layer/color_weighted_by_weight_embedding/embedding_weights:0"],
        ),
    ],
)
def test_input_layers(column: Any, rows: Any, names: list[str]) -> None:
    with tf.Graph().as_default():
        result = v1.feature_column.input_layer(_features(), [column])
        assert [v.name for v in v1.global_variables()] == names
        assert result.shape[1] == len(rows[0])
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            np.testing.assert_allclose(session.run(result), rows, rtol=1e-6)


def test_a_linear_model_is_the_sum_of_its_columns() -> None:
    columns = [SIZES, BUCKETS, WORD, COLOR, WEIGHTED, fc.embedding_column(WORD, 2)]
    variables: dict[Any, Any] = {}
    with tf.Graph().as_default():
        result = v1.feature_column.linear_model(
            _features(), columns, units=2, cols_to_vars=variables
        )
        made = v1.global_variables()
        with v1.Session() as session:
            session.run([v1.global_variables_initializer(), v1.tables_initializer()])
            for v in made:
                size = tf.range(tf.size(v), dtype=tf.float32)
                session.run(v.assign(tf.reshape(size, v.shape) / 10))
            found = session.run(result)
    np.testing.assert_allclose(found, [[4.24, 5.62], [2.7, 4.19]], rtol=1e-5)
    assert [v.name for v in made] == [
        "linear_model/color/weights:0",
        "linear_model/color_weighted_by_weight/weights:0",
        "linear_model/price_bucketized/weights:0",
        "linear_model/sizes/weights:0",
        "linear_model/word/weights:0",
        "linear_model/word_embedding/weights:0",
        "linear_model/word_embedding/embedding_weights:0",
        "linear_model/bias_weights:0",
    ]
    assert [v.name for v in variables["bias"]] == ["linear_model/bias_weights:0"]


def test_sequences() -> None:
    steps = fc.sequence_categorical_column_with_identity("s", 3)
    sparse = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], tf.constant([1, 2, 0], tf.int64), [4, 2])
    dense, count = fc.indicator_column(steps).get_sequence_dense_tensor(_cache(s=sparse), None)
    assert count.numpy().tolist() == [1, 0, 2, 0]
    assert dense.numpy().argmax(-1).tolist() == [[1, 0], [0, 0], [2, 0], [0, 0]]
    assert dense.numpy().sum(-1).tolist() == [[1, 0], [0, 0], [1, 1], [0, 0]]
    pairs = fc.sequence_numeric_column("p", shape=(2,), default_value=9.0)
    indices = [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2], [2, 3]]
    numbers = tf.SparseTensor(indices, [1.0, 2, 3, 4, 5, 6], [4, 4])
    dense, count = pairs.get_sequence_dense_tensor(_cache(p=numbers), None)
    assert dense.numpy()[2].tolist() == [[3, 4], [5, 6]]
    assert dense.numpy()[0].tolist() == [[1, 2], [9, 9]]
    assert count.numpy().tolist() == [1, 0, 2, 0]


@given(st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=6))
def test_lengths_and_counts_of_random_sequences(rows: list[list[int]]) -> None:
    ragged = tf.ragged.constant(rows, dtype=tf.int64, ragged_rank=1)
    steps = fc.sequence_categorical_column_with_identity("s", 5)
    assert lengths(ragged.to_sparse()).numpy().tolist() == [len(row) for row in rows]
    dense, count = fc.indicator_column(steps).get_sequence_dense_tensor(_cache(s=ragged), None)
    assert count.numpy().tolist() == [len(row) for row in rows]
    found = [np.argmax(d[:n], -1).tolist() for d, n in zip(dense.numpy(), count, strict=True)]
    assert found == rows
    plain = fc.indicator_column(fc.categorical_column_with_identity("s", 5))
    counts = plain.get_dense_tensor(_cache(s=ragged), None)
    assert counts.numpy().tolist() == [np.bincount(row, minlength=5).tolist() for row in rows]


def test_features_without_a_known_rank() -> None:
    with tf.Graph().as_default():
        price, word = v1.placeholder(tf.float32), v1.sparse_placeholder(tf.string)
        columns = [PRICE, fc.indicator_column(WORD)]
        result = v1.feature_column.input_layer({"price": price, "word": word}, columns)
        words = v1.SparseTensorValue([[0], [1]], ["a", "b"], [2])
        with v1.Session() as session:
            found = session.run(result, {price: [11.0, 12.0], word: words})
            assert found[:, 0].tolist() == [11, 12]
            assert found[:, 1:].argmax(1).tolist() == [9, 2]
            with pytest.raises(tf.errors.InvalidArgumentError, match="cannot have rank 0"):
                session.run(result, {price: 3.0, word: words})


@pytest.mark.parametrize(
    "column",
    [
        *(SIZES, BUCKETS, WORD, COLOR, NUMBER, DAY, CROSS, WEIGHTED),
        fc.indicator_column(CROSS),
        fc.embedding_column(WORD, 3),
        fc.sequence_numeric_column("s"),
        fc.sequence_categorical_column_with_identity("i", 4),
    ],
)
def test_columns_as_plain_values(column: Any) -> None:
    config = serialize_feature_column(column)
    by_name: dict[str, Any] = {}
    found = deserialize_feature_column(json.loads(json.dumps(config)), None, by_name)
    assert found.name == column.name
    assert serialize_feature_column(found) == config
    assert deserialize_feature_column(config, None, by_name) is found


def test_configurations_are_tensorflows() -> None:
    embedding = fc.embedding_column(WORD, 3).get_config()
    assert embedding["initializer"] == {
        "class_name": "TruncatedNormal",
        "config": {"mean": 0.0, "stddev": 0.5773502691896258, "seed": None, "dtype": "float32"},
    }
    assert embedding["categorical_column"] == {
        "class_name": "HashedCategoricalColumn",
        "config": {"key": "word", "hash_bucket_size": 10, "dtype": "string"},
    }


class _Layer:
    """What a StateManager asks of a layer."""

    def __init__(self) -> None:
        self.tracked: list[str] = []

    def add_weight(self, name: str, shape: Any, initializer: Any, **_: Any) -> Any:
        return tf.Variable(initializer(shape, dtype=tf.float32), name=name)

    def _track_trackable(self, value: Any, name: str) -> None:
        self.tracked.append(name)


def test_weights_and_tables_belong_to_the_layer() -> None:
    layer = _Layer()
    state = StateManager(layer, True)
    column = fc.embedding_column(COLOR, 2, initializer=_values(4, 2))
    column.create_state(state)
    found: Any = None
    for _ in range(2):
        found = column.get_dense_tensor(FeatureTransformationCache(_features()), state)
    assert found.numpy().tolist() == [[2.0, 3.0], [2.0, 3.0]]
    assert layer.tracked == ["color_embedding/embedding_weights", "color/color_lookup"]
    with pytest.raises(ValueError, match="Variable already exists"):
        column.create_state(state)
    with pytest.raises(ValueError, match="Variable does not exist"):
        state.get_variable(column, "another")


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: _cache().get("zz", None), ValueError, "Feature zz is not in features dictionary"),
    (lambda: _cache().get(3, None), TypeError, '"key" must be either a "str" or "FeatureColumn"'),
    (lambda: _cache(a=1.0).get("a", None), ValueError, "cannot have rank 0"),
    (lambda: _cache(price=_sparse(1.0, 2.0, 3.0)).get(PRICE, None), ValueError, "must be a Tensor"),
    (lambda: _cache(word=[1.0]).get(WORD, None), ValueError, "dtype must be string or integer"),
    (lambda: _cache(word=[1]).get(WORD, None), ValueError, "dtypes? must be compatible"),
    (lambda: _cache(day=[1.0]).get(DAY, None), ValueError, "not integer"),
    (lambda: _cache(color=["red"], weight=[1]).get(WEIGHTED, None), ValueError, "Bad dtype"),
    (
        lambda: fc.indicator_column(DAY).get_sequence_dense_tensor(_cache(day=[1]), None),
        ValueError,
        "must be of type SequenceCategoricalColumn",
    ),
    (lambda: serialize_feature_column(3), ValueError, "is not a FeatureColumn"),
    (lambda: v1.feature_column.input_layer({}, [WORD]), ValueError, "must be a _DenseColumn"),
    (lambda: v1.feature_column.input_layer({}, [PRICE, PRICE]), ValueError, "Duplicate"),
    (lambda: v1.feature_column.linear_model({}, []), ValueError, "must not be empty"),
    (lambda: v1.feature_column.linear_model({}, {"a": PRICE}), ValueError, "found dict"),
]


@pytest.mark.parametrize(("call", "kind", "message"), WRONG)
def test_wrong_features_and_columns(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_dense_inputs_lose_what_stands_for_nothing() -> None:
    assert sparse_input(tf.constant([["a", ""]])).values.numpy().tolist() == [b"a"]
    assert sparse_input(tf.constant([[-1, 0]])).values.numpy().tolist() == [0]
    assert sparse_input(tf.constant([[0.0, 2.0]]), 0.0).values.numpy().tolist() == [2.0]


def test_arrays_of_sparse_tensors_are_sparse() -> None:
    value = v1.SparseTensorValue([[0, 0], [1, 0]], ["red", "blue"], [2, 1])
    found = COLOR.get_sparse_tensors(_cache(color=value), None)
    assert found.id_tensor.values.numpy().tolist() == [0, 1]
    assert v1.convert_to_tensor_or_sparse_tensor(value).dense_shape.numpy().tolist() == [2, 1]
    assert tf.sparse.to_dense(value).numpy().tolist() == [[b"red"], [b"blue"]]
