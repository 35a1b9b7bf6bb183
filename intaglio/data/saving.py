"""The stages that save and load datasets, and snapshots.

Follows https://www.tensorflow.org/api_docs/python/tf/data/Dataset#save.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors, shapes
from intaglio.base.shapes import Dims
from intaglio.data.functional import runner
from intaglio.data.iterators import checked
from intaglio.data.positions import counted, dataset_of
from intaglio.data.record_files import RecordWriter, check_compression
from intaglio.data.serializing import fingerprint
from intaglio.data.snapshots import Run, component_types, elements_in, metadata, shards
from intaglio.data.sources import Source
from intaglio.data.stage import (
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Opened,
    Root,
    Shared,
    Stage,
    require,
)
from intaglio.opdef.op import Op, op


def _compression(name: Any) -> str:
    """The compression of a folder's files; AUTO is none."""
    text = name.decode() if isinstance(name, bytes) else name
    text = "" if text == "AUTO" else text
    check_compression(text)
    return text


def _shard_of(call: Callable[..., Any], element: Element) -> int:
    shard = np.asarray(call(*element)[0])
    require(shard.dtype == np.int64 and shard.ndim == 0, "`shard_func` must return a scalar int64.")
    return int(shard)


@op
class SaveDataset(Op):
    """Writes the elements to a folder."""

    signature = (
        "input_dataset: variant, path: string, shard_func_other_args: *Tshard_func_args;"
        " compression: str = '', shard_func: func, use_shard_func: bool = True -> "
    )
    path_inputs = ("path",)
    stateful = True
    on_host = True
    differentiable = False

    def infer(self) -> None:
        return None

    def kernel(self, input_dataset, path, shard_func_other_args, compression, shard_func):
        root = Root()
        advance = input_dataset.open(root)
        shard = runner(root.shared, shard_func, shard_func_other_args, "SaveDataset")
        folder = os.fsdecode(path[()])
        run = Run(folder, component_types(folder), _compression(compression))
        while True:
            try:
                element = advance()
            except StopIteration:
                break
            run.add(element, _shard_of(shard, element))
        run.finish()


@op
class SaveDatasetV2(DatasetOp):
    """The elements, each of which is written to a folder when it is computed.

    The position of an iterator includes how far the folder has been written.
    """

    signature = (
        "input_dataset: variant, path: string, shard_func_other_args: *Tshard_func_args;"
        " compression: str = '', shard_func: func, use_shard_func: bool = True,"
        " output_types: list(type), output_shapes: list(shape) -> handle: variant"
    )
    path_inputs = ("path",)
    stateful = True

    def kernel(
        self, input_dataset, path, shard_func_other_args, compression, shard_func, output_types
    ):
        folder, kind = os.fsdecode(path[()]), _compression(compression)

        def open(root: Root) -> Advance:
            call = runner(root.shared, shard_func, shard_func_other_args, "SaveDataset")
            run = Run(folder, output_types, kind)
            source = input_dataset.open(root)
            root.keep(run.save, run.restore)
            return _written(source, run, call, counted=True)

        return Stage("Save", input_dataset.cardinality, open)


def _shard_stages(folder: str, width: int, compression: str) -> list[Stage]:
    """A dataset for each shard of the run in a folder. Raises NotFoundError without one."""
    record = metadata(folder)
    if record is None:
        raise errors.NotFoundError(None, None, f"Could not find metadata file [{folder}]")
    return [_in_files(files, width, compression) for files in shards(folder, record.run_id)]


def _in_files(files: list[str], width: int, compression: str) -> Stage:
    def open(root: Root) -> Advance:
        elements = (e for f in files for e in elements_in(f, width, compression))
        return counted(elements, root)

    return Stage("SnapshotReader", UNKNOWN, open)


def _read(
    folder: str, width: int, compression: str, call: Callable[..., Any], shared: Shared
) -> Opened:
    """The elements in a folder, in the order in which the reader function combines the shards."""
    parts = [(s,) for s in _shard_stages(folder, width, compression)]
    return Opened(call(dataset_of(parts))[0], shared)


