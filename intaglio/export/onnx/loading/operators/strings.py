"""Texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import ModelError, rank, static, tensor
from intaglio.opdef import raw


@operator("StringConcat")
def _concat(c, a, b) -> Any:
    own = raw.BroadcastArgs(raw.Shape(tensor(a)), raw.Shape(tensor(b)))
    return raw.StringJoin([raw.BroadcastTo(a, own), raw.BroadcastTo(b, own)])


@operator("RegexFullMatch")
def _matches(c, x) -> Any:
    return raw.RegexFullMatch(x, np.asarray(c.attr("pattern").encode(), object))


@operator("StringNormalizer")
def _normalized(c, x) -> Any:
    """Texts without stop words, in small or capital letters."""
    x = tensor(x)
    words = [w.encode() for w in c.attr("stopwords", [])]
    exact, whole = c.attr("is_case_sensitive", 0), rank(x)
    if words:
        keys = x if exact else raw.StringLower(x, encoding="utf-8")
        stops = np.array(
            [*[w if exact else w.decode().lower().encode() for w in words], None], object
        )[:-1]
        found = raw.Any(raw.Equal(raw.ExpandDims(keys, -1), stops), np.array([rank(x)]))
        kept = raw.LogicalNot(found)
        if rank(x) == 2:
            kept = raw.Reshape(kept, np.array([-1]))
            x = raw.Reshape(x, np.array([-1]))
        x = raw.GatherV2(x, raw.Reshape(raw.Where(kept), np.array([-1])), 0)
        count = raw.Size(x, out_type=dtypes.int64)
        missing = raw.Maximum(raw.Sub(np.int64(1), count), np.int64(0))
        pads = raw.Reshape(raw.Pack([np.int64(0), missing]), np.array([1, 2]))
        x = raw.PadV2(x, pads, np.asarray(b"", object))
        x = raw.ExpandDims(x, 0) if whole == 2 else x
    action = c.attr("case_change_action", "NONE")
    if action == "NONE":
        return x
    return (raw.StringLower if action == "LOWER" else raw.StringUpper)(x, encoding="utf-8")


@operator("StringSplit")
def _split(c, x) -> Any:
    """The parts of each text, filled up with empty ones, and how many there are."""
    x = tensor(x)
    texts = static(x)
    if texts is not None and not np.asarray(texts).size:
        raise ModelError("splitting no texts")
    flat = raw.Reshape(x, np.array([-1]))
    separator = np.asarray((c.attr("delimiter") or "").encode(), object)
    indices, values, sizes = raw.StringSplitV2(flat, separator, maxsplit=c.attr("maxsplit", -1))
    empty = np.asarray(b"", object)
    dense = raw.SparseToDense(indices, sizes, values, empty)
    ones = raw.Fill(raw.Shape(values), np.int64(1))
    counts = raw.UnsortedSegmentSum(ones, indices[:, 0], raw.Size(flat, out_type=dtypes.int64))
    own = raw.Shape(x, out_type=dtypes.int64)
    return raw.Reshape(dense, raw.ConcatV2([own, sizes[1:]], 0)), raw.Reshape(counts, own)
