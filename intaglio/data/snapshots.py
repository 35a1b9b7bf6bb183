"""Datasets in folders, in the form that `tf.data.Dataset.save` writes.

    dataset_spec.pb                         the structure of the elements' types
    snapshot.metadata                       the run that is complete, dtypes, number of elements
    <run>/00000000.shard/00000000.snapshot  records, one TensorProto for each component

The dtypes in the metadata are those of the components; a record's string tensor is the
lengths as varints, then the texts.
"""

from __future__ import annotations

import contextlib
import glob
import math
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors, files, nest, replacing
from intaglio.base.dtypes import VARIANT_MARKER, DType, from_numpy, string, variant
from intaglio.data import element, record_files
from intaglio.data.stage import Element
from intaglio.graphdef import messages, structured, tensors
from intaglio.graphdef.declarations import MalformedError, declare, message_class, parsed
from intaglio.graphdef.saved_messages import StructuredValue
from intaglio.ops.control_flow.variants import Variants, VariantTensor
from intaglio.ops.ragged.variant import EncodedRagged
from intaglio.type_specs.type_spec import TypeSpec

declare(
    """
message SnapshotMetadataRecord
  graph_hash = 1 string
  run_id = 2 string
  creation_timestamp = 3 int64
  version = 4 int64
  dtype = 5 *DataType
  num_elements = 6 int64
  finalized = 1000 bool
""",
    "snapshots",
)
SnapshotMetadataRecord: Any = message_class("SnapshotMetadataRecord")

METADATA = "snapshot.metadata"
SPEC = "dataset_spec.pb"
# In the folder of a run that is being written, and locked.
_WRITING = ".writing"
_VERSION = 2
_POLL_SECONDS = 0.1  # seconds between two looks at a folder that is being written


# -- records -----------------------------------------------------------------------------