@op
class LoadDataset(Source):
    """The elements in a folder."""

    signature = (
        "path: string, reader_func_other_args: *Treader_func_args;"
        " output_types: list(type), output_shapes: list(shape), compression: str = '',"
        " reader_func: func -> handle: variant"
    )
    path_inputs = ("path",)

    def kernel(
        self, path, reader_func_other_args, output_types, output_shapes, compression, reader_func
    ):
        folder, kind = os.fsdecode(path[()]), _compression(compression)
        width = len(output_types)
        _shard_stages(folder, width, kind)
        record = metadata(folder)

        def open(root: Root) -> Advance:
            shared = root.shared
            call = runner(shared, reader_func, reader_func_other_args, "LoadDataset")
            opened = _read(folder, width, kind, call, shared)
            root.keep(opened.root.save, opened.root.restore)
            return _of_types(opened.advance, output_types, output_shapes)

        return Stage("Load", record.num_elements, open)


def _of_types(source: Advance, types: Any, dims: Sequence[Dims]) -> Advance:
    """The elements, which files hold and which have to be of these types and shapes."""

    def advance() -> Element:
        element = source()
        checked(element, types)
        for array, declared in zip(element, dims, strict=True):
            dense = isinstance(array, (np.ndarray, np.generic))
            require(
                not dense or shapes.compatible(array.shape, declared),
                f"A component has the shape {shapes.text(array.shape)}, not {shapes.text(declared)}.",
            )
        return element

    return advance


@op
class SnapshotDatasetV2(DatasetOp):
    """The elements, cached in a folder: the first complete iteration writes them."""

    signature = (
        "input_dataset: variant, path: string, reader_func_other_args: *Treader_func_args,"
        " shard_func_other_args: *Tshard_func_args; output_types: list(type),"
        " output_shapes: list(shape), compression: str = '', reader_prefix: str = '',"
        " writer_prefix: str = '', hash_valid: bool = False, hash: int = 0,"
        " reader_func: func, shard_func: func, metadata: str = '' -> handle: variant"
    )
    path_inputs = ("path",)

    def kernel(
        self,
        input_dataset,
        path,
        reader_func_other_args,
        shard_func_other_args,
        output_types,
        output_shapes,
        compression,
        hash_valid,
        hash,
        reader_func,
        shard_func,
    ):
        kind = _compression(compression)
        number = hash if hash_valid else fingerprint(input_dataset)
        folder = os.path.join(os.fsdecode(path[()]), str(number))

        def open(root: Root) -> Advance:
            shared = root.shared
            name = "SnapshotDataset"
            if metadata(folder) is not None:
                call = runner(shared, reader_func, reader_func_other_args, name)
                opened = _read(folder, len(output_types), kind, call, shared)
                root.keep(opened.root.save, opened.root.restore)
                return _of_types(opened.advance, output_types, output_shapes)
            shard = runner(shared, shard_func, shard_func_other_args, name)
            source = input_dataset.open(root)
            return _written(source, Run(folder, output_types, kind, str(number)), shard)

        return Stage("Snapshot", input_dataset.cardinality, open)


def _written(
    source: Advance, run: Run, shard: Callable[..., Any], counted: bool = False
) -> Advance:
    def advance() -> Element:
        try:
            element = source()
        except StopIteration:
            run.finish(counted)
            raise
        run.add(element, _shard_of(shard, element))
        return element

    return advance


@op
class DatasetToTFRecord(Op):
    """Writes a dataset of strings to a TFRecord file."""

    signature = "input_dataset: variant, filename: string, compression_type: string; -> "
    path_inputs = ("filename",)
    stateful = True
    on_host = True
    reaches_outside = "data"
    differentiable = False

    def infer(self) -> None:
        return None

    def kernel(self, input_dataset, filename, compression_type):
        root = Root()
        advance = input_dataset.open(root)
        path = os.fsdecode(filename[()])
        with RecordWriter(path, compression_type[()].decode()) as file:
            while True:
                try:
                    (record,) = advance()
                except StopIteration:
                    return
                file.write(np.asarray(record).item())
