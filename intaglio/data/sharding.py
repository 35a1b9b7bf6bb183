"""Pipelines for one of several workers: by the files that they read, or where `SHARD_HINT` stands.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/AutoShardPolicy. A pipeline is
rebuilt from the recipes of its stages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from intaglio.base import errors, nest
from intaglio.data import building
from intaglio.data.rearranging import SHARD_HINT
from intaglio.data.stage import Stage
from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.opdef import raw
from intaglio.runtime.eager import EagerTensor, from_array


class Unshardable(Exception):
    """The files of a pipeline cannot be shared out; `error` is what `AutoShardPolicy.FILE` raises."""

    def __init__(self, error: errors.OpError) -> None:
        super().__init__(str(error))
        self.error = error


def stage_of(dataset: Any) -> Stage | None:
    """The outermost stage of a dataset; None in a graph."""
    handle = dataset.handle_tensor
    stage: Any = handle._array if isinstance(handle, EagerTensor) else None
    return stage if isinstance(stage, Stage) else None


def of_stage(stage: Stage, dataset: Any) -> Any:
    """A dataset of the stage, with the type and the options of another."""
    name = type(dataset).__name__
    return building.dataset_of_handle(name, from_array(stage), dataset.element_spec, [dataset])


def by_files(stage: Stage, count: int, index: int) -> Stage:
    """The pipeline that reads every `count`th of the files, from number `index` on.

    Raises Unshardable for one with a source that is no file, or with fewer files than workers.
    """
    name, parts = _recipe(stage)
    if "filenames" in parts:
        names = parts["filenames"].reshape(-1)
        _check_enough(len(names), count)
        return _rebuilt(name, {**parts, "filenames": names[index::count]})
    if any([_reads_files(v) for v in parts.values() if isinstance(v, Graph)]):
        return _with_inputs(stage, lambda s: _of_names(s, count, index))
    if not list(inputs(stage)):
        raise Unshardable(
            errors.NotFoundError(None, None, f"Found an unshardable source dataset: {stage.name}")
        )
    return _with_inputs(stage, lambda s: by_files(s, count, index))


def by_hint(stage: Stage, count: int, index: int) -> Stage:
    """The pipeline with the worker's numbers where `shard(SHARD_HINT, SHARD_HINT)` stands."""
    _, parts = _recipe(stage)
    if "num_shards" in parts and int(parts["num_shards"]) == SHARD_HINT:
        return _sharded(by_hint(parts["input_dataset"], count, index), count, index)
    return _with_inputs(stage, lambda s: by_hint(s, count, index)) if list(inputs(stage)) else stage


def batch_size(stage: Stage) -> int | None:
    """The size of the batches that a pipeline ends with; None where a function changes them."""
    while True:
        _, parts = _recipe(stage)
        if "batch_size" in parts:
            return int(parts["batch_size"])
        if "batch_sizes" in parts:  # of rebatch
            sizes = set(np.reshape(parts["batch_sizes"], -1).tolist())
            return sizes.pop() if len(sizes) == 1 else None
        before = list(inputs(stage))
        is_plain = len(before) == 1 and not _has_functions(stage)
        if not is_plain or _ranks(stage) != _ranks(before[0]):
            return None
        stage = before[0]


def compute_batch_size(dataset: Any) -> EagerTensor:
    """The size of a dataset's batches, int64; -1 where they differ or are not known.

    Raises IndexError for elements without a batch dimension.
    """
    sizes = {s.shape[0] for s in nest.flatten(dataset.element_spec) if s.shape.rank is not None}
    stage = stage_of(dataset)
    if None in sizes and stage is not None:
        sizes.discard(None)
        sizes.update(_batch_sizes(stage))
    (size,) = sizes if len(sizes) == 1 else (None,)
    return from_array(np.array(-1 if size is None else size, np.int64))


def _batch_sizes(stage: Stage) -> set[int | None]:
    """The sizes of batches of all pipelines that are brought together without changing them."""
    found = batch_size(stage)
    before = list(inputs(stage))
    if found is not None or len(before) < 2 or _has_functions(stage):
        return {found}
    return set[int | None]().union(*[_batch_sizes(s) for s in before])


def _has_functions(stage: Stage) -> bool:
    """Whether functions make the elements; a predicate chooses among them."""
    parts = _recipe(stage)[1]
    return any([isinstance(v, Graph) for k, v in parts.items() if k != "predicate"])


def _ranks(stage: Stage) -> list[int | None]:
    return [None if s is None else len(s) for s in stage.shapes]


def _recipe(stage: Stage) -> tuple[str, dict[str, Any]]:
    return stage.recipe or (stage.name, {})


def inputs(stage: Stage) -> Iterator[Stage]:
    """The stages that a stage takes elements from."""
    for value in _recipe(stage)[1].values():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(part, Stage):
                yield part


def _with_inputs(stage: Stage, change: Callable[[Stage], Stage]) -> Stage:
    """The stage with other inputs."""

    def changed(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [changed(v) for v in value]
        return change(value) if isinstance(value, Stage) else value

    name, parts = _recipe(stage)
    taken = {k: changed(v) if _has_stage(v) else v for k, v in parts.items()}
    return _rebuilt(name, taken)


def _has_stage(value: Any) -> bool:
    return isinstance(value, Stage) or (
        isinstance(value, (list, tuple)) and any([isinstance(v, Stage) for v in value])
    )


def _rebuilt(name: str, parts: dict[str, Any]) -> Stage:
    op: Any = raw.find(name)
    return op.kernel_fn(*[parts[n] for n in op.rules["kernel"].takes])


def _reads_files(graph: Graph) -> bool:
    graphs = [graph, *walk.nested(graph)]
    return any(["filenames" in n.op.input_names for g in graphs for n in g.nodes])


def _of_names(stage: Stage, count: int, index: int) -> Stage:
    """Every `count`th of the elements, which name files, taken before they are shuffled."""
    name, parts = _recipe(stage)
    if "seed_generator" in parts:
        return _rebuilt(
            name, {**parts, "input_dataset": _of_names(parts["input_dataset"], count, index)}
        )
    if stage.cardinality >= 0:
        _check_enough(stage.cardinality, count)
    return _sharded(stage, count, index)


def _sharded(stage: Stage, count: int, index: int) -> Stage:
    parts = {"input_dataset": stage, "num_shards": count, "index": index}
    attributes = {"output_types": stage.dtypes, "output_shapes": stage.shapes}
    return _rebuilt("ShardDataset", {**parts, "require_non_empty": False, **attributes})


def _check_enough(files: int, count: int) -> None:
    if files < count:
        raise Unshardable(
            errors.invalid_argument(
                f"Could not apply FILE based sharding: the dataset only has {files} file(s), which is not "
                f"enough for the required {count} shards/workers. Set `experimental_distribute."
                "auto_shard_policy` of the dataset's options to AutoShardPolicy.DATA."
            )
        )


__all__ = ["SHARD_HINT", "Unshardable", "batch_size", "by_files", "by_hint", "of_stage", "stage_of"]
