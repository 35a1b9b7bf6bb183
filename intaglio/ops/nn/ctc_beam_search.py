"""Decoding by beam search: the likeliest labels over all their alignments.

Follows Graves, "Supervised sequence labelling with recurrent neural networks" (2012), as a search
for prefixes: a beam holds the log-probability of the alignments of its prefix that end in a blank
and of those that do not. Sequences and beams are vectorised; the loop is over time steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.nn.ctc import check_steps

NONE = -1


class _Prefixes:
    """The prefixes met so far, as a tree: each has a parent, a last label and a number."""

    def __init__(self, batch: int, classes: int) -> None:
        self.classes = classes
        self.parents = np.full(batch, NONE, np.int64)
        self.labels = np.full(batch, NONE, np.int64)
        self._keys = np.zeros(0, np.int64)
        self._numbers = np.zeros(0, np.int64)

    def longer(self, parents: Any, labels: Any) -> Any:
        """The numbers of these prefixes with one label more, the same ones for the same."""
        keys = parents * self.classes + labels
        at = np.searchsorted(self._keys, keys)
        known = np.zeros(len(keys), bool)
        inside = at < len(self._keys)
        known[inside] = self._keys[at[inside]] == keys[inside]
        numbers = np.empty(len(keys), np.int64)
        numbers[known] = self._numbers[at[known]]
        new = np.flatnonzero(~known)
        numbers[new] = len(self.parents) + np.arange(len(new))
        order = new[np.argsort(keys[new], kind="stable")]
        positions = at[order]
        self._keys = np.insert(self._keys, positions, keys[order])
        self._numbers = np.insert(self._numbers, positions, numbers[order])
        self.parents = np.concatenate([self.parents, parents[new]])
        self.labels = np.concatenate([self.labels, labels[new]])
        return numbers

    def read(self, numbers: Any) -> tuple[Any, Any]:
        """(labels [prefix, longest], lengths) of prefixes."""
        taken: list[Any] = []
        at = numbers.copy()
        while True:
            labels = np.where(at >= 0, self.labels[at], NONE)
            if not np.any(labels >= 0):
                break
            taken.append(labels)
            at = np.where(labels >= 0, self.parents[at], NONE)
        if not taken:
            return np.zeros((len(numbers), 0), np.int64), np.zeros(len(numbers), int)
        # Read from the end: shorter prefixes are aligned to the end of their row.
        back = np.stack(taken, axis=1)
        lengths = (back >= 0).sum(axis=1)
        positions = lengths[:, None] - 1 - np.arange(back.shape[1])
        whole = np.take_along_axis(back, np.maximum(positions, 0), axis=1)
        return np.where(positions >= 0, whole, NONE), lengths


class _Beams:
    """The beams of every sequence, the likeliest first."""

    def __init__(self, batch: int, width: int, classes: int, dtype: Any) -> None:
        self.width = width
        self.blank_class = classes - 1
        self.prefixes = _Prefixes(batch, classes)
        self.numbers = np.full((batch, width), NONE, np.int64)
        self.numbers[:, 0] = np.arange(batch)
        self.label = np.full((batch, width), -np.inf, dtype)
        self.blank = np.full((batch, width), -np.inf, dtype)
        self.blank[:, 0] = 0

    def step(self, log_probs: Any, active: Any) -> None:
        """Extends the beams by one step with log-probabilities [batch, classes]."""
        total = np.logaddexp(self.label, self.blank)
        lasts, used = self.prefixes.labels[self.numbers], self.numbers >= 0
        parent = self.prefixes.parents[self.numbers]
        same = (parent[:, :, None] == self.numbers[:, None, :]) & used[:, :, None]
        same &= (parent >= 0)[:, :, None]
        stands, source = same.any(axis=2), same.argmax(axis=2)

        def of_source(x: Any) -> Any:
            return np.take_along_axis(x, source, axis=1)

        grown = np.where(of_source(lasts) == lasts, of_source(self.blank), of_source(total))
        label = np.where(stands, np.logaddexp(self.label, grown), self.label)
        label = label + np.take_along_axis(log_probs, np.maximum(lasts, 0), axis=1)
        blank = total + log_probs[:, self.blank_class, None]
        labels = np.arange(self.blank_class)
        again = labels == lasts[:, :, None]
        longer = np.where(again, self.blank[:, :, None], total[:, :, None])
        longer = longer + log_probs[:, None, : self.blank_class]
        rows, beams = np.nonzero(stands)
        longer[rows, source[rows, beams], lasts[rows, beams]] = -np.inf
        standing = np.logaddexp(label, blank)
        followed = stands & (source < np.arange(self.width))
        columns = source * self.blank_class + lasts
        longer[_forgotten(standing, used, longer, followed, source, columns)] = -np.inf
        self._choose(label, blank, used, longer, active)

    def _choose(self, label: Any, blank: Any, used: Any, longer: Any, active: Any) -> None:
        batch, width, count = longer.shape
        total = np.logaddexp(label, blank)
        scores = np.concatenate([total, longer.reshape(batch, -1)], axis=1)
        possible = np.concatenate([used, longer.reshape(batch, -1) > -np.inf], axis=1)
        # Of equal ones existing beams come first; impossible ones come last.
        ranks = np.where(possible, -scores, np.inf)
        best = np.lexsort((~possible, ranks), axis=1)[:, :width]
        stays = best < width
        at = np.where(stays, best, 0)
        new = np.maximum(best - width, 0)
        source = new // count if count else new
        picked = new % count if count else new
        numbers = np.take_along_axis(self.numbers, at, axis=1)
        extended = ~stays & np.take_along_axis(possible, best, axis=1)
        extended &= active[:, None]
        parents = np.take_along_axis(self.numbers, source, axis=1)
        numbers[extended] = self.prefixes.longer(parents[extended], picked[extended])
        numbers[~stays & ~extended] = NONE
        score = np.take_along_axis(scores, best, axis=1)
        kept = active[:, None]
        label = np.where(stays, np.take_along_axis(label, at, axis=1), score)
        blank = np.where(stays, np.take_along_axis(blank, at, axis=1), -np.inf)
        self.numbers = np.where(kept, numbers, self.numbers)
        self.label = np.where(kept, label, self.label).astype(self.label.dtype)
        self.blank = np.where(kept, blank, self.blank).astype(self.blank.dtype)


def _forgotten(total: Any, used: Any, longer: Any, followed: Any, source: Any, columns: Any) -> Any:
    """Which beams get no longer prefixes, [batch, beam], as TensorFlow's search has it.

    It looks at the labels that may follow each beam in order, and keeps the best so far. A beam
    that has fallen out of those by the time when its own prefix is met, as a label that may
    follow an earlier beam, is forgotten with all that may follow it.
    """
    batch, width, count = longer.shape
    least = np.where(used.all(axis=1), total.min(axis=1), -np.inf)
    # What may come in, in order, one row for each sequence.
    row, beam, label = np.nonzero(longer > least[:, None, None])
    counts = np.bincount(row, minlength=batch)
    at = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    score = np.full((batch, int(counts.max(initial=0))), -np.inf, longer.dtype)
    score[row, at] = longer[row, beam, label]
    origin, order = np.zeros(score.shape, int), np.zeros(score.shape, int)
    origin[row, at], order[row, at] = beam, beam * count + label
    row, beam = np.nonzero(followed)
    own = total[row, beam]
    ahead = ((total[row] > own[:, None]) & used[row]).sum(axis=1)
    better = (score[row] > own[:, None]) & (order[row] < columns[row, beam, None])
    forgotten = np.zeros((batch, width), bool)
    while True:
        # Each decision depends on earlier beams only, so the loop ends.
        counted = better & ~forgotten[row[:, None], origin[row]]
        pruned = ahead + counted.sum(axis=1) >= width
        pruned &= ~forgotten[row, source[row, beam]]
        if np.array_equal(forgotten[row, beam], pruned):
            return forgotten
        forgotten[row, beam] = pruned


def _sparse(labels: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Rows of labels as a sparse matrix: (indices, values, shape)."""
    rows, columns = np.nonzero(np.arange(labels.shape[1]) < lengths[:, None])
    indices = np.stack([rows, columns], axis=1).astype(np.int64)
    shape = np.array([len(labels), lengths.max(initial=0)], np.int64)
    return indices, labels[rows, columns].astype(np.int64), shape


