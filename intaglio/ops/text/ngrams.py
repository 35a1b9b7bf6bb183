"""Runs of neighbouring strings, and strings cut at the characters of a delimiter."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, int64, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.ragged.tensors import splits_from
from intaglio.ops.text.strings import filled, runs_joined, shape_text


@op
class StringNGrams(Op):
    """Runs of `ngram_widths` neighbours in each row, joined with the separator."""

    signature = (
        "data: string, data_splits: Tsplits; separator: str, ngram_widths: list(int),"
        " left_pad: str, right_pad: str, pad_width: int, preserve_short_sequences: bool"
        " -> ngrams: string, ngrams_splits: Tsplits"
    )
    differentiable = False
    Tsplits = INDEX

    def infer(self, data: Spec, data_splits: Spec) -> Any:
        if data.rank not in (None, 1):
            raise ShapeError(f"Shape must be rank 1 but is rank {data.rank}")
        return Spec(string, (None,)), Spec(data_splits.dtype, data_splits.shape)

    def kernel(
        self,
        data,
        data_splits,
        separator,
        ngram_widths,
        left_pad,
        right_pad,
        pad_width,
        preserve_short_sequences,
    ):
        _check_splits(data_splits, data.size)
        if ngram_widths and min(ngram_widths) < 1:
            raise invalid_argument(
                f"ngram_widths must contain positive values: {list(ngram_widths)}"
            )
        glue, left, right = [
            t.encode("utf-8", "surrogateescape") for t in (separator, left_pad, right_pad)
        ]
        if data_splits.size and len(ngram_widths) == 1:
            width = ngram_widths[0]
            pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            if not pads:
                return _unpadded(data, data_splits, width, glue, preserve_short_sequences)
        words: list[bytes] = data.reshape(-1).tolist()
        found: list[bytes] = []
        counts: list[int] = []
        bounds = data_splits.tolist()
        for start, end in itertools.pairwise(bounds):
            row = words[start:end]
            before = len(found)
            for width in ngram_widths:
                pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
                padded = [left] * pads + row + [right] * pads if row or pads else row
                runs = range(len(padded) - width + 1)
                found += [glue.join(padded[i : i + width]) for i in runs]
            if preserve_short_sequences and len(found) == before and row:
                found.append(glue.join(row))
            counts.append(len(found) - before)
        if not data_splits.size:
            return filled([], -1), data_splits
        splits = splits_from(np.array(counts, np.int64), data_splits.dtype)
        return filled(found, -1), splits


def _unpadded(data: Any, splits: Any, width: int, glue: bytes, short: bool) -> tuple[Any, Any]:
    """Runs of one width; of rows that are shorter, none or with `short` the whole row."""
    lengths = np.diff(splits).astype(np.int64)
    counts = np.maximum(lengths - width + 1, 0)
    if short:
        counts[(lengths > 0) & (lengths < width)] = 1
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.repeat(splits[:-1].astype(np.int64), counts) + inside
    runs = np.repeat(np.minimum(lengths, width), counts)
    return runs_joined(data.reshape(-1), starts, runs, glue), splits_from(counts, splits.dtype)


def _check_splits(splits: Any, size: int) -> None:
    if not splits.size:
        if size:
            raise invalid_argument(
                f"If data_splits is empty, data must be empty, got {size} elements"
            )
        return
    if splits[0] != 0:
        raise invalid_argument(f"First split value must be 0, got {int(splits[0])}")
    if np.any(np.diff(splits) < 0):
        raise invalid_argument("Invalid split value, must be in increasing order")
    if splits[-1] != size:
        raise invalid_argument(
            f"Last split value must be data size. Expected {size}, got {int(splits[-1])}"
        )


@op
class StringSplit(Op):
    """The parts of strings between characters of a delimiter, as a sparse matrix."""

    signature = (
        "input: string, delimiter: string; skip_empty: bool = True"
        " -> indices: int64, values: string, shape: int64"
    )
    differentiable = False

    def infer(self, input: Spec, delimiter: Spec) -> Any:
        for spec, rank in ((input, 1), (delimiter, 0)):
            if spec.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {spec.rank}")
        return Spec(int64, (None, 2)), Spec(string, (None,)), Spec(int64, (2,))

    def kernel(self, input, delimiter, skip_empty):
        if np.ndim(input) != 1:
            raise invalid_argument(
                f"input must be a vector, got shape: {shape_text(np.shape(input))}"
            )
        if np.ndim(delimiter) != 0:
            raise invalid_argument(
                f"delimiter must be a scalar, got shape: {shape_text(np.shape(delimiter))}"
            )
        marks = np.asarray(delimiter).item()
        texts = np.asarray(input).tolist()
        if marks:
            rows = [_cut(text, marks, skip_empty) for text in texts]
            counts = np.fromiter(map(len, rows), np.int64, len(rows))
            parts = filled(list(itertools.chain.from_iterable(rows)), -1)
        else:
            counts = np.fromiter(map(len, texts), np.int64, len(texts))
            parts = _BYTES[np.frombuffer(b"".join(texts), np.uint8)]
        ids = np.repeat(np.arange(counts.size), counts)
        inside = np.arange(ids.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return (
            np.stack([ids, inside], axis=1).astype(np.int64, copy=False),
            parts,
            np.array([counts.size, int(counts.max(initial=0))], np.int64),
        )


# Every byte as a text.
_BYTES = filled([bytes([code]) for code in range(256)], -1)


def _cut(text: bytes, marks: bytes, skip_empty: bool) -> list[bytes]:
    first = marks[:1]
    for mark in marks[1:]:
        text = text.replace(bytes([mark]), first)
    parts = text.split(first)
    return [p for p in parts if p] if skip_empty else parts if text else []
