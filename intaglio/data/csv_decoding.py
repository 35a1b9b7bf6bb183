"""Records of comma-separated values as one tensor for each column."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, float64, int32, int64, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.data import csv_files
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text import native_strings, numbers
from intaglio.ops.text.native_strings import Spans
from intaglio.ops.text.strings import filled, lengths, runs_joined

_NAMES = {int32: "int32", int64: "int64", float32: "float", float64: "double"}


@op
class DecodeCSV(Op):
    """The fields of each record, every column a tensor of the records' shape."""

    signature = (
        "records: string, record_defaults: *OUT_TYPE; field_delim: str = '\\x2c',"
        " use_quote_delim: bool = True, na_value: str = '', select_cols: list(int) = ()"
        " -> output: *OUT_TYPE"
    )
    OUT_TYPE = (*_NAMES, string)
    differentiable = False

    def infer(self, records: Spec, record_defaults: Sequence[Spec]) -> list[Spec]:
        for number, default in enumerate(record_defaults):
            if default.rank is not None and default.rank > 1:
                raise ShapeError(
                    f"Shape of a default must be a length-0 or length-1 vector, or a scalar, but the default of field {number} has shape "
                    f"{list(default.shape or ())}"
                )
        return [Spec(d.dtype, records.shape) for d in record_defaults]

    def kernel(
        self,
        records,
        record_defaults,
        field_delim,
        use_quote_delim,
        na_value,
        select_cols,
        OUT_TYPE,
    ):
        _check(record_defaults, field_delim, select_cols)
        array = np.asarray(records, object).reshape(-1)
        cut = _Cutter(field_delim.encode(), use_quote_delim, list(select_cols))
        wanted = len(record_defaults)
        many = array.size >= native_strings.MIN_NATIVE_STRINGS
        columns: Sequence[_Fields] | None = cut.columns(array) if many else None
        if columns is None or len(columns) != wanted:
            columns = cut.checked_columns(array.tolist(), wanted)
        missing = (b"", na_value.encode())
        return [
            _column(number, column, dtype, default.reshape(-1), missing).reshape(np.shape(records))
            for number, (column, dtype, default) in enumerate(
                zip(columns, OUT_TYPE, record_defaults, strict=True)
            )
        ]


def _check(defaults: Sequence[Any], delimiter: str, chosen: Sequence[int]) -> None:
    for number, default in enumerate(defaults):
        if np.size(default) > 1:
            raise invalid_argument(
                f"There should only be 1 default per field but field {number} has {np.size(default)}"
            )
    if len(delimiter.encode()) != 1:
        raise invalid_argument("field_delim should be only 1 char")
    if chosen and len(chosen) != len(defaults):
        raise invalid_argument("select_cols should match output size")
    if not all(a < b for a, b in itertools.pairwise(chosen)):
        raise invalid_argument("select_cols should be strictly increasing indices")
    if any(c < 0 for c in chosen):
        raise invalid_argument("select_cols should be non-negative")


