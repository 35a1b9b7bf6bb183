"""Values written to or added at indices: scatter in all its forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, INDEX, NUMERIC, bool_, int16, uint16
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.gathering import out_of_bounds
from intaglio.ops.families import shape_of
from intaglio.ops.restricted import run_loops
from intaglio.ops.shape_inputs import dims_of

# What NumPy takes for an element that is added at an index, in multiplications, and the elements from
# which on a row is added by a call.
WORK_PER_ADDED, MIN_CALLED_COLUMNS = 24, 64


def add_in_order(
    target: Any, indices: Any, rows: Any, columns: Any, count: Any, begin: Any, end: Any
) -> None:
    """target[indices[i]] += rows[i] for the first `count` rows of so many columns."""
    for _ in range(begin, end):  # one row: all of them
        for i in range(count):
            to = indices[i] * columns
            of = i * columns
            for j in range(columns):
                target[to + j] += rows[of + j]


def add_rows(target: Any, indices: Any, rows: Any) -> None:
    """target[indices[i]] += rows[i], also where indices repeat: one row after the other in every mode."""
    count, dtype = len(indices), target.dtype
    quick = dtype.kind in "iufc" and dtype.itemsize > 2
    if rows.ndim == 1 or not rows.size or not quick:
        np.add.at(target, indices, rows)
        return
    columns, flat = rows.size // count, target.reshape(-1)
    if not np.may_share_memory(flat, target):  # NumPy has copied a target that is not contiguous
        np.add.at(target, indices, rows)
        return
    whole, terms = np.ascontiguousarray(indices, np.int64), rows.reshape(-1)
    machine = dtype.kind in "if" and rows.dtype == dtype
    if machine and run_loops(
        add_in_order, WORK_PER_ADDED * rows.size, flat, whole, terms, columns, count, rows=1
    ):
        return
    if columns >= MIN_CALLED_COLUMNS:
        for index, row in zip(indices.tolist(), rows, strict=True):
            target[index] += row
    else:  # NumPy is quick for vectors
        np.add.at(flat, (whole[:, None] * columns + np.arange(columns)).reshape(-1), terms)


def starts_of_runs(ordered: Any) -> Any:
    """Where each run of equal numbers begins in an array that is not empty."""
    new = np.empty(ordered.size, bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def parts_differ(target: Dims, indices: Dims, updates: Dims) -> str | None:
    """Which dimensions of the updates do not fit: "outer" ones, "inner" ones or the "depth".

    The updates have a slice of the target for each row of indices.
    """
    if target is None or indices is None or updates is None or not indices:
        return None
    depth = indices[-1]
    if depth is None:
        return None
    if depth > len(target):
        return "depth"
    outer = len(indices) - 1
    if not shapes.compatible(indices[:outer], updates[:outer]):
        return "outer"
    if not shapes.compatible(target[depth:], updates[outer:]):
        return "inner"
    return None


def check_scatter(target: Any, indices: Any, updates: Any) -> None:
    """Raises ShapeError unless the shapes of a scatter's inputs, as far as known, fit together."""
    wrong = parts_differ(target, indices, updates)
    if wrong is None:
        return
    n = len(indices) - 1
    depth = indices[-1]
    if wrong == "depth":
        raise ShapeError(
            f"Inner dimension of indices ({depth}) must be at most the rank of the output ({len(target)})"
        )
    if wrong == "outer":
        raise ShapeError(
            f"Dimensions [0,{n}) of indices[shape={brackets(indices)}] = {brackets(indices[:n])} "
            f"must match dimensions [0,{n}) of updates[shape={brackets(updates)}] = {brackets(updates[:n])}: "
            f"{shapes.mismatch(indices[:n], updates[:n])}"
        )
    rest = target[depth:]
    raise ShapeError(
        f"Dimensions [{depth},{len(target)}) of input[shape={brackets(target)}] = {brackets(rest)} "
        f"must match dimensions [{n},{len(updates)}) of updates[shape={brackets(updates)}] = {brackets(updates[n:])}: "
        f"{shapes.mismatch(rest, updates[n:])}"
    )


