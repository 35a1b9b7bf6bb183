"""Functions of iterators.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental.
"""

from __future__ import annotations

from typing import Any

from intaglio.data import late
from intaglio.data.iterating import Iterator, Optional


def _checked(iterator: Any) -> Any:
    """An argument that must be an iterator. Raises TypeError for anything else."""
    if not isinstance(iterator, Iterator):
        raise TypeError(f"`iterator` must be an iterator of a `tf.data.Dataset`, got {iterator!r}")
    return iterator


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element as an optional, empty after the last.

    >>> iterator = iter(tf.data.Dataset.range(1))
    >>> [bool(tf.data.experimental.get_next_as_optional(iterator).has_value()) for _ in range(2)]
    [True, False]
    """
    return _checked(iterator).get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of the elements' types. Raises TypeError for other objects.

    >>> tf.data.experimental.get_structure(tf.data.Dataset.range(6))
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or "
            f"tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        ) from None


def get_model_proto(iterator: Iterator) -> Any:
    """The stages of the iterator's pipeline: names, inputs, sizes of buffers and of pools.

    `num_elements` of the root is the number of elements produced. Times and bytes are not
    measured, for no model tunes the pipeline.

    >>> iterator = iter(tf.data.Dataset.range(6).batch(2))
    >>> _ = next(iterator)
    >>> tf.data.experimental.get_model_proto(iterator).nodes[1].num_elements
    1
    """
    return late.pipeline_model.model_of(_checked(iterator)._own_resource())


__all__ = ["get_model_proto", "get_next_as_optional", "get_structure"]
