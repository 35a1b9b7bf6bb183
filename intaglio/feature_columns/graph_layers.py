"""`tf.compat.v1.feature_column.input_layer` and `linear_model`: layers whose variables are the graph's."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.compat_v1.initializers import Zeros
from intaglio.compat_v1.variable_scopes import GraphKeys, add_to_collections, get_variable
from intaglio.compat_v1.variable_scopes import variable_scope as scope_of
from intaglio.composite_ops.array.rearranging import concat
from intaglio.feature_columns.column import CategoricalColumn, DenseColumn, FeatureColumn
from intaglio.feature_columns.transformation import FeatureTransformationCache
from intaglio.opdef import raw
from intaglio.ragged.sparse_embeddings import safe_embedding_lookup_sparse


class _GraphState:
    """The variables of columns, which `get_variable` makes in the current scope."""

    def __init__(self, collections_: Sequence[Any], trainable: bool) -> None:
        self._collections = collections_
        self._trainable = trainable
        self.variables: dict[Any, dict[str, Any]] = collections.defaultdict(dict)
        self._tables: dict[Any, Any] = {}

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """A variable under `name` in the current scope, in the collections too."""
        found = get_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
        )
        others = [c for c in self._collections if c != GraphKeys.GLOBAL_VARIABLES]
        add_to_collections(others, found)
        self.variables[feature_column][name] = found
        return found

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable under `name` of the column."""
        return self.variables[feature_column][name]

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """True if the column has such a table."""
        return (feature_column, resource_name) in self._tables

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """A table of the column."""
        return self._tables[feature_column, resource_name]

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Keeps a table of the column."""
        self._tables[feature_column, resource_name] = resource


def input_layer(
    features: Any,
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:
    """The numbers of dense columns beside each other, in the order of their names: [examples, numbers].

    Args:
      features: names of features -> tensors, sparse ones for categories.
      feature_columns: the columns.
      weight_collections: collections that the variables join.
      trainable: whether the variables join the collection of trainable ones.
      cols_to_vars: gets a list of variables for each column.
      cols_to_output_tensors: gets the tensor of each column.

    Raises ValueError for what is no dense column, no column, or two columns of one name.

    https://www.tensorflow.org/api_docs/python/tf/compat/v1/feature_column/input_layer
    """
    columns = _sorted_columns(
        feature_columns,
        DenseColumn,
        "a _DenseColumn. You can wrap a categorical column with an embedding_column or indicator_column",
    )
    cache = FeatureTransformationCache(features)
    state = _GraphState(weight_collections or [], trainable)
    parts: list[Any] = []
    with scope_of(None, default_name="input_layer", values=list(features.values())):
        for column in columns:
            with scope_of(None, default_name=_scope_name(column)):
                column.create_state(state)
                tensor = _flat(column, column.get_dense_tensor(cache, state))
            parts.append(tensor)
            if cols_to_vars is not None:
                cols_to_vars[column] = list(state.variables[column].values())
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensor
        return concat(parts, 1)


def linear_model(
    features: Any,
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Any:
    """A weighted sum of all columns and a bias: [examples, units].

    Args:
      features: names of features -> tensors, sparse ones for categories.
      feature_columns: the columns, dense ones or of categories, each of which has a weight.
      units: how many sums.
      sparse_combiner: "sum", "mean" or "sqrtn": how the weights of several categories of an example are
        put together.
      weight_collections: collections that the variables join.
      trainable: whether the variables join the collection of trainable ones.
      cols_to_vars: gets a list of variables for each column, and for "bias".

    Raises ValueError for what is no such column, or two columns of one name.

    https://www.tensorflow.org/api_docs/python/tf/compat/v1/feature_column/linear_model
    """
    columns = _sorted_columns(
        feature_columns,
        (DenseColumn, CategoricalColumn),
        "either a _DenseColumn or _CategoricalColumn",
    )
    cache = FeatureTransformationCache(features)
    state = _GraphState(weight_collections or [], trainable)
    sums: list[Any] = []
    with scope_of(None, default_name="linear_model", values=list(features.values())):
        for column in columns:
            with scope_of(None, default_name=_scope_name(column)):
                sums.append(_weighted(column, cache, state, units, sparse_combiner))
            if cols_to_vars is not None:
                cols_to_vars[column] = list(state.variables[column].values())
        bias = state.create_variable("bias", "bias_weights", [units], float32, initializer=Zeros())
        if cols_to_vars is not None:
            cols_to_vars["bias"] = [bias]
        total = raw.AddN(sums, name="weighted_sum_no_bias")
        return raw.BiasAdd(total, bias.read_value(), name="weighted_sum")


def _weighted(column: Any, cache: Any, state: _GraphState, units: int, combiner: str) -> Any:
    table = isinstance(column, CategoricalColumn)
    width = column.num_buckets if table else column.variable_shape.num_elements()
    own: Any = state.create_variable(
        column, "weights", [width, units], float32, initializer=Zeros()
    )
    if table:
        ids, weights = column.get_sparse_tensors(cache, state)
        return safe_embedding_lookup_sparse(
            own, ids, weights, combiner=combiner, name="weighted_sum"
        )
    column.create_state(state)
    numbers = _flat(column, column.get_dense_tensor(cache, state))
    return raw.MatMul(numbers, own.read_value(), name="weighted_sum")


def _flat(column: Any, tensor: Any) -> Any:
    width = column.variable_shape.num_elements()
    return raw.Reshape(tensor, raw.Pack([raw.Shape(tensor)[0], np.int32(width)]))


def _scope_name(column: Any) -> str:
    """The column's name, without what variables' names may not have."""
    return "".join([c if c.isalnum() or c in "_.-" else "_" for c in column.name])


def _sorted_columns(
    feature_columns: Any, allowed: type | tuple[type, ...], requirement: str
) -> list[Any]:
    """The columns in the order of their names.

    Raises ValueError for no column, two of one name, or one that is not of an `allowed` class; the
    message of the last ends with the `requirement`.
    """
    if isinstance(feature_columns, FeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(
                f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    columns = [by_name[name] for name in sorted(by_name)]
    for column in columns:
        if not isinstance(column, allowed):
            raise ValueError(f"Items of feature_columns must be {requirement}. Given: {column}")
    return columns
