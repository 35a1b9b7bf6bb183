"""Batches of vectors of different lengths as ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#ragged_batch.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import int64
from intaglio.data import element
from intaglio.op import raw
from intaglio.ragged.api import RaggedTensor, RaggedTensorSpec
from intaglio.trace.type_spec import TensorSpec


def _is_vector(spec: Any) -> bool:
    """True for vectors whose length is not known."""
    return type(spec) is TensorSpec and spec.dims == (None,)


def ragged_batches(
    dataset: Any, batch_size: Any, drop: Any, row_splits_dtype: Any
) -> Any:
    """Batches in which vectors of unknown lengths are rows of ragged tensors.

    They are padded, batched with their lengths, and cut again. Raises NotImplementedError
    for other elements of unknown shapes.
    """
    structure = dataset.element_spec
    specs = nest.flatten(structure)
    for spec in specs:
        known = None if isinstance(spec, RaggedTensorSpec) else spec.dims
        if not _is_vector(spec) and (known is None or None in known):
            raise NotImplementedError(
                f"Dataset.ragged_batch of elements of type {spec!r}: only vectors may have "
                "an unknown length; use padded_batch"
            )

    def with_lengths(*parts: Any) -> Any:
        whole = parts if type(structure) is tuple else parts[0]
        flat = element.flat_tensors(structure, whole)
        lengths = [
            raw.Size(v, out_type=int64)
            for s, v in zip(specs, flat, strict=True)
            if _is_vector(s)
        ]
        return (*flat, *lengths)

    def cut(*parts: Any) -> Any:
        lengths = iter(parts[len(specs) :])
        made = [
            RaggedTensor.from_tensor(
                v, lengths=next(lengths), row_splits_dtype=row_splits_dtype
            )
            if _is_vector(s)
            else v
            for s, v in zip(specs, parts, strict=False)
        ]
        return nest.pack_sequence_as(structure, made)

    padded = dataset.map(with_lengths).padded_batch(batch_size, drop_remainder=drop)
    return padded.map(cut)
