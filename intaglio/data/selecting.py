"""Transformations with more than one step: shuffle, batches, zip, interleave, choosing.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.dtypes import float32, float64, int64
from intaglio.base.processors import cores
from intaglio.data import building, element, late
from intaglio.data.seeds import dataset_seeds
from intaglio.data.stage import AUTOTUNE
from intaglio.opdef import convert, raw
from intaglio.runtime.eager import EagerTensor
from intaglio.type_specs.type_spec import TensorSpec


def shuffled(
    dataset: Any, buffer_size: Any, seed: int | None, reshuffle: bool | None, name: Any
) -> Any:
    """The elements in random order."""
    first, second = dataset_seeds(seed)
    again = reshuffle is None or bool(reshuffle)
    seeds = (np.int64(first), np.int64(second))
    generator, _ = raw.AnonymousSeedGenerator(*seeds, again)
    return building.transformed(
        raw.ShuffleDatasetV3,
        "_ShuffleDataset",
        dataset,
        building.scalar(buffer_size, "buffer_size"),
        *seeds,
        generator,
        reshuffle_each_iteration=again,
        name=name,
    )


def batched(
    dataset: Any, batch_size: Any, drop: Any, parallel: Any, deterministic: str, name: Any
) -> Any:
    """Elements stacked into batches."""
    size = building.scalar(batch_size, "batch_size")
    drops = convert.to_tensor(drop, name="drop_remainder")
    known = building.constant(size) if building.constant(drops) else None
    structure = building.batched(dataset.element_spec, known)
    if parallel is None or parallel == 0:
        found = building.transformed(
            raw.BatchDatasetV2,
            "_BatchDataset",
            dataset,
            size,
            drops,
            structure=structure,
            name=name,
        )
    else:
        found = building.transformed(
            raw.ParallelBatchDataset,
            "_ParallelBatchDataset",
            dataset,
            size,
            building.scalar(parallel, "num_parallel_calls"),
            drops,
            structure=structure,
            deterministic=deterministic,
            name=name,
        )
    return _with_size(found, size, drops)


def _with_size(dataset: Any, size: Any, drops: Any) -> Any:
    """The dataset, whose batch size Keras 2 asks for under these names; others have none."""
    dataset._batch_size, dataset._drop_remainder = size, drops
    return dataset


def padded(dataset: Any, batch_size: Any, shapes: Any, values: Any, drop: Any, name: Any) -> Any:
    """Elements padded to one shape and stacked."""
    for spec in nest.flatten(dataset.element_spec):
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but "
                "type spec of elements in the input dataset is not a subclass of TensorSpec: "
                f"`{spec!r}`."
            )
    size = building.scalar(batch_size, "batch_size")
    drops = convert.to_tensor(drop, name="drop_remainder")
    known = building.constant(size) if building.constant(drops) else None
    vectors, structure = building.padded_specs(dataset.element_spec, shapes, known)
    padding = building.padding(dataset.element_spec, values)
    handle = raw.PaddedBatchDatasetV2(
        dataset.handle_tensor,
        size,
        vectors,
        padding,
        drops,
        output_shapes=element.output_attrs(structure)["output_shapes"],
        name=name,
    )
    found = building.dataset_of_handle("_PaddedBatchDataset", handle, structure, [dataset])
    return _with_size(found, size, drops)


def rebatched(dataset: Any, batch_size: Any, drop: Any, name: str | None) -> Any:
    """The rows of batches in batches of other sizes."""
    sizes = building.integers(batch_size, "batch_sizes")
    if sizes.dims is not None and len(sizes.dims) > 1:
        raise ValueError(
            "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. "
            f"Received `batch_sizes` of rank {len(sizes.dims)}."
        )
    specs = nest.flatten(dataset.element_spec)
    if any(getattr(s, "shape", None) == () for s in specs):
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset "
            "with scalar elements. Fix the issue by adding the `batch` transformation to the "
            "dataset."
        )
    drops = convert.to_tensor(drop, name="drop_remainder")
    known = None
    if building.constant(drops) and isinstance(sizes, EagerTensor):
        distinct = {*np.asarray(sizes).reshape(-1).tolist()}
        known = distinct.pop() if len(distinct) == 1 else None
    structure = nest.map_structure(
        lambda spec: element.unbatched(spec)._batch(known), dataset.element_spec
    )
    return building.transformed(
        raw.RebatchDatasetV2,
        "_RebatchDataset",
        building.in_rows(dataset),
        sizes,
        drops,
        structure=structure,
        name=name,
    )


def unbatched(dataset: Any, name: str | None) -> Any:
    """The rows of each element. Raises ValueError for elements without rows."""
    specs = nest.flatten(dataset.element_spec)
    if any(getattr(s, "shape", None) == () for s in specs):
        raise ValueError("Cannot unbatch an input with scalar components.")
    sizes = [s.shape[0] for s in specs if getattr(s, "shape", None)]
    for size in sizes:
        if size not in (None, sizes[0]) and sizes[0] is not None:
            raise ValueError(
                "`unbatch()` is only supported for datasets of elements whose components have "
                f"a matching leading dimension. Encountered both {sizes[0]} and {size}."
            )
    structure = nest.map_structure(element.unbatched, dataset.element_spec)
    return building.transformed(
        raw.UnbatchDataset,
        "_UnbatchDataset",
        building.in_rows(dataset),
        structure=structure,
        name=name,
    )


def ragged(
    dataset: Any, batch_size: Any, drop: Any, row_splits_dtype: Any, name: str | None
) -> Any:
    """Batches of elements that may differ in shape."""
    if any(
        isinstance(s, TensorSpec) and s.dims is not None and None in s.dims
        for s in nest.flatten(dataset.element_spec)
    ):
        dataset = late.ragged_batches.as_ragged(dataset, row_splits_dtype)
    return dataset.batch(batch_size, drop, name=name)


def sparse(dataset: Any, batch_size: Any, row_shape: Any, name: str | None) -> Any:
    """Sparse batches of elements that may differ in shape."""
    return late.sparse_batches.sparse_batches(dataset, batch_size, row_shape, name)


def zipped(args: tuple[Any, ...], datasets: Any, name: str | None) -> Any:
    """Elements side by side. Raises TypeError for what is no dataset."""
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    whole = datasets if datasets is not None else args[0] if len(args) == 1 else args
    listed = isinstance(whole, list) or any(isinstance(a, list) for a in args)
    flat: list[Any] = [whole] if isinstance(whole, list) else nest.flatten(whole)
    for dataset in flat:
        if not building.is_dataset(dataset):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                "`tf.data.Dataset` objects"
                + (
                    ". Python `list` is not supported and you should use `tuple` instead."
                    if listed
                    else f" but encountered object of type {type(dataset)}."
                )
            )
    structure = nest.pack_sequence_as(whole, [d.element_spec for d in flat])
    handle = raw.ZipDataset(
        [d.handle_tensor for d in flat], **element.output_attrs(structure), name=name
    )
    return building.dataset_of_handle("_ZipDataset", handle, structure, flat)


def interleaved(
    dataset: Any,
    function: Callable[..., Any],
    cycle_length: Any,
    block_length: Any,
    parallel: Any,
    deterministic: str,
    name: str | None,
) -> Any:
    """The elements of several datasets, interleaved."""
    found = building.traced(function, dataset, "Dataset.interleave()")
    structure = building.inner_dataset(found, "map_func")
    cycle = AUTOTUNE if cycle_length is None else cycle_length
    block = building.scalar(1 if block_length is None else block_length, "block_length")
    if parallel is None:
        cycle = cores() if building.constant(cycle) == AUTOTUNE else cycle
        return building.transformed(
            raw.InterleaveDataset,
            "_InterleaveDataset",
            dataset,
            found.captures,
            building.scalar(cycle, "cycle_length"),
            block,
            structure=structure,
            f=found.graph,
            name=name,
        )
    automatic = np.int64(AUTOTUNE)
    return building.transformed(
        raw.ParallelInterleaveDatasetV4,
        "_ParallelInterleaveDataset",
        dataset,
        found.captures,
        building.scalar(cycle, "cycle_length"),
        block,
        automatic,
        automatic,
        building.scalar(parallel, "num_parallel_calls"),
        structure=structure,
        f=found.graph,
        deterministic=deterministic,
        name=name,
    )


def chosen(datasets: Sequence[Any], choices: Any, stop: bool) -> Any:
    """The next element of the dataset that the choices name."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    spec = choices.element_spec
    if getattr(spec, "dtype", None) is not int64 or not spec.is_subtype_of(type(spec)((), int64)):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec}."
        )
    return _directed(choices, datasets, stop)


