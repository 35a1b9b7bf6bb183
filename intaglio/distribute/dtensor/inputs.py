"""`DTensorDataset`: a dataset whose elements are tensors with layouts.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dtensor/DTensorDataset.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from intaglio.base import nest
from intaglio.data.dataset import Dataset
from intaglio.distribute.dtensor.layouts import Layout, Mesh
from intaglio.distribute.dtensor.placing import copy_to_mesh


class DTensorDataset(Dataset[Any]):
    """The dataset in batches for all devices of a mesh, each element with its layout of `layouts`.

    `batch_dim` is the mesh dimension that divides batches; `dataset_already_batched` says that the
    elements are batches, which are batched anew. Raises ValueError for a batch that does not divide,
    and for layouts in another structure.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        *,
        mesh: Mesh,
        layouts: Any,
        global_batch_size: int,
        dataset_already_batched: bool = False,
        batch_dim: str | None = None,
        prefetch: int | None = None,
        tf_data_service_config: Any = None,
    ) -> None:
        if tf_data_service_config is not None:
            raise NotImplementedError(
                "DTensorDataset with tf_data_service_config needs servers of tf.data, which there are "
                "not: leave it out."
            )
        nest.assert_same_structure(dataset.element_spec, layouts)
        shards = 1 if batch_dim is None else mesh.dim_size(batch_dim)
        if global_batch_size % shards:
            raise ValueError(
                f"global_batch_size {global_batch_size} is not divisible by the {shards} devices of "
                f"mesh dimension {batch_dim!r}."
            )
        for layout in nest.flatten(layouts):
            _check_batch_axis(layout, batch_dim)
        rows = dataset.unbatch() if dataset_already_batched else dataset
        batches = rows.batch(global_batch_size, drop_remainder=True)
        if prefetch is not None:
            batches = batches.prefetch(prefetch)
        self._batches, self._layouts = batches, layouts
        super().__init__(batches.handle_tensor)

    def _inputs(self) -> list[Any]:
        return [self._batches] if hasattr(self, "_batches") else []

    @property
    def element_spec(self) -> Any:
        """The structure of the batches' types."""
        return self._batches.element_spec

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]  # elements are placed one by one
        for element in self._batches:
            yield nest.map_structure(copy_to_mesh, element, self._layouts)


def _check_batch_axis(layout: Layout, batch_dim: str | None) -> None:
    if batch_dim is not None and layout.sharding_specs[:1] != [batch_dim]:
        raise ValueError(
            f"The first axis of every layout is the batch's, which mesh dimension {batch_dim!r} "
            f"divides, not {layout.sharding_specs}."
        )


__all__ = ["DTensorDataset"]
