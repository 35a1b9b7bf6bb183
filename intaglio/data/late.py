"""Modules that few pipelines use: writing positions and folders, ragged and sparse batches.

They need protocol buffers and ragged tensors, and are imported on first access.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.data import dataset_graphs as dataset_graphs
    from intaglio.data import pipeline_model as pipeline_model
    from intaglio.data import ragged_batches as ragged_batches
    from intaglio.data import serializing as serializing
    from intaglio.data import sparse_batches as sparse_batches
    from intaglio.data import storing as storing
else:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "dataset_graphs": "intaglio.data.dataset_graphs",
            "pipeline_model": "intaglio.data.pipeline_model",
            "ragged_batches": "intaglio.data.ragged_batches",
            "sparse_batches": "intaglio.data.sparse_batches",
            "serializing": "intaglio.data.serializing",
            "storing": "intaglio.data.storing",
        },
    )
