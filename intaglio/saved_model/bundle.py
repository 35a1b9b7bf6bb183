"""Tensor bundles: named arrays in an index file and data files, as checkpoints are stored.

A bundle with the prefix `p` is `p.index`, a table from names to where and what the tensor
is, and `p.data-00000-of-00001`, the tensors' bytes, or several such files.
"""

from __future__ import annotations

import contextlib
import glob
import math
import os
import struct
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes, errors, files, replacing
from intaglio.base.crc32c import crc32c, extend, masked
from intaglio.base.dtypes import from_numpy
from intaglio.base.limits import check_allocated
from intaglio.graphdef import tensors
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.graphdef.saved_messages import BundleEntryProto, BundleHeaderProto
from intaglio.saved_model import slices, table

_VERSION = 1
_MAX_SHARDS = 1 << 16


def shard_name(prefix: str, shard: int = 0, shards: int = 1) -> str:
    """The name of a data file."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


# -- writing ---------------------------------------------------------------------------


# The tensors of a data file: by name, and by the slice as text; "" is the whole tensor.
Shard = Mapping[str, Mapping[str, Any]]


def write(prefix: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Writes arrays as a bundle with one data file.

    Raises ValueError for a dtype that has no bytes.
    """
    write_shards(prefix, [{name: {"": array} for name, array in arrays.items()}])


def write_shards(prefix: str, shards: Sequence[Shard]) -> None:
    """Writes arrays, whole or in slices, as a bundle, which takes the place of one that is there.

    The index says how many data files there are, and so does the name of each of them. The new ones
    never have the names of the old: if there are as many, one without tensors is added for the
    time until the index is replaced. So a process that is killed leaves the old bundle or the new one.
    What it leaves besides is removed here. Raises ValueError for a dtype that has no bytes,
    InvalidArgumentError for what is there twice, OpError if not all can be written.
    """
    count = len(shards)
    stale = _data_files(prefix)
    spare = int(bool(stale) and _shard_count(prefix) == count)
    entries: dict[bytes, Any] = {}
    new = [shard_name(prefix, i, count + spare) for i in range(count + spare)]
    try:
        for number, name in enumerate(new):
            with files.replaced(name) as out:
                if number < count:
                    _write_shard(out, number, shards[number], entries)
        _write_index(prefix, count + spare, entries)
    except BaseException:
        if _shard_count(prefix) != count + spare:  # the index is the old one
            _remove(new)
        raise
    _remove(stale - {*new})
    if spare and _linked(new[:count], [shard_name(prefix, i, count) for i in range(count)]):
        _write_index(prefix, count, entries)
        _remove(new)


def _data_files(prefix: str) -> set[str]:
    """The data files of a prefix: of a bundle, and of a process that was killed while it wrote one."""
    pattern = f"{glob.escape(prefix)}.data-?????-of-?????"
    for partial in glob.glob(pattern + replacing.SUFFIX + "*"):
        replacing.remove_abandoned(partial.rpartition(replacing.SUFFIX)[0])
    return {*glob.glob(pattern)}


def _shard_count(prefix: str) -> int:
    """How many data files the bundle has that is there; 0 if there is none."""
    try:
        return Bundle(prefix).shards
    except errors.OpError:
        return 0


def _write_index(prefix: str, shards: int, entries: Mapping[bytes, Any]) -> None:
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = _VERSION
    whole = {b"": header, **entries}
    with files.replaced(f"{prefix}.index") as out:
        out.write(table.write([(k, whole[k].SerializeToString()) for k in sorted(whole)]))


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _linked(sources: Sequence[str], names: Sequence[str]) -> bool:
    """Gives files second names; False if the file system cannot."""
    try:
        for source, name in zip(sources, names, strict=True):
            os.link(source, name)
    except OSError:
        _remove(names)
        return False
    return True


def _write_shard(out: Any, number: int, shard: Shard, entries: dict[bytes, Any]) -> None:
    """Writes a data file, and adds what it has to the entries of the index."""
    offset = 0
    for name in sorted(shard, key=str.encode):
        for spec, array in sorted(shard[name].items()):
            entry, size = _write_array(out, array, offset)
            entry.shard_id = number
            _enter(entries, name, spec, entry)
            offset += size


