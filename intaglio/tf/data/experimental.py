"""`tf.data.experimental`: what has moved to `tf.data.Dataset`, optionals, options.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.dtypes import int64
from intaglio.data import (
    building,
    csv_columns,
    csv_files,
    element,
    folding,
    making,
    padding,
    seldom,
    tracing,
)
from intaglio.data.csv_columns import CsvDatasetV2 as CsvDataset
from intaglio.data.dataset import Dataset
from intaglio.data.iterating import Iterator, Optional
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
from intaglio.data.stage import AUTOTUNE
from intaglio.data.stage import INFINITE as INFINITE_CARDINALITY
from intaglio.data.stage import UNKNOWN as UNKNOWN_CARDINALITY
from intaglio.op import raw

if TYPE_CHECKING:
    from intaglio.tf.data.records import (
        make_batched_features_dataset,
        parse_example_dataset,
    )
    from intaglio.tf.data.tables import (
        DatasetInitializer,
        index_table_from_dataset,
        table_from_dataset,
    )

Apply = Callable[[Dataset], Dataset]
# In `Dataset.shard` where a distribution strategy fills in the number of workers.
SHARD_HINT = -1


def assert_cardinality(expected_cardinality: int) -> Apply:
    """Declares the number of elements, checked at iteration: FailedPreconditionError."""
    return lambda dataset: building.transformed(
        raw.AssertCardinalityDataset, "_AssertCardinalityDataset", dataset,
        building.scalar(expected_cardinality, "expected_cardinality"),
    )  # fmt: skip


def cardinality(dataset: Dataset) -> Any:
    """The number of elements: -1 infinite, -2 unknown."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element. Raises InvalidArgumentError if there is none, or another one."""
    return dataset.get_single_element()


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element as an optional, empty after the last."""
    return iterator.get_next_as_optional()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of the elements' types. Raises TypeError for other objects."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or "
            f"tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        ) from None


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """A dataset of these elements. Raises ValueError for an empty list, TypeError for no list."""
    return making.from_list(elements, name)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """start, start + step, ... without end."""
    return Dataset.counter(start, step, dtype)


def enumerate_dataset(start: Any = 0) -> Apply:
    """(number, element) pairs."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning: bool = False) -> Apply:
    """The elements that can be computed."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Apply:
    """Elements that `scan_func(state, element)` returns behind the next state."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Apply:
    """The elements up to the first for which `predicate` is false."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Apply:
    """The slices of each element along the first dimension."""
    return lambda dataset: dataset.unbatch()


def unique() -> Apply:
    """The elements, without those that came before."""
    return lambda dataset: dataset.unique()


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Apply:
    """Elements of one key in windows, and of each the dataset that `reduce_func` makes."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Apply:
    """Batches of elements of like lengths: see `Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
        padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Apply:
    """`map` and `batch` in one."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: int | None = None
) -> Apply:
    """`shuffle` and `repeat` in one."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def prefetch_to_device(device: str, buffer_size: Any = None) -> Apply:
    """The elements computed ahead; the only device is the host."""
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Apply:
    """The elements; the only device is the host."""
    return lambda dataset: dataset


def choose_from_datasets(
    datasets: Sequence[Dataset],
    choice_dataset: Dataset,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """The next element of the dataset whose number is next in `choice_dataset`."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Any = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """Elements of datasets drawn at random with the weights."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Apply:
    """The elements of `cycle_length` datasets in turn, computed on as many threads."""
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, deterministic=not sloppy
    )


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any = None,
    seed: int | None = None,
) -> Apply:
    """(class, element) pairs, some left out, so that classes come as `target_dist` says."""
    return lambda dataset: dataset.rejection_resample(
        class_func, target_dist, initial_dist, seed
    )


class Reducer:
    """Three functions by which elements become one: the first state, the next, the result."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """From a key to the first state."""
        return self._init_func

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """From a state and an element to the next state."""
        return self._reduce_func

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """From the last state to the result."""
        return self._finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Apply:
    """For each key what `reducer` makes of its elements, in the order of the keys."""
    functions = reducer.init_func, reducer.reduce_func, reducer.finalize_func
    return lambda dataset: folding.reduced_by_key(dataset, key_func, *functions)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Apply:
    """Batches of elements of different shapes as ragged tensors."""
    return lambda dataset: dataset.ragged_batch(
        batch_size, drop_remainder, row_splits_dtype
    )


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Apply:
    """Batches of elements of different shapes as sparse tensors."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Apply:
    """Dicts with a mask, and zeros behind the last up to `cardinality` of them."""
    return lambda dataset: padding.to_cardinality(dataset, cardinality, mask_key)


