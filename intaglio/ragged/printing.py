"""Ragged tensors as text that ops make: what `tf.print` and `tf.strings.format` show."""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.opdef import convert, raw
from intaglio.ragged import core
from intaglio.ragged.core import Ragged


def text(x: Any, summarize: int) -> Any:
    """`[[1, 2], [3]]` as a string scalar, `summarize` items of both ends of each dimension."""
    whole = _of_rows(x, summarize)
    return raw.Squeeze(_joined(whole, _one_row(whole), summarize), axis=[0])


def _of_rows(x: Any, summarize: int) -> Any:
    """The text of each row."""
    if isinstance(x, Ragged):
        return _joined(_of_rows(x.values, summarize), x.partition, summarize)
    rank = core.rank_of(x) or 1
    if rank > 1:
        cut = core.from_uniform(_outer(x), raw.Shape(x, out_type=dtypes.int64)[1])
        return _of_rows(cut, summarize)
    if x.dtype is dtypes.string:
        return raw.StringJoin([_word("'"), x, _word("'")])
    return raw.AsString(x)


def _outer(x: Any) -> Any:
    shape: Any = raw.Shape(x, out_type=dtypes.int64)
    return raw.Reshape(x, raw.ConcatV2([shape[:1] * shape[1:2], shape[2:]], 0))


def _word(text: str) -> Any:
    return convert.to_tensor(text)


def _one_row(texts: Any) -> Any:
    count = raw.Shape(texts, out_type=dtypes.int64)
    return core.from_lengths(texts, count).partition


def _joined(texts: Any, rows: Any, summarize: int) -> Any:
    """`[a, b, ..., y, z]` for each row of texts."""
    if summarize >= 0:
        texts, rows = _shortened(texts, rows, summarize)
    parts = raw.UnsortedSegmentJoin(texts, rows.value_rowids(), rows.nrows(), separator=", ")
    return raw.StringJoin([_word("["), parts, _word("]")])


def _shortened(texts: Any, rows: Any, ends: int) -> tuple[Any, Any]:
    """Long rows with dots for their middle."""
    dtype = rows.dtype
    number = convert.to_tensor(ends, dtype)
    lengths: Any = rows.row_lengths()
    kept = convert.to_tensor(2 * ends + 1, dtype)
    long = raw.GreaterEqual(lengths, kept)
    short = core.from_lengths(texts, raw.SelectV2(long, lengths * 0 + kept, lengths)).partition
    ids, offsets = short.value_rowids(), short.offsets_in_rows()
    starts: Any = raw.GatherV2(rows.row_starts(), ids, 0)
    skipped = raw.GatherV2(lengths - kept, ids, 0)
    is_long = raw.GatherV2(long, ids, 0)
    after = raw.LogicalAnd(is_long, raw.Greater(offsets, number))
    indices = starts + offsets + raw.SelectV2(after, skipped, raw.ZerosLike(skipped))
    dots = raw.LogicalAnd(is_long, raw.Equal(offsets, number))
    chosen = raw.SelectV2(dots, _word("..."), raw.GatherV2(texts, indices, 0))
    return chosen, short
