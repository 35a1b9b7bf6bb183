"""Sets: the rows of tensors and sparse tensors taken as sets of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int8, int16, int32, int64, string, uint8, uint16
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import Dims, brackets, merge
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.sparse import indices as coordinates

_OPERATIONS = ("a-b", "b-a", "intersection", "union")
_SETS = (int8, int16, int32, int64, uint8, uint16, string)


class Sets:
    """Values with the number of the set each belongs to; `dims` is the shape of the sets."""

    __slots__ = ("dims", "rows", "values")

    def __init__(self, dims: tuple[int, ...], rows: Any, values: Any) -> None:
        self.dims = dims
        self.rows = rows
        self.values = values


def _dense(x: Any) -> Sets:
    if x.ndim < 2:
        raise invalid_argument(f"Shape {brackets(x.shape)} has rank {x.ndim} < 2")
    count = int(np.prod(x.shape[:-1]))
    return Sets(x.shape[:-1], np.repeat(np.arange(count), x.shape[-1]), x.reshape(-1))


def _sparse(indices: Any, values: Any, shape: Any, validate: bool) -> Sets:
    coordinates.check(indices, values, shape, "set")
    if shape.size < 2:
        raise invalid_argument(f"Shape {brackets(tuple(shape.tolist()))} has rank {shape.size} < 2")
    if validate:
        coordinates.check_bounds(indices, shape)
        coordinates.check_order(indices)
    dims = tuple(shape[:-1].tolist())
    return Sets(dims, coordinates.flat(indices[:, :-1], dims), values)


def _combined(a: Sets, b: Sets, operation: str) -> Any:
    """The sets of the result, as the parts of a sparse tensor with sorted rows."""
    if operation.lower() not in _OPERATIONS:
        raise invalid_argument(f"Invalid set_operation {operation}.")
    if a.dims != b.dims:
        raise invalid_argument(f"Mismatched shapes {brackets(a.dims)} vs {brackets(b.dims)}")
    known, codes = _coded(np.concatenate([a.values, b.values]))
    width = max(known.size, 1)
    keys = np.concatenate([a.rows, b.rows]) * width + codes
    found = _members(keys[: a.rows.size], keys[a.rows.size :], operation.lower())
    rows = found // width
    counts = np.bincount(rows, minlength=1)
    starts = np.cumsum(counts) - counts
    inside = np.arange(rows.size) - starts[rows]
    outer = (
        np.stack(np.unravel_index(rows, a.dims), axis=1)
        if rows.size
        else np.zeros((0, len(a.dims)))
    )
    table = np.concatenate([outer, inside[:, None]], axis=1).astype(np.int64)
    dims = np.array([*a.dims, int(counts.max(initial=0)) if rows.size else 0], np.int64)
    return table, known[found % width].astype(a.values.dtype), dims


def _coded(values: Any) -> tuple[Any, Any]:
    """A sorted array with all these values, and the index of each of them in it."""
    if values.size and values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < values.size and high < 2**63:
            return np.arange(low, high + 1), values.astype(np.int64) - low
    known, codes = np.unique(values, return_inverse=True)
    return known, codes.reshape(-1)


def _members(first: Any, second: Any, operation: str) -> Any:
    """The numbers, in order, that a combination of two collections of numbers has."""
    count = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    if count > 8 * (first.size + second.size):
        every, where = np.unique(np.concatenate([first, second]), return_inverse=True)
        cut = first.size
        return every[_members(where[:cut], where[cut:], operation)]
    a, b = np.zeros((2, count), bool)
    a[first], b[second] = True, True
    match operation:
        case "a-b":
            kept = a & ~b
        case "b-a":
            kept = b & ~a
        case "intersection":
            kept = a & b
        case _:
            kept = a | b
    return np.flatnonzero(kept)


class SetOperation(Op):
    """A difference, intersection or union of sets."""

    differentiable = False
    T = _SETS

    def outputs(self, values: Spec, rank: int | None) -> Any:
        """The specs of a sparse tensor of unknown size."""
        return coordinates.parts(values.dtype, None, rank)


@op
class DenseToDenseSetOperation(SetOperation):
    """The combined sets in the rows of two tensors."""

    signature = (
        "set1: T, set2: T; set_operation: str, validate_indices: bool = True"
        " -> result_indices: int64, result_values: T, result_shape: int64"
    )

    def infer(self, set1: Spec, set2: Spec) -> Any:
        groups: list[Dims] = [x.shape and x.shape[:-1] for x in (set1, set2)]
        shared = merge(*groups)
        return self.outputs(set1, None if shared is None else len(shared) + 1)

    def kernel(self, set1, set2, set_operation):
        return _combined(_dense(set1), _dense(set2), set_operation)


@op
class DenseToSparseSetOperation(SetOperation):
    """The combined sets in the rows of a tensor and a sparse one."""

    signature = (
        "set1: T, set2_indices: int64, set2_values: T, set2_shape: int64;"
        " set_operation: str, validate_indices: bool = True"
        " -> result_indices: int64, result_values: T, result_shape: int64"
    )

    def infer(self, set1: Spec, set2_indices: Spec, set2_shape: Spec) -> Any:
        rank = set1.rank or coordinates.rank_of(set2_indices, set2_shape)
        return self.outputs(set1, rank)

    def kernel(self, set1, set2_indices, set2_values, set2_shape, set_operation, validate_indices):
        second = _sparse(set2_indices, set2_values, set2_shape, validate_indices)
        return _combined(_dense(set1), second, set_operation)


@op
class SparseToSparseSetOperation(SetOperation):
    """The combined sets in the rows of two sparse tensors."""

    signature = (
        "set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64,"
        " set2_values: T, set2_shape: int64; set_operation: str,"
        " validate_indices: bool = True"
        " -> result_indices: int64, result_values: T, result_shape: int64"
    )

    def infer(self, set1_indices: Spec, set1_values: Spec, set1_shape: Spec) -> Any:
        return self.outputs(set1_values, coordinates.rank_of(set1_indices, set1_shape))

    def kernel(
        self,
        set1_indices,
        set1_values,
        set1_shape,
        set2_indices,
        set2_values,
        set2_shape,
        set_operation,
        validate_indices,
    ):
        first = _sparse(set1_indices, set1_values, set1_shape, validate_indices)
        second = _sparse(set2_indices, set2_values, set2_shape, validate_indices)
        return _combined(first, second, set_operation)


@op
class SetSize(Op):
    """How many different values each row of a sparse tensor has."""

    signature = (
        "set_indices: int64, set_values: T, set_shape: int64;"
        " validate_indices: bool = True -> size: int32"
    )
    differentiable = False
    T = _SETS

    def infer(self, set_shape: Spec) -> Spec:
        dims = set_shape.as_shape()
        return Spec(int32, None if dims is None else dims[:-1])

    def kernel(self, set_indices, set_values, set_shape, validate_indices):
        sets = _sparse(set_indices, set_values, set_shape, validate_indices)
        known, codes = np.unique(sets.values, return_inverse=True)
        keys = np.unique(sets.rows * max(known.size, 1) + codes.reshape(-1))
        count = int(np.prod(sets.dims))
        sizes = np.bincount(keys // max(known.size, 1), minlength=count)
        return sizes.reshape(sets.dims).astype(np.int32)
