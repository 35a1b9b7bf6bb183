"""The rows of a query to a database, through Python's `sqlite3`.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/SqlDataset.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import BY_NAME, DType, bool_, float64, string
from intaglio.data.files import over_files, text_array
from intaglio.data.sources import Source
from intaglio.data.stage import UNKNOWN, Element, Stage, require
from intaglio.opdef.op import op

_INTEGERS = "int8 int16 int32 int64 uint8 uint16"
_MASK = 0xFFFFFFFFFFFFFFFF  # numbers too large for a column's type lose their upper bits
_TYPES = (string, *[BY_NAME[n] for n in _INTEGERS.split()], bool_, float64)


@op
class SqlDataset(Source):
    """The rows of a query."""

    signature = (
        "driver_name: string, data_source_name: string, query: string;"
        " output_types: list(type), output_shapes: list(shape) -> handle: variant"
    )

    def kernel(self, driver_name, data_source_name, query, output_types):
        driver = driver_name[()].decode()
        require(
            driver == "sqlite",
            f"The database type, {driver}, is not supported by SqlDataset. The set of "
            "supported databases is: {'sqlite'}.",
        )
        require(
            all(t in _TYPES for t in output_types),
            "Each element of `output_types_` must be one of: DT_STRING, DT_INT8, DT_INT16, "
            "DT_INT32, DT_INT64, DT_UINT8, DT_UINT16, DT_BOOL, DT_DOUBLE ",
        )
        text = query[()].decode()

        def read(name: bytes) -> Iterator[Element]:
            return _rows(name.decode(), text, output_types)

        return Stage("Sql", UNKNOWN, over_files(data_source_name, read))


def _rows(path: str, query: str, types: tuple[DType, ...]) -> Iterator[Element]:
    """The rows as elements. The connection is used by one thread at a time."""
    try:
        connection = sqlite3.connect(path, check_same_thread=False)
        connection.text_factory = bytes
        with closing(connection):
            cursor = connection.execute(query)
            width = len(cursor.description or ())
            require(
                width == len(types),
                f"The number of columns in query ({width}) must match the number of elements "
                f"in output_types ({len(types)}).",
            )
            for row in cursor:
                yield tuple([_value(v, t) for v, t in zip(row, types, strict=True)])
    except sqlite3.Error as e:
        raise errors.UnknownError(
            None, None, f"Prepare() failed: [{_code(e)}] {e}: {query}"
        ) from None


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 1) & 0xFF


def _value(value: Any, dtype: DType) -> Any:
    """A column's value by SQLite's rules of conversion: what is no number is zero."""
    if dtype is string:
        text = b"" if value is None else value
        return text_array(text if isinstance(text, bytes) else str(text).encode())
    kind: Any = dtype.numpy.type
    if isinstance(value, bytes):
        try:
            value = float(value)
        except ValueError:
            value = 0
    value = 0 if value is None else value
    if dtype is bool_:
        return kind(value != 0)
    if dtype is float64:
        return kind(value)
    return np.array(int(value) & _MASK, np.uint64).astype(kind)[()]
