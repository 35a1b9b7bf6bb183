"""Files of comma-separated values: records cut into fields, fields read as numbers and texts.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/CsvDataset.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import DType, float32, float64, int32, int64, string
from intaglio.data.files import over_files, text_array
from intaglio.data.record_files import opened
from intaglio.data.sources import Source
from intaglio.data.stage import UNKNOWN, Element, Stage, require
from intaglio.opdef.op import op
from intaglio.ops.text import numbers


class Dialect(NamedTuple):
    """The format of a CSV file: delimiter, quoting, header."""

    delimiter: bytes
    quotes: bool
    header: bool


def rows(file: Any, dialect: Dialect) -> Iterator[list[bytes]]:
    """The records of an open file as lists of fields.

    Raises InvalidArgumentError for quotes that do not fit.
    """
    delimiter = dialect.delimiter
    lines = _lines(file)
    if dialect.header and next(lines, None) is None:
        raise errors.invalid_argument("Can't read header of file")
    for raw_line in lines:
        line = raw_line
        if not dialect.quotes or b'"' not in line:
            yield line.rstrip(b"\r\n").split(delimiter)
            continue
        while True:  # a quoted field may hold ends of lines
            found = quoted(line, delimiter)
            if found is not None:
                break
            more = next(lines, None)
            if more is None:
                raise errors.invalid_argument(
                    "Reached end of file without closing quoted field in record"
                )
            line += more
        yield found


def _lines(file: Any) -> Iterator[bytes]:
    """The lines of an open file with their ends: a carriage return alone is one, too."""
    for line in file:
        if b"\r" in line:
            yield from line.splitlines(keepends=True)
        else:
            yield line


def quoted(line: bytes, delimiter: bytes) -> list[bytes] | None:
    """A record's fields, or None if a quoted field does not end in it.

    Raises InvalidArgumentError if a field without quotes holds one.
    """
    text = line.rstrip(b"\r\n")
    fields: list[bytes] = []
    at = 0
    while True:
        if text[at : at + 1] == b'"':
            end = closing_quote(line, at + 1)
            if end < 0:
                return None
            fields.append(line[at + 1 : end].replace(b'""', b'"'))
            at = end + 1
            if at < len(text) and text[at : at + 1] != delimiter:
                raise errors.invalid_argument(
                    "Quote inside a string has to be escaped by another quote"
                )
        else:
            end = text.find(delimiter, at)
            end = len(text) if end < 0 else end
            field = text[at:end]
            if b'"' in field:
                raise errors.invalid_argument("Unquoted fields cannot have quotes inside")
            fields.append(field)
            at = end
        if at >= len(text):
            return fields
        at += 1


def closing_quote(line: bytes, at: int) -> int:
    """The offset of the closing quote of a field; doubled quotes do not close it."""
    while True:
        at = line.find(b'"', at)
        if at < 0 or line[at + 1 : at + 2] != b'"':
            return at
        at += 2


_NAMES = {int32: "int32", int64: "int64", float32: "float", float64: "double"}


def converter(dtype: DType) -> Callable[[bytes, int], Any]:
    """A function from a field and its number to a value of the dtype."""
    if dtype is string:
        return lambda field, number: text_array(field)

    def convert(field: bytes, number: int) -> Any:
        try:
            return numbers.read_one(field, dtype)
        except numbers.NoNumber:
            shown = field.decode("utf-8", "replace")
            raise errors.invalid_argument(
                f"Field {number} in record is not a valid {_NAMES[dtype]}: {shown}"
            ) from None

    return convert


class _Columns:
    """The fields that become components, and the defaults of empty ones."""

    def __init__(
        self,
        defaults: Sequence[Any],
        types: Sequence[DType],
        chosen: list[int],
        left_out: list[int],
        missing: bytes,
    ) -> None:
        self._converters = [converter(t) for t in types]
        self._defaults = [d.reshape(-1)[0:1] for d in defaults]
        self._chosen = chosen
        self._left_out = set(left_out)
        self._missing = missing

    def element(self, fields: list[bytes]) -> Element:
        """A record as an element. Raises InvalidArgumentError if it does not fit."""
        if self._chosen:
            if self._chosen[-1] >= len(fields):
                raise errors.invalid_argument(
                    f"Expect at least {self._chosen[-1] + 1} fields but have {len(fields)} in record"
                )
            fields = [fields[i] for i in self._chosen]
        elif self._left_out:
            fields = [f for i, f in enumerate(fields) if i not in self._left_out]
        if len(fields) != len(self._converters):
            have = "more" if len(fields) > len(self._converters) else len(fields)
            raise errors.invalid_argument(
                f"Expect {len(self._converters)} fields but have {have} in record"
            )
        return tuple([self._component(i, field) for i, field in enumerate(fields)])

    def _component(self, number: int, field: bytes) -> Any:
        if field and field != self._missing:
            return self._converters[number](field, number)
        default = self._defaults[number]
        if not len(default):
            raise errors.invalid_argument(f"Field {number} is required but missing in record!")
        return text_array(default[0]) if default.dtype == object else default[0]


@op
class CSVDatasetV2(Source):
    """The records of CSV files."""

    signature = (
        "filenames: string, compression_type: string, buffer_size: int64, header: bool,"
        " field_delim: string, use_quote_delim: bool, na_value: string,"
        " select_cols: int64, record_defaults: *output_types, exclude_cols: int64;"
        " output_shapes: list(shape) -> handle: variant"
    )
    path_inputs = ("filenames",)
    output_types = (*_NAMES, string)

    def kernel(
        self,
        filenames,
        compression_type,
        header,
        field_delim,
        use_quote_delim,
        na_value,
        select_cols,
        record_defaults,
        exclude_cols,
        output_types,
    ):
        chosen, left_out = select_cols.tolist(), exclude_cols.tolist()
        require(not (chosen and left_out), "Either select_cols or exclude_cols should be empty")
        require(
            not chosen or len(chosen) == len(output_types), "select_cols should match output size"
        )
        for name, columns in (("select_cols", chosen), ("exclude_cols", left_out)):
            require(
                all(a < b for a, b in itertools.pairwise(columns)),
                f"{name} should be strictly increasing indices",
            )
            require(all(c >= 0 for c in columns), f"{name} should be non-negative")
        require(len(field_delim[()]) == 1, "field_delim should be only 1 char")
        dialect = Dialect(field_delim[()], bool(use_quote_delim), bool(header))
        compression = compression_type[()].decode()
        columns = _Columns(record_defaults, output_types, chosen, left_out, na_value[()])

        def read(name: bytes) -> Iterator[Element]:
            with opened(os.fsdecode(name), compression) as file:
                yield from map(columns.element, rows(file, dialect))

        return Stage("CSV", UNKNOWN, over_files(filenames, read))


def guessed_type(field: bytes, before: DType, missing: bytes) -> DType:
    """The narrowest type for a field that is not narrower than `before`."""
    order = [int32, int64, float32, float64, string]
    if not field or field == missing:
        return before
    for dtype in order[order.index(before) :]:
        if dtype is string:
            return dtype
        if _fits(field, dtype):
            return dtype
    return string


def _fits(field: bytes, dtype: DType) -> bool:
    try:
        if dtype in (int32, int64):
            limits = np.iinfo(dtype.numpy)
            return limits.min <= int(field) <= limits.max
        value = float(field)
    except ValueError:
        return False
    narrow = abs(value) <= float(np.finfo(np.float32).max) or math.isinf(value)
    return dtype is float64 or narrow
