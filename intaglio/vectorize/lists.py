"""Rules of lists of tensors: one list whose items stack the rows represents a list for each row.

The items keep their order; what differs from row to row is a row of each item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.opdef import raw
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows, again, swapped, vectorizes

ANY = np.asarray(-1, np.int32)


@vectorizes(raw.EmptyTensorList, raw.TensorListReserve, always=True)
def new(rows: Rows, node: Node, shape: Row, number: Row) -> Any:
    """Whether its items will stack rows is not known yet."""
    (handle,) = again(node, [ANY, number.same])
    return Row(handle, False, node.outputs[0].spec, empty=True)


def _stacking(handle: Row) -> Any:
    """The list as one whose items stack rows. Raises NotVectorizableError if they do not."""
    if not handle.stacked and not handle.empty:
        raise NotVectorizableError("a list of shared items gets items of each row")
    return handle.tensor


def _dims(rows: Rows, shape: Sequence[int | None]) -> Any:
    """The shape of an item with its rows, as lists take it."""
    return np.asarray([-1 if d is None else d for d in (rows.known, *shape)], np.int32)


@vectorizes(raw.TensorListSetItem, always=True)
def set_item(rows: Rows, node: Node, handle: Row, index: Row, item: Row) -> Any:
    """The item of each row, stacked."""
    if not handle.stacked and not item.stacked:
        outputs = again(node, [handle.tensor, index.same, item.tensor])
        return Row(outputs[0], False, node.outputs[0].spec)
    return again(node, [_stacking(handle), index.same, rows.stack(item)])


@vectorizes(raw.TensorListPushBack, always=True)
def push(rows: Rows, node: Node, handle: Row, item: Row) -> Any:
    """The item of each row, stacked."""
    if not handle.stacked and not item.stacked:
        outputs = again(node, [handle.tensor, item.tensor])
        return Row(outputs[0], False, node.outputs[0].spec)
    return again(node, [_stacking(handle), rows.stack(item)])


@vectorizes(raw.TensorListGetItem, raw.TensorListPopBack)
def get_item(rows: Rows, node: Node, handle: Row, *rest: Row) -> Any:
    """The rows of an item."""
    *index, _ = rest
    item = node.outputs[-1].spec
    shape = ANY if item.shape is None else _dims(rows, item.shape)
    return again(node, [_stacking(handle), *[i.same for i in index], shape])


@vectorizes(raw.TensorListLength)
def length(rows: Rows, node: Node, handle: Row) -> Any:
    """All rows have as many items."""
    return Row(raw.TensorListLength(handle.tensor), False, node.outputs[0].spec)


@vectorizes(raw.TensorListResize)
def resize(rows: Rows, node: Node, handle: Row, number: Row) -> Any:
    """All rows get as many items."""
    return again(node, [_stacking(handle), number.same])


@vectorizes(raw.TensorListFromTensor)
def from_tensor(rows: Rows, node: Node, tensor: Row, shape: Row) -> Any:
    """The first dimension of each row becomes the list's."""
    items = swapped(tensor.tensor, tensor.rank + 1)
    return raw.TensorListFromTensor(items, ANY)


@vectorizes(raw.TensorListStack)
def stack(rows: Rows, node: Node, handle: Row, shape: Row) -> Any:
    """The items become the first dimension of each row."""
    spec = node.outputs[0].spec
    if spec.shape is None:
        raise NotVectorizableError("the rank of the items is not known")
    inner = _dims(rows, spec.shape[1:])
    (found,) = again(node, [_stacking(handle), inner])
    return swapped(found, len(spec.shape) + 1)
