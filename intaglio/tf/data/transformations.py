"""The part of `tf.data.experimental` that makes functions for `Dataset.apply`.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import int64
from intaglio.data import building, padding
from intaglio.data.folding import Reducer
from intaglio.data.key_reductions import Apply, group_by_reducer
from intaglio.opdef import raw


def assert_cardinality(expected_cardinality: int) -> Apply:
    """Declares the number of elements, checked at iteration: FailedPreconditionError.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.assert_cardinality(6))]
    [0, 1, 2, 3, 4, 5]
    """
    return lambda dataset: building.transformed(
        raw.AssertCardinalityDataset,
        "_AssertCardinalityDataset",
        dataset,
        building.scalar(expected_cardinality, "expected_cardinality"),
    )


def enumerate_dataset(start: Any = 0) -> Apply:
    """(number, element) pairs.

    >>> numbers = tf.data.Dataset.range(2)
    >>> [(int(i), int(x)) for i, x in numbers.apply(tf.data.experimental.enumerate_dataset(start=5))]
    [(5, 0), (6, 1)]
    """
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning: bool = False) -> Apply:
    """The elements that can be computed.

    `log_warning` warns of every element that is left out.

    >>> numbers = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
    >>> checked = numbers.map(lambda x: tf.debugging.check_numerics(1.0 / x, "not a number"))
    >>> [float(x) for x in checked.apply(tf.data.experimental.ignore_errors())]
    [1.0, 0.5]
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Apply:
    """Elements that `scan_func(state, element)` returns behind the next state.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda total, x: (total + x, total + x)))]
    [0, 1, 3, 6, 10, 15]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Apply:
    """The elements up to the first for which `predicate` is false.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.take_while(lambda x: x < 3))]
    [0, 1, 2]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Apply:
    """The slices of each element along the first dimension.

    >>> numbers = tf.data.Dataset.range(6).batch(4)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.unbatch())]
    [0, 1, 2, 3, 4, 5]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Apply:
    """The elements, without those that came before.

    >>> numbers = tf.data.Dataset.range(6).map(lambda x: x % 3)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.unique())]
    [0, 1, 2]
    """
    return lambda dataset: dataset.unique()


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Apply:
    """Elements of one key in windows, and of each the dataset that `reduce_func` makes.

    `window_size` is the number of elements of a group, or `window_size_func` gives it by the key.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [x.numpy().tolist() for x in numbers.apply(tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, window: window.batch(3), 3))]
    [[0, 2, 4], [1, 3, 5]]
    """
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
    """Batches of elements of like lengths: see `Dataset.bucket_by_sequence_length`.

    `padded_shapes` and `padding_values` are those of `padded_batch`; `pad_to_bucket_boundary` pads
    to the bucket's length, `no_padding` not at all; `drop_remainder` leaves out batches that are
    not full.

    >>> numbers = tf.data.Dataset.range(4).map(tf.range)
    >>> buckets = tf.data.experimental.bucket_by_sequence_length(tf.size, [2], [2, 2])
    >>> [x.numpy().tolist() for x in numbers.apply(buckets)]
    [[[0], [0]], [[0, 1, 0], [0, 1, 2]]]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Apply:
    """`map` and `batch` in one.

    `num_parallel_batches` has no effect. `drop_remainder` leaves out a last batch that is not full.
    `num_parallel_calls` is a hint of the number of threads.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [x.numpy().tolist() for x in numbers.apply(tf.data.experimental.map_and_batch(lambda x: 2 * x, 3))]
    [[0, 2, 4], [6, 8, 10]]
    """
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: int | None = None) -> Apply:
    """`shuffle` and `repeat` in one.

    >>> numbers = tf.data.Dataset.range(6)
    >>> sorted([int(x) for x in numbers.apply(tf.data.experimental.shuffle_and_repeat(6, count=2))])
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def prefetch_to_device(device: str, buffer_size: Any = None) -> Apply:
    """The elements computed ahead; the only device is the host.

    `buffer_size` is the number of elements that are computed ahead.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.prefetch_to_device("/cpu:0"))]
    [0, 1, 2, 3, 4, 5]
    """
    return lambda dataset: dataset.prefetch(buffer_size)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Apply:
    """The elements; the only device is the host.

    `source_device` has no effect.

    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.copy_to_device("/cpu:0"))]
    [0, 1, 2, 3, 4, 5]
    """
    return lambda dataset: dataset


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool | None = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Apply:
    """The elements of `cycle_length` datasets interleaved, computed on as many threads.

    `block_length` elements of an input follow each other; `sloppy` allows for another order;
    `buffer_output_elements` and `prefetch_input_elements` have no effect.

    >>> numbers = tf.data.Dataset.range(2)
    >>> pairs = tf.data.experimental.parallel_interleave(lambda x: tf.data.Dataset.range(2 * x, 2 * x + 2), 2)
    >>> [int(x) for x in numbers.apply(pairs)]
    [0, 2, 1, 3]
    """
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, cycle_length, deterministic=not sloppy
    )


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any = None,
    seed: int | None = None,
) -> Apply:
    """(class, element) pairs, some left out, so that classes have the distribution `target_dist`.

    `initial_dist` is the distribution of the classes, which is estimated by default.

    >>> numbers = tf.data.Dataset.from_tensor_slices([0, 0, 0, 1] * 10)
    >>> even = tf.data.experimental.rejection_resample(lambda x: x, [0.0, 1.0], seed=1)
    >>> {int(x) for _, x in numbers.apply(even)}
    {1}
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Apply:
    """Batches of elements of different shapes as ragged tensors.

    `drop_remainder` leaves out a last batch that is not full. Row splits are of `row_splits_dtype`,
    int32 or int64.

    >>> numbers = tf.data.Dataset.range(3).map(tf.range)
    >>> [x.to_list() for x in numbers.apply(tf.data.experimental.dense_to_ragged_batch(3))]
    [[[], [0], [0, 1]]]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Apply:
    """Batches of elements of different shapes as sparse tensors.

    >>> numbers = tf.data.Dataset.range(3).map(tf.range)
    >>> batches = numbers.apply(tf.data.experimental.dense_to_sparse_batch(3, [2]))
    >>> [tf.sparse.to_dense(x).numpy().tolist() for x in batches]
    [[[0, 0], [0, 0], [0, 1]]]
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Apply:
    """Dicts with a mask, and zeros behind the last up to `cardinality` of them.

    `mask_key` is the key of the mask, which is False for padding.

    >>> numbers = tf.data.Dataset.from_tensor_slices({"x": [1, 2]})
    >>> padded = numbers.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(e["x"]), bool(e["valid"])) for e in padded]
    [(1, True), (2, True), (0, False)]
    """
    return lambda dataset: padding.to_cardinality(dataset, cardinality, mask_key)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Apply:
    """The elements, written to a folder once and read from there afterwards.

    `compression` is "AUTO", "GZIP" or None; `shard_func` gives the shard of an element, and
    `reader_func` combines the datasets of the shards to one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     numbers = tf.data.Dataset.range(3).apply(tf.data.experimental.snapshot(folder))
    ...     [int(x) for x in numbers]
    [0, 1, 2]
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


__all__ = [
    "Reducer",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "prefetch_to_device",
    "rejection_resample",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]