def record_of(array: Any) -> bytes:
    """A component as bytes."""
    if array.dtype is VARIANT_MARKER:
        return _variant_record(array)
    array = np.asarray(array)
    dtype = from_numpy(array.dtype)
    proto = messages.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=tensors.shape_proto(array.shape)
    )
    if dtype is string:
        proto.tensor_content = _content(array.ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto.SerializeToString()


def _content(texts: list[bytes]) -> bytes:
    lengths = b"".join([_varint(len(t)) for t in texts])
    return lengths + b"".join(texts)


def _variant_record(value: Any) -> bytes:
    """A variant, or a tensor of them; raises TypeError for those without a written form."""
    items = value.items if isinstance(value, Variants) else [value]
    proto = messages.TensorProto(
        dtype=variant.as_datatype_enum, tensor_shape=tensors.shape_proto(value.shape)
    )
    proto.tensor_content = _content([_variant_bytes(i) for i in items])
    return proto.SerializeToString()


def _variant_bytes(value: Any) -> bytes:
    if isinstance(value, EncodedRagged):
        name, arrays = "RaggedTensorVariant", [*value.splits, value.values]
    elif isinstance(value, VariantTensor):
        name, arrays = "tensorflow::Tensor", [value.array]
    else:
        raise TypeError(f"{value!r} cannot be written to a file")
    data = messages.VariantTensorDataProto(type_name=name)
    data.tensors.extend([tensors.tensor_proto(np.asarray(a)) for a in arrays])
    return data.SerializeToString()


def _variants_of(proto: Any) -> Any:
    dims = tensors.shape_of(proto.tensor_shape)
    if dims is None or None in dims:
        raise MalformedError("a snapshot's record has no shape")
    count = math.prod([d or 0 for d in dims])
    items = [_variant_of(data) for data in _texts(proto.tensor_content, count)]
    return Variants(items, dims) if dims else items[0]  # type: ignore[arg-type]  # known dimensions


def _variant_of(record: bytes) -> Any:
    data = parsed(messages.VariantTensorDataProto, record, "a snapshot's record")
    arrays = [tensors.array_of(t) for t in data.tensors]
    if data.type_name == "tensorflow::Tensor" and len(arrays) == 1:
        return VariantTensor(arrays[0])
    if data.type_name == "RaggedTensorVariant" and arrays:
        return EncodedRagged(arrays[:-1], arrays[-1])
    raise MalformedError(f"a snapshot's record is a variant of type {data.type_name}")


def array_of(record: bytes) -> Any:
    """The component that a record holds. Raises MalformedError if it holds none."""
    proto = parsed(messages.TensorProto, record, "a snapshot's record")
    if proto.dtype == variant.as_datatype_enum:
        return _variants_of(proto)
    if proto.dtype != string.as_datatype_enum:
        array = tensors.array_of(proto)
        return array if array.ndim else array[()]
    dims = tensors.shape_of(proto.tensor_shape)
    if dims is None or None in dims:
        raise MalformedError("a snapshot's record has no shape")
    count = math.prod([d or 0 for d in dims])
    found = _texts(proto.tensor_content, count)
    texts = np.empty(count, object)
    texts[:] = found
    return texts.reshape(dims)  # type: ignore[arg-type]  # known dimensions


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _texts(content: bytes, count: int) -> list[bytes]:
    if count > len(content):
        raise MalformedError(f"a snapshot's record has {len(content)} bytes for {count} strings")
    lengths: list[int] = []
    at = 0
    for _ in range(count):
        length = shift = 0
        while True:
            if at >= len(content):
                raise MalformedError("a snapshot's strings are cut off")
            byte = content[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        lengths.append(length)
    if at + sum(lengths) != len(content):
        raise MalformedError("a snapshot's strings have other lengths than they claim")
    found: list[bytes] = []
    for length in lengths:
        found.append(content[at : at + length])
        at += length
    return found


def elements_in(path: str, width: int, compression: str) -> Iterator[Element]:
    """The elements in a file, `width` components each."""
    with record_files.opened(path, compression) as file:
        records = record_files.records(file)
        while True:
            parts = [array_of(r) for _, r in zip(range(width), records, strict=False)]
            if not parts and width:
                return
            if len(parts) < width:
                raise errors.DataLossError(None, None, f"{path} ends within an element")
            yield tuple(parts)


# -- folders -------------------------------------------------------------------------------


class Run:
    """Writes elements to shards below a folder; complete once `finish` was called.

    A shard has more than one file if the position was saved meanwhile. TensorFlow writes
    such folders too, and its own `load` fails to read them.
    """

    def __init__(
        self, folder: str, types: Sequence[DType], compression: str, graph_hash: str = ""
    ) -> None:
        self._folder = folder
        self._types = types
        self._compression = compression
        self._hash = graph_hash
        self._name = str(secrets.randbits(64))
        self._files: dict[int, Any] = {}
        self._next: dict[int, int] = {}  # the number of each shard's next file
        self._count = 0
        self._lock: int | None = None
        # The structure that the folder has when the run begins: another run may change it.
        spec = os.path.join(folder, SPEC)
        self._spec = files.read(spec) if os.path.exists(spec) else None

    def add(self, parts: Element, shard: int = 0) -> None:
        """Writes an element to a shard."""
        file = self._files.get(shard)
        if file is None:
            file = self._files[shard] = self._opened(shard)
        for component in parts:
            file.write(record_of(component))
        self._count += 1

    def _opened(self, shard: int) -> Any:
        directory = os.path.join(self._folder, self._name, f"{shard:08d}.shard")
        files.make_folders(directory)
        self._begin()
        number = self._next.get(shard, 0)
        self._next[shard] = number + 1
        path = os.path.join(directory, f"{number:08d}.snapshot")
        return record_files.RecordWriter(path, self._compression)

    def _begin(self) -> None:
        """Marks the run as one that is being written."""
        if self._lock is None:
            self._lock = replacing.open_locked(os.path.join(self._place, _WRITING))

    @property
    def _place(self) -> str:
        return os.path.join(self._folder, self._name)

    def save(self) -> list[Any]:
        """The position, with all that was added in files that are whole."""
        self.close()
        return [self._name, dict(self._next), self._count]

    def restore(self, position: list[Any]) -> None:
        """Goes on where a run was that has been cut off. What it wrote afterwards is removed."""
        self.close()
        self._name, self._next, self._count = (position[0], dict(position[1]), position[2])
        for paths in shards(self._folder, self._name):
            for path in paths:
                shard, number = _numbers_of(path)
                if number >= self._next.get(shard, 0):
                    os.unlink(path)

    def finish(self, counted: bool = True) -> None:
        """Closes the files, and marks the run as complete."""
        self.close()
        files.make_folders(self._place)
        if self._spec is not None:
            files.write(os.path.join(self._place, SPEC), self._spec)
        record = SnapshotMetadataRecord(
            graph_hash=self._hash,
            run_id=self._name,
            creation_timestamp=int(time.time() * 1e6),
            version=_VERSION,
            dtype=[t.as_datatype_enum for t in self._types],
            num_elements=self._count if counted else 0,
            finalized=True,
        )
        files.write(os.path.join(self._folder, METADATA), record.SerializeToString())
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self._place, _WRITING))
        self._unlock()
        _remove_abandoned(self._folder)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __del__(self) -> None:
        self.close()  # an iteration that was dropped before its end
        self._unlock()

    def close(self) -> None:
        """Closes the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


def _remove_abandoned(folder: str) -> None:
    """Removes the runs of processes that were killed while they wrote them."""
    if not replacing.CAN_LOCK:
        return
    for marker in glob.glob(os.path.join(glob.escape(folder), "*", _WRITING)):
        descriptor = replacing.open_locked(marker)
        if descriptor is not None:
            run = os.path.dirname(marker)
            for name in {*os.listdir(run)} - {_WRITING}:  # the marker is the last to go
                replacing.remove(os.path.join(run, name))
            shutil.rmtree(run)
            os.close(descriptor)


def write_spec(folder: str, element_spec: Any) -> None:
    """Writes the structure of the elements' types."""
    files.make_folders(folder)
    proto = structured.encode(element_spec)
    files.write(os.path.join(folder, SPEC), proto.SerializeToString(deterministic=True))


