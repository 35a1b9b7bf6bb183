"""Batches of tensors of different shapes as sparse tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#sparse_batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int64
from intaglio.base.shapes import TensorShape
from intaglio.data import building
from intaglio.opdef import convert, raw
from intaglio.runtime.eager import EagerTensor
from intaglio.sparse.api import SparseTensorSpec
from intaglio.type_specs.type_spec import TensorSpec


def sparse_batches(dataset: Any, batch_size: Any, row_shape: Any, name: str | None) -> Any:
    """Batches of tensors of different shapes as sparse tensors with rows of `row_shape`.

    Raises TypeError for elements that are no single tensor.
    """
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(
            "Dataset.sparse_batch() requires an input dataset whose elements have a single "
            f"component, but the given dataset has elements of type {spec}."
        )
    if isinstance(row_shape, TensorShape):
        row_shape = [-1 if d is None else d for d in row_shape.as_list()]
    row_dims = convert.to_tensor(row_shape, int64)
    dims = None
    if isinstance(row_dims, EagerTensor):
        dims = [None, *[int(d) if d >= 0 else None for d in np.asarray(row_dims)]]
    return building.transformed(
        raw.DenseToSparseBatchDataset,
        "_DenseToSparseBatchDataset",
        dataset,
        building.scalar(batch_size, "batch_size"),
        row_dims,
        structure=SparseTensorSpec(dims, spec.dtype),
        name=name,
    )
