"""Serialized `tf.train.SequenceExample`s as tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/io/parse_sequence_example.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DType, as_dtype, string
from intaglio.example_parsing.examples import (
    Plan,
    add_ragged,
    assembled,
    check_apart,
    default_of,
    dense_shape,
    of_partitions,
    strings_of,
    value_key,
)
from intaglio.example_parsing.features import FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.ragged.api import RaggedTensor
from intaglio.sparse.api import SparseTensor
from intaglio.trace.scopes import name_scope


@dispatchable
def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(context, sequences, lengths of the dense ones) of a vector of SequenceExamples.

    Sequences are tensors [records, steps, ...] padded with zeros (FixedLenSequenceFeature),
    sparse (VarLenFeature) or ragged (RaggedFeature, whose partitions are lists of features too: each step
    has rows of its own). Raises ValueError without features, for kinds that sequences cannot have, and for
    a key that is read in two ways.

    `context_features` are the features of the context by name, `sequence_features` those that are
    lists of steps. `example_names` are named in error messages.

    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))
    >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=[step])})
    >>> record = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> print(tf.io.parse_sequence_example([record], None, {"x": tf.io.RaggedFeature(tf.int64)})[1]["x"])
    <tf.RaggedTensor [[[3, 4]]]>

    https://www.tensorflow.org/api_docs/python/tf/io/parse_sequence_example
    """
    with name_scope(name or "ParseSequenceExample"):
        data = convert.to_tensor(serialized, string, "serialized")
        return _parsed(data, context_features, sequence_features, example_names)


@dispatchable
def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(context, sequences) of one SequenceExample, without the dimension of records.

    `context_features` are the features of the context by name, `sequence_features` those that are
    lists of steps. `example_name` is named in error messages.

    >>> step = tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))
    >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=[step, step])})
    >>> record = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
    >>> kinds = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
    >>> print(tf.io.parse_single_sequence_example(record, None, kinds)[1]["x"].numpy())
    [3 3]

    https://www.tensorflow.org/api_docs/python/tf/io/parse_single_sequence_example
    """
    with name_scope(name or "ParseSingleSequenceExample"):
        data = convert.to_tensor(serialized, string, "serialized")
        data.shape.assert_has_rank(0)
        names = [] if example_name is None else [example_name]
        return _parsed(data, context_features, sequence_features, names)[:2]


def _by_kind(features: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The sparse, dense and ragged ones of sequence features."""
    found: tuple[dict[str, Any], ...] = ({}, {}, {})
    kinds = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
    for key in sorted(features):
        feature = features[key]
        at = next((i for i, k in enumerate(kinds) if isinstance(feature, k)), None)
        if at is None:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
        found[at][key] = feature
    return found[0], found[1], found[2]


def _triples(parts: Any, of: str) -> Any:
    """Indices, values and shapes of the sparse features in one part of the records."""
    names = [f"{of}_sparse_{part}" for part in ("indices", "values", "shapes")]
    return zip(*[getattr(parts, name) for name in names], strict=True)


def _sequence_features(
    parts: Any, sparse: Any, dense: Any, ragged: Any, read_ragged: Any, single: bool
) -> dict[str, Any]:
    """The sequence features by key, from the outputs of the parsing op."""
    triples = _triples(parts, "feature_list")
    found: dict[str, Any] = {k: SparseTensor(*t) for k, t in zip(sparse, triples, strict=True)}
    found.update(zip(dense, parts.feature_list_dense_values, strict=True))
    inner = zip(
        parts.feature_list_ragged_values, parts.feature_list_ragged_inner_splits, strict=True
    )
    outer = dict(zip(read_ragged, parts.feature_list_ragged_outer_splits, strict=True))
    by_key = dict(zip(read_ragged, inner, strict=True))
    for key, feature in ragged.items():
        # A sequence is a batch of lists of values.
        steps = of_partitions(key, feature, by_key, single=False)
        splits = outer[value_key(key, feature)]
        found[key] = (
            steps if single else RaggedTensor.from_row_splits(steps, splits, validate=False)
        )
    return found


def _parsed(data: Any, context: Any, sequences: Any, names: Any) -> Any:
    if not context and not sequences:
        raise ValueError(
            "Both context_features and sequence_features are None, but at least one "
            "should have values."
        )
    plan = Plan(context or {})
    sparse, dense, ragged = _by_kind(sequences or {})
    read_ragged: dict[str, tuple[DType, DType]] = {}
    for key, feature in ragged.items():
        add_ragged(read_ragged, key, feature)
    check_apart(dense, sparse, read_ragged)
    types = {k: as_dtype(f.dtype) for k, f in (sequences or {}).items()}
    parts = raw.ParseSequenceExampleV2(
        data,
        convert.to_tensor([] if names is None else names, string),
        strings_of(plan.sparse),
        strings_of(plan.dense),
        strings_of(plan.ragged),
        strings_of(sparse),
        strings_of(dense),
        strings_of(read_ragged),
        convert.to_tensor([bool(f.allow_missing) for f in dense.values()], as_dtype("bool")),
        [default_of(f, k) for k, f in plan.dense.items()],
        Ncontext_sparse=len(plan.sparse),
        context_sparse_types=list(plan.sparse.values()),
        context_ragged_value_types=[v for v, _ in plan.ragged.values()],
        context_ragged_split_types=[s for _, s in plan.ragged.values()],
        context_dense_shapes=[dense_shape(f) for f in plan.dense.values()],
        Nfeature_list_sparse=len(sparse),
        Nfeature_list_dense=len(dense),
        feature_list_dense_types=[types[k] for k in dense],
        feature_list_sparse_types=[types[k] for k in sparse],
        feature_list_ragged_value_types=[value for value, _ in read_ragged.values()],
        feature_list_ragged_split_types=[splits for _, splits in read_ragged.values()],
        feature_list_dense_shapes=[dense_shape(f)[1:] for f in dense.values()],
    )
    single = data.dims == ()
    triples = _triples(parts, "context")
    pairs = zip(parts.context_ragged_values, parts.context_ragged_row_splits, strict=True)
    read = assembled(
        context or {},
        {k: SparseTensor(*t) for k, t in zip(plan.sparse, triples, strict=True)},
        dict(zip(plan.dense, parts.context_dense_values, strict=True)),
        dict(zip(plan.ragged, pairs, strict=True)),
        single,
    )
    found = _sequence_features(parts, sparse, dense, ragged, read_ragged, single)
    return read, found, dict(zip(dense, parts.feature_list_dense_lengths, strict=True))


__all__ = ["parse_sequence_example", "parse_single_sequence_example"]
