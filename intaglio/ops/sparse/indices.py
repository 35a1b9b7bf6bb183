"""The indices of a sparse tensor's elements: order, comparison, and checks.

A sparse tensor is three arrays: indices [n, rank], values [n] and the dense shape [rank].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef.spec import Spec

_MAX_FLAT_INDEX = 2**62
# Indices are looked up in a table of at most so many cells for each element.
MAX_TABLE_CELLS_PER_ELEMENT = 16


def keys(first: Any, *others: Any) -> list[Any]:
    """A number for each row of tables of indices.

    The numbers are in the order of the indices and equal for equal indices.
    """
    tables = [first, *others]
    dims = [1 + max([int(c.max(initial=0)) for c in cs]) for cs in _columns(tables)]
    least = min([int(c.min(initial=0)) for cs in _columns(tables) for c in cs], default=0)
    if math.prod(dims) < _MAX_FLAT_INDEX and least >= 0:
        return [flat(table, dims) for table in tables]
    # A sparse tensor may have more positions than an int64 can count.
    whole = np.concatenate(tables) if others else first
    _, found = np.unique(whole, axis=0, return_inverse=True)
    cuts = np.cumsum([len(t) for t in tables[:-1]])
    return np.split(found.reshape(-1), cuts)


def _columns(tables: list[Any]) -> Any:
    """The columns of all tables, together for each dimension."""
    return zip(*[table.T for table in tables], strict=True)


def flat(indices: Any, dims: Any) -> Any:
    """The indices as flat numbers in row-major order of a shape."""
    found = np.zeros(indices.shape[0], np.int64)
    for column, size in zip(indices.T, dims, strict=True):
        found *= int(size)
        found += column
    return found


def order(indices: Any) -> Any:
    """The permutation that sorts indices into row-major order."""
    return np.argsort(keys(indices)[0], kind="stable")


def in_order(indices: Any) -> bool:
    """Whether indices are in row-major order."""
    rises: Any = True
    for column in indices.T[::-1]:  # each column decides before those behind it
        now, before = column[1:], column[:-1]
        rises = (now > before) | ((now == before) & rises)
    return bool(np.all(rises))


def matched(wanted: Any, there: Any) -> tuple[Any, Any]:
    """For each row of one table its position in another, and whether it is there."""
    wanted_keys, there_keys = keys(wanted, there)
    by_key = np.argsort(there_keys, kind="stable")
    at = np.searchsorted(there_keys, wanted_keys, sorter=by_key)
    at = by_key[np.minimum(at, max(there_keys.size - 1, 0))] if there_keys.size else at * 0
    found = there_keys[at] == wanted_keys if there_keys.size else np.zeros(wanted_keys.size, bool)
    return at, found


def merged(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The sorted union of two tables of indices, and the positions of both tables' rows in it."""
    a_keys, b_keys = keys(a, b)
    rising = all([bool(np.all(x[1:] > x[:-1])) for x in (a_keys, b_keys)])
    if rising and np.array_equal(a_keys, b_keys):
        same = np.arange(len(a_keys))
        return a, same, same
    if rising:
        return _merged_in_order(a, b, a_keys, b_keys)
    both = np.concatenate([a_keys, b_keys])
    # Two runs in order are merged in one pass; of equal indices those of `a` come first.
    order = np.argsort(both, kind="stable")
    in_order = both[order]
    new = np.concatenate([np.ones(min(1, in_order.size), bool), in_order[1:] != in_order[:-1]])
    first = order[new]
    where = np.empty(both.size, np.int64)
    where[order] = np.cumsum(new, dtype=np.int64) - 1
    return np.concatenate([a, b])[first], where[: len(a)], where[len(a) :]


def _merged_in_order(a: Any, b: Any, a_keys: Any, b_keys: Any) -> tuple[Any, Any, Any]:
    """As `merged`, of tables whose keys rise."""
    at = np.searchsorted(a_keys, b_keys)
    new = np.ones(len(b_keys), bool)
    within = at < len(a_keys)
    new[within] = a_keys[at[within]] != b_keys[within]
    before = np.cumsum(new) - new
    b_rows = at + before
    a_rows = np.arange(len(a_keys))
    a_rows += np.cumsum(np.bincount(at[new], minlength=len(a_keys) + 1))[:-1]
    table = np.empty((len(a) + int(new.sum()), a.shape[1]), np.int64)
    table[a_rows] = a
    table[b_rows[new]] = b[new]
    return table, a_rows, b_rows


