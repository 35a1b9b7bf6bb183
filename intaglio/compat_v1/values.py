"""Values outside of graphs, as sessions returned them, and what datasets consist of."""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.base import nest


class SparseTensorValue(NamedTuple):
    """A sparse tensor as arrays."""

    indices: Any
    values: Any
    dense_shape: Any


class RaggedTensorValue(NamedTuple):
    """A ragged tensor as arrays: values, which may be ragged again, and where rows end."""

    values: Any
    row_splits: Any


def _of_spec(dataset: Any, method: str) -> Any:
    return nest.map_structure(lambda spec: getattr(spec, method)(), dataset.element_spec)


def output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the components of an element."""
    return _of_spec(dataset_or_iterator, "_to_legacy_output_classes")


def output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the components of an element."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the components of an element."""
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)
