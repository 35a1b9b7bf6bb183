"""Runs of neighbouring strings, and strings cut at the characters of a delimiter."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

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
        if not data_splits.size:
            return filled([], -1), data_splits
        rows = _Rows(data.reshape(-1), data_splits.astype(np.int64, copy=False))
        pads = [w - 1 if pad_width < 0 else min(pad_width, w - 1) for w in ngram_widths]
        sources = [
            rows.runs(width, pad, left, right)
            for width, pad in zip(ngram_widths, pads, strict=True)
        ]
        if preserve_short_sequences:
            sources.append(rows.whole(sum([source.counts for source in sources], rows.none)))
        found, counts = _merged(sources, rows, glue)
        return found, splits_from(counts, data_splits.dtype)


class _Runs(NamedTuple):
    """Runs of neighbours in texts, row by row: how many in each row, where each begins (int64),
    and how many texts it has.
    """

    texts: np.ndarray
    counts: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray


class _Rows:
    """Rows of texts, from which runs are taken."""

    def __init__(self, texts: np.ndarray, splits: np.ndarray) -> None:
        self.texts = texts
        self.splits = splits
        self.lengths = np.diff(splits)
        self.none = np.zeros_like(self.lengths)

    def runs(self, width: int, pads: int, left: bytes, right: bytes) -> _Runs:
        """N-grams of one width, with so many padding texts before and after each row."""
        texts, firsts, lengths = self.texts, self.splits[:-1], self.lengths
        if pads:
            padded = np.empty(texts.size + 2 * pads * lengths.size, object)
            firsts = firsts + 2 * pads * np.arange(lengths.size)
            behind = firsts + pads + lengths
            padded[np.arange(texts.size) + np.repeat(firsts + pads - self.splits[:-1], lengths)] = (
                texts
            )
            for i in range(pads):
                padded[firsts + i] = left
                padded[behind + i] = right
            texts, lengths = padded, lengths + 2 * pads
        counts = np.maximum(lengths - width + 1, 0)
        starts = np.repeat(firsts, counts) + _inside(counts)
        return _Runs(texts, counts, starts, np.full(starts.size, width))

    def whole(self, before: np.ndarray) -> _Runs:
        """Every row that has texts, but no runs before, as one run."""
        taken = (before == 0) & (self.lengths > 0)
        return _Runs(
            self.texts, taken.astype(np.int64), self.splits[:-1][taken], self.lengths[taken]
        )


def _inside(counts: np.ndarray) -> np.ndarray:
    """The numbers from 0 to each count, in a row."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _merged(sources: list[_Runs], rows: _Rows, glue: bytes) -> tuple[np.ndarray, np.ndarray]:
    """The runs joined, and how many there are in each row: those of the first source come first."""
    if len(sources) == 1:
        one = sources[0]
        return runs_joined(one.texts, one.starts, one.lengths, glue), one.counts
    counts = sum([source.counts for source in sources], rows.none)
    total = int(counts.sum())
    starts, lengths = np.empty(total, np.int64), np.empty(total, np.int64)
    at = np.cumsum(counts) - counts
    base, texts = 0, []
    for source in sources:
        places = np.repeat(at, source.counts) + _inside(source.counts)
        known = next((b for t, b in texts if t is source.texts), None)
        if known is None:
            texts.append((source.texts, base))
            known, base = base, base + source.texts.size
        starts[places] = source.starts + known
        lengths[places] = source.lengths
        at = at + source.counts
    every = np.concatenate([t for t, _ in texts]) if len(texts) > 1 else rows.texts
    return runs_joined(every, starts, lengths, glue), counts


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
