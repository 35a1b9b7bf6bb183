"""The classes of feature columns: how a feature is parsed and transformed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, int64, string
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.array.indexing import one_hot
from intaglio.example_parsing.features import FixedLenFeature, VarLenFeature
from intaglio.feature_columns import serialization
from intaglio.feature_columns.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from intaglio.feature_columns.transformation import lengths, sparse_input, step_by_step
from intaglio.lookup.vocabularies import index_table_from_file, index_table_from_tensor
from intaglio.opdef import convert, raw
from intaglio.sparse.api import SparseTensor, is_sparse
from intaglio.sparse.arranging import to_dense
from intaglio.sparse.crosses import cross_hashed
from intaglio.trace.scopes import init_scope


class _Record(FeatureColumn):
    """A column that is a record of what it was created from."""

    def get_config(self) -> dict[str, Any]:
        return serialization.config_of(self)

    @classmethod
    def from_config(
        cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        return cls(**serialization.arguments(config, custom_objects, columns_by_name))


class _OfFeature(_Record):
    """A column that is a feature itself."""

    key: str

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]


class OfColumn(_Record):
    """A column that depends on another one."""

    categorical_column: CategoricalColumn

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec


# -- numbers ---------------------------------------------------------------------------


@dataclass(unsafe_hash=True)
class NumericColumn(_OfFeature, DenseColumn):
    """Numbers of a shape."""

    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[..., Any] | None

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        found = transformation_cache.get(self.key, state_manager)
        if is_sparse(found):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                f"supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            found = self.normalizer_fn(found)
        return raw.Cast(found, DstT=float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


@dataclass(unsafe_hash=True)
class SequenceNumericColumn(_OfFeature, SequenceDenseColumn):
    """Sequences of numbers of a shape."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Callable[..., Any] | None

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        """The shape for a step."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        found = sparse_input(transformation_cache.get(self.key, state_manager))
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        sparse = transformation_cache.get(self, state_manager)
        dense: Any = to_dense(sparse, default_value=self.default_value)
        examples = raw.Shape(dense)[0]
        dims = raw.ConcatV2([raw.Pack([examples, -1]), np.array(self.shape, np.int32)], 0)
        steps: Any = raw.Reshape(dense, dims)
        # Of features of two dimensions the second is that of all numbers of all steps.
        numbers = math.prod(self.shape) if sparse.shape.rank == 2 else 1
        return TensorSequenceLengthPair(raw.Cast(steps, DstT=float32), lengths(sparse, numbers))


@dataclass(unsafe_hash=True)
class BucketizedColumn(_Record, DenseColumn, CategoricalColumn):
    """In which interval between boundaries a number is."""

    source_column: NumericColumn
    boundaries: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * math.prod(self.source_column.shape)

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        found = transformation_cache.get(self.source_column, state_manager)
        return raw.Bucketize(found, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        found = raw.Cast(transformation_cache.get(self, state_manager), DstT=int64)
        return one_hot(found, len(self.boundaries) + 1, np.float32(1.0), np.float32(0.0))

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """The interval of each number; those of the second number are behind those of the first."""
        found: Any = transformation_cache.get(self, state_manager)
        width = self.source_column.shape[0]
        examples: Any = raw.Shape(found)[0]
        numbers = raw.Tile(raw.Range(0, width, 1), raw.ExpandDims(examples, 0))
        rows = raw.Tile(
            raw.ExpandDims(raw.Range(0, examples, 1), 1), np.array([1, width], np.int32)
        )
        flat = raw.Reshape(rows, np.array([-1], np.int32))
        ids = raw.AddV2(
            raw.Reshape(found, np.array([-1], np.int32)), raw.Mul(numbers, len(self.boundaries) + 1)
        )
        indices = raw.Cast(raw.Pack([flat, numbers], axis=1), DstT=int64)
        shape = raw.Cast(raw.Pack([examples, width]), DstT=int64)
        return IdWeightPair(SparseTensor(indices, ids, shape), None)


# -- categories ------------------------------------------------------------------------


class _OfValues(_OfFeature, CategoricalColumn):
    """Categories of the values of a feature: what `_ids` makes of them."""

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        sparse = sparse_input(transformation_cache.get(self.key, state_manager))
        ids = self._ids(sparse.values, state_manager)
        return SparseTensor(sparse.indices, ids, sparse.dense_shape)

    def _ids(self, values: Any, state_manager: Any) -> Any:
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


class _Category(_OfValues):
    """Categories of text or integers."""

    dtype: DType

    def _check_kind(self, values: Any, vocabulary: str = "Column") -> None:
        """Raises ValueError for values that are neither text nor integers, or not as the column."""
        if values.dtype is not string and not values.dtype.is_integer:
            raise ValueError(
                f"column_name: {self.key} input_tensor dtype must be string or integer. dtype: {values.dtype}."
            )
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError(
                f"{vocabulary} dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                f"{self.dtype}, tensor dtype: {values.dtype}"
            )

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}


@dataclass(unsafe_hash=True)
class HashedCategoricalColumn(_Category):
    """The hash of a value modulo a number."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def _ids(self, values: Any, state_manager: Any) -> Any:
        self._check_kind(values)
        text = values if values.dtype is string else raw.AsString(values)
        return raw.StringToHashBucketFast(text, num_buckets=self.hash_bucket_size)


