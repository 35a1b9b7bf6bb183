"""`tf.data`: datasets, iterators, options.

Follows https://www.tensorflow.org/api_docs/python/tf/data.
"""

from __future__ import annotations

from intaglio.data.dataset import Dataset
from intaglio.data.iterating import Iterator, NumpyIterator
from intaglio.data.options import Options, ThreadingOptions
from intaglio.data.readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from intaglio.data.specs import DatasetSpec, IteratorSpec
from intaglio.data.stage import AUTOTUNE
from intaglio.data.stage import INFINITE as INFINITE_CARDINALITY
from intaglio.data.stage import UNKNOWN as UNKNOWN_CARDINALITY
from intaglio.tf.data import experimental

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "IteratorSpec",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
