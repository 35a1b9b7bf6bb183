"""`tf.feature_column`; names, specs and errors were asked of TensorFlow 2.21."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf

fc = tf.feature_column
N = fc.numeric_column("price", shape=(2,), default_value=1.5)
P = fc.bucketized_column(fc.numeric_column("p"), boundaries=[0.0, 1.0])
H = fc.categorical_column_with_hash_bucket("h", 10)
V = fc.categorical_column_with_vocabulary_list("v", ["a", "b"], num_oov_buckets=2)
X = fc.crossed_column([P, "c", "d"], hash_bucket_size=100)
FLOATS, TEXTS = tf.io.VarLenFeature(tf.float32), tf.io.VarLenFeature(tf.string)
WHOLE = tf.io.VarLenFeature(tf.int64)
ONE = tf.io.FixedLenFeature((1,), tf.float32, None)


@pytest.mark.parametrize(
    ("column", "name", "buckets", "spec"),
    [
        (N, "price", None, {"price": tf.io.FixedLenFeature((2,), tf.float32, (1.5, 1.5))}),
        (P, "p_bucketized", 3, {"p": ONE}),
        (H, "h", 10, {"h": TEXTS}),
        (fc.categorical_column_with_identity("i", 5, 0), "i", 5, {"i": WHOLE}),
        (V, "v", 4, {"v": TEXTS}),
        (
            fc.categorical_column_with_vocabulary_list("v", [1, 2], dtype=tf.int32),
            "v",
            2,
            {"v": tf.io.VarLenFeature(tf.int32)},
        ),
        (X, "c_X_d_X_p_bucketized", 100, {"p": ONE, "c": TEXTS, "d": TEXTS}),
        (fc.embedding_column(V, dimension=3), "v_embedding", None, {"v": TEXTS}),
        (
            fc.indicator_column(X),
            "c_X_d_X_p_bucketized_indicator",
            None,
            {"p": ONE, "c": TEXTS, "d": TEXTS},
        ),
        (
            fc.weighted_categorical_column(H, "weight"),
            "h_weighted_by_weight",
            10,
            {"h": TEXTS, "weight": FLOATS},
        ),
        (fc.sequence_numeric_column("sn", shape=(2,)), "sn", None, {"sn": FLOATS}),
        (fc.sequence_categorical_column_with_hash_bucket("sh", 9), "sh", 9, {"sh": TEXTS}),
        (fc.sequence_categorical_column_with_identity("si", 4), "si", 4, {"si": WHOLE}),
        (
            fc.sequence_categorical_column_with_vocabulary_list("svl", ["a", "b"]),
            "svl",
            2,
            {"svl": TEXTS},
        ),
        (
            fc.sequence_categorical_column_with_vocabulary_file("svf", "lines", 3),
            "svf",
            3,
            {"svf": TEXTS},
        ),
    ],
)
def test_what_columns_are(column: Any, name: str, buckets: Any, spec: Any) -> None:
    assert column.name == name
    assert getattr(column, "num_buckets", None) == buckets
    assert fc.make_parse_example_spec([column]) == spec


def test_shapes_of_columns() -> None:
    assert P.variable_shape == [1, 3]
    assert fc.indicator_column(V).variable_shape == [1, 4]
    assert fc.embedding_column(V, 3).variable_shape == [3]
    assert fc.embedding_column(V, 3).initializer([4, 3]).shape == [4, 3]


def test_columns_are_records() -> None:
    assert fc.numeric_column("a") == fc.numeric_column("a") != fc.numeric_column("b")
    assert len({fc.numeric_column("a"), fc.numeric_column("a")}) == 1
    assert repr(H) == ("HashedCategoricalColumn(key='h', hash_bucket_size=10, dtype=tf.string)")
    assert X.parents == [P, "c", "d"]


def test_files_of_categories(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lines"
    path.write_text("x\ny\nz\n")
    column = fc.categorical_column_with_vocabulary_file("a", path, num_oov_buckets=2)
    assert column.vocabulary_size == 3
    assert column.num_buckets == 5


def test_examples_are_parsed_as_columns_say() -> None:
    example = tf.train.Example()  # type: ignore[operator]
    example.features.feature["p"].float_list.value.append(0.5)
    example.features.feature["h"].bytes_list.value.extend([b"x", b"y"])
    spec = fc.make_parse_example_spec([P, fc.indicator_column(H)])
    parsed = tf.io.parse_example([example.SerializeToString()], spec)
    assert parsed["p"].numpy().tolist() == [[0.5]]
    assert parsed["h"].values.numpy().tolist() == [b"x", b"y"]


def test_shared_vectors() -> None:
    columns = [fc.categorical_column_with_identity(k, 4) for k in ("b", "a")]
    with pytest.raises(RuntimeError, match="not supported when eager execution"):
        fc.shared_embeddings(columns, 2)
    with tf.Graph().as_default():
        made = fc.shared_embeddings(columns, 2)
        with pytest.raises(ValueError, match="same number of buckets"):
            other = fc.categorical_column_with_identity("c", 5)
            fc.shared_embeddings([*columns, other], 2)
        with pytest.raises(ValueError, match="must have the same type"):
            fc.shared_embeddings([columns[0], H], 2)
    assert [c.name for c in made] == ["b_shared_embedding", "a_shared_embedding"]
    shared = {id(c.shared_embedding_column_creator) for c in made}
    assert len(shared) == 1
    assert set(fc.make_parse_example_spec(made)) == {"a", "b"}


def _number(**options: Any) -> Any:
    return lambda: fc.numeric_column("a", **options)


def _listed(*args: Any, **options: Any) -> Any:
    return lambda: fc.categorical_column_with_vocabulary_list("a", *args, **options)


WRONG: list[tuple[Any, Any, str]] = [
    (lambda: fc.make_parse_example_spec([3]), ValueError, "must be FeatureColumn instances"),
    (
        lambda: fc.make_parse_example_spec([fc.numeric_column("h"), H]),
        ValueError,
        "different parse_spec for key h",
    ),
    (_number(shape=(0,)), ValueError, "must be greater than 0"),
    (_number(shape=(1.5,)), TypeError, "must be integer"),
    (_number(shape=(2,), default_value=[1.0]), ValueError, "equal to given shape"),
    (_number(dtype=tf.string), ValueError, "convertible to float"),
    (_number(normalizer_fn=3), TypeError, "normalizer_fn must be a callable"),
    (_number(default_value="x"), TypeError, "compatible with dtype"),
    (lambda: fc.numeric_column(3), ValueError, "key must be a string"),  # type: ignore[arg-type]
    (lambda: fc.bucketized_column(H, [1.0]), ValueError, "generated with numeric_column"),
    (lambda: fc.bucketized_column(N, [2.0, 1.0]), ValueError, "must be a sorted list"),
    (lambda: fc.bucketized_column(N, []), ValueError, "must not be empty"),
    (lambda: fc.categorical_column_with_hash_bucket("a", 0), ValueError, "at least 1"),
    (
        lambda: fc.categorical_column_with_hash_bucket("a", 3, tf.float32),
        ValueError,
        "dtype must be string or integer",
    ),
    (lambda: fc.categorical_column_with_identity("a", 0), ValueError, "num_buckets 0 < 1"),
    (lambda: fc.categorical_column_with_identity("a", 3, 3), ValueError, "not in range"),
    (_listed([]), ValueError, "must be non-empty"),
    (_listed(["a", "a"]), ValueError, "Duplicate keys"),
    (_listed(["a"], default_value=0, num_oov_buckets=1), ValueError, "Can't specify both"),
    (_listed(["a"], num_oov_buckets=-1), ValueError, "Invalid num_oov_buckets -1"),
    (_listed(["a"], dtype=tf.int32), ValueError, "do not match"),
    (_listed([1.5]), ValueError, "vocabulary dtype must be string or integer"),
    (lambda: fc.categorical_column_with_vocabulary_file("a", ""), ValueError, "Missing"),
    (
        lambda: fc.categorical_column_with_vocabulary_file("a", "/not/there"),
        ValueError,
        "does not exist",
    ),
    (
        lambda: fc.categorical_column_with_vocabulary_file("a", "x", 0),
        ValueError,
        "Invalid vocabulary_size",
    ),
    (lambda: fc.crossed_column(["a"], 3), ValueError, "length > 1"),
    (lambda: fc.crossed_column(["a", "b"], 0), ValueError, "must be > 1"),
    (lambda: fc.crossed_column(["a", N], 3), ValueError, "Unsupported key type"),
    (lambda: fc.crossed_column(["a", H], 3), ValueError, "not supported for crossing"),
    (lambda: fc.embedding_column(V, 0), ValueError, "Invalid dimension 0"),
    (
        lambda: fc.embedding_column(V, 2, initializer=3),  # type: ignore[arg-type]
        ValueError,
        "must be callable if specified. Embedding of column_name: v",
    ),
    (lambda: fc.embedding_column(V, 2, ckpt_to_load_from="x"), ValueError, "or none of them"),
    (lambda: fc.indicator_column(N), ValueError, "must be a CategoricalColumn"),
    (
        lambda: fc.weighted_categorical_column(H, "w", tf.string),
        ValueError,
        "not convertible to float",
    ),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_columns_refuse(number: int) -> None:
    call, error, words = WRONG[number]
    with pytest.raises(error, match=words.replace("(", r"\(")):
        call()
