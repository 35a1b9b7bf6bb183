"""The classes of feature columns: how a feature is parsed and transformed."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from intaglio.base.dtypes import DType, int64, string
from intaglio.example_parsing.features import FixedLenFeature, VarLenFeature


class FeatureColumn(abc.ABC):
    """One feature of examples, or a function of several."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name, which no other column of a model should have."""

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """The columns, or names of features, that this one depends on."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """The features to parse, for `tf.io.parse_example`."""


class DenseColumn(FeatureColumn):
    """A column of numbers, of one shape for each example."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> tuple[int, ...]:
        """The shape for an example."""


class CategoricalColumn(FeatureColumn):
    """A column of numbers of categories, any number of them for an example."""

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many categories there are."""


class _OfFeature(FeatureColumn):
    """A column that is a feature itself."""

    key: str

    @property
    def name(self) -> str:
        return self.key

    @property
    def parents(self) -> list[Any]:
        return [self.key]


class _OfColumn(FeatureColumn):
    """A column that depends on another one."""

    categorical_column: CategoricalColumn

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec


# -- numbers ---------------------------------------------------------------------------


@dataclass(frozen=True)
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
    def variable_shape(self) -> tuple[int, ...]:
        return self.shape


@dataclass(frozen=True)
class SequenceNumericColumn(_OfFeature, FeatureColumn):
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
    def variable_shape(self) -> tuple[int, ...]:
        """The shape for a step."""
        return self.shape


@dataclass(frozen=True)
class BucketizedColumn(DenseColumn, CategoricalColumn):
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
    def variable_shape(self) -> tuple[int, ...]:
        return (*self.source_column.shape, len(self.boundaries) + 1)


# -- categories ------------------------------------------------------------------------


class _Category(_OfFeature, CategoricalColumn):
    """Categories of the values of a feature."""

    dtype: DType

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}


@dataclass(frozen=True)
class HashedCategoricalColumn(_Category):
    """The hash of a value modulo a number."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size


@dataclass(frozen=True)
class IdentityCategoricalColumn(_OfFeature, CategoricalColumn):
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


@dataclass(frozen=True)
class VocabularyListCategoricalColumn(_Category):
    """The index of a value in a list."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets


@dataclass(frozen=True)
class VocabularyFileCategoricalColumn(_Category):
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


@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """The hash of values of several features."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        return "_X_".join(sorted(_leaves(self)))

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


def _leaves(column: CrossedColumn) -> list[str]:
    """The names of what is crossed; a crossed column among them is what it crosses."""
    found: list[str] = []
    for key in column.keys:
        if isinstance(key, CrossedColumn):
            found += _leaves(key)
        else:
            found.append(key.name if isinstance(key, FeatureColumn) else key)
    return found


@dataclass(frozen=True)
class WeightedCategoricalColumn(_OfColumn, CategoricalColumn):
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


@dataclass(frozen=True)
class SequenceCategoricalColumn(_OfColumn, CategoricalColumn):
    """Sequences of categories."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets


# -- numbers of categories -------------------------------------------------------------


@dataclass(frozen=True)
class IndicatorColumn(_OfColumn, DenseColumn):
    """How often each category is there."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return (1, self.categorical_column.num_buckets)


@dataclass(frozen=True)
class EmbeddingColumn(_OfColumn, DenseColumn):
    """Vectors of the categories, put together."""

    categorical_column: CategoricalColumn
    dimension: int
    combiner: str
    initializer: Callable[..., Any]
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool
    use_safe_embedding_lookup: bool

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return (self.dimension,)


class SharedEmbeddings:
    """What the columns that share their vectors have in common."""

    def __init__(
        self, dimension: int, initializer: Any, name: str, num_buckets: int, **rest: Any
    ) -> None:
        self.dimension = dimension
        self.initializer = initializer
        self.name = name
        self.num_buckets = num_buckets
        self.rest = rest


@dataclass(frozen=True)
class SharedEmbeddingColumn(_OfColumn, DenseColumn):
    """Vectors of the categories, which other columns have too."""

    categorical_column: CategoricalColumn
    shared_embedding_column_creator: SharedEmbeddings
    combiner: str
    max_norm: float | None
    use_safe_embedding_lookup: bool

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> tuple[int, ...]:
        return (self.shared_embedding_column_creator.dimension,)
