"""Datasets with the methods of TensorFlow 1: `tf.compat.v1.data.Dataset`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/data/Dataset. What is made by this class's
constructors, and what transformations make of that, has them; datasets of `tf.data.Dataset` do not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from intaglio.data import building, readers, session_iterators
from intaglio.data.dataset import Dataset


class DatasetV1(session_iterators.HasElementParts, Dataset[Any]):
    """A dataset that knows the iterators of sessions, and the structure of its elements in parts."""

    def make_one_shot_iterator(self) -> Any:
        """As `tf.compat.v1.data.make_one_shot_iterator`."""
        return session_iterators.make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """As `tf.compat.v1.data.make_initializable_iterator`."""
        return session_iterators.make_initializable_iterator(self, shared_name)

    def map_with_legacy_function(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
    ) -> Dataset[Any]:
        """As `map`."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset[Any]:
        """As `filter`."""
        return self.filter(predicate)


DatasetV1.base_of_derived = DatasetV1


def _earlier(dataset: Any) -> Any:
    """A new dataset with the methods of TensorFlow 1."""
    found = building.kind(type(dataset).__name__, DatasetV1)(dataset.handle_tensor)
    found._element_spec = dataset.element_spec
    found._options = dataset._options
    return found


def _constructor(function: Callable[..., Any]) -> Any:
    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        return _earlier(function(*args, **kwargs))

    return staticmethod(make)


for _name, _value in list(vars(Dataset).items()):
    if isinstance(_value, staticmethod) and not _name.startswith("_"):
        setattr(DatasetV1, _name, _constructor(_value.__func__))


class TextLineDataset(DatasetV1, readers.TextLineDatasetV2):
    """The lines of text files."""


class TFRecordDataset(DatasetV1, readers.TFRecordDatasetV2):
    """The records of TFRecord files."""


class FixedLengthRecordDataset(DatasetV1, readers.FixedLengthRecordDatasetV2):
    """Records of one length of files."""


__all__ = ["DatasetV1", "FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"]
