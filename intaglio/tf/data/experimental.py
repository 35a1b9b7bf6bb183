"""`tf.data.experimental`: what has moved to `tf.data.Dataset`, optionals, options.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.dtypes import int64
from intaglio.data import building, constructors, element, tracing
from intaglio.data.csv_columns import CsvDatasetV2 as CsvDataset
from intaglio.data.csv_datasets import make_csv_dataset
from intaglio.data.dataset import Dataset, checked
from intaglio.data.dataset_writer import TFRecordWriter
from intaglio.data.iterating import Iterator, Optional
from intaglio.data.iterator_functions import get_model_proto, get_next_as_optional, get_structure
from intaglio.data.key_reductions import group_by_reducer
from intaglio.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from intaglio.data.readers import RandomDatasetV2 as RandomDataset
from intaglio.data.readers import SqlDataset
from intaglio.data.rearranging import SHARD_HINT
from intaglio.data.stage import AUTOTUNE
from intaglio.data.stage import INFINITE as INFINITE_CARDINALITY
from intaglio.data.stage import UNKNOWN as UNKNOWN_CARDINALITY
from intaglio.opdef import raw
from intaglio.tf.data.transformations import (
    Reducer,
    assert_cardinality,
    bucket_by_sequence_length,
    copy_to_device,
    dense_to_ragged_batch,
    dense_to_sparse_batch,
    enumerate_dataset,
    group_by_window,
    ignore_errors,
    map_and_batch,
    pad_to_cardinality,
    parallel_interleave,
    prefetch_to_device,
    rejection_resample,
    scan,
    shuffle_and_repeat,
    snapshot,
    take_while,
    unbatch,
    unique,
)

if TYPE_CHECKING:
    from intaglio.data.example_files import make_batched_features_dataset, parse_example_dataset
    from intaglio.lookup.dataset_tables import (
        DatasetInitializer,
        index_table_from_dataset,
        table_from_dataset,
    )


def cardinality(dataset: Dataset) -> Any:
    """The number of elements: -1 infinite, -2 unknown.

    >>> int(tf.data.experimental.cardinality(tf.data.Dataset.range(6)))
    6
    """
    return checked(dataset).cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element. Raises InvalidArgumentError if there is none, or another one.

    >>> int(tf.data.experimental.get_single_element(tf.data.Dataset.range(7, 8)))
    7
    """
    return checked(dataset).get_single_element()


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """A dataset of these elements. Raises ValueError for an empty list, TypeError for no list.

    >>> [int(x) for x in tf.data.experimental.from_list([1, 2, 3])]
    [1, 2, 3]
    """
    return constructors.from_list(elements, name)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """start, start + step, ... without end.

    >>> [int(x) for x in tf.data.experimental.Counter(5).take(2)]
    [5, 6]
    """
    return Dataset.counter(start, step, dtype)


def choose_from_datasets(
    datasets: Sequence[Dataset], choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """The next element of the dataset whose number is next in `choice_dataset`.

    With `stop_on_empty_dataset` the result ends with the first dataset that ends; else that one is
    left out.

    >>> choices = tf.data.Dataset.from_tensor_slices(tf.constant([1, 0, 1], tf.int64))
    >>> both = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    >>> [int(x) for x in tf.data.experimental.choose_from_datasets(both, choices)]
    [10, 0, 11]
    """
    checked(choice_dataset, "choice_dataset")
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Any = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """Elements of datasets drawn at random with the weights.

    With `stop_on_empty_dataset` the result ends with the first dataset that ends; else that one is
    left out.

    >>> both = [tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)]
    >>> sampled = tf.data.experimental.sample_from_datasets(both, weights=[1.0, 0.0], seed=1)
    >>> [int(x) for x in sampled.take(3)]
    [0, 1, 2]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


# -- elements and handles --------------------------------------------------------------------


def at(dataset: Dataset, index: Any) -> Any:
    """The element with this number.

    Raises OutOfRangeError if there is none, UnimplementedError for datasets that would have
    to compute those before.

    >>> int(tf.data.experimental.at(tf.data.Dataset.range(6), 4))
    4
    """
    spec = checked(dataset).element_spec
    tensors = raw.GetElementAtIndex(
        dataset.handle_tensor, building.scalar(index, "index"), **element.output_attrs(spec)
    )
    return element.packed(spec, tensors)


def to_variant(dataset: Dataset) -> Any:
    """The dataset as a tensor.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    >>> numbers = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    >>> [int(x) for x in numbers]
    [0, 1, 2]
    """
    return checked(dataset).handle_tensor


def from_variant(variant: Any, structure: Any) -> Dataset:
    """The dataset that a tensor is, with elements of this structure.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(3))
    >>> numbers = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))
    >>> [int(x) for x in numbers]
    [0, 1, 2]
    """
    return building.dataset_of_handle("_VariantDataset", variant, structure)


def enable_debug_mode() -> None:
    """From now on functions given to datasets run as Python, element by element.

    A debugger stops in them, and they may print values. Existing datasets are not
    changed. Raises ValueError inside traced functions.
    """
    tracing.enable_debug_mode()


def make_saveable_from_iterator(iterator: Iterator, external_state_policy: Any = None) -> Any:
    """Raises NotImplementedError: put the iterator into a `tf.train.Checkpoint`."""
    raise NotImplementedError(
        "make_saveable_from_iterator is for tf.compat.v1.train.Saver: write "
        "tf.train.Checkpoint(iterator=iterator)"
    )


# -- files ---------------------------------------------------------------------------------


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Writes the elements to a folder: see `Dataset.save`.

    `compression` is "GZIP" or None; `shard_func` gives the shard of an element.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.data.experimental.save(tf.data.Dataset.range(3), folder)
    ...     [int(x) for x in tf.data.experimental.load(folder)]
    [0, 1, 2]
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset:
    """The elements that `save` wrote: see `Dataset.load`.

    `compression` is that of the files, and `element_spec` the spec of the elements, which is read
    from the folder by default. `reader_func` combines the datasets of the shards to one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.data.experimental.save(tf.data.Dataset.range(3), folder)
    ...     [int(x) for x in tf.data.experimental.load(folder)]
    [0, 1, 2]
    """
    return Dataset.load(path, element_spec, compression, reader_func)


def distributed_save(
    dataset: Dataset, path: str, data_service_address: str, compression: str = "AUTO"
) -> Any:
    """Raises NotImplementedError: there is no data service; see `Dataset.save`."""
    raise NotImplementedError(
        "tf.data.experimental.distributed_save needs a data service: use Dataset.save"
    )


__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DatasetInitializer",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "ServiceOptions",
    "SqlDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "distributed_save",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "from_variant",
    "get_model_proto",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "index_table_from_dataset",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "pad_to_cardinality",
    "parse_example_dataset",
    "parallel_interleave",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "table_from_dataset",
    "take_while",
    "to_variant",
    "unbatch",
    "unique",
]

# Functions that need tables and records are imported on first access.
LATER = {
    "DatasetInitializer": "intaglio.lookup.dataset_tables:DatasetInitializer",
    "index_table_from_dataset": "intaglio.lookup.dataset_tables:index_table_from_dataset",
    "make_batched_features_dataset": "intaglio.data.example_files:make_batched_features_dataset",
    "parse_example_dataset": "intaglio.data.example_files:parse_example_dataset",
    "table_from_dataset": "intaglio.lookup.dataset_tables:table_from_dataset",
}
if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
