"""Batches of tensors of different shapes as ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#ragged_batch.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import as_dtype
from intaglio.data import building, element
from intaglio.ragged.api import RaggedTensor, RaggedTensorSpec
from intaglio.type_specs.type_spec import TensorSpec


def as_ragged(dataset: Any, row_splits_dtype: Any) -> Any:
    """The dataset with tensors of unknown sizes as ragged tensors, whose batches are ragged.

    A tensor is ragged down to its last dimension of unknown size.
    """
    kind = as_dtype(row_splits_dtype)
    before = dataset.element_spec
    after = nest.map_structure(lambda spec: _ragged_spec(spec, kind), before)

    def encoded(*arguments: Any) -> Any:
        value = element.whole(before, arguments)
        parts = [
            _as_ragged(spec, part)
            for spec, part in zip(
                nest.flatten(after), nest.flatten_up_to(before, value), strict=True
            )
        ]
        packed = nest.pack_sequence_as(after, parts)
        return tuple(element.flat_tensors(after, packed))

    return building.retyped(dataset.map(encoded), after)


def _ragged_spec(spec: Any, kind: Any) -> Any:
    if not isinstance(spec, TensorSpec) or spec.dims is None or None not in spec.dims:
        return spec
    rank = max([axis for axis, size in enumerate(spec.dims) if size is None])
    return RaggedTensorSpec(spec.dims, spec.dtype, rank, kind)


def _as_ragged(spec: Any, value: Any) -> Any:
    if isinstance(value, RaggedTensor) or not isinstance(spec, RaggedTensorSpec):
        return value
    if not spec.ragged_rank:
        return value
    return RaggedTensor.from_tensor(
        value, ragged_rank=spec.ragged_rank, row_splits_dtype=spec.row_splits_dtype
    )
