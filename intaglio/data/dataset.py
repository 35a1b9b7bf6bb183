"""`tf.data.Dataset`: a pipeline of elements.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np

from intaglio.autograph import loops
from intaglio.base import nest
from intaglio.base.composite import ActsAsTensor, CompositeTensor
from intaglio.base.dtypes import as_dtype, int32, int64, string, variant
from intaglio.base.hooks import ShownInNotebooks
from intaglio.data import (
    building,
    builtin_functions,
    constructors,
    element,
    folding,
    iterating,
    late,
    resampling,
    selecting,
)
from intaglio.data.batches import Batches
from intaglio.data.iterating import Iterator, NumpyIterator
from intaglio.data.options import Options
from intaglio.data.specs import DatasetSpec
from intaglio.data.stage import INFINITE, UNKNOWN
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import public_methods
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array

Function = Callable[..., Any]
# The type of the elements, and those of what functions make of them.
T = TypeVar("T")
U = TypeVar("U")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
# What becomes one tensor of an element.
Array = ActsAsTensor | np.ndarray | np.generic | list[Any] | range | float | str | bytes
_AS_ARRAYS = ("RaggedTensor", "SparseTensor")  # their modules are imported by those who use them


class DatasetV2:
    """The name and module by which libraries such as Keras recognise datasets."""

    __module__ = "tensorflow.python.data.ops.dataset_ops"


def checked(value: Any, name: str = "dataset") -> Dataset:
    """The argument, checked to be a dataset. Raises TypeError for anything else."""
    if not isinstance(value, DatasetV2):
        raise TypeError(f"`{name}` must be a `tf.data.Dataset`, got {value!r}")
    return value  # type: ignore[return-value]  # the only kind there is


@public_methods
class Dataset(ShownInNotebooks, Batches, DatasetV2, CompositeTensor, Generic[T]):
    """A sequence of elements of one type, computed lazily.

    `element_spec` is the structure of the elements' types. Every transformation makes a new
    dataset. Inside a traced function a dataset is a tensor of the graph, and a `for` over
    it a loop of the graph.
    """

    # The class of the datasets that transformations make of this one, where it is not Dataset.
    base_of_derived: type[Dataset[Any]] | None = None

    def __init__(self, variant_tensor: Any) -> None:
        self.handle_tensor = variant_tensor
        self._element_spec: Any = None
        self._options = Options()
        for dataset in self._inputs():
            self._options = self._options.merge(dataset._options)

    # -- what it is --------------------------------------------------------------------

    @property
    def element_spec(self) -> Any:
        """The structure of the elements' types."""
        return self._element_spec

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _variant_tensor(self) -> Any:
        return self.handle_tensor

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        """The number of elements. Raises TypeError if it is infinite, unknown or symbolic."""
        if not door.level().eager:
            raise TypeError(
                "`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset."
                "cardinality()` instead."
            )
        length = int(self.cardinality())
        if length == INFINITE:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return length

    def cardinality(self) -> Any:
        """The number of elements as an int64 tensor: -1 infinite, -2 unknown."""
        return raw.DatasetCardinality(self.handle_tensor)

    def fingerprint(self) -> Any:
        """A uint64 tensor, equal for pipelines of the same ops, data and functions."""
        return raw.DatasetFingerprint(self.handle_tensor)

    def _as_serialized_graph(self, **_: Any) -> Any:
        """The pipeline as a GraphDef in a string tensor. Raises TypeError for stages without an op."""
        graph_def = late.dataset_graphs.graph_def_of(self.handle_tensor)
        return convert.to_tensor(graph_def.SerializeToString(), string)

    def __reduce__(self) -> Any:
        if not isinstance(self.handle_tensor, EagerTensor):
            raise TypeError("A dataset of a graph cannot be pickled.")
        data = late.serializing.to_bytes(self.handle_tensor._array)
        options = self._options.to_text()
        return _unpickled, (type(self).__name__, data, self.element_spec, options)

    def _inputs(self) -> list[Dataset]:
        """The input datasets, whose options are merged; users' subclasses define it."""
        return []

    # -- iterating -----------------------------------------------------------------------

    def __iter__(self) -> Iterator[T]:
        level = door.level()
        if not level.eager and not getattr(level.graph, "building_function", False):  # type: ignore[attr-defined]  # a recorder has a graph
            raise RuntimeError(
                "`tf.data.Dataset` only supports Python-style iteration in eager mode or "
                "within tf.function."
            )
        return iterating.begin(self)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements with NumPy arrays instead of tensors. Eager only.

        Raises TypeError for datasets of datasets, and of other values without arrays.
        """
        if not door.level().eager:
            raise RuntimeError(
                "`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode."
            )
        for spec in nest.flatten(self.element_spec):
            kind = spec.value_type
            if not (issubclass(kind, (Tensor, type(None))) or kind.__name__ in _AS_ARRAYS):
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that "
                    f"produce values of type {kind}"
                )
        return NumpyIterator(self)

    def __autograph_for__(
        self,
        extra_test: Any,
        body: Callable[[Any], None],
        get_state: Any,
        set_state: Any,
        names: Sequence[str],
        options: dict[str, Any],
    ) -> None:
        """A `for` statement over the dataset in converted code."""
        if door.level().eager:
            loops.python_for(self, extra_test, body)
            return
        iterator = iter(self)
        iterator.__autograph_for__(extra_test, body, get_state, set_state, names, options)

    __autograph_builtin__ = staticmethod(builtin_functions.called)

    def get_single_element(self, name: str | None = None) -> T:
        """The only element. Raises InvalidArgumentError unless there is exactly one."""
        tensors = raw.DatasetToSingleElement(
            self.handle_tensor, **element.output_attrs(self.element_spec), name=name
        )
        return element.packed(self.element_spec, tensors)

    def reduce(self, initial_state: U, reduce_func: Function, name: str | None = None) -> U:
        """The state after `reduce_func(state, element)` for every element.

        Raises TypeError if the function changes the state's type.
        """
        return folding.reduced(self, initial_state, reduce_func, name)

    # -- sources -------------------------------------------------------------------------

    @overload
    @staticmethod
    def from_tensors(tensors: Array, name: str | None = None) -> Dataset[Tensor]: ...
    @overload
    @staticmethod
    def from_tensors(
        tensors: tuple[Array, Array], name: str | None = None
    ) -> Dataset[tuple[Tensor, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensors(
        tensors: tuple[Array, Array, Array], name: str | None = None
    ) -> Dataset[tuple[Tensor, Tensor, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensors(
        tensors: Mapping[A, Array], name: str | None = None
    ) -> Dataset[dict[A, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset[Any]: ...
    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """One element: the tensors."""
        return constructors.from_tensors(tensors, name)

    @overload
    @staticmethod
    def from_tensor_slices(tensors: Array, name: str | None = None) -> Dataset[Tensor]: ...
    @overload
    @staticmethod
    def from_tensor_slices(
        tensors: tuple[Array, Array], name: str | None = None
    ) -> Dataset[tuple[Tensor, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensor_slices(
        tensors: tuple[Array, Array, Array], name: str | None = None
    ) -> Dataset[tuple[Tensor, Tensor, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensor_slices(
        tensors: Mapping[A, Array], name: str | None = None
    ) -> Dataset[dict[A, Tensor]]: ...
    @overload
    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset[Any]: ...
    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset[Any]:
        """The slices of the tensors along the first dimension.

        Raises ValueError for scalars and for first dimensions that differ.
        """
        return constructors.from_tensor_slices(tensors, name)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """The values that `generator(*args)` yields; it is called again for every iteration.

        Raises TypeError if it is not callable, or without `output_types` or
        `output_signature`; InvalidArgumentError at an element that does not fit them.
        """
        return constructors.from_generator(
            generator, output_types, output_shapes, args, output_signature
        )

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset[Tensor]:
        """start, start + step, ... before stop, as `output_type` (int64)."""
        return constructors.range_of(args, **kwargs)

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Tensor]:
        """Random int64 numbers below 2**32, without end."""
        return constructors.random_numbers(seed, rerandomize_each_iteration, name)

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None
    ) -> Dataset[Tensor]:
        """start, start + step, ... without end."""
        first = convert.to_tensor(start, None if dtype is None else as_dtype(dtype))
        apart = convert.to_tensor(step, first.dtype)
        return (
            Dataset.from_tensors(0, name)
            .repeat(None)
            .scan(first, lambda state, _: (state + apart, state))
        )

    @staticmethod
    def list_files(
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset[Tensor]:
        """The names of the files that match, in random order unless `shuffle=False`.

        Raises InvalidArgumentError if there are none.
        """
        return constructors.list_files(file_pattern, shuffle, seed, name)

    @overload
    @staticmethod
    def zip(
        a: tuple[Dataset[A], Dataset[B]], /, *, name: str | None = None
    ) -> Dataset[tuple[A, B]]: ...
    @overload
    @staticmethod
    def zip(
        a: Dataset[A], b: Dataset[B], /, *, name: str | None = None
    ) -> Dataset[tuple[A, B]]: ...
    @overload
    @staticmethod
    def zip(
        a: tuple[Dataset[A], Dataset[B], Dataset[C]], /, *, name: str | None = None
    ) -> Dataset[tuple[A, B, C]]: ...
    @overload
    @staticmethod
    def zip(
        a: Dataset[A], b: Dataset[B], c: Dataset[C], /, *, name: str | None = None
    ) -> Dataset[tuple[A, B, C]]: ...
    @overload
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset[Any]: ...
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset[Any]:
        """Elements of several datasets side by side, in the structure given."""
        return selecting.zipped(args, datasets, name)

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Dataset[U]],
        choice_dataset: Dataset[Any],
        stop_on_empty_dataset: bool = True,
    ) -> Dataset[U]:
        """The next element of the dataset whose number is next in `choice_dataset`."""
        return selecting.chosen(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Dataset[U]],
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset[U]:
        """Elements of datasets drawn at random with the weights."""
        return selecting.sampled(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )

    # -- functions of elements -------------------------------------------------------------

    @overload
    def map(
        self: Dataset[tuple[A, B]],
        map_func: Callable[[A, B], U],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[U]: ...
    @overload
    def map(
        self: Dataset[tuple[A, B, C]],
        map_func: Callable[[A, B, C], U],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[U]: ...
    @overload
    def map(
        self,
        map_func: Callable[[T], U],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[U]: ...
    @overload
    def map(
        self,
        map_func: Callable[..., U],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[U]: ...
    def map(
        self,
        map_func: Function,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[Any]:
        """`map_func` of every element, traced once.

        With `num_parallel_calls` this number of elements is computed concurrently, in order unless
        `deterministic=False`.
        """
        found = building.traced(map_func, self, "Dataset.map()")
        if num_parallel_calls is None:
            return building.transformed(
                raw.MapDataset,
                "_MapDataset",
                self,
                found.captures,
                structure=found.structure,
                f=found.graph,
                preserve_cardinality=True,
                force_synchronous=bool(synchronous),
                name=name,
            )
        return building.transformed(
            raw.ParallelMapDatasetV2,
            "_ParallelMapDataset",
            self,
            found.captures,
            building.scalar(num_parallel_calls, "num_parallel_calls"),
            structure=found.structure,
            f=found.graph,
            preserve_cardinality=True,
            deterministic=building.determinism(deterministic),
            name=name,
        )

    def filter(self, predicate: Function, name: str | None = None) -> Dataset[T]:
        """The elements for which `predicate` is true."""
        found = building.predicate(predicate, self, "Dataset.filter()")
        return building.transformed(
            raw.FilterDataset,
            "_FilterDataset",
            self,
            found.captures,
            predicate=found.graph,
            name=name,
        )

    def take_while(self, predicate: Function, name: str | None = None) -> Dataset[T]:
        """The elements up to the first for which `predicate` is false."""
        found = building.predicate(predicate, self, "Dataset.take_while()")
        return building.transformed(
            raw.TakeWhileDataset,
            "_TakeWhileDataset",
            self,
            found.captures,
            predicate=found.graph,
            name=name,
        )

    def scan(
        self, initial_state: Any, scan_func: Function, name: str | None = None
    ) -> Dataset[Any]:
        """The elements of the (next state, element) pairs that `scan_func(state, element)` returns."""
        return folding.scanned(self, initial_state, scan_func, name)

    @overload
    def flat_map(
        self, map_func: Callable[[T], Dataset[U]], name: str | None = None
    ) -> Dataset[U]: ...
    @overload
    def flat_map(
        self, map_func: Callable[..., Dataset[U]], name: str | None = None
    ) -> Dataset[U]: ...
    def flat_map(self, map_func: Function, name: str | None = None) -> Dataset[Any]:
        """The elements of the datasets that `map_func` returns, one dataset after the other."""
        found = building.traced(map_func, self, "Dataset.flat_map()")
        return building.transformed(
            raw.FlatMapDataset,
            "_FlatMapDataset",
            self,
            found.captures,
            structure=building.inner_dataset(found, "map_func"),
            f=found.graph,
            name=name,
        )

    @overload
    def interleave(
        self,
        map_func: Callable[[T], Dataset[U]],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[U]: ...
    @overload
    def interleave(
        self,
        map_func: Callable[..., Dataset[U]],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[U]: ...
    def interleave(
        self,
        map_func: Function,
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """The elements of `cycle_length` datasets that `map_func` returns, interleaved."""
        return selecting.interleaved(
            self,
            map_func,
            cycle_length,
            block_length,
            num_parallel_calls,
            building.determinism(deterministic),
            name,
        )

    def apply(self, transformation_func: Callable[[Dataset[T]], Dataset[U]]) -> Dataset[U]:
        """`transformation_func(self)`. Raises TypeError unless it returns a dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}."
            )
        return dataset

    # -- order and number ------------------------------------------------------------------

    def repeat(self, count: Any = None, name: str | None = None) -> Dataset[T]:
        """The elements `count` times, without end for None and -1."""
        times = building.scalar(-1 if count is None else count, "count")
        return building.transformed(raw.RepeatDataset, "_RepeatDataset", self, times, name=name)

    def take(self, count: Any, name: str | None = None) -> Dataset[T]:
        """The first `count` elements, all for -1."""
        number = building.scalar(count, "count")
        return building.transformed(raw.TakeDataset, "_TakeDataset", self, number, name=name)

    def skip(self, count: Any, name: str | None = None) -> Dataset[T]:
        """The elements after the first `count`, none for -1."""
        number = building.scalar(count, "count")
        return building.transformed(raw.SkipDataset, "_SkipDataset", self, number, name=name)

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset[T]:
        """Every `num_shards`th element, from number `index` on."""
        numbers = (building.scalar(num_shards, "num_shards"), building.scalar(index, "index"))
        return building.transformed(raw.ShardDataset, "_ShardDataset", self, *numbers, name=name)

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset[T]:
        """The elements in random order, drawn from a buffer of `buffer_size`.

        The same seeds give TensorFlow's order, on every run.
        """
        return selecting.shuffled(self, buffer_size, seed, reshuffle_each_iteration, name)

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset[T]:
        """The elements, computed once and kept in memory."""
        return building.transformed(
            raw.CacheDataset, "CacheDataset", self, convert.to_tensor(filename), name=name
        )

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Dataset[T]:
        """The elements, `buffer_size` of them computed ahead on a thread."""
        size = building.scalar(-1 if buffer_size is None else buffer_size, "buffer_size")
        return building.transformed(raw.PrefetchDataset, "_PrefetchDataset", self, size, name=name)

    def concatenate(self, dataset: Dataset[T], name: str | None = None) -> Dataset[T]:
        """The elements, then those of `dataset`. Raises TypeError if types differ."""
        structure = element.compatible(self.element_spec, dataset.element_spec)
        return building.transformed(
            raw.ConcatenateDataset,
            "_ConcatenateDataset",
            self,
            dataset.handle_tensor,
            structure=structure,
            name=name,
        )

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset[tuple[Tensor, T]]:
        """(number, element) pairs."""
        most = as_dtype(int64).max
        return Dataset.zip((Dataset.range(start, most, name=name), self), name=name)

    def unique(self, name: str | None = None) -> Dataset[T]:
        """The elements without repetitions.

        Raises TypeError unless they are int32, int64 or string tensors,
        InvalidArgumentError for elements of several.
        """
        for spec in element.flat_specs(self.element_spec):
            if spec.dtype not in (int32, int64, string, variant):
                raise TypeError(
                    f"`tf.data.Dataset.unique` does not support type {spec.dtype} -- only "
                    "`tf.int32`, `tf.int64`, and `tf.string` are supported."
                )
        return building.transformed(raw.UniqueDataset, "_UniqueDataset", self, name=name)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset[T]:
        """The elements, without those whose computation fails."""
        return building.transformed(
            raw.IgnoreErrorsDataset,
            "_IgnoreErrorsDataset",
            self,
            log_warning=log_warning,
            name=name,
        )

    # -- drawn again, and kept ---------------------------------------------------------------

    def rejection_resample(
        self,
        class_func: Function,
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Dataset[tuple[Tensor, T]]:
        """(class, element) pairs, some left out, so that classes have the distribution `target_dist`.

        Without `initial_dist` the classes' shares are estimated from the elements seen.
        """
        return resampling.resampled(self, class_func, target_dist, initial_dist, seed)

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Function | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes the elements to a folder, in TensorFlow's own form.

        `checkpoint_args` are those of a `tf.train.CheckpointManager`, without its
        `checkpoint`: the position is saved to `directory` after every element, or after every
        `checkpoint_interval` elements, which `step_counter` counts. A call that finds a
        checkpoint there continues from it. Raises ValueError for `checkpoint`.
        """
        late.storing.saved(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Function | None = None,
        wait: bool = False,
    ) -> Dataset[Any]:
        """The elements that `save` wrote. Raises NotFoundError if nothing is there.

        With `wait` it waits until they have been written.
        """
        return late.storing.loaded(path, element_spec, compression, reader_func, wait)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Function | None = None,
        shard_func: Function | None = None,
        name: str | None = None,
    ) -> Dataset[T]:
        """The elements, written to a folder once and read from there afterwards."""
        return late.storing.snapshotted(self, path, compression, reader_func, shard_func, name)

    # -- options ---------------------------------------------------------------------------

    def options(self) -> Options:
        """The options of the dataset merged with those of its inputs; read-only."""
        return self._options.frozen()

    def with_options(self, options: Options, name: str | None = None) -> Dataset[T]:
        """The same elements with `options` added. Raises TypeError for other objects."""
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be a tf.data.Options object, but got {options!r}.")
        dataset = building.transformed(
            raw.OptionsDataset,
            "_OptionsDataset",
            self,
            serialized_options=options.to_text(),
            name=name,
        )
        dataset._options = self._options.merge(options)
        return dataset


def of_handle(handle: Any, element_spec: Any) -> Dataset:
    """The data set behind a handle that came out of a graph."""
    return building.dataset_of_handle("_VariantDataset", handle, element_spec)


def _unpickled(name: str, data: bytes, element_spec: Any, options: str) -> Dataset:
    """The dataset that was pickled."""
    stage = late.serializing.from_bytes(data)
    dataset = building.dataset_of_handle(name, from_array(stage), element_spec)
    dataset._options = Options.from_text(options)
    return dataset
