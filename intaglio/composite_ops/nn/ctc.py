"""Connectionist temporal classification in `tf.nn`: the loss, and labels for it.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/ctc_loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int32, int64
from intaglio.composite_ops.math.reductions import reduce_logsumexp
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace import choices, loops

ZERO = np.int32(0)
# The logarithms of the factor of paths that end elsewhere, and of no path at all.
_OTHER_END = float(np.log(1e-307))
_NEVER = -1e30
# Below this loss such paths are less than half a unit of the last place, in float64 too.
_NEAR = 660.0


def _inside(x: Tensor, lengths: Tensor) -> Tensor:
    """Which elements of each row come before its length, [batch, time] bool."""
    indices = raw.Range(ZERO, raw.Shape(x)[1], np.int32(1))
    return raw.Less(indices, raw.ExpandDims(raw.Cast(lengths, DstT=int32), np.int32(1)))


@dispatchable
def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The losses [batch]: minus the logarithms of the probabilities of the labels.

    `labels` is [batch, longest] with `label_length` [batch] labels each, or a SparseTensor;
    `logits` [time, batch, classes], or [batch, time, classes] without `logits_time_major`.
    `blank_index` is the blank class (default 0 for dense labels, the last for sparse ones); a
    negative one counts from the end. `unique` has no effect: nothing is gained by it here.
    Dense labels that do not fit into their steps have a loss of about 707, TensorFlow's; sparse ones
    an infinite loss, or InvalidArgumentError if there are more labels than steps.

    https://www.tensorflow.org/api_docs/python/tf/nn/ctc_loss

    >>> loss = tf.nn.ctc_loss([[1, 2]], tf.zeros([4, 1, 3]), [2], [4], blank_index=0)
    >>> print(loss.numpy().round(4))
    [1.6864]
    """
    with door.level().scoped(name or "ctc_loss_dense"):
        logits = convert.to_tensor(logits)
        if not logits_time_major:
            logits = raw.Transpose(logits, np.array([1, 0, 2], np.int32))
        if logits.dims is not None and len(logits.dims) != 3:
            raise ValueError(f"logits must have 3 dimensions, not shape {logits.shape}")
        classes = logits.dims[2] if logits.dims is not None else None
        if classes is None:
            raise ValueError("ctc_loss needs the number of classes beforehand")
        steps = raw.Cast(logit_length, DstT=int32)
        if hasattr(labels, "indices"):
            blank = classes - 1 if blank_index is None else blank_index
            blank = blank + classes if blank < 0 else blank
            values = raw.Cast(labels.values, DstT=int32)
            return _by_op(logits, labels.indices, values, steps, blank, False)
        labels = raw.Cast(convert.to_tensor(labels), DstT=int32)
        lengths = raw.Cast(convert.to_tensor(label_length), DstT=int32)
        blank = 0 if blank_index is None else blank_index
        blank = blank + classes if blank < 0 else blank
        indices = raw.Where(_inside(labels, lengths))
        values = raw.GatherNd(labels, indices)
        if blank == 0:
            loss = _with_blank_labels(logits, indices, values, steps, classes)
        else:
            loss = _by_op(logits, indices, values, steps, blank, True)
        large = raw.Greater(loss, convert.to_tensor(_NEAR, loss.dtype))
        near = raw.Any(raw.LogicalOr(large, raw.Greater(lengths, steps)), ZERO)
        return choices.cond(
            near, lambda: _with_other_ends(logits, labels, lengths, steps, blank), lambda: loss
        )


def _by_op(
    logits: Any, indices: Any, values: Any, steps: Any, blank: int, ignore_longer: bool
) -> Any:
    """The op's loss. Its blank is the last class: those above `blank` move down."""
    classes = logits.dims[2]
    order = [*range(blank), *range(blank + 1, classes), blank]
    reordered = raw.GatherV2(logits, np.array(order, np.int32), np.int32(2))
    above = raw.Cast(raw.GreaterEqual(values, np.int32(blank)), DstT=int32)
    return raw.CTCLoss(
        reordered,
        indices,
        raw.Sub(values, above),
        steps,
        ignore_longer_outputs_than_inputs=ignore_longer,
    ).loss


def _with_other_ends(logits: Any, labels: Any, lengths: Any, steps: Any, blank: int) -> Any:
    """The loss with paths that begin with the labels and do not end there, at a factor of 1e-307.

    TensorFlow's loss of dense labels has them, so that labels that do not fit into the steps
    have a large loss with a gradient, not an infinite one. The forward variables of Graves et al.
    (2006), https://www.cs.toronto.edu/~graves/icml_2006.pdf, of blanks and labels apart.
    """
    scores = raw.LogSoftmax(logits)
    dtype, never = scores.dtype, convert.to_tensor(_NEVER, scores.dtype)
    rows, size = raw.Unpack(raw.Shape(labels), num=2)
    of_blank = scores[:, :, blank : blank + 1]
    batched = raw.Transpose(scores, np.array([1, 0, 2], np.int32))
    of_labels = raw.Transpose(
        raw.GatherV2(batched, labels, np.int32(2), batch_dims=1), np.array([1, 0, 2], np.int32)
    )
    column = raw.Fill(raw.Pack([rows, np.int32(1)]), never)
    other = raw.NotEqual(labels[:, 1:], labels[:, :-1])
    begins = raw.Fill(raw.Pack([rows, np.int32(1)]), convert.to_tensor(False))
    other = raw.ConcatV2([begins, other], np.int32(1))

    def shifted(x: Any) -> Any:
        return raw.ConcatV2([column, x], np.int32(1))

    def step(state: Any, row: Any) -> Any:
        blanks, marks = state
        blank_score, label_scores, is_step = row
        before = shifted(marks)
        skipped = raw.SelectV2(other, before[:, :-1], never)
        new_blanks = raw.AddV2(_either(blanks, before), blank_score)
        new_marks = raw.AddV2(_either(marks, blanks[:, :-1], skipped), label_scores)
        return raw.SelectV2(is_step, new_blanks, blanks), raw.SelectV2(is_step, new_marks, marks)

    times = raw.Range(ZERO, raw.Shape(logits)[0], np.int32(1))
    inside = raw.Less(times[:, None, None], steps[None, :, None])
    nothing = raw.Fill(raw.Pack([rows, size]), never)
    at_start = raw.ConcatV2([raw.ZerosLike(column), nothing], np.int32(1))
    blanks, marks = loops.fold_rows(
        step, (of_blank, of_labels, inside), (at_start, nothing), None, False, "paths"
    )
    ends = lengths[:, None]
    other_end = convert.to_tensor(_OTHER_END, dtype)
    costs = [
        raw.SelectV2(
            raw.Equal(raw.Range(first, raw.AddV2(size, np.int32(1)), np.int32(1)), ends),
            convert.to_tensor(0.0, dtype),
            other_end,
        )
        for first in (ZERO, np.int32(1))
    ]
    paths = raw.ConcatV2([raw.AddV2(blanks, costs[0]), raw.AddV2(marks, costs[1])], np.int32(1))
    return raw.Neg(reduce_logsumexp(paths, 1))