def _without_repeats(labels: Any, lengths: Any) -> tuple[Any, Any]:
    keep = np.arange(labels.shape[1]) < lengths[:, None]
    keep[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    order = np.argsort(~keep, axis=1, kind="stable")
    return np.take_along_axis(labels, order, axis=1), keep.sum(axis=1)


def _check(inputs: Any, steps: Any, beam_width: int, top_paths: int) -> None:
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    if steps.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    if inputs.size == 0:
        raise invalid_argument(f"inputs must not be empty, but their shape is {inputs.shape}")
    check_steps(inputs, steps)
    if top_paths > beam_width:
        raise invalid_argument(
            f"requested more paths than the beam width: {top_paths} > {beam_width}"
        )


@op
class CTCBeamSearchDecoder(Op):
    """The `top_paths` likeliest labels of each sequence, as sparse matrices, the best first."""

    signature = (
        "inputs: T, sequence_length: int32; beam_width: int, top_paths: int,"
        " merge_repeated: bool = True -> decoded_indices: top_paths*int64,"
        " decoded_values: top_paths*int64, decoded_shape: top_paths*int64,"
        " log_probability: T"
    )
    differentiable = False
    T = (float32, float64)

    def infer(self, inputs: Spec, sequence_length: Spec, top_paths) -> Any:
        if inputs.rank not in (None, 3):
            raise ShapeError(
                f"Shape must be rank 3 but is rank {inputs.rank}", "inputs is not a 3-Tensor"
            )
        if sequence_length.rank not in (None, 1):
            raise ShapeError(
                f"Shape must be rank 1 but is rank {sequence_length.rank}",
                "sequence_length is not a vector",
            )
        batch = None if inputs.shape is None else inputs.shape[1]
        if batch is None and sequence_length.shape is not None:
            batch = sequence_length.shape[0]
        return (
            [Spec(int64, (None, 2))] * top_paths,
            [Spec(int64, (None,))] * top_paths,
            [Spec(int64, (2,))] * top_paths,
            Spec(inputs.dtype, (batch, top_paths)),
        )

    def kernel(self, inputs, sequence_length, beam_width, top_paths, merge_repeated):
        _check(inputs, sequence_length, beam_width, top_paths)
        time, batch, classes = inputs.shape
        beams = _Beams(batch, beam_width, classes, inputs.dtype)
        with np.errstate(all="ignore"):
            top = inputs.max(axis=2, keepdims=True)
            whole = np.log(np.exp(inputs - top).sum(axis=2, keepdims=True)) + top
            for t in range(min(time, int(sequence_length.max(initial=0)))):
                beams.step(inputs[t] - whole[t], sequence_length > t)
            scores = np.logaddexp(beams.label, beams.blank)[:, :top_paths]
        found = beams.numbers[:, :top_paths]
        if np.any(found < 0):
            raise invalid_argument(
                f"Less leaves in the beam search than requested: {top_paths} paths of "
                f"{int((beams.numbers >= 0).sum(axis=1).min())}"
            )
        labels, lengths = beams.prefixes.read(found.reshape(-1))
        if merge_repeated:
            labels, lengths = _without_repeats(labels, lengths)
        labels = labels.reshape(batch, top_paths, -1)
        lengths = lengths.reshape(batch, top_paths)
        paths = [_sparse(labels[:, i], lengths[:, i]) for i in range(top_paths)]
        indices, values, shapes = map(list, zip(*paths, strict=True))
        return indices, values, shapes, scores
