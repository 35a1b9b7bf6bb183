"""Datasets padded to a number of elements, with a mask of the real ones.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/pad_to_cardinality.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import int32
from intaglio.data import building, element
from intaglio.data.stage import INFINITE, UNKNOWN
from intaglio.opdef import convert, raw


def to_cardinality(dataset: Any, cardinality: Any, mask_key: str) -> Any:
    """The dicts with a mask, then dicts of zeros. Raises ValueError if there are too many."""
    structure = dataset.element_spec
    if not isinstance(structure, Mapping):
        raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
    known, wanted = int(dataset.cardinality()), int(cardinality)
    if known == INFINITE:
        raise ValueError("The dataset passed into `pad_to_cardinality` must not be infinite.")
    if known == UNKNOWN:
        raise ValueError(
            "The dataset passed into `pad_to_cardinality` must have a known cardinalty."
        )
    if known > wanted:
        raise ValueError(
            "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the "
            f"target cardinality ({wanted}), but has cardinality {known}"
        )

    def masked(valid: bool) -> Any:
        return lambda value: {**value, mask_key: convert.to_tensor(valid)}

    def zeros(number: Any) -> Any:
        return nest.map_structure(_zero, structure)

    real = dataset.map(masked(True))
    filler = type(dataset).range(wanted - known).map(zeros).map(masked(False))
    return real.concatenate(filler).apply(
        lambda d: building.transformed(
            raw.AssertCardinalityDataset,
            "_AssertCardinalityDataset",
            d,
            building.scalar(wanted, "cardinality"),
        )
    )


def _zero(spec: Any) -> Any:
    dims = [0 if d is None else d for d in spec.dims or ()]
    return raw.Fill(
        convert.to_tensor(dims, int32), convert.to_tensor(element.zeros(spec.dtype), spec.dtype)
    )