def _either(*logarithms: Any) -> Any:
    return reduce_logsumexp(raw.Pack(logarithms), 0)


def _with_blank_labels(logits: Any, indices: Any, values: Any, steps: Any, classes: int) -> Any:
    """The loss where labels may be the blank, class 0: TensorFlow takes it for one like others.

    A class as likely as the blank is added. Softmax then counts it twice, which every
    path pays for at every step, and gets back.
    """
    reordered = raw.GatherV2(logits, np.array([*range(1, classes), 0, 0], np.int32), np.int32(2))
    last = raw.Cast(raw.Equal(values, np.int32(0)), DstT=int32)
    positions = raw.AddV2(raw.Sub(values, np.int32(1)), raw.Mul(last, np.int32(classes)))
    loss = raw.CTCLoss(
        reordered, indices, positions, steps, ignore_longer_outputs_than_inputs=True
    ).loss
    blank = raw.Exp(raw.LogSoftmax(logits))[:, :, 0]
    inside = raw.Cast(
        raw.Less(
            raw.ExpandDims(raw.Range(ZERO, raw.Shape(logits)[0], np.int32(1)), np.int32(1)),
            raw.ExpandDims(steps, ZERO),
        ),
        DstT=logits.dtype,
    )
    twice = raw.Sum(raw.Mul(raw.Log1p(blank), inside), ZERO)
    return raw.Sub(loss, twice)


@dispatchable
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> Any:
    """(labels without repetitions [batch, longest], their numbers [batch]).

    >>> tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [4])[0].numpy()
    array([[1, 2]], dtype=int32)

    https://www.tensorflow.org/api_docs/python/tf/nn/collapse_repeated
    """
    with door.level().scoped(name or "collapse_repeated_labels"):
        labels = convert.to_tensor(labels)
        before = raw.ConcatV2(
            [raw.Sub(labels[:, :1], raw.OnesLike(labels[:, :1])), labels[:, :-1]], np.int32(1)
        )
        inside = _inside(labels, convert.to_tensor(seq_length))
        keep = raw.LogicalAnd(raw.NotEqual(labels, before), inside)
        counts = raw.Sum(raw.Cast(keep, DstT=int32), np.int32(1))
        longest = raw.Max(counts, ZERO)
        columns = raw.Range(ZERO, longest, np.int32(1))
        filled = raw.Where(raw.Less(columns, raw.ExpandDims(counts, np.int32(1))))
        values = raw.GatherNd(labels, raw.Where(keep))
        shape = raw.Cast(raw.Pack([raw.Shape(labels)[0], longest]), DstT=int64)
        return raw.ScatterNd(filled, values, shape), counts


@dispatchable
def ctc_unique_labels(labels: Any, name: str | None = None) -> Any:
    """(the different labels of each row, padded with 0; for each label its index among them).

    https://www.tensorflow.org/api_docs/python/tf/nn/ctc_unique_labels

    >>> [x.numpy().tolist() for x in tf.nn.ctc_unique_labels([[1, 2, 1], [3, 3, 0]])]
    [[[1, 2, 0], [3, 0, 0]], [[0, 1, 0], [0, 0, 1]]]
    """
    with door.level().scoped(name or "ctc_unique_labels"):
        labels = convert.to_tensor(labels)
        equal = raw.Equal(raw.ExpandDims(labels, np.int32(2)), raw.ExpandDims(labels, np.int32(1)))
        first = raw.ArgMax(raw.Cast(equal, DstT=int32), np.int32(2), output_type=int32)
        size = raw.Shape(labels)[1]
        own = raw.Equal(first, raw.Range(ZERO, size, np.int32(1)))
        ranks = raw.Sub(raw.Cumsum(raw.Cast(own, DstT=int32), np.int32(1)), np.int32(1))
        indices = raw.GatherV2(ranks, first, np.int32(1), batch_dims=1)
        taken = raw.Where(own)
        rows = raw.Cast(taken[:, :1], DstT=int32)
        at = raw.ConcatV2(
            [rows, raw.ExpandDims(raw.GatherNd(ranks, taken), np.int32(1))], np.int32(1)
        )
        unique = raw.ScatterNd(at, raw.GatherNd(labels, taken), raw.Shape(labels))
        return unique, indices