def _check_now(target: Any, indices: Any, updates: Any, copied: bool) -> None:
    """The kernels' check, whose texts are others than inference's."""
    wrong = parts_differ(target, indices, updates)
    if wrong is None:
        return
    n = len(indices) - 1
    if wrong == "depth":
        raise invalid_argument(
            f"index innermost dimension length must be <= tensor rank; saw: {indices[-1]} vs. {len(target)}"
        )
    if copied:
        raise invalid_argument(
            f"Outer dimensions of indices and update must match. Indices shape: {brackets(indices)}, updates shape:{brackets(updates)}"
            if wrong == "outer"
            else f"Inner dimensions of output shape must match inner dimensions of updates shape. Output: {brackets(target)} updates: {brackets(updates)}"
        )
    raise invalid_argument(
        f"Dimensions [0,{n}) of indices[shape={brackets(indices)}] must match dimensions [0,{n}) of updates[shape={brackets(updates)}]"
        if wrong == "outer"
        else f"Dimensions [{indices[-1]},{len(target)}) of input[shape={brackets(target)}] must match dimensions [{n},{len(updates)}) of updates[shape={brackets(updates)}]"
    )


def scatter(
    kind: str, target: Any, indices: Any, updates: Any, policy: str, copied: bool = True
) -> Any:
    """A copy of target with the updates executed; target itself if it is fresh."""
    _check_now(target.shape, indices.shape, updates.shape, copied)
    depth = indices.shape[-1] if indices.ndim else 1
    head = target.shape[:depth]
    if copied and indices.size and not target.size:
        raise invalid_argument(
            f"Indices and updates specified for empty output of shape {brackets(target.shape)}"
        )
    bad = out_of_bounds(indices, head)
    if bad is not None and policy != "IGNORE":
        at = np.unravel_index(int(np.argmax(bad)), indices.shape[:-1] or (1,))
        row = indices.reshape(-1, depth)[int(np.argmax(bad))].tolist()
        raise invalid_argument(
            f"indices[{','.join(map(str, map(int, at)))}] = {row} does not index into shape {brackets(target.shape)}"
        )
    flat = target.reshape((math.prod(head), *target.shape[depth:]))
    rows = updates.reshape((-1, *target.shape[depth:])) if updates.size else None
    if rows is None:
        return target
    coordinates = indices.reshape(-1, depth)
    if bad is not None:
        coordinates, rows = coordinates[~bad], rows[~bad]
    if depth == 1:
        row_indices = coordinates[:, 0]
    elif depth:
        row_indices = np.atleast_1d(np.ravel_multi_index(tuple(coordinates.T), head))
    else:
        row_indices = np.zeros(len(rows), np.int64)
    _carry_out(kind, flat, row_indices, rows)
    return flat.reshape(target.shape)


def _carry_out(kind: str, flat: Any, indices: Any, rows: Any) -> None:
    if kind == "update":
        flat[indices] = rows
    elif kind == "add":
        add_rows(flat, indices, rows)
    elif kind == "sub":
        add_rows(flat, indices, -rows)
    else:
        extremes_at(np.fmin if kind == "min" else np.fmax, flat, indices, rows)


def extremes_at(ufunc: Any, flat: Any, indices: Any, rows: Any) -> None:
    """Replaces elements by greater (`np.fmax`) or less (`np.fmin`) updates, one row after the other.

    As in TensorFlow NaN replaces nothing and is not replaced, nor is a zero by one of the other sign.
    """
    if flat.dtype.kind in "iu":
        ufunc.at(flat, indices, rows)
        return
    before = flat[indices]
    ufunc.at(flat, indices, rows)
    missing = np.isnan(before)
    if missing.any():
        _put(flat, indices, before, missing)
    zero = flat[indices] == 0
    if zero.any():  # the first zero, with its sign: what is put last stays
        _put(flat, indices[::-1], rows[::-1], (zero & (rows == 0))[::-1])
        _put(flat, indices, before, zero & (before == 0))


def _put(flat: Any, indices: Any, rows: Any, where: Any) -> None:
    """Assigns the chosen elements of rows, one row after the other."""
    width = math.prod(flat.shape[1:])
    elements = indices.astype(np.intp)[:, None] * width + np.arange(width)
    chosen = where.reshape(elements.shape)
    flat[np.unravel_index(elements[chosen], flat.shape)] = rows.reshape(elements.shape)[chosen]