def _enter(entries: dict[bytes, Any], name: str, spec: str, entry: Any) -> None:
    """Adds a tensor, or one of its slices, to the index."""
    key = name.encode()
    if spec:
        shape, extents = slices.read(spec)
        whole = BundleEntryProto(dtype=entry.dtype, shape=tensors.shape_proto(shape))
        known = entries.setdefault(key, whole).slices.add()
        for start, length in extents:
            if length == slices.ALL:
                known.extent.add()
            else:
                known.extent.add(start=start, length=length)
        key = slices.key(name, extents)
    if key in entries:
        raise errors.invalid_argument(
            f"Duplicate tensor keyed by {name} encountered, when writing '{spec or 'all of it'}'"
        )
    entries[key] = entry


def _write_array(out: Any, value: Any, offset: int) -> tuple[Any, int]:
    array = np.asarray(value)
    dtype = from_numpy(array.dtype)
    if dtype in (dtypes.resource, dtypes.variant):
        raise ValueError(f"A tensor of dtype {dtype.name} cannot be saved.")
    entry = BundleEntryProto(dtype=dtype.as_datatype_enum, shape=tensors.shape_proto(array.shape))
    entry.offset = offset
    if dtype is dtypes.string:
        size, crc = _write_strings(out, array.reshape(-1).tolist())
    else:
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        out.write(data)
        size, crc = len(data), crc32c(data)
    entry.size, entry.crc32c = size, masked(crc)
    return entry, size


def _write_strings(out: Any, values: list[bytes]) -> tuple[int, int]:
    """Lengths, their checksum, then the strings."""
    lengths = b"".join([table.varint(len(v)) for v in values])
    crc = crc32c(b"".join([_fixed(len(v)) for v in values]))
    check = struct.pack("<I", masked(crc))
    body = b"".join(values)
    out.write(lengths + check + body)
    return len(lengths) + 4 + len(body), extend(extend(crc, check), body)


def _fixed(length: int) -> bytes:
    """A length in the form in which it is checksummed."""
    return struct.pack("<I" if length < 1 << 32 else "<Q", length)


# -- reading ---------------------------------------------------------------------------


