"""A dataset of strings written to a TFRecord file.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/TFRecordWriter.
"""

from __future__ import annotations

from typing import Any

from intaglio.data import late
from intaglio.data.dataset import Dataset


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename = filename
        self._compression_type = compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes the elements. Raises TypeError unless they are string scalars."""
        late.storing.written_records(dataset, self._filename, self._compression_type)