@op
class ScatterNd(Op):
    """Zeros of `shape` plus the updates, each at the coordinates of its row of indices."""

    signature = (
        "indices: Tindices, updates: T, shape: Tindices; bad_indices_policy: str = '' -> output: T"
    )
    T = ALL
    Tindices = (int16, *INDEX)
    data_inputs = ("updates",)
    combines = "add"

    def infer(self, indices: Spec, updates: Spec, shape: Spec) -> Spec:
        if shape.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {shape.rank}")
        dims = shape.as_shape()
        check_scatter(dims, indices.shape, updates.shape)
        return Spec(updates.dtype, dims)

    def kernel(self, indices, updates, shape, bad_indices_policy):
        fill = b"" if updates.dtype == object else 0
        dims = dims_of(
            shape, updates.dtype.itemsize, "ScatterNd", expected="Shape must be a vector"
        )
        target = np.full(dims, fill, updates.dtype)
        kind = "add"
        if updates.dtype == bool:
            kind = "max"
        return scatter(kind, target, indices, updates, bad_indices_policy, False)

    def gradient(self, indices, doutput) -> Any:
        return None, raw.GatherNd(doutput, indices), None


class TensorScatter(Op):
    """A copy of the tensor, changed at the coordinates that the rows of indices name."""

    signature = (
        "tensor: T, indices: Tindices, updates: T; bad_indices_policy: str = '' -> output: T"
    )
    T = ALL
    Tindices = INDEX
    combines = "update"

    def infer(self, tensor: Spec, indices: Spec, updates: Spec) -> Spec:
        check_scatter(tensor.shape, indices.shape, updates.shape)
        return Spec(tensor.dtype, tensor.shape)

    def kernel(self, tensor, indices, updates, bad_indices_policy):
        return scatter(self.combines, np.array(tensor), indices, updates, bad_indices_policy)


@op
class TensorScatterUpdate(TensorScatter):
    """The updates replace the elements."""

    Tindices = (int16, uint16, *INDEX)
    data_inputs = ("tensor", "updates")

    def gradient(self, doutput, indices, updates: Spec) -> Any:
        zeros = raw.Fill(shape_of(updates), np.zeros((), updates.dtype.numpy))
        return (
            raw.TensorScatterUpdate(doutput, indices, zeros),
            None,
            raw.GatherNd(doutput, indices),
        )


@op
class TensorScatterAdd(TensorScatter):
    """The updates are added."""

    combines = "add"

    def gradient(self, doutput, indices) -> Any:
        return doutput, None, raw.GatherNd(doutput, indices)


@op
class ScatterNdNonAliasingAdd(Op):
    """The updates are added."""

    signature = "input: T, indices: Tindices, updates: T; bad_indices_policy: str = '' -> output: T"
    T = (*NUMERIC, bool_)
    Tindices = INDEX
    combines = "add"

    def infer(self, input: Spec, indices: Spec, updates: Spec) -> Spec:
        check_scatter(input.shape, indices.shape, updates.shape)
        return Spec(input.dtype, input.shape)

    def kernel(self, input, indices, updates, bad_indices_policy):
        return scatter("add", np.array(input), indices, updates, bad_indices_policy)

    def gradient(self, doutput, indices) -> Any:
        return doutput, None, raw.GatherNd(doutput, indices)


@op
class TensorScatterSub(TensorScatter):
    """The updates are subtracted."""

    combines = "sub"

    def gradient(self, doutput, indices) -> Any:
        return doutput, None, raw.Neg(raw.GatherNd(doutput, indices))


class TensorScatterExtreme(TensorScatter):
    """The smaller or larger of the element and the update."""

    native_exact = True

    def gradient(self, doutput, tensor, indices, updates, output) -> Any:
        """The gradient of the selected operand, divided equally among equal ones."""
        dtype = tensor.dtype
        kept = raw.Cast(raw.Equal(tensor, output), DstT=dtype)
        won = raw.Cast(raw.Equal(updates, raw.GatherNd(output, indices)), DstT=dtype)
        shared = raw.AddV2(
            kept, raw.ScatterNd(indices, won, raw.Shape(output, out_type=indices.dtype))
        )
        part = raw.Div(doutput, raw.Maximum(shared, raw.OnesLike(shared)))
        return (raw.Mul(kept, part), None, raw.Mul(won, raw.GatherNd(part, indices)))


@op
class TensorScatterMin(TensorScatterExtreme):
    """The smaller of the update and what stood there."""

    combines = "min"


@op
class TensorScatterMax(TensorScatterExtreme):
    """The larger of the update and what stood there."""

    combines = "max"