class _Cutter:
    """Splits records into fields."""

    def __init__(self, delimiter: bytes, quotes: bool, chosen: list[int]) -> None:
        self._delimiter = delimiter
        self._quotes = quotes
        self._chosen = chosen

    def columns(self, array: np.ndarray) -> list[Spans] | None:
        """The chosen columns of records that are cut all at once; None where they cannot be.

        They can if all have as many fields, none is empty, and quotes and ends of lines are where
        they may be.
        """
        sizes = lengths(array)
        if not sizes.size or not sizes.all():
            return None
        whole = runs_joined(
            array, np.zeros(1, np.int64), np.array([sizes.size]), self._delimiter
        ).item()
        quoted = self._quotes and b'"' in whole
        if not quoted and (b"\n" in whole or b"\r" in whole):
            return None
        octets = np.frombuffer(whole, np.uint8)
        within = _within_quotes(octets) if quoted else None
        # What is behind the last record ends it, too.
        cuts = _positions(octets, self._delimiter[0], within)
        cuts = np.append(cuts, len(whole))
        ends = np.cumsum(sizes + 1) - 1
        width, left = divmod(cuts.size, sizes.size)
        if left or (cuts[width - 1 :: width] != ends).any():
            return None
        starts = np.concatenate([[0], cuts[:-1] + 1])
        fields: Spans | None = Spans(whole, starts, cuts - starts)
        if within is not None:
            fields = _unquoted(fields, octets, within)
        if fields is None:
            return None
        chosen = self._chosen or range(width)
        return [
            Spans(fields.whole, fields.starts[c::width], fields.sizes[c::width])
            for c in chosen
            if c < width
        ]

    def checked_columns(self, texts: list[bytes], wanted: int) -> list[list[bytes]]:
        """The chosen columns. Raises InvalidArgumentError for the first record that does not fit."""
        rows = [self.fields(text) for text in texts]
        for number, row in enumerate(rows):
            if len(row) != wanted:
                raise invalid_argument(
                    f"Expect {wanted} fields but have {len(row)} in record {number}"
                )
        return [list(c) for c in zip(*rows, strict=True)] if rows else [[] for _ in range(wanted)]

    def fields(self, text: bytes) -> list[bytes]:
        """The chosen fields of one record, or all."""
        found = self._all(text)
        if not self._chosen:
            return found
        return [found[c] for c in self._chosen if c < len(found)]

    def _all(self, text: bytes) -> list[bytes]:
        ends = b"\n" in text or b"\r" in text
        if text and not ends and not (self._quotes and b'"' in text):
            return text.split(self._delimiter)
        found: list[bytes] = []
        at = 0
        while at < len(text):
            if text[at] in _LINE_ENDS:  # before a field, none are part of it
                at += 1
                continue
            cut = self._quoted if self._quotes and text[at] == _QUOTE else self._plain
            field, end = cut(text, at)
            found.append(field)
            at = end + 1
        # Nothing is behind the last delimiter.
        return [*found, b""] if text.endswith(self._delimiter) else found

    def _quoted(self, text: bytes, at: int) -> tuple[bytes, int]:
        """The quoted field at an offset, and its end."""
        end = csv_files.closing_quote(text, at + 1)
        if end < 0:
            raise invalid_argument("Quoted field has to end with quote followed by delim or end")
        if text[end + 1 : end + 2] not in (b"", self._delimiter):
            raise invalid_argument("Quote inside a string has to be escaped by another quote")
        return text[at + 1 : end].replace(b'""', b'"'), end + 1

    def _plain(self, text: bytes, at: int) -> tuple[bytes, int]:
        """The unquoted field at an offset, and its end."""
        end = text.find(self._delimiter, at)
        end = len(text) if end < 0 else end
        field = text[at:end]
        if any(b in field for b in _LINE_ENDS) or (self._quotes and _QUOTE in field):
            raise invalid_argument("Unquoted fields cannot have quotes/CRLFs inside")
        return field, end


_QUOTE, _LINE_ENDS = ord('"'), (ord("\n"), ord("\r"))


def _within_quotes(octets: np.ndarray) -> np.ndarray:
    """Which bytes follow an odd number of quotes, counting themselves: an opening quote does."""
    return np.bitwise_xor.accumulate((octets == _QUOTE).view(np.uint8)).view(np.bool_)


def _positions(octets: np.ndarray, byte: int, within: np.ndarray | None) -> np.ndarray:
    """The offsets of a byte outside of quotes."""
    found = octets == byte
    return np.flatnonzero(found if within is None else found & ~within)


