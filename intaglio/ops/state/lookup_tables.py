"""Lookup tables: their handles, and the ops on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import files
from intaglio.base.dtypes import ALL, DType, bool_, float32, float64, int32, int64, string
from intaglio.base.dtypes import resource as resource_dtype
from intaglio.base.errors import NotFoundError, ShapeError, invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

# Pairs of dtypes that TensorFlow has fixed and mutable tables of.
_FIXED = (
    {(int32, x) for x in (float64, float32, int32, string)}
    | {(int64, x) for x in (float64, float32, int32, int64, string)}
    | {(string, x) for x in (bool_, float64, float32, int32, int64, string)}
)
_MUTABLE = (
    {(int32, x) for x in (float64, float32, int32)}
    | {(int64, x) for x in (float64, float32, int32, int64, string)}
    | {(string, x) for x in (bool_, float64, float32, int32, int64)}
)


def _check(name: str, keys: DType, values: DType, pairs: Any) -> None:
    if (keys, values) not in pairs:
        raise NotFoundError(
            None,
            None,
            f"Could not find device for node: {{{{node {name}}}}} = {name}"
            f"[key_dtype={_kind(keys)}, value_dtype={_kind(values)}]",
        )


def _kind(dtype: DType) -> str:
    return f"DT_{ {'float32': 'float', 'float64': 'double'}.get(dtype.name, dtype.name).upper() }".replace(
        " ", ""
    )


class Handle(Op):
    """A handle to a table: a new one, or that of a shared name."""

    stateful = True
    on_host = True
    differentiable = False
    pairs: Any = _MUTABLE
    fixed = False

    def handle(self, value_dtype: DType, value_shape: Dims) -> Spec:
        """The spec of a handle, with the contents of the table."""
        return Spec(resource_dtype, (), Spec(value_dtype, value_shape))

    def table(
        self,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: Dims,
        shared_name: str,
        container: str,
        resources: Any,
    ) -> Any:
        """The table of that name, created if there is none."""
        if self.pairs is not None:
            _check(type(self).__name__, key_dtype, value_dtype, self.pairs)
        values = Spec(value_dtype, value_shape)
        return resources.lookup_table(key_dtype, values, shared_name, container, self.fixed)


class NamedHandle(Handle):
    """A handle to the table of scalars of a shared name."""

    signature = (
        "; container: str = '', shared_name: str = '',"
        " use_node_name_sharing: bool = False, key_dtype: type, value_dtype: type"
        " -> table_handle: resource"
    )

    def infer(self, value_dtype: DType) -> Spec:
        return self.handle(value_dtype, ())

    def kernel(self, container, shared_name, key_dtype, value_dtype, resources):
        return self.table(key_dtype, value_dtype, (), shared_name, container, resources)


@op
class HashTableV2(NamedHandle):
    """A table that is filled once."""

    pairs = _FIXED
    fixed: bool = True


@op
class MutableHashTableV2(NamedHandle):
    """A table that changes."""


class AnonymousHandle(Handle):
    """A handle to a table of scalars of its own."""

    signature = "; key_dtype: type, value_dtype: type -> table_handle: resource"

    def infer(self, value_dtype: DType) -> Spec:
        return self.handle(value_dtype, ())

    def kernel(self, key_dtype, value_dtype, resources):
        return self.table(key_dtype, value_dtype, (), "", "", resources)


@op
class AnonymousHashTable(AnonymousHandle):
    """A table of its own that is filled once."""

    pairs = _FIXED
    fixed: bool = True


@op
class AnonymousMutableHashTable(AnonymousHandle):
    """A table of its own that changes."""


@op
class MutableHashTableOfTensorsV2(Handle):
    """A table of tensors of one shape that changes."""

    signature = (
        "; container: str = '', shared_name: str = '',"
        " use_node_name_sharing: bool = False, key_dtype: type, value_dtype: type,"
        " value_shape: shape = () -> table_handle: resource"
    )

    def infer(self, value_dtype: DType, value_shape: Dims) -> Spec:
        return self.handle(value_dtype, value_shape)

    def kernel(self, container, shared_name, key_dtype, value_dtype, value_shape, resources):
        return self.table(key_dtype, value_dtype, value_shape, shared_name, container, resources)


@op
class AnonymousMutableHashTableOfTensors(Handle):
    """A table of tensors of one shape, of its own, that changes."""

    signature = (
        "; key_dtype: type, value_dtype: type, value_shape: shape = () -> table_handle: resource"
    )

    def infer(self, value_dtype: DType, value_shape: Dims) -> Spec:
        return self.handle(value_dtype, value_shape)

    def kernel(self, key_dtype, value_dtype, value_shape, resources):
        return self.table(key_dtype, value_dtype, value_shape, "", "", resources)


class DenseHandle(Handle):
    """A table with two reserved keys for an empty and for a deleted bucket."""

    pairs = None

    def infer(self, empty_key: Spec, value_dtype: DType, value_shape: Dims) -> Spec:
        return self.handle(value_dtype, value_shape)

    def dense(self, table: Any, empty_key: Any, deleted_key: Any) -> Any:
        """The table, which refuses the two keys."""
        if np.ndim(empty_key) or np.ndim(deleted_key):
            raise NotImplementedError("dense hash tables of keys that are no scalars")
        empty, deleted = np.asarray(empty_key).item(), np.asarray(deleted_key).item()
        if empty == deleted:
            raise invalid_argument("Empty and deleted keys cannot be equal")
        table.forbidden = (("empty_key", empty), ("deleted_key", deleted))
        return table


@op
class MutableDenseHashTableV2(DenseHandle):
    """A table that changes, by open addressing elsewhere."""

    signature = (
        "empty_key: key_dtype, deleted_key: key_dtype; container: str = '',"
        " shared_name: str = '', use_node_name_sharing: bool = False,"
        " value_dtype: type, value_shape: shape = (),"
        " initial_num_buckets: int = 131072, max_load_factor: float = 0.8"
        " -> table_handle: resource"
    )
    key_dtype = ALL

    def kernel(
        self,
        empty_key,
        deleted_key,
        container,
        shared_name,
        key_dtype,
        value_dtype,
        value_shape,
        resources,
    ):
        handle = self.table(key_dtype, value_dtype, value_shape, shared_name, container, resources)
        return self.dense(handle, empty_key, deleted_key)


@op
class AnonymousMutableDenseHashTable(DenseHandle):
    """A table of its own that changes, by open addressing elsewhere."""

    signature = (
        "empty_key: key_dtype, deleted_key: key_dtype; value_dtype: type,"
        " value_shape: shape = (), initial_num_buckets: int = 131072,"
        " max_load_factor: float = 0.8 -> table_handle: resource"
    )
    key_dtype = ALL

    def kernel(self, empty_key, deleted_key, key_dtype, value_dtype, value_shape, resources):
        handle = self.table(key_dtype, value_dtype, value_shape, "", "", resources)
        return self.dense(handle, empty_key, deleted_key)


# -- using ---------------------------------------------------------------------------------


def _need_scalar(table_handle: Spec) -> None:
    if table_handle.rank not in (None, 0):
        raise ShapeError(f"Shape must be rank 0 but is rank {table_handle.rank}")


@op
class LookupTableFindV2(Op):
    """The values of keys, and a default for keys that are not there."""

    signature = "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout"
    stateful = True
    writes = False
    droppable = True
    differentiable = False
    Tin = ALL
    Tout = ALL
    reaches_outside = "tables"

    def infer(self, table_handle: Spec, keys: Spec, default_value: Spec) -> Spec:
        _need_scalar(table_handle)
        contents = table_handle.value
        inner = contents.shape if isinstance(contents, Spec) else None
        if inner is None and default_value.rank == 0:
            inner = ()
        if inner is None or keys.shape is None:
            return Spec(default_value.dtype, None)
        return Spec(default_value.dtype, (*keys.shape, *inner))

    def kernel(self, table_handle, keys, default_value):
        return table_handle.find(np.asarray(keys), np.asarray(default_value))


class Change(Op):
    """Keys with values for a table."""

    signature = "table_handle: resource, keys: Tin, values: Tout -> "
    stateful = True
    on_host = True
    differentiable = False
    Tin = ALL
    Tout = ALL

    def infer(self, table_handle: Spec) -> Any:
        _need_scalar(table_handle)
        return ()


@op
class LookupTableInsertV2(Change):
    """Gives keys values."""

    reaches_outside = "tables"

    def kernel(self, table_handle, keys, values):
        table_handle.insert(np.asarray(keys), np.asarray(values))
        return ()


@op
class LookupTableImportV2(Change):
    """Makes these keys the only ones; fills a table that is filled once."""

    reaches_outside = "tables"

    def kernel(self, table_handle, keys, values):
        put = table_handle.initialize if table_handle.fixed else table_handle.replace
        put(np.asarray(keys), np.asarray(values))
        return ()


@op
class InitializeTableV2(Change):
    """Fills a table that is filled once."""

    signature = "table_handle: resource, keys: Tkey, values: Tval -> "
    Tkey = ALL
    Tval = ALL

    def kernel(self, table_handle, keys, values):
        table_handle.initialize(np.asarray(keys), np.asarray(values))
        return ()


@op
class LookupTableRemoveV2(Op):
    """Forgets keys."""

    signature = "table_handle: resource, keys: Tin -> "
    stateful = True
    differentiable = False
    Tin = ALL
    reaches_outside = "tables"

    def infer(self, table_handle: Spec) -> Any:
        _need_scalar(table_handle)
        return ()

    def kernel(self, table_handle, keys):
        table_handle.remove(np.asarray(keys))
        return ()


@op
class LookupTableSizeV2(Op):
    """The number of keys."""

    signature = "table_handle: resource -> size: int64"
    stateful = True
    writes = False
    droppable = True
    differentiable = False
    reaches_outside = "tables"

    def infer(self, table_handle: Spec) -> Spec:
        _need_scalar(table_handle)
        return Spec(int64, ())

    def kernel(self, table_handle):
        return np.asarray(len(table_handle), np.int64)


@op
class LookupTableExportV2(Op):
    """All keys and their values."""

    signature = "table_handle: resource; Tkeys: type, Tvalues: type -> keys: Tkeys, values: Tvalues"
    stateful = True
    writes = False
    droppable = True
    differentiable = False
    reaches_outside = "tables"

    def infer(self, table_handle: Spec, Tkeys: DType, Tvalues: DType) -> Any:
        _need_scalar(table_handle)
        contents = table_handle.value
        inner = contents.shape if isinstance(contents, Spec) else None
        return Spec(Tkeys, (None,)), Spec(Tvalues, None if inner is None else (None, *inner))

    def kernel(self, table_handle):
        return table_handle.export()


# -- text files ----------------------------------------------------------------------------

_WHOLE_LINE, _LINE_NUMBER = -2, -1


@op
class InitializeTableFromTextFileV2(Op):
    """Fills a table from the lines of a file, or from columns of them."""

    signature = (
        "table_handle: resource, filename: string; key_index: int, value_index: int,"
        " vocab_size: int = -1, delimiter: str = '\\t', offset: int = 0 -> "
    )
    path_inputs = ("filename",)
    stateful = True
    on_host = True
    differentiable = False

    def infer(self, table_handle: Spec, filename: Spec) -> Any:
        _need_scalar(table_handle)
        _need_scalar(filename)
        return ()

    def kernel(self, table_handle, filename, key_index, value_index, vocab_size, delimiter, offset):
        path = np.asarray(filename).item().decode()
        lines = _lines(path, vocab_size)
        mark = delimiter.encode() if isinstance(delimiter, str) else delimiter
        split = [line.split(mark) for line in lines] if max(key_index, value_index) >= 0 else []
        columns = [
            _column(lines, split, index, dtype, path, offset)
            for index, dtype in (
                (key_index, table_handle.key_dtype),
                (value_index, table_handle.spec.dtype),
            )
        ]
        table_handle.initialize(*columns)
        return ()


def _lines(path: str, vocab_size: int) -> list[bytes]:
    with files.explained(path), open(path, "rb") as file:
        lines = file.read().split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = [line.removesuffix(b"\r") for line in lines]
    if vocab_size < 0:
        return lines
    if len(lines) < vocab_size:
        raise invalid_argument(
            f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}"
        )
    return lines[:vocab_size]


def _column(
    lines: list[bytes], split: list[list[bytes]], index: int, dtype: DType, path: str, offset: int
) -> Any:
    """The keys or values in the lines of a file."""
    if index == _LINE_NUMBER:
        return np.arange(len(lines), dtype=np.int64).astype(dtype.numpy) + offset
    words = lines
    if index != _WHOLE_LINE:
        short = next((i for i, row in enumerate(split) if len(row) <= index), None)
        if short is not None:
            raise invalid_argument(
                f"Invalid number of columns in {path} line {short} "
                f"({lines[short].decode(errors='replace')}) : expected at least {index + 1} got {len(split[short])}"
            )
        words = [row[index] for row in split]
    found = np.empty(len(words), object)
    found[:] = words
    if dtype is string:
        return found
    try:
        return found.astype("S").astype(dtype.numpy)
    except ValueError as e:  # UnicodeDecodeError is one
        raise invalid_argument(f"A field of {path} is not a valid {dtype.name}: {e}") from e
