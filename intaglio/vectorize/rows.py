"""Values of a vectorised function: stacked over the rows, or shared by all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int32
from intaglio.ir.graph import Node
from intaglio.opdef import convert, door, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec, numbers
from intaglio.opdef.tensor import Tensor


class NotVectorizableError(Exception):
    """A rule does not cover an op's attributes or operands: its rows are computed one by one."""


class Row:
    """A value of the recorded function: one tensor for all rows, or one that stacks them.

    `spec` is the value's spec in the recorded graph, of one row. `empty` marks a list
    that nothing was written to yet, which stacks rows as well as none.
    """

    __slots__ = ("empty", "spec", "stacked", "tensor")

    def __init__(self, tensor: Any, stacked: bool, spec: Spec, empty: bool = False) -> None:
        self.tensor = tensor
        self.stacked = stacked
        self.spec = spec
        self.empty = empty

    @property
    def rank(self) -> int:
        """The number of dimensions of one row. Raises NotVectorizableError if not known."""
        if self.spec.shape is None:
            raise NotVectorizableError("the rank of a row is not known")
        return len(self.spec.shape)

    @property
    def same(self) -> Any:
        """The tensor that all rows share. Raises NotVectorizableError if they differ."""
        if self.stacked:
            raise NotVectorizableError("an argument differs from row to row")
        return self.tensor

    @property
    def numbers(self) -> list[int] | None:
        """The elements of an integer argument that all rows share, where they are known."""
        return None if self.stacked else numbers(self.spec)

    def __repr__(self) -> str:
        return f"Row({self.tensor!r}, stacked={self.stacked})"


class Rows:
    """The rows that a function is executed for: how many, and how values are stacked."""

    def __init__(self, count: Any) -> None:
        self.known: int | None = count if isinstance(count, int) else None
        self.count: Any = convert.to_tensor(count, int32)

    @property
    def vector(self) -> Any:
        """The number of rows as a vector of one element."""
        if self.known is not None:
            return np.asarray([self.known], np.int32)
        return raw.Reshape(self.count, [1])

    def numbers(self, dtype: Any = int32) -> Any:
        """0, 1, 2, ... for the rows."""
        if self.known is not None:
            return convert.to_tensor(np.arange(self.known, dtype=dtype.numpy))
        count = self.count if dtype is int32 else raw.Cast(self.count, DstT=dtype)
        zero, one = np.asarray(0, dtype.numpy), np.asarray(1, dtype.numpy)
        return raw.Range(zero, count, one)

    def shape(self, row: Any, known: Spec | None = None) -> Any:
        """A shape vector of one row as that of all; `known` is what the result looks like."""
        if known is not None and shapes.known(known.shape):
            inner: Any = np.asarray(known.shape, np.int32)
            if self.known is not None:
                return np.asarray([self.known, *inner], np.int32)
        else:
            inner = raw.Cast(row, DstT=int32)
        return raw.ConcatV2([self.vector, inner], 0)

    def stack(self, row: Row) -> Any:
        """The value with its rows as first dimension, repeated if all rows share it."""
        if row.stacked:
            return row.tensor
        value = convert.to_tensor(row.tensor)
        if shapes.known(value.dims) and self.known is not None:
            whole: Any = np.asarray([self.known, *(value.dims or ())], np.int32)
        else:
            whole = raw.ConcatV2([self.vector, raw.Shape(value)], 0)
        return raw.BroadcastTo(value, whole)

    def aligned(self, row: Row, rank: int) -> Any:
        """The value ready to be broadcast against rows of `rank` dimensions."""
        missing = rank - row.rank
        if not row.stacked or missing <= 0:
            return row.tensor
        dims = row.tensor.dims
        if shapes.known(dims):
            return raw.Reshape(
                row.tensor, np.asarray([dims[0], *[1] * missing, *dims[1:]], np.int32)
            )
        value = row.tensor
        for _ in range(missing):
            value = raw.ExpandDims(value, np.int32(1))
        return value


Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
# Rules that hold whether or not an input differs from row to row: each row has its own
# random numbers.
ALWAYS: set[str] = set()


def vectorizes(*ops: Op | OpReference, always: bool = False) -> Callable[[Rule], Rule]:
    """Says that a function is the rule of these ops.

    A rule takes the rows, the recorded node and the node's inputs as `Row`s (a list of them
    for an input that is a list). It returns stacked outputs, or a `Row` for what all rows
    share; it raises NotVectorizableError for what it does not cover.
    """

    def register(rule: Rule) -> Rule:
        for op in ops:
            RULES[op.name] = rule
            if always:
                ALWAYS.add(op.name)
        return rule

    return register


def again(node: Node, inputs: Sequence[Any], **attrs: Any) -> list[Tensor]:
    """The node's op on other inputs. Attributes may differ."""
    tensors = [convert.to_tensor(v) for v in inputs]
    attributes = {**node.attrs, **attrs} if attrs else node.attrs
    return list(door.carry_out(node.op, tensors, attributes, None))


def shifted(axes: Row) -> Any:
    """Axes of one row as axes behind the rows; those counted from the end stay."""
    known = axes.numbers
    if known is not None:
        kind = axes.spec.dtype.numpy
        moved = np.asarray([a if a < 0 else a + 1 for a in known], kind)
        return moved if axes.spec.shape else moved.reshape(())
    same = axes.same
    one = np.asarray(1, axes.spec.dtype.numpy)
    return raw.SelectV2(raw.Less(same, one - one), same, raw.AddV2(same, one))


def moved(axis: int) -> int:
    """An axis of one row as axis behind the rows."""
    return axis if axis < 0 else axis + 1


def swapped(value: Any, rank: int) -> Any:
    """The value with its first two dimensions exchanged."""
    return raw.Transpose(value, np.asarray([1, 0, *range(2, rank)], np.int32))
