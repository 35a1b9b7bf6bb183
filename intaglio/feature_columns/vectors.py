"""The classes of columns that are numbers of categories: how often each is there, and vectors of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.session_checkpoints import init_from_checkpoint
from intaglio.compat_v1.variable_scopes import get_variable
from intaglio.composite_ops.array.indexing import one_hot
from intaglio.feature_columns.column import (
    CategoricalColumn,
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from intaglio.feature_columns.columns import OfColumn, SequenceCategoricalColumn
from intaglio.feature_columns.transformation import lengths
from intaglio.opdef import raw
from intaglio.ragged.sparse_embeddings import embedding_lookup_sparse, safe_embedding_lookup_sparse
from intaglio.sparse.arranging import to_dense


class _OfCategories(OfColumn, DenseColumn, SequenceDenseColumn):
    """Numbers of the categories of an example, or of a step of a sequence: what `_numbers` returns."""

    categorical_column: CategoricalColumn

    def _numbers(self, transformation_cache: Any, state_manager: Any) -> Any:
        raise NotImplementedError

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers of examples. Raises ValueError for sequences."""
        self._check_kind(False)
        return self._numbers(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers of steps. Raises ValueError for what is no sequence."""
        self._check_kind(True)
        dense = self._numbers(transformation_cache, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(dense, lengths(ids.id_tensor))

    def _check_kind(self, sequences: bool) -> None:
        column = self.categorical_column
        if isinstance(column, SequenceCategoricalColumn) == sequences:
            return
        head = f"In {self._kind}: {self.name}. categorical_column must "
        other = (
            "be of type SequenceCategoricalColumn to use SequenceFeatures. Suggested fix: Use one of "
            f"sequence_categorical_column_with_*. Given (type {type(column)}): {column}"
            if sequences
            else "not be of type SequenceCategoricalColumn. Suggested fix A: If you wish to use DenseFeatures, use "
            "a non-sequence categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use "
            f"SequenceFeatures instead of DenseFeatures. Given (type {type(column)}): {column}"
        )
        raise ValueError(head + other)

    @property
    def _kind(self) -> str:
        return "embedding_column"


@dataclass(unsafe_hash=True)
class IndicatorColumn(_OfCategories):
    """How often each category is there."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    @property
    def _kind(self) -> str:
        return "indicator_column"

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids, weights = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        buckets = self.categorical_column.num_buckets
        dense: Any = one_hot(
            to_dense(ids, default_value=-1), buckets, np.float32(1.0), np.float32(0.0)
        )
        if weights is not None:
            dense = raw.Mul(dense, raw.ExpandDims(to_dense(weights), -1))
        return raw.Sum(dense, np.array([-2], np.int32))

    def _numbers(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


class _Vectors(_OfCategories):
    """Vectors of the categories, put together by `combiner`."""

    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The categories and their weights."""
        return self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)

    def _weights(self, state_manager: Any) -> Any:
        """The matrix of vectors."""
        raise NotImplementedError

    def _numbers(self, transformation_cache: Any, state_manager: Any) -> Any:
        ids, weights = transformation_cache.get(self, state_manager)
        look_up: Any = (
            safe_embedding_lookup_sparse
            if self.use_safe_embedding_lookup
            else embedding_lookup_sparse
        )
        return look_up(
            self._weights(state_manager),
            ids,
            weights,
            combiner=self.combiner,
            max_norm=self.max_norm,
            name=f"{self.name}_weights",
        )


@dataclass(unsafe_hash=True)
class EmbeddingColumn(_Vectors):
    """Vectors of the categories of a column."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable[..., Any]
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool = True

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _weights(self, state_manager: Any) -> Any:
        found = state_manager.get_variable(self, name="embedding_weights")
        if self.ckpt_to_load_from is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: found})
        return found


class SharedEmbeddings:
    """What the columns that share their vectors have in common; `embedding_weights` are the vectors."""

    def __init__(
        self, dimension: int, initializer: Any, name: str, num_buckets: int, **rest: Any
    ) -> None:
        self.dimension = dimension
        self.initializer = initializer
        self.name = name
        self.num_buckets = num_buckets
        self.rest = rest
        self._of_graphs: Any = weakref.WeakKeyDictionary()

    def weights(self, graph: Any) -> Any:
        """The variable of a graph, created when it is first asked for."""
        if graph not in self._of_graphs:
            found = get_variable(
                self.name,
                shape=(self.num_buckets, self.dimension),
                dtype=float32,
                initializer=self.initializer,
                trainable=self.rest.get("trainable", True),
                use_resource=True,
            )
            source = self.rest.get("ckpt_to_load_from")
            if source is not None:
                init_from_checkpoint(source, {self.rest["tensor_name_in_ckpt"]: found})
            self._of_graphs[graph] = found
        return self._of_graphs[graph]


@dataclass(unsafe_hash=True)
class SharedEmbeddingColumn(_Vectors):
    """Vectors of the categories, which other columns have too."""

    categorical_column: CategoricalColumn
    shared_embedding_column_creator: SharedEmbeddings
    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool = True

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _weights(self, state_manager: Any) -> Any:
        return self.shared_embedding_column_creator.weights(get_default_graph())
