"""Softmax and the cross entropies of logits, computed without overflow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, INDEX, DType
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw, short_floats
from intaglio.opdef.machine_code import WORK_PER_FUNCTION
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import Kernel, select_kernel
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.linalg.matmul import brackets

# Rows of so many elements are short; and NumPy's cost of a row, in multiplications.
SHORT_ROW, WORK_OF_SHORT_ROWS = 16, 8
# Rows of so many elements, of so many together, are computed as columns.
MAX_COLUMN, MIN_ELEMENTS_OF_COLUMNS = 32, 512
LAST = np.asarray([-1], np.int32)


def _shifted(logits: Any, axis: int) -> Any:
    """The logits less their greatest, of which the exponential cannot overflow."""
    if not logits.shape[axis]:
        return logits
    with np.errstate(invalid="ignore"):
        return logits - logits.max(axis=axis, keepdims=True)


def _softmax(logits: Any, axis: int) -> Any:
    shifted = _shifted(logits, axis)
    grown = np.exp(shifted, out=None if shifted is logits else shifted)
    grown /= grown.sum(axis=axis, keepdims=True)
    return grown


def _log_softmax(logits: Any, axis: int) -> Any:
    shifted = _shifted(logits, axis)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _along_rows(function: Any, logits: Any) -> Any:
    """A function of an array and an axis, for the last one. NumPy starts a loop for each row: many rows
    of few elements are computed as the columns of the transposed matrix."""
    wide = short_floats.widened(logits)
    if not _are_columns(logits.shape):
        return short_floats.rounded(function(wide, -1), logits.dtype)
    columns = np.ascontiguousarray(wide.reshape(-1, logits.shape[-1]).T)
    found = short_floats.rounded(function(columns, 0), logits.dtype)
    return np.ascontiguousarray(found.T).reshape(logits.shape)


def _are_columns(shape: tuple[int, ...]) -> bool:
    """Whether rows are computed as columns."""
    return 1 < shape[-1] <= MAX_COLUMN and math.prod(shape) >= MIN_ELEMENTS_OF_COLUMNS


def _compiled(name: str, logits: Any) -> Kernel | None:
    """Machine code for many elements: NumPy takes several passes, and as long for a row of few as of many."""
    short = logits.shape[-1] <= SHORT_ROW
    work = (WORK_OF_SHORT_ROWS if short else WORK_PER_FUNCTION) * logits.size
    run = select_kernel("softmax", logits.dtype, work, name, logits.shape)
    if run is None and short_floats.is_short(logits.dtype):
        wide = select_kernel("softmax", np.dtype(np.float32), work, name, logits.shape)
        if wide is not None:  # as in graphs
            return lambda x: short_floats.rounded(wide(short_floats.widened(x)), x.dtype)
    return run


def _vectors(logits: Any) -> None:
    if np.ndim(logits) < 1:
        raise invalid_argument("logits must have >= 1 dimension, got []")


class Rows(Op):
    """A function of each vector along the last dimension."""

    T: tuple[DType, ...] = FLOATING

    def infer(self, logits: Spec) -> Spec:
        if logits.shape == ():
            raise ShapeError("Shape must be at least rank 1 but is rank 0")
        return Spec(logits.dtype, logits.shape)


@op
class Softmax(Rows):
    """exp(logits) / sum(exp(logits)) along the last dimension."""

    signature = "logits: T -> softmax: T"

    def kernel(self, logits):
        _vectors(logits)
        run = _compiled("softmax", logits)
        return _along_rows(_softmax, logits) if run is None else run(logits)

    def gradient(self, softmax, dsoftmax) -> Any:
        mean = raw.Sum(raw.Mul(dsoftmax, softmax), LAST, keep_dims=True)
        return raw.Mul(raw.Sub(dsoftmax, mean), softmax)


@op
class LogSoftmax(Rows):
    """logits - log(sum(exp(logits))) along the last dimension."""

    signature = "logits: T -> logsoftmax: T"

    def kernel(self, logits):
        _vectors(logits)
        run = _compiled("log_softmax", logits)
        return _along_rows(_log_softmax, logits) if run is None else run(logits)

    def gradient(self, logsoftmax, dlogsoftmax) -> Any:
        total = raw.Sum(dlogsoftmax, LAST, keep_dims=True)
        return raw.Sub(dlogsoftmax, raw.Mul(total, raw.Exp(logsoftmax)))


def _along(vector: Any) -> Any:
    """One number for each row, as a column."""
    return raw.ExpandDims(vector, LAST[0])


def _second_order(dbackprop: Any, features: Any) -> Any:
    """The contribution of the gradient with respect to `backprop`: softmax's own gradient."""
    softmax = raw.Softmax(features)
    mean = raw.Sum(raw.Mul(dbackprop, softmax), LAST, keep_dims=True)
    return raw.Mul(raw.Sub(dbackprop, mean), softmax)


def _sum_of(parts: list[Any]) -> Any:
    found = [p for p in parts if p is not None]
    if not found:
        return None
    return found[0] if len(found) == 1 else raw.AddV2(*found)