def _directed(selector: Any, datasets: Sequence[Any], stop: bool) -> Any:
    structure = datasets[0].element_spec
    for number, other in enumerate(datasets[1:], 1):
        try:
            structure = element.compatible(structure, other.element_spec)
        except TypeError as e:
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                f"element_spec={datasets[0].element_spec}.\nDataset {number} "
                f"element_spec={other.element_spec}."
            ) from e
    handle = raw.DirectedInterleaveDataset(
        selector.handle_tensor,
        [d.handle_tensor for d in datasets],
        **element.output_attrs(structure),
        stop_on_empty_dataset=stop,
    )
    return building.dataset_of_handle(
        "_DirectedInterleaveDataset", handle, structure, [selector, *datasets]
    )


def sampled(
    datasets: Sequence[Any], weights: Any, seed: int | None, stop: bool, rerandomize: bool | None
) -> Any:
    """Elements of datasets drawn at random.

    Raises ValueError if there are no datasets, or not as many weights.
    """
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if not building.is_dataset(weights) and weights is not None:
        datasets, weights = _weighted(datasets, weights)
    if len(datasets) == 1:
        return datasets[0]
    dataset_class = type(datasets[0])
    if weights is not None and building.is_dataset(weights):
        selector: Any = weights.map(lambda p: raw.Log(p))
        logits: Any = None
    else:
        selector, logits = None, _logits(weights, len(datasets))
    if selector is None and isinstance(logits, EagerTensor):
        return _directed(_choices(logits, seed, rerandomize), datasets, stop)
    numbers = dataset_class.random(seed, rerandomize).batch(2)

    def draw(*element: Any) -> Any:
        odds = raw.ExpandDims(element[0], 0) if logits is None else logits
        return raw.Squeeze(raw.StatelessMultinomial(odds, np.int32(1), element[-1]), axis=[0, 1])

    if selector is not None:
        numbers = dataset_class.zip((selector, numbers))
    return _directed(numbers.map(draw), datasets, stop)