def read_spec(folder: str) -> Any:
    """The structure of the elements' types. Raises NotFoundError if none was written.

    The folder's is for the next run; that of the complete run stands in the run's own folder.
    """
    record = metadata(folder)
    path = "" if record is None else os.path.join(folder, record.run_id, SPEC)
    if not os.path.exists(path):
        path = os.path.join(folder, SPEC)
    if not os.path.exists(path):
        raise errors.NotFoundError(
            None, None, f"tf.data snapshot element_spec file not found: {path}."
        )
    with open(path, "rb") as file:
        found = structured.decode(parsed(StructuredValue, file.read(), path))
    if not all(isinstance(leaf, TypeSpec) for leaf in nest.flatten(found)):
        raise MalformedError(f"{path} is not the structure of an element's types")
    return found


def component_types(folder: str) -> list[DType]:
    """The dtypes of the components of the next run."""
    path = os.path.join(folder, SPEC)
    spec = structured.decode(parsed(StructuredValue, files.read(path), path))
    return [spec.dtype for spec in element.flat_specs(spec)]


def metadata(folder: str) -> Any:
    """The metadata of the complete run in a folder, or None if there is none."""
    path = os.path.join(folder, METADATA)
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        record = parsed(SnapshotMetadataRecord, file.read(), path)
    if (
        not record.run_id
        or os.path.basename(record.run_id) != record.run_id
        or set(record.run_id) == {"."}
    ):
        raise MalformedError(f"{path} names the impossible run {record.run_id!r}")
    return record if record.finalized else None


def wait_until_complete(folder: str) -> None:
    """Returns once the folder has a complete run."""
    while metadata(folder) is None:
        time.sleep(_POLL_SECONDS)


def _numbers_of(path: str) -> tuple[int, int]:
    """The shard and the number of one of its files."""
    directory, name = os.path.split(path)
    return int(os.path.basename(directory).split(".")[0]), int(name.split(".")[0])


def shards(folder: str, run: str) -> list[list[str]]:
    """The files of each shard of a run."""
    directory = os.path.join(folder, run)
    if not os.path.isdir(directory):
        return []
    return [
        [
            os.path.join(directory, shard, name)
            for name in sorted(os.listdir(os.path.join(directory, shard)))
        ]
        for shard in sorted(os.listdir(directory))
        if shard.endswith(".shard")
    ]