@dataclass(unsafe_hash=True)
class IdentityCategoricalColumn(_OfValues):
    """Numbers that are categories."""

    key: str
    number_buckets: int
    default_value: int | None

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(int64)}

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def _ids(self, values: Any, state_manager: Any) -> Any:
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        found = raw.Cast(values, DstT=int64)
        if self.default_value is None:
            return found
        limit, least = np.int64(self.num_buckets), np.int64(0)
        strange = raw.LogicalOr(raw.Less(found, least), raw.GreaterEqual(found, limit))
        return raw.SelectV2(strange, np.int64(self.default_value), found)


class _OfVocabulary(_Category):
    """Categories that a table has, which is created for the first batch."""

    def _ids(self, values: Any, state_manager: Any) -> Any:
        self._check_kind(values)
        found = values if values.dtype is string else raw.Cast(values, DstT=int64)
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            table = state_manager.get_resource(self, name)
        else:
            with init_scope():
                table = self._table(found.dtype, name)
            if state_manager is not None:
                state_manager.add_resource(self, name, table)
        return table.lookup(found)

    def _table(self, dtype: DType, name: str) -> Any:
        raise NotImplementedError


@dataclass(unsafe_hash=True)
class VocabularyListCategoricalColumn(_OfVocabulary):
    """The index of a value in a list."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, dtype: DType, name: str) -> Any:
        words = list(self.vocabulary_list)
        return index_table_from_tensor(
            convert.to_tensor(words, None if dtype is string else int64),
            self.num_oov_buckets,
            self.default_value,
            dtype=dtype,
            name=name,
        )


@dataclass(unsafe_hash=True)
class VocabularyFileCategoricalColumn(_OfVocabulary):
    """The line of a file that a value is."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int
    file_format: str | None

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self, dtype: DType, name: str) -> Any:
        return index_table_from_file(
            self.vocabulary_file,
            self.num_oov_buckets,
            self.vocabulary_size,
            self.default_value,
            key_dtype=dtype,
            name=name,
        )


@dataclass(unsafe_hash=True)
class CrossedColumn(_Record, CategoricalColumn):
    """The hash of values of several features."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        names = [key if isinstance(key, str) else key.name for key in _crossed(self)]
        return "_X_".join(sorted(names))

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self.keys:
            if isinstance(key, FeatureColumn):
                found.update(key.parse_example_spec)
            else:
                found[key] = VarLenFeature(string)
        return found

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        crossed: list[Any] = []
        for key in _crossed(self):
            if isinstance(key, str):
                crossed.append(transformation_cache.get(key, state_manager))
                continue
            ids, weights = key.get_sparse_tensors(transformation_cache, state_manager)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            crossed.append(ids)
        return cross_hashed(crossed, self.hash_bucket_size, self.hash_key)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


def _crossed(column: CrossedColumn) -> list[Any]:
    """What is crossed; a crossed column among it is what it crosses."""
    found: list[Any] = []
    for key in column.keys:
        found += _crossed(key) if isinstance(key, CrossedColumn) else [key]
    return found


@dataclass(unsafe_hash=True)
class WeightedCategoricalColumn(OfColumn, CategoricalColumn):
    """Categories with weights, which are another feature."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = dict(self.categorical_column.parse_example_spec)
        own = VarLenFeature(self.dtype)
        if spec.get(self.weight_feature_key, own) != own:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: own}

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        found = weights if is_sparse(weights) else convert.to_tensor(weights)
        if self.dtype != found.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {found.dtype}.")
        sparse = sparse_input(found, np.zeros((), found.dtype.numpy))
        values = raw.Cast(sparse.values, DstT=float32)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return ids.id_tensor, SparseTensor(sparse.indices, values, sparse.dense_shape)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        return IdWeightPair(*transformation_cache.get(self, state_manager))


@dataclass(unsafe_hash=True)
class SequenceCategoricalColumn(OfColumn, CategoricalColumn):
    """Sequences of categories."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """Categories [examples, steps, 1]."""
        ids, weights = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        return IdWeightPair(step_by_step(ids), None if weights is None else step_by_step(weights))