def _unquoted(fields: Spans, octets: np.ndarray, within: np.ndarray) -> Spans | None:
    """The fields without their quotes; None if one has quotes or ends of lines out of place.

    A quote opens a field, or is a part of it if it follows one that seemed to close it.
    """
    if any(_positions(octets, end, within).size for end in _LINE_ENDS):
        return None
    quotes = octets == _QUOTE
    opening = np.flatnonzero(quotes & within)
    closing = np.flatnonzero(quotes & ~within)
    if opening.size != closing.size:
        return None
    has = (octets[np.minimum(fields.starts, octets.size - 1)] == _QUOTE) & (fields.sizes > 0)
    doubled = np.zeros(opening.size, np.bool_)
    doubled[1:] = closing[:-1] + 1 == opening[1:]
    ends = (fields.starts + fields.sizes)[has]
    last = np.append(~doubled[1:], True)
    # As many fields open as begin with a quote, there, and close at their ends.
    if not np.array_equal(opening[~doubled], fields.starts[has]):
        return None
    if not np.array_equal(closing[last], ends - 1):
        return None
    starts, sizes = fields.starts + has, fields.sizes - 2 * has
    if not doubled.any():
        return Spans(fields.whole, starts, sizes)
    kept = np.ones(octets.size + 1, np.bool_)
    kept[opening[doubled]] = False
    places = np.cumsum(kept) - kept
    starts, ends = places[starts], places[starts + sizes]
    return Spans(octets[kept[:-1]].tobytes(), starts, ends - starts)


# The fields of a column.
_Fields = Spans | list[bytes]


def _empty(fields: _Fields, missing: Sequence[bytes]) -> Any:
    """A mask of the empty fields; None if there are none."""
    if isinstance(fields, Spans):
        octets = np.frombuffer(fields.whole, np.uint8)
        each = [_equal(octets, fields, text) for text in missing]
        found = np.logical_or.reduce(each)
        return found if found.any() else None
    if not any([m in fields for m in missing]):
        return None
    return np.array([text in missing for text in fields])


def _equal(octets: np.ndarray, fields: Spans, text: bytes) -> np.ndarray:
    """A mask of the fields that are equal to a text."""
    found = fields.sizes == len(text)
    alike = np.flatnonzero(found)
    rows = octets[fields.starts[alike][:, None] + np.arange(len(text))]
    found[alike] = (rows == np.frombuffer(text, np.uint8)).all(1)
    return found


def _column(
    number: int, fields: _Fields, dtype: DType, default: Any, missing: Sequence[bytes]
) -> np.ndarray:
    """One column as a vector."""
    empty = _empty(fields, missing)
    if empty is not None and not len(default):
        raise invalid_argument(
            f"Field {number} is required but missing in record {int(np.argmax(empty))}!"
        )
    if dtype is string:
        texts = fields.array() if isinstance(fields, Spans) else filled(fields, -1)
        if empty is not None:
            texts[empty] = default[0]
        return texts
    if empty is None:
        return _numbers(number, fields, dtype)
    found = np.full(len(empty), default[0], dtype.numpy)
    if not empty.all():
        present = np.flatnonzero(~empty)
        found[present] = _numbers(number, _taken(fields, present), dtype, present)
    return found


def _taken(fields: _Fields, at: np.ndarray) -> _Fields:
    """Some of the fields."""
    if isinstance(fields, Spans):
        return Spans(fields.whole, fields.starts[at], fields.sizes[at])
    return [fields[i] for i in at.tolist()]


def _numbers(number: int, fields: _Fields, dtype: DType, records: Any = None) -> np.ndarray:
    """Fields as numbers; the numbers of their records are for messages."""
    texts: Any = fields
    if isinstance(fields, list) and len(fields) >= native_strings.MIN_NATIVE_STRINGS:
        texts = filled(fields, -1)
    try:
        return numbers.read(texts, dtype)
    except numbers.NoNumber as e:
        record = e.at if records is None else records[e.at]
        shown = e.text.decode("utf-8", "replace")
        raise invalid_argument(
            f"Field {number} in record {record} is not a valid {_NAMES[dtype]}: {shown}"
        ) from None