class Bundle:
    """A bundle on disk: its entries by name, and the arrays on request.

    Raises NotFoundError if there is none, DataLossError if a file is damaged.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        path = f"{prefix}.index"
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as e:
            raise _unread(prefix, e) from None
        try:
            found = table.read(data, path)
            header = parsed(BundleHeaderProto, found.pop(b"", b""), f"{path}: header")
            self._check_header(header)
            self.shards: int = header.num_shards
            self.entries: dict[str, Any] = {
                _text(key): parsed(BundleEntryProto, value, f"{path}: {_text(key)!r}")
                for key, value in found.items()
            }
        except MalformedError as e:
            raise errors.DataLossError(None, None, str(e)) from None

    def _check_header(self, header: Any) -> None:
        if header.endianness:
            raise MalformedError(f"{self.prefix}.index was written on a big-endian machine")
        if header.version.min_consumer > _VERSION:
            raise MalformedError(f"{self.prefix}.index needs version {header.version.min_consumer}")
        if not 0 < header.num_shards <= _MAX_SHARDS:
            raise MalformedError(f"{self.prefix}.index claims {header.num_shards} data files")

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.entries if not name.startswith(slices.PREFIX))

    def dtype(self, name: str) -> dtypes.DType:
        """The dtype of a tensor."""
        return self._checked(name, lambda e: tensors.dtype_of(e.dtype))

    def dims(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._checked(name, lambda e: _dims(name, e))

    def array(self, name: str) -> np.ndarray:
        """A tensor's value, its checksum verified.

        Raises NotFoundError for a name that the bundle does not have, DataLossError for
        damage.
        """
        return self._checked(name, lambda e: self._read(name, e))

    def _checked(self, name: str, read: Any) -> Any:
        entry = self.entries.get(name)
        if entry is None:
            raise errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
        try:
            return read(entry)
        except MalformedError as e:
            raise errors.DataLossError(None, None, f"{self.prefix}, tensor '{name}': {e}") from None

    def _read(self, name: str, entry: Any) -> np.ndarray:
        dtype, dims = tensors.dtype_of(entry.dtype), _dims(name, entry)
        if entry.slices:
            return self._joined(name, entry, dims, dtype)
        count = math.prod(dims)
        if dtype in (dtypes.resource, dtypes.variant):
            raise MalformedError(f"its dtype is {dtype.name}")
        needed = None if dtype is dtypes.string else count * dtype.size
        with self._opened(entry) as file:
            if needed is None:
                return _read_strings(file.read(entry.size), count, entry.crc32c).reshape(dims)
            if entry.size != needed:
                raise MalformedError(
                    f"it has {entry.size} bytes; shape {dims} of {dtype.name} needs {needed}"
                )
            octets = np.empty(needed, np.uint8)
            if file.readinto(octets.data) != needed:
                raise MalformedError("its file ends before it")
        if masked(crc32c(octets.data)) != entry.crc32c:
            raise MalformedError("its bytes do not have their checksum")
        return octets.view(dtype.numpy).reshape(dims)

    def _joined(self, name: str, entry: Any, dims: Any, dtype: Any) -> np.ndarray:
        """A tensor from its slices, which have to be in the files before there is memory for it."""
        stored = count = 0
        for known in entry.slices:
            part = self.entries.get(_text(slices.key(name, _extents(known))))
            if part is not None:
                stored += part.size
                count += math.prod(_dims(name, part))
        if count != math.prod(dims) or stored < count * dtype.size:
            raise MalformedError(f"its slices have {count} elements, not {math.prod(dims)}")
        check_allocated(dims, dtype.size, f"Tensor '{name}' of a checkpoint")
        # Slices that overlap leave elements that nobody sets.
        whole = np.full(dims, b"" if dtype is dtypes.string else 0, dtype.numpy)
        for known in entry.slices:
            extents = _extents(known)
            part = self.entries.get(_text(slices.key(name, extents)))
            target = whole[slices.bounds(extents)] if len(extents) == len(dims) else None
            if part is None or part.slices or target is None:
                raise MalformedError(f"its slice {slices.text(dims, extents)} is not there")
            array = self._read(name, part)
            if array.shape != target.shape or array.dtype != whole.dtype:
                raise MalformedError(
                    f"its slice {slices.text(dims, extents)} is {array.dtype}{list(array.shape)}"
                )
            target[...] = array
        return whole

    @contextlib.contextmanager
    def _opened(self, entry: Any) -> Generator[Any]:
        """The data file of an entry, at its bytes, all of which are there."""
        if not 0 <= entry.shard_id < self.shards:
            raise MalformedError(f"there is no data file {entry.shard_id}")
        path = shard_name(self.prefix, entry.shard_id, self.shards)
        try:
            with open(path, "rb") as file:
                length = os.fstat(file.fileno()).st_size
                if entry.offset < 0 or not 0 <= entry.size <= length - entry.offset:
                    raise MalformedError(
                        f"{entry.size} bytes at {entry.offset} lie outside of {path}, which has {length}"
                    )
                file.seek(entry.offset)
                yield file
        except OSError as e:
            raise MalformedError(f"{path} cannot be read: {e.strerror}") from None


def _unread(prefix: str, cause: OSError) -> errors.OpError:
    """The error for a bundle that has no index."""
    if os.path.exists(prefix):
        why = "is a directory" if os.path.isdir(prefix) else "not an sstable"
        return errors.DataLossError(
            None,
            None,
            f"Unable to open table file {prefix}: {why}: perhaps your file is in a different file format and you need to "
            "use a different restore operator? A checkpoint is named by its prefix, which no file has.",
        )
    if isinstance(cause, PermissionError):
        return errors.PermissionDeniedError(None, None, f"{prefix}.index; Permission denied")
    return errors.NotFoundError(
        None,
        None,
        f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}",
    )


def _extents(known: Any) -> tuple[tuple[int, int], ...]:
    """Where a slice begins and how long it is, for each dimension."""
    return tuple(
        [(e.start, e.length if e.WhichOneof("has_length") else slices.ALL) for e in known.extent]
    )


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogateescape")


def _dims(name: str, entry: Any) -> tuple[int, ...]:
    dims = tensors.shape_of(entry.shape)
    if dims is None or None in dims:
        raise MalformedError(f"its shape {dims} is not known")
    return dims  # type: ignore[return-value]  # no dimension is None: checked above


def _read_strings(data: bytes, count: int, stored: int) -> np.ndarray:
    if count > len(data):
        raise MalformedError(f"{len(data)} bytes are too few for {count} strings")
    at, lengths = 0, []
    for _ in range(count):
        length, at = table.read_varint(data, at, len(data))
        lengths.append(length)
    if at + 4 + sum(lengths) != len(data):
        raise MalformedError("the lengths of its strings do not fit its bytes")
    crc = crc32c(b"".join([_fixed(n) for n in lengths]))
    if struct.pack("<I", masked(crc)) != data[at : at + 4]:
        raise MalformedError("the lengths of its strings do not have their checksum")
    if masked(extend(crc, memoryview(data)[at:])) != stored:
        raise MalformedError("its bytes do not have their checksum")
    at += 4
    result = np.empty(count, object)
    for i, length in enumerate(lengths):
        result[i] = data[at : at + length]
        at += length
    return result
