"""`tf.data.experimental`: what has moved to `tf.data.Dataset`, optionals, options.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import int64
from intaglio.data import building
from intaglio.data.dataset import Dataset
from intaglio.data.iterating import Iterator, Optional
from intaglio.data.options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from intaglio.data.stage import AUTOTUNE
from intaglio.data.stage import INFINITE as INFINITE_CARDINALITY
from intaglio.data.stage import UNKNOWN as UNKNOWN_CARDINALITY
from intaglio.op import raw

Apply = Callable[[Dataset], Dataset]


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
            f"`dataset_or_iterator` must be a `tf.data.Dataset` or `tf.data.Iterator`, got {type(dataset_or_iterator)}."
        ) from None


def from_list(elements: Sequence[Any], name: str | None = None) -> Dataset:
    """A dataset of these elements. Raises ValueError for an empty list, TypeError for no list."""
    if not isinstance(elements, list):
        raise TypeError(
            f"Invalid `elements`. Expected `elements` to be a list, but got {type(elements)}."
        )
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    made = Dataset.from_tensors(elements[0], name)
    for element in elements[1:]:
        made = made.concatenate(Dataset.from_tensors(element, name))
    return made


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """start, start + step, ... without end."""
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed: int | None = None) -> Dataset:
    """Random int64 numbers below 2**32, without end."""
    return Dataset.random(seed)


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


def bucket_by_sequence_length(*args: Any, **kwargs: Any) -> Apply:
    """Batches of elements of like lengths: see `Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(*args, **kwargs)


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


choose_from_datasets = Dataset.choose_from_datasets
sample_from_datasets = Dataset.sample_from_datasets

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "ThreadingOptions",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "prefetch_to_device",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]