def _weighted(datasets: Sequence[Any], weights: Any) -> tuple[list[Any], Any]:
    """The datasets with their weights, without those that are never drawn.

    Raises ValueError for another number of weights, TypeError for other than floats.
    """
    tensor = convert.to_tensor(weights)
    if tensor.dtype not in (float32, float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but "
            f"is {tensor.dtype}."
        )
    if tensor.dims is not None and tensor.dims != (len(datasets),):
        if len(tensor.dims) != 1:
            raise ValueError(
                "Invalid `weights`. The shape of `weights` should be compatible with "
                f"`[len(datasets)]` but is {tensor.shape}."
            )
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={tensor.dims[0]}` vs. `len(datasets)={len(datasets)}`."
        )
    if not isinstance(tensor, EagerTensor):
        return list(datasets), tensor
    chosen = np.flatnonzero(np.asarray(tensor) > 0).tolist()
    if not chosen:
        return list(datasets), tensor
    return [datasets[i] for i in chosen], convert.to_tensor(np.asarray(tensor)[chosen])


def _choices(logits: Any, seed: int | None, rerandomize: bool | None) -> Any:
    """Numbers of datasets, drawn with these log-probabilities."""
    first, second = dataset_seeds(seed)
    generator, _ = raw.AnonymousSeedGenerator(np.int64(first), np.int64(second), bool(rerandomize))
    structure = TensorSpec((), int64)
    handle = raw.RandomChoicesDataset(logits, generator, **element.output_attrs(structure))
    return building.dataset_of_handle("_MapDataset", handle, structure)


def _logits(weights: Any, count: int) -> Any:
    if weights is None:
        return convert.to_tensor(np.ones((1, count), np.float32))
    return raw.ExpandDims(raw.Log(weights), 0)
