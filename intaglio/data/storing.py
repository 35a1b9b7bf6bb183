"""Saving, loading and snapshots of datasets in folders.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#save.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import string
from intaglio.data import building, element, snapshots
from intaglio.data.specs import DatasetSpec
from intaglio.data.tracing import Traced, arguments_of
from intaglio.opdef import convert, door, raw
from intaglio.saved_model.checkpoint import Checkpoint, CheckpointManager


def _sharding(shard_func: Callable[..., Any] | None, dataset: Any) -> Traced:
    def first(*element: Any) -> Any:
        return np.int64(0)

    return Traced(shard_func or first, arguments_of(dataset.element_spec), "Dataset.save()")


def _reading(reader_func: Callable[..., Any] | None, structure: Any) -> Traced:
    """The reader function, of a dataset of the shards' datasets."""

    def one_after_another(shards: Any) -> Any:
        return shards.interleave(
            lambda shard: shard, cycle_length=os.cpu_count() or 1, block_length=1
        )

    shards = DatasetSpec(DatasetSpec(structure))
    found = Traced(reader_func or one_after_another, (shards,), "Dataset.load()")
    building.inner_dataset(found, "reader_func")
    return found


def saved(
    dataset: Any, path: Any, compression: str | None, shard_func: Any, checkpoint: Any
) -> None:
    """Writes the elements to a folder, with checkpoints if requested.

    A graph writes none: TensorFlow's does not either.
    """
    folder = os.fsdecode(path)
    snapshots.write_spec(folder, dataset.element_spec)
    found = _sharding(shard_func, dataset)
    folder_tensor = convert.to_tensor(folder, string)
    attrs: dict[str, Any] = {
        "compression": compression or "",
        "shard_func": found.graph,
        "use_shard_func": shard_func is not None,
    }
    if checkpoint and door.level().eager:
        _go_through(
            building.transformed(
                raw.SaveDatasetV2, "_SaveDataset", dataset, folder_tensor, found.captures, **attrs
            ),
            checkpoint,
        )
    else:
        raw.SaveDataset(dataset.handle_tensor, folder_tensor, found.captures, **attrs)


def _go_through(steps: Any, checkpoint_args: Any) -> None:
    """Takes all elements, from the newest checkpoint on, and writes further checkpoints."""
    if "checkpoint" in checkpoint_args:
        raise ValueError(
            "Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'."
        )
    iterator = iter(steps)
    manager = CheckpointManager(Checkpoint(iterator=iterator), **checkpoint_args)
    manager.restore_or_initialize()
    counter = checkpoint_args.get("step_counter")
    for _ in iterator:
        if counter is not None:
            counter.assign_add(1)
        manager.save()


def loaded(path: Any, structure: Any, compression: str | None, reader_func: Any, wait: bool) -> Any:
    """The elements in a folder."""
    folder = os.fsdecode(path)
    if wait:
        snapshots.wait_until_complete(folder)
    if structure is None:
        structure = snapshots.read_spec(folder)
    found = _reading(reader_func, structure)
    handle = raw.LoadDataset(
        convert.to_tensor(folder, string),
        found.captures,
        **element.output_attrs(structure),
        compression=compression or "",
        reader_func=found.graph,
    )
    return building.dataset_of_handle("_LoadDataset", handle, structure)


def snapshotted(
    dataset: Any,
    path: Any,
    compression: str | None,
    reader_func: Any,
    shard_func: Any,
    name: str | None,
) -> Any:
    """The elements, kept in a folder."""
    reading = _reading(reader_func, dataset.element_spec)
    sharding = _sharding(shard_func, dataset)
    return building.transformed(
        raw.SnapshotDatasetV2,
        "_SnapshotDataset",
        dataset,
        convert.to_tensor(os.fsdecode(path), string),
        reading.captures,
        sharding.captures,
        compression=compression or "",
        reader_func=reading.graph,
        shard_func=sharding.graph,
        name=name,
    )


def written_records(dataset: Any, filename: Any, compression: str | None) -> None:
    """Writes a dataset of strings to a TFRecord file.

    Raises TypeError for other elements.
    """
    if not building.is_dataset(dataset):
        raise TypeError(
            f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
        )
    spec = dataset.element_spec
    if getattr(spec, "dtype", None) is not string or spec.dims != ():
        raise TypeError(
            "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, "
            f"but got a dataset which produces elements with {_described(spec)}."
        )
    raw.DatasetToTFRecord(
        dataset.handle_tensor,
        convert.to_tensor(filename, string),
        convert.to_tensor(compression or "", string),
    )


def _described(structure: Any) -> str:
    if not hasattr(structure, "shape"):
        return f"structure {structure}"
    return f"shapes {structure.shape} and types {structure.dtype}"
