"""The batching methods of datasets.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from intaglio.base import nest
from intaglio.base.dtypes import int64
from intaglio.data import building, folding, selecting
from intaglio.data.specs import DatasetSpec
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import public_methods

Function = Callable[..., Any]


@public_methods
class Batches:
    """Batches, windows and groups of a dataset's elements."""

    element_spec: Any

    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """`batch_size` elements stacked into one; the last may have fewer.

        Raises InvalidArgumentError at elements of different shapes.
        """
        return selecting.batched(
            self,
            batch_size,
            drop_remainder,
            num_parallel_calls,
            building.determinism(deterministic),
            name,
        )

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: str | None = None,
    ) -> Self:
        """`batch_size` elements padded to one shape and stacked."""
        return selecting.padded(
            self, batch_size, padded_shapes, padding_values, drop_remainder, name
        )

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Any:
        """`batch_size` elements of different shapes as ragged tensors."""
        return selecting.ragged(self, batch_size, drop_remainder, row_splits_dtype, name)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """`batch_size` elements of different shapes as sparse tensors."""
        return selecting.sparse(self, batch_size, row_shape, name)

    def rebatch(
        self, batch_size: Any, drop_remainder: Any = False, name: str | None = None
    ) -> Self:
        """The rows of batches in batches of `batch_size`, or of several sizes, repeated cyclically.

        Raises ValueError for elements that are no batches.
        """
        return selecting.rebatched(self, batch_size, drop_remainder, name)

    def unbatch(self, name: str | None = None) -> Self:
        """The slices of each element along the first dimension.

        Raises ValueError for scalars and for first dimensions that differ.
        """
        return selecting.unbatched(self, name)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Datasets of `size` elements each, that begin `shift` elements apart."""
        structure = nest.map_structure(DatasetSpec, self.element_spec)
        return building.transformed(
            raw.WindowDataset,
            "_WindowDataset",
            self,
            building.scalar(size, "size"),
            building.scalar(size if shift is None else shift, "shift"),
            building.scalar(stride, "stride"),
            convert.to_tensor(drop_remainder),
            structure=structure,
            name=name,
        )

    def group_by_window(
        self,
        key_func: Function,
        reduce_func: Function,
        window_size: Any = None,
        window_size_func: Function | None = None,
        name: str | None = None,
    ) -> Any:
        """Windows of elements with equal keys, each replaced by the dataset that `reduce_func` returns."""
        return folding.grouped(self, key_func, reduce_func, window_size, window_size_func, name)

    def bucket_by_sequence_length(
        self,
        element_length_func: Function,
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Batches of elements of similar lengths."""
        return folding.bucketed(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )
