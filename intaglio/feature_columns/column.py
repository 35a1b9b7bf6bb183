"""What a feature column is: a feature of examples, how it is read, and the tensor that it becomes.

Layers call columns by these methods, and programs may write columns of their own.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from intaglio.base.shapes import TensorShape


class IdWeightPair(NamedTuple):
    """The categories of examples, and their weights or None."""

    id_tensor: Any
    weight_tensor: Any


class TensorSequenceLengthPair(NamedTuple):
    """The steps of sequences, padded, and the lengths."""

    dense_tensor: Any
    sequence_length: Any


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

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The column's tensor, made of others that the cache has or makes."""

    def create_state(self, state_manager: Any) -> None:  # noqa: B027  # most have no variables
        """Creates the variables that the column needs: none."""

    def get_config(self) -> dict[str, Any]:
        """What `from_config` takes, of plain values."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @classmethod
    def from_config(
        cls, config: Any, custom_objects: Any = None, columns_by_name: Any = None
    ) -> Any:
        """The column of a configuration."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @property
    def _is_v2_column(self) -> bool:
        """True: the column has the methods of this class."""
        return True


class DenseColumn(FeatureColumn):
    """A column of numbers, of one shape for each example."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> TensorShape:
        """The shape for an example."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The numbers: [examples, *variable_shape]."""


class SequenceDenseColumn(FeatureColumn):
    """A column of sequences of numbers, of one shape for each step."""

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """A TensorSequenceLengthPair: [examples, steps, *variable_shape] and [examples]."""


class CategoricalColumn(FeatureColumn):
    """A column of numbers of categories, any number of them for an example."""

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many categories there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> IdWeightPair:
        """The categories of each example as a sparse matrix, and their weights or None."""