# -- elements and handles --------------------------------------------------------------------


def at(dataset: Dataset, index: Any) -> Any:
    """The element with this number.

    Raises OutOfRangeError if there is none, UnimplementedError for datasets that would have
    to compute those before.
    """
    spec = dataset.element_spec
    tensors = raw.GetElementAtIndex(
        dataset.handle_tensor,
        building.scalar(index, "index"),
        **element.output_attrs(spec),
    )
    return element.packed(spec, tensors)


def to_variant(dataset: Dataset) -> Any:
    """The dataset as a tensor."""
    return dataset.handle_tensor


def from_variant(variant: Any, structure: Any) -> Dataset:
    """The dataset that a tensor is, with elements of this structure."""
    return building.made("_VariantDataset", variant, structure)


def enable_debug_mode() -> None:
    """From now on functions given to datasets run as Python, element by element.

    A debugger stops in them, and they may print values. Datasets made before are not
    changed. Raises ValueError inside traced functions.
    """
    tracing.enable_debug_mode()


def get_model_proto(iterator: Iterator) -> Any:
    """The stages of the iterator's pipeline: names, inputs, sizes of buffers and of pools.

    `num_elements` of the root says how many elements have come out. Times and bytes are not
    measured, for no model tunes the pipeline.
    """
    return seldom.pipeline_model.model_of(iterator._own_resource())


def make_saveable_from_iterator(
    iterator: Iterator, external_state_policy: Any = None
) -> Any:
    """Raises NotImplementedError: put the iterator into a `tf.train.Checkpoint`."""
    raise NotImplementedError(
        "make_saveable_from_iterator is for tf.compat.v1.train.Saver: write "
        "tf.train.Checkpoint(iterator=iterator)"
    )


# -- files ---------------------------------------------------------------------------------


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file."""

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename = filename
        self._compression_type = compression_type

    def write(self, dataset: Dataset) -> None:
        """Writes the elements. Raises TypeError unless they are string scalars."""
        seldom.storing.written_records(dataset, self._filename, self._compression_type)


def save(
    dataset: Dataset,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Writes the elements to a folder: see `Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset:
    """The elements that `save` wrote: see `Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Apply:
    """The elements, written to a folder once and read from there afterwards."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def distributed_save(
    dataset: Dataset, path: str, data_service_address: str, compression: str = "AUTO"
) -> Any:
    """Raises NotImplementedError: there is no data service; see `Dataset.save`."""
    raise NotImplementedError(
        "tf.data.experimental.distributed_save needs a data service: use Dataset.save"
    )


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the columns of CSV files as ordered dicts, for training.

    Types are those of `column_defaults`, else the narrowest that fit the first rows. With
    `label_name` the elements are pairs of the other columns and that one. Raises ValueError
    if no file matches or columns do not fit together.
    """
    files = csv_columns.matching(file_pattern)
    dialect = csv_files.Dialect(field_delim.encode(), use_quote_delim, header)
    top = csv_columns.Header(files, dialect, na_value, compression_type or "")
    names = csv_columns.named_names(column_names, top, header)
    columns = csv_columns.chosen_columns(select_columns, names)
    defaults = csv_columns.column_defaults(
        column_defaults, top, len(names), columns, num_rows_for_inference
    )

    def read(name: Any) -> Dataset:
        return CsvDataset(
            name, defaults, compression_type, header=header, field_delim=field_delim,
            use_quote_delim=use_quote_delim, na_value=na_value, select_cols=columns,
        )  # fmt: skip

    return csv_columns.batches_of_columns(
        files, read, [names[c] for c in columns], label_name, batch_size=batch_size,
        num_epochs=num_epochs, shuffle=shuffle, buffer_size=shuffle_buffer_size,
        seed=shuffle_seed, prefetch=prefetch_buffer_size, parallel=num_parallel_reads,
        sloppy=sloppy, ignore_errors=ignore_errors,
    )  # fmt: skip


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

# What needs tables and records is imported when it is first asked for.
LATER = {
    "DatasetInitializer": "intaglio.tf.data.tables:DatasetInitializer",
    "index_table_from_dataset": "intaglio.tf.data.tables:index_table_from_dataset",
    "make_batched_features_dataset": "intaglio.tf.data.records:make_batched_features_dataset",
    "parse_example_dataset": "intaglio.tf.data.records:parse_example_dataset",
    "table_from_dataset": "intaglio.tf.data.tables:table_from_dataset",
}
if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