@op
class SoftmaxCrossEntropyWithLogits(Op):
    """-sum(labels * log_softmax(features)) of each row, and its gradient by the features.

    The two may broadcast to each other.
    """

    signature = "features: T, labels: T -> loss: T, backprop: T"
    T = FLOATING
    batched_inputs = 2
    batching = "examples"

    def infer(self, features: Spec, labels: Spec) -> Any:
        dims = shapes.broadcast(features.shape, labels.shape)
        if dims is not None and len(dims) != 2:
            raise ShapeError(f"Shape must be rank 2 but is rank {len(dims)}")
        dims = (None, None) if dims is None else dims
        return Spec(features.dtype, dims[:1]), Spec(features.dtype, dims)

    def kernel(self, features, labels):
        logits, wanted = short_floats.widened(features), short_floats.widened(labels)
        if logits.shape != wanted.shape:
            logits, wanted = _broadcast_rows(logits, wanted)
        if logits.ndim != 2:
            raise invalid_argument(
                "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
            )
        axis = -1
        if _are_columns(logits.shape):
            logits, wanted, axis = logits.T.copy(), wanted.T.copy(), 0
        shifted = _shifted(logits, axis)
        grown = np.exp(shifted)
        total = grown.sum(axis=axis, keepdims=True)
        with np.errstate(invalid="ignore"):
            terms = wanted * (np.log(total) - shifted)
        if not np.all(wanted):  # 0 * log(0) is 0 here
            terms[wanted == 0] = 0
        grown /= total
        grown -= wanted
        grown = np.ascontiguousarray(grown if axis else grown.T)
        dtype = features.dtype
        return terms.sum(axis=axis).astype(dtype, copy=False), grown.astype(dtype, copy=False)

    def gradient(self, features, labels, backprop, dloss, dbackprop) -> Any:
        by_logits = by_labels = None
        if dloss is not None:
            column = _along(dloss)
            by_logits = raw.Mul(column, backprop)
            by_labels = raw.Mul(column, raw.Neg(raw.LogSoftmax(features)))
        if dbackprop is not None:
            by_logits = _sum_of([by_logits, _second_order(dbackprop, features)])
            by_labels = _sum_of([by_labels, raw.Neg(dbackprop)])
        return (
            _unbroadcast_to(by_logits, features, labels),
            _unbroadcast_to(by_labels, labels, features),
        )


def _unbroadcast_to(gradient: Any, operand: Any, other: Any) -> Any:
    if gradient is None:
        return None
    if operand.dims == other.dims and shapes.known(operand.dims):
        return gradient
    axes, _ = raw.BroadcastGradientArgs(shape_of(spec_of(operand)), shape_of(spec_of(other)))
    return raw.Reshape(raw.Sum(gradient, axes), shape_of(spec_of(operand)))


def _broadcast_rows(logits: Any, labels: Any) -> tuple[Any, Any]:
    try:
        a, b = np.broadcast_arrays(logits, labels)
    except ValueError:
        raise invalid_argument(
            f"logits and labels must be broadcastable: logits_size={brackets(logits.shape)} "
            f"labels_size={brackets(labels.shape)}"
        ) from None
    return a, b


@op
class SparseSoftmaxCrossEntropyWithLogits(Op):
    """-log_softmax(features)[label] of each row, and its gradient by the features."""

    signature = "features: T, labels: Tlabels -> loss: T, backprop: T"
    T = FLOATING
    Tlabels = INDEX
    integer_data = True
    batched_inputs = 2
    batching = "examples"

    def infer(self, features: Spec, labels: Spec) -> Any:
        for spec, rank in ((features, 2), (labels, 1)):
            if spec.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {spec.rank}")
        dims = features.shape or (None, None)
        rows = shapes.merge(dims[:1], labels.shape)
        return Spec(features.dtype, rows), Spec(features.dtype, (*rows, dims[1]))  # type: ignore[misc]  # of rank 2 here

    def kernel(self, features, labels):
        _check_rows(features, labels)
        classes = features.shape[1]
        if labels.size and not (labels.min() >= 0 and labels.max() < classes):
            raise _bad_label(labels, classes)
        rows, logits, axis = np.arange(len(labels)), short_floats.widened(features), -1
        own: tuple[Any, Any] = rows, labels
        if _are_columns(logits.shape):
            logits, own, axis = logits.T.copy(), (labels, rows), 0
        shifted = _shifted(logits, axis)
        grown = np.exp(shifted)
        total = grown.sum(axis=axis)
        loss = np.log(total) - shifted[own]
        grown /= np.expand_dims(total, axis)
        grown[own] -= 1
        grown = np.ascontiguousarray(grown if axis else grown.T)
        dtype = features.dtype
        return loss.astype(dtype, copy=False), grown.astype(dtype, copy=False)

    def gradient(self, features, backprop, dloss, dbackprop) -> Any:
        first = None if dloss is None else raw.Mul(_along(dloss), backprop)
        second = None if dbackprop is None else _second_order(dbackprop, features)
        return _sum_of([first, second]), None


def _check_rows(features: Any, labels: Any) -> None:
    if features.ndim != 2:
        raise invalid_argument(f"logits must be 2-D, but got shape {brackets(features.shape)}")
    if labels.ndim != 1:
        raise invalid_argument(f"labels must be 1-D, but got shape {brackets(labels.shape)}")
    if len(labels) != len(features):
        raise invalid_argument(
            f"logits and labels must have the same first dimension, got logits shape "
            f"{brackets(features.shape)} and labels shape {brackets(labels.shape)}"
        )
    if not features.shape[1] and len(labels):
        raise invalid_argument(
            f"Must have at least one class, but got logits shape {brackets(features.shape)}"
        )


def _bad_label(labels: Any, classes: int) -> Exception:
    wrong = labels[(labels < 0) | (labels >= classes)]
    return invalid_argument(
        f"Received a label value of {wrong.min()} which is outside the valid range of "
        f"[0, {classes}).  Label values: {' '.join(map(str, labels.tolist()))}"
    )
