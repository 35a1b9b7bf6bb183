"""Values outside of graphs, as sessions returned them, and what datasets consist of."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base import later, nest
from intaglio.trace import scopes


class TFRecordCompressionType:
    """How files of records are compressed, by number."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


class RaggedTensorValue:
    """A ragged tensor as arrays: values, which may be ragged again, and where rows end."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values = values
        self.row_splits = row_splits

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """Where rows end, of all dimensions, the outermost first."""
        inner = self.values
        below = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self.row_splits, *below)

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the values, NumPy's."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, None for ragged dimensions."""
        return (self.row_splits.shape[0] - 1, None, *self.values.shape[1:])

    def to_list(self) -> list[Any]:
        """The rows as nested lists."""
        inner = self.values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        ends = self.row_splits.tolist()
        return [flat[i:j] for i, j in itertools.pairwise(ends)]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"


def output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the components of an element."""
    return nest.map_structure(lambda spec: spec.value_type, dataset_or_iterator.element_spec)


def output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the components of an element."""
    return nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the components of an element."""
    return nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def tensor_structure(dtype: Any, shape: Any) -> Any:
    """A TensorSpec, as datasets' `structure` had it."""
    return later.named("intaglio.tf:TensorSpec")(shape, dtype)


def sparse_tensor_structure(dtype: Any, shape: Any) -> Any:
    """A SparseTensorSpec."""
    return later.named("intaglio.tf:SparseTensorSpec")(shape, dtype)


def ragged_tensor_structure(dtype: Any, shape: Any, ragged_rank: int) -> Any:
    """A RaggedTensorSpec."""
    return later.named("intaglio.tf:RaggedTensorSpec")(shape, dtype, ragged_rank)


def tensor_array_structure(
    dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool
) -> Any:
    """A TensorArraySpec."""
    return later.named("intaglio.tf:TensorArraySpec")(
        element_shape, dtype, dynamic_size, infer_shape
    )


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Nested lists as a RaggedTensorValue, or as an array where nothing is ragged."""
    kind = None if dtype is None else later.named("intaglio.tf:as_dtype")(dtype)
    splits = later.named("intaglio.tf:as_dtype")(row_splits_dtype)
    with scopes.eager_mode():
        found = later.named("intaglio.tf:ragged.constant")(
            pylist, kind, ragged_rank, inner_shape, row_splits_dtype=splits
        )

    def valued(part: Any) -> Any:
        if not hasattr(part, "row_splits"):
            return np.asarray(part.numpy())
        return RaggedTensorValue(valued(part.values), part.row_splits.numpy())

    return valued(found)


def ragged_placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A ragged tensor of the current graph, of placeholders; a placeholder for rank 0."""
    one = later.named("intaglio.tf:compat.v1.placeholder")
    if ragged_rank == 0:
        return one(dtype, value_shape, name)
    scope = name or "RaggedPlaceholder"
    shape = later.named("intaglio.tf:TensorShape")([None]).concatenate(value_shape)
    flat = one(dtype, shape, f"{scope}/flat_values")
    splits = [one("int64", [None], f"{scope}/row_splits_{i}") for i in reversed(range(ragged_rank))]
    return later.named("intaglio.tf:RaggedTensor").from_nested_row_splits(
        flat, splits, validate=False
    )
