"""Connectionist temporal classification: the loss of labels without alignment, and decoding.

The loss follows Graves et al., "Connectionist temporal classification: labelling unsegmented
sequence data with recurrent neural networks" (2006), in logarithms. Sequences and positions are
vectorised; the loop is over time steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, float64, int64
from intaglio.base.errors import FailedPreconditionError, ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


def _log_softmax(x: Any) -> Any:
    moved = x - x.max(axis=-1, keepdims=True, initial=-np.inf)
    return moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True))


def _dense(indices: Any, values: Any, batch: int) -> tuple[Any, Any]:
    """(labels [batch, longest], lengths) of a sparse matrix of labels."""
    rows = indices[:, 0]
    if len(rows) and (rows.min() < 0 or rows.max() >= batch):
        raise invalid_argument(f"label batch indices must be in [0, {batch})")
    lengths = np.bincount(rows, minlength=batch).astype(np.int64)
    order = np.lexsort((indices[:, 1], rows))
    starts = np.cumsum(lengths) - lengths
    labels = np.zeros((batch, int(lengths.max(initial=0))), np.int64)
    at = np.arange(len(rows)) - np.repeat(starts, lengths)
    labels[rows[order], at] = values[order]
    return labels, lengths


def _collapsed(labels: Any, lengths: Any) -> tuple[Any, Any]:
    """The labels without repetitions of the one before."""
    inside = np.arange(labels.shape[1]) < lengths[:, None]
    keep = inside.copy()
    keep[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    collapsed, counts = np.zeros_like(labels), keep.sum(axis=1)
    collapsed[np.arange(labels.shape[1]) < counts[:, None]] = labels[keep]
    return collapsed, counts


def _shifted(x: Any, count: int) -> Any:
    """Positions moved on by `count`, impossible ones moving in."""
    shifted = np.full_like(x, -np.inf)
    if count < x.shape[1]:
        shifted[:, count:] = x[:, : x.shape[1] - count]
    return shifted


class _Lattice:
    """The positions blank, label, blank, label, ..., blank of each sequence."""

    def __init__(self, labels: Any, lengths: Any, blank: int, merge: bool) -> None:
        batch, longest = labels.shape
        self.symbols = np.full((batch, 2 * longest + 1), blank)
        self.symbols[:, 1::2] = labels
        self.size = 2 * lengths + 1
        inside = np.arange(2 * longest + 1) < self.size[:, None]
        self.outside = ~inside
        # Blanks between different labels may be left out.
        skip = np.zeros(self.symbols.shape, bool)
        skip[:, 3::2] = labels[:, 1:] != labels[:, :-1] if merge else True
        self.no_skip = ~skip
        self.stay = np.ones(self.symbols.shape, bool)
        if not merge:
            self.stay[:, 1::2] = False

    def forward(self, log_probs: Any, active: Any) -> Any:
        """[time, batch, position]: log-probabilities of all paths to it."""
        steps = log_probs.shape[0]
        emitted = np.take_along_axis(log_probs, self.symbols[None], axis=2)
        alpha = np.full((steps, *self.symbols.shape), -np.inf)
        state = np.full(self.symbols.shape, -np.inf)
        for t in range(steps):
            if t == 0:
                new = np.full(self.symbols.shape, -np.inf)
                new[:, :2] = 0.0
            else:
                stayed = np.where(self.stay, state, -np.inf)
                jumped = np.where(self.no_skip, -np.inf, _shifted(state, 2))
                new = np.logaddexp(np.logaddexp(stayed, _shifted(state, 1)), jumped)
            new = np.where(self.outside, -np.inf, new + emitted[t])
            state = np.where(active[t][:, None], new, state)
            alpha[t] = state
        return alpha

    def backward(self, log_probs: Any, active: Any, lengths: Any) -> Any:
        """[time, batch, position]: log-probabilities of all paths from it to the end."""
        steps = log_probs.shape[0]
        emitted = np.take_along_axis(log_probs, self.symbols[None], axis=2)
        positions = np.arange(self.symbols.shape[1])
        ends = (positions == self.size[:, None] - 1) | (positions == self.size[:, None] - 2)
        start = np.where(ends, 0.0, -np.inf)
        beta = np.full((steps, *self.symbols.shape), -np.inf)
        state = start
        for t in range(steps - 1, -1, -1):
            if t + 1 < steps:
                ahead = state + emitted[t + 1]
                stayed = np.where(self.stay, ahead, -np.inf)
                jumped = np.where(self.no_skip, -np.inf, ahead)
                moved = np.logaddexp(stayed, _shifted(ahead[:, ::-1], 1)[:, ::-1])
                moved = np.logaddexp(moved, _shifted(jumped[:, ::-1], 2)[:, ::-1])
                last = (lengths - 1 == t)[:, None]
                state = np.where(last, start, np.where(active[t][:, None], moved, state))
            beta[t] = state
        return beta


def loss_and_gradient(
    inputs: Any, labels: Any, lengths: Any, steps: Any, blank: int, merge: bool
) -> tuple[Any, Any]:
    """(loss [batch], its gradient by the inputs [time, batch, classes]).

    Of labels that do not fit the loss is infinite, and the gradient that of the probabilities.
    """
    log_probs = _log_softmax(inputs.astype(np.float64))
    active = np.arange(len(inputs))[:, None] < steps
    lattice = _Lattice(labels, lengths, blank, merge)
    with np.errstate(all="ignore"):
        alpha = lattice.forward(log_probs, active)
        beta = lattice.backward(log_probs, active, steps)
        log_paths = alpha + beta
        top = log_paths.max(axis=2, initial=-np.inf, keepdims=True)
        finite_top = np.where(np.isfinite(top), top, 0.0)
        shares = np.exp(log_paths - finite_top)
        total = shares.sum(axis=2, keepdims=True)
        likelihood = np.log(total[..., 0]) + finite_top[..., 0]
        chosen = np.maximum(steps - 1, 0)
        loss = -likelihood[chosen, np.arange(len(steps))] if len(inputs) else 0.0
        expected = np.zeros_like(log_probs)
        t, b = np.indices(shares.shape[:2])
        for position in range(lattice.symbols.shape[1]):
            share = shares[:, :, position] / total[..., 0]
            expected[t, b, lattice.symbols[:, position]] += np.nan_to_num(share)
    loss = np.where(steps == 0, np.where(lengths == 0, 0.0, np.inf), loss)
    return loss, np.where(active[..., None], np.exp(log_probs) - expected, 0.0)


def check_steps(inputs: Any, steps: Any) -> None:
    """Raises the FailedPreconditionError that decoders have for these."""
    text = None
    if len(steps) != inputs.shape[1]:
        text = (
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(steps)} "
            f"batch_size: {inputs.shape[1]}"
        )
    elif np.any(steps > inputs.shape[0]):
        b = int(np.argmax(steps > inputs.shape[0]))
        text = f"sequence_length({b}) <= {inputs.shape[0]}"
    if text is not None:
        raise FailedPreconditionError(None, None, text)


def _check(inputs: Any, labels_indices: Any, labels_values: Any, steps: Any) -> None:
    if inputs.ndim != 3:
        raise invalid_argument("inputs is not a 3-Tensor")
    if steps.ndim != 1:
        raise invalid_argument("sequence_length is not a vector")
    if labels_indices.ndim != 2:
        raise invalid_argument("labels_indices is not a matrix")
    if labels_values.ndim != 1:
        raise invalid_argument("labels_values is not a vector")
    if len(labels_indices) != len(labels_values):
        raise invalid_argument(
            "labels_indices and labels_values must contain the same number of rows, "
            f"but saw shapes: {list(labels_indices.shape)} vs. {list(labels_values.shape)}"
        )
    if labels_indices.shape[1] != 2:
        raise invalid_argument(
            "labels_indices must have two columns, an example and a place in it, but has "
            f"{labels_indices.shape[1]}"
        )
    if inputs.size == 0:
        raise invalid_argument("inputs must not have 0 elements")
    if len(steps) != inputs.shape[1]:
        raise invalid_argument(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(steps)} "
            f"batch_size: {inputs.shape[1]}"
        )
    if np.any(steps > inputs.shape[0]) or np.any(steps < 0):
        raise invalid_argument(f"sequence_length(b) <= {inputs.shape[0]}")


def _loss_specs(inputs: Spec, sequence_length: Spec) -> Any:
    if inputs.rank not in (None, 3):
        raise ShapeError(f"Shape must be rank 3 but is rank {inputs.rank}")
    batch = None
    if inputs.shape is not None:
        batch = inputs.shape[1]
    elif sequence_length.shape:
        batch = sequence_length.shape[0]
    return Spec(inputs.dtype, (batch,)), Spec(inputs.dtype, inputs.shape)


class CTC(Op):
    """(loss, gradient by inputs) of sparse labels; the gradient is used as it is."""

    T: tuple[DType, ...] = (float32, float64)

    def infer(self, inputs: Spec, sequence_length: Spec) -> Any:
        return _loss_specs(inputs, sequence_length)

    def gradient(self, gradient, dloss) -> Any:
        if dloss is None:
            return None, None, None, None
        wide = raw.ExpandDims(raw.ExpandDims(dloss, np.int32(0)), np.int32(-1))
        return raw.Mul(wide, gradient), None, None, None


def _carried_out(
    inputs: Any,
    labels_indices: Any,
    labels_values: Any,
    steps: Any,
    blank: int,
    collapse: bool,
    merge: bool,
    ignore: bool,
) -> Any:
    _check(inputs, labels_indices, labels_values, steps)
    labels, lengths = _dense(labels_indices, labels_values, inputs.shape[1])
    if labels.size and (labels.min() < 0 or labels.max() >= inputs.shape[2]):
        raise invalid_argument(
            f"Saw a non-null label (index >= num_classes - 1) following a null label, "
            f"or a label outside [0, {inputs.shape[2]})"
        )
    left_out = lengths > steps
    if left_out.any() and not ignore:
        b = int(np.argmax(left_out))
        raise invalid_argument(
            "Not enough time for target transition sequence (required: "
            f"{lengths[b]}, available: {steps[b]}){b}You can turn this error into a warning "
            "by using the flag ignore_longer_outputs_than_inputs"
        )
    if collapse:
        labels, lengths = _collapsed(labels, lengths)
    loss, gradient = loss_and_gradient(inputs, labels, lengths, steps, blank, merge)
    loss[left_out], gradient[:, left_out] = 0.0, 0.0
    return loss.astype(inputs.dtype), gradient.astype(inputs.dtype)


@op
class CTCLoss(CTC):
    """The loss with the last class as the blank."""

    signature = (
        "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32;"
        " preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,"
        " ignore_longer_outputs_than_inputs: bool = False -> loss: T, gradient: T"
    )

    def kernel(
        self,
        inputs,
        labels_indices,
        labels_values,
        sequence_length,
        preprocess_collapse_repeated,
        ctc_merge_repeated,
        ignore_longer_outputs_than_inputs,
    ):
        return _carried_out(
            inputs,
            labels_indices,
            labels_values,
            sequence_length,
            inputs.shape[-1] - 1,
            preprocess_collapse_repeated,
            ctc_merge_repeated,
            ignore_longer_outputs_than_inputs,
        )


@op
class CTCLossV2(CTC):
    """The loss with the first class as the blank. TensorFlow has no kernel for it on CPUs."""

    signature = (
        "inputs: float32, labels_indices: int64, labels_values: int32,"
        " sequence_length: int32; preprocess_collapse_repeated: bool = False,"
        " ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False"
        " -> loss: float32, gradient: float32"
    )

    def kernel(
        self,
        inputs,
        labels_indices,
        labels_values,
        sequence_length,
        preprocess_collapse_repeated,
        ctc_merge_repeated,
        ignore_longer_outputs_than_inputs,
    ):
        return _carried_out(
            inputs,
            labels_indices,
            labels_values,
            sequence_length,
            0,
            preprocess_collapse_repeated,
            ctc_merge_repeated,
            ignore_longer_outputs_than_inputs,
        )


@op
class CTCGreedyDecoder(Op):
    """The likeliest class of each step, without repetitions and blanks, as a sparse matrix."""

    signature = (
        "inputs: T, sequence_length: int32; merge_repeated: bool = False,"
        " blank_index: int = -1 -> decoded_indices: int64, decoded_values: int64,"
        " decoded_shape: int64, log_probability: T"
    )
    differentiable = False
    T = (float32, float64)

    def infer(self, inputs: Spec, sequence_length: Spec) -> Any:
        loss, _ = _loss_specs(inputs, sequence_length)
        batch = None if loss.shape is None else loss.shape[0]
        return (
            Spec(int64, (None, 2)),
            Spec(int64, (None,)),
            Spec(int64, (2,)),
            Spec(inputs.dtype, (batch, 1)),
        )

    def kernel(self, inputs, sequence_length, merge_repeated, blank_index):
        if np.ndim(inputs) == 3 and np.ndim(sequence_length) == 1:
            check_steps(inputs, sequence_length)
        empty = np.zeros((0, 2), np.int64)
        _check(inputs, empty, empty[:, 0], sequence_length)
        classes = inputs.shape[2]
        if not -classes <= blank_index < classes:
            raise invalid_argument(
                f"blank_index expected to be between {-classes} and {classes - 1}, "
                f"but received {blank_index}"
            )
        best = inputs.argmax(axis=2).T
        active = np.arange(inputs.shape[0]) < sequence_length[:, None]
        size = np.where(active, inputs.max(axis=2).T, 0)
        total = -size.sum(axis=1, keepdims=True).astype(inputs.dtype)
        keep = active & (best != blank_index % classes)
        if merge_repeated:
            keep[:, 1:] &= best[:, 1:] != best[:, :-1]
        rows, _ = np.nonzero(keep)
        counts = keep.sum(axis=1)
        at = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        indices = np.stack([rows, at], axis=1).astype(np.int64)
        shape = np.array([len(best), counts.max(initial=0)], np.int64)
        return indices, best[keep].astype(np.int64), shape, total
