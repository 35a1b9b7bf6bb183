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
from intaglio.ops.text import native_strings
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
        columns: Sequence[_Fields] | None = cut.columns(array)
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
    """Cuts records into fields."""

    def __init__(self, delimiter: bytes, quotes: bool, chosen: list[int]) -> None:
        self._delimiter = delimiter
        self._quotes = quotes
        self._chosen = chosen

    def columns(self, array: np.ndarray) -> list[Spans] | None:
        """The chosen columns of records that are cut all at once; None where they cannot be.

        They can if all have as many fields, none is empty, and none has quotes or ends of lines.
        """
        sizes = lengths(array)
        if not sizes.size or not sizes.all():
            return None
        whole = runs_joined(
            array, np.zeros(1, np.int64), np.array([sizes.size]), self._delimiter
        ).item()
        if self._quotes and any([byte in whole for byte in (b'"', b"\n", b"\r")]):
            return None
        # What is behind the last record ends it, too.
        cuts = np.flatnonzero(np.frombuffer(whole, np.uint8) == self._delimiter[0])
        cuts = np.append(cuts, len(whole))
        ends = np.cumsum(sizes + 1) - 1
        width, left = divmod(cuts.size, sizes.size)
        if left or (cuts[width - 1 :: width] != ends).any():
            return None
        starts = np.concatenate([[0], cuts[:-1] + 1])
        chosen = self._chosen or range(width)
        return [
            Spans(whole, starts[c::width], (cuts - starts)[c::width]) for c in chosen if c < width
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
        if not text:
            return []
        if self._quotes and b'"' in text:
            found = csv_files.quoted(text, self._delimiter, b'"\r\n')
            if found is None:
                raise invalid_argument(
                    "Quoted field has to end with quote followed by delim or end"
                )
            return found
        if self._quotes and (b"\n" in text or b"\r" in text):
            raise invalid_argument(
                "Unquoted fields cannot have quotes/CRLFs inside: put quotes around the field"
            )
        return text.split(self._delimiter)


# The fields of a column.
_Fields = Spans | list[bytes]


def _listed(fields: _Fields) -> list[bytes]:
    return fields.texts() if isinstance(fields, Spans) else fields


def _empty(fields: _Fields, missing: Sequence[bytes]) -> Any:
    """Which fields are missing; None if none is."""
    if isinstance(fields, Spans) and not any(missing):
        found = fields.sizes == 0
        return found if found.any() else None
    texts = _listed(fields)
    if not any([m in texts for m in missing]):
        return None
    return np.array([text in missing for text in texts])


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
    whole = dtype in (int32, int64)
    try:
        wide = _read(fields, whole)
        numbers = wide.astype(dtype.numpy, copy=False)
        if whole and (numbers != wide).any():
            raise OverflowError
        return numbers
    except (ValueError, OverflowError):
        convert = csv_files.converter(dtype)
        texts = _listed(fields)
        records = range(len(texts)) if records is None else records
        for record, field in zip(records, texts, strict=True):
            try:
                convert(field, number)
            except Exception:
                shown = field.decode("utf-8", "replace")
                raise invalid_argument(
                    f"Field {number} in record {record} is not a valid {_NAMES[dtype]}: {shown}"
                ) from None
        raise


def _read(fields: _Fields, whole: bool) -> np.ndarray:
    """Numbers as int64 or float64. Raises ValueError or OverflowError for what is none."""
    read: Any = int if whole else float
    array = fields if isinstance(fields, Spans) else filled(fields, -1)
    integers, numbers = native_strings.integers, native_strings.numbers
    found = integers(array, signed=True) if whole else numbers(array)
    if found is None:
        values, some, unusual = None, fields, None
    else:
        values, odd = found
        unusual = np.flatnonzero(odd)
        some = _taken(fields, unusual)
    texts = _listed(some)
    if b"_" in b"".join(texts):  # Python takes it between digits
        raise ValueError
    others = np.array(list(map(read, texts)), np.int64 if whole else np.float64)
    if values is None:
        return others
    values[unusual] = others
    return values