# -- checks ----------------------------------------------------------------------------


def check(indices: Any, values: Any, shape: Any, name: str = "input") -> None:
    """Raises InvalidArgumentError unless the three parts belong together."""
    if indices.ndim != 2:
        raise invalid_argument(
            f"Expected {name}_indices to be a matrix, got shape {brackets(indices.shape)}"
        )
    if values.ndim != 1:
        raise invalid_argument(
            f"Expected {name}_values to be a vector, got shape {brackets(values.shape)}"
        )
    if shape.ndim != 1:
        raise invalid_argument(
            f"Expected {name}_shape to be a vector, got shape {brackets(shape.shape)}"
        )
    if indices.shape[0] != values.size:
        raise invalid_argument(
            f"Expected as many {name}_values as rows of {name}_indices, got {values.size} "
            f"and {indices.shape[0]}"
        )
    if indices.shape[1] != shape.size:
        raise invalid_argument(
            f"Expected {name}_shape to have {indices.shape[1]} elements, one for each "
            f"column of {name}_indices, got {shape.size}"
        )
    if shape.size and shape.min() < 0:
        raise invalid_argument(
            f"Expected shape dimensions to be non-negative, got {int(shape.min())} in "
            f"{name}_shape {_bracketed(shape)}"
        )


def inside(indices: Any, dims: Any) -> bool:
    """Whether all indices are inside of a shape."""
    if not len(indices):
        return True
    return all([c.min() >= 0 and c.max() < int(d) for c, d in zip(indices.T, dims, strict=True)])


def check_bounds(indices: Any, dims: Any) -> None:
    """Raises InvalidArgumentError that names the first index outside a shape."""
    if inside(indices, dims):
        return
    outside = np.any((indices < 0) | (indices >= np.asarray(dims)), axis=1)
    if outside.any():
        at = int(np.argmax(outside))
        raise invalid_argument(
            f"indices[{at}] = {_bracketed(indices[at])} is out of bounds: need 0 <= index < "
            f"{_bracketed(dims)}"
        )


def check_order(indices: Any) -> None:
    """Raises InvalidArgumentError that names the first index out of order or repeated."""
    steps = np.diff(keys(indices)[0])
    if np.any(steps <= 0):
        at = int(np.argmax(steps <= 0))
        wrong = (
            "is repeated"
            if steps[at] == 0
            else "is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
        )
        raise invalid_argument(f"indices[{at + 1}] = {_bracketed(indices[at + 1])} {wrong}")


def check_same_shape(a: Any, b: Any) -> None:
    """Raises InvalidArgumentError unless two dense shapes are the same."""
    if a.size != b.size:
        raise invalid_argument(f"Operands' ranks do not match: got {a.size} and {b.size}")
    if np.any(a != b):
        at = int(np.argmax(a != b))
        raise invalid_argument(
            f"Operands' shapes do not match: got {int(a[at])} and {int(b[at])} for dimension {at}"
        )


def _bracketed(numbers: Any) -> str:
    return brackets(tuple([int(i) for i in numbers]))


# -- inference --------------------------------------------------------------------------


def need_ranks(*wanted: tuple[Spec, int]) -> None:
    """Raises ShapeError unless each spec has its rank or an unknown one."""
    for spec, rank in wanted:
        if spec.rank not in (None, rank):
            raise ShapeError(f"Shape must be rank {rank} but is rank {spec.rank}")


def rank_of(indices: Spec, shape: Spec) -> int | None:
    """The static rank of a sparse tensor."""
    if shape.shape and shape.shape[0] is not None:
        return shape.shape[0]
    return indices.shape[1] if indices.rank == 2 and indices.shape else None


def size_of(indices: Spec, values: Spec) -> int | None:
    """The static number of a sparse tensor's elements."""
    if values.shape and values.shape[0] is not None:
        return values.shape[0]
    return indices.shape[0] if indices.rank == 2 and indices.shape else None


def parts(
    dtype: DType, count: int | None, rank: int | None, dims: Dims | None = None
) -> tuple[Spec, Spec, Spec]:
    """The specs of the parts of a sparse tensor."""
    known = dims is not None and None not in dims
    shape = Spec(int64, (rank,), np.array(dims, np.int64) if known else None)
    return Spec(int64, (count, rank)), Spec(dtype, (count,)), shape
