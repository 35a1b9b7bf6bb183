"""The value of a tensor list: immutable lists that share memory.

Lists derived from one another share one buffer. A push or an assignment creates a newer state of
the buffer; the older list detects it by its epoch, and undoes later changes when it is read. So
pushing, popping and setting take constant time, as long as programs continue with the newest list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import VARIANT_MARKER, DType, string
from intaglio.base.errors import invalid_argument
from intaglio.base.locks import lasting_lock
from intaglio.base.shapes import Dims

# Lists with at most this many elements set keep only those, so that sums skip the others.
MAX_SPARSE_ELEMENTS = 16
# An older list takes back single elements over this many changes; beyond it makes a copy.
MAX_UNDO_STEPS = 32

# One thread at a time changes buffers; readers need no lock (see `TensorList.items`).
_changing = lasting_lock()


class Epoch:
    """A state of a buffer; once it is over, the change that ended it, and the next state."""

    __slots__ = ("following", "index", "old")

    def __init__(self) -> None:
        self.following: Epoch | None = None
        self.index = 0
        self.old: Any = None


class Stacked(list[Any]):
    """A buffer that begins with the rows of `array`: None once one of them is another."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        super().__init__(rows_of(array))
        self.array: Any = array


class TensorList:
    """The value of a list tensor: the first `size` elements of `buffer`.

    Elements are arrays, or None where none was ever set. `dims` is the shape that all
    elements have, as far as it is fixed; `limit` the largest size, -1 for none. As long as
    few elements are set, they are in `few` by index, and there is no buffer.
    """

    __slots__ = ("buffer", "dims", "element", "epoch", "few", "limit", "size")

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(
        self,
        buffer: list[Any],
        size: int,
        element: DType,
        limit: int = -1,
        dims: Dims = None,
        epoch: Epoch | None = None,
        few: dict[int, Any] | None = None,
    ) -> None:
        self.buffer = buffer
        self.size = size
        self.element = element
        self.limit = limit
        self.dims = dims
        self.epoch = epoch or Epoch()
        self.few = few

    @classmethod
    def unset(cls, size: int, element: DType, dims: Dims) -> TensorList:
        """A list of elements none of which is set."""
        return cls([], size, element, -1, dims, None, {})

    def __repr__(self) -> str:
        return "<TensorList>"

    # -- reading ---------------------------------------------------------------------

    def items(self) -> list[Any]:
        """The elements; None for those never set. The list is the caller's own."""
        if self.few is not None:
            return _items_by_index(self.few, self.size)
        # The epoch is read before the elements, and checked after: a change in between shows.
        epoch = self.epoch
        items = self.buffer[: self.size]
        if epoch.following is not None:
            items = self._taken_back(items, epoch)
            self.buffer = list(items)
            self.epoch = Epoch()
        return items

    def _taken_back(self, items: list[Any], epoch: Epoch) -> list[Any]:
        undo: dict[int, Any] = {}
        while epoch.following is not None:
            undo.setdefault(epoch.index, epoch.old)
            epoch = epoch.following
        for index, old in undo.items():
            if index < self.size:
                items[index] = old
        return items

    def get(self, index: int) -> Any:
        """One element, None if it was never set. The index is in range."""
        few = self.few
        if few is not None:
            return few.get(index)
        epoch = self.epoch
        item = self.buffer[index]
        steps = 0
        while epoch.following is not None:
            if epoch.index == index:
                return epoch.old
            steps += 1
            if steps > MAX_UNDO_STEPS:
                return self.items()[index]
            epoch = epoch.following
        return item

    def whole(self) -> Any:
        """The elements as one array, if they are its rows already; else None."""
        buffer, epoch = self.buffer, self.epoch
        if self.few is not None or not isinstance(buffer, Stacked):
            return None
        array = buffer.array
        if array is None or self.size > len(array) or epoch.following is not None:
            return None
        return array[: self.size]

    # -- lists derived from this one ---------------------------------------------------

    def _of(
        self,
        buffer: list[Any],
        size: int,
        epoch: Epoch | None = None,
        few: dict[int, Any] | None = None,
    ) -> TensorList:
        return TensorList(buffer, size, self.element, self.limit, self.dims, epoch, few)

    def _own_buffer(self) -> None:
        """Gives the list a buffer that it is the newest list of. Within the lock."""
        if self.few is not None:
            self.buffer = _items_by_index(self.few, self.size)
            self.few = None
        elif self.epoch.following is not None:
            self.items()

    def with_item(self, index: int, item: Any) -> TensorList:
        """The list with another element at an index in range."""
        few = self.few
        if few is not None and len(few) < MAX_SPARSE_ELEMENTS:
            return self._of([], self.size, None, {**few, index: item})
        with _changing:
            buffer, epoch = self._change(index, item)
        return self._of(buffer, self.size, epoch)

    def _change(self, index: int, item: Any) -> tuple[list[Any], Epoch]:
        """Puts an item into the buffer. Returns the buffer and its new epoch."""
        self._own_buffer()
        buffer, epoch, new = self.buffer, self.epoch, Epoch()
        epoch.index = index
        epoch.old = buffer[index]
        epoch.following = new  # announced before the change
        if isinstance(buffer, Stacked):
            buffer.array = None
        buffer[index] = item
        return buffer, new

    def pushed(self, item: Any) -> TensorList:
        """The list with one more element. Raises InvalidArgumentError beyond the limit."""
        size = self.size
        if 0 <= self.limit <= size:
            raise invalid_argument(
                f"Tried to push item into a full list list size: {size} max_num_elements: {self.limit}"
            )
        with _changing:
            if self.few is not None or self.epoch.following is not None:
                self._own_buffer()
            buffer, epoch = self.buffer, self.epoch
            if len(buffer) == size:
                buffer.append(item)
            else:  # longer lists share the buffer: for them this is a change
                buffer, epoch = self._change(size, item)
        return TensorList(buffer, size + 1, self.element, self.limit, self.dims, epoch)

    def taken(self) -> tuple[TensorList, Any]:
        """The list without its last element, and that. Raises InvalidArgumentError if it is empty."""
        size = self.size - 1
        if size < 0:
            raise invalid_argument("Trying to pop from an empty list.")
        if self.few is None:
            buffer, epoch = self.buffer, self.epoch
            item = buffer[size]
            if epoch.following is None:  # checked after the reading, as in `items`
                rest = TensorList(buffer, size, self.element, self.limit, self.dims, epoch)
                return rest, item
        return self.resized(size), self.get(size)

    def resized(self, size: int) -> TensorList:
        """The first `size` elements, or as many more that are not set."""
        few = self.few
        if few is not None:
            return self._of([], size, None, {i: v for i, v in few.items() if i < size})
        if size <= self.size:
            return self._of(self.buffer, size, self.epoch)
        with _changing:
            self._own_buffer()
            buffer, epoch = self.buffer, self.epoch
            if len(buffer) != self.size:
                buffer, epoch = buffer[: self.size], None
            buffer.extend([None] * (size - self.size))
        return self._of(buffer, size, epoch)

    # -- lists as values that gradients add --------------------------------------------

    def zeros_like(self) -> TensorList:
        """A list of zeros with the elements' shapes."""
        dims = self.dims
        items = [] if shapes.known(dims) else self.items()
        if self.element.is_numpy_compatible:
            found = {item.shape for item in items if item is not None}
            if len(found) == 1:
                dims = found.pop()
            if shapes.known(dims) or not found:
                return TensorList.unset(self.size, self.element, dims)
        items = items or self.items()
        zeros = [None if item is None else _zeros(item) for item in items]
        return TensorList(zeros, self.size, self.element, self.limit, self.dims)

    def add_n(self, lists: Sequence[TensorList]) -> TensorList:
        """The sum of lists of one length, element by element.

        Lists with few elements are added to the one with most in its own memory.
        """
        if any(other.size != self.size for other in lists):
            raise invalid_argument(
                f"Trying to add two lists of tensors with different lengths. One is {[v.size for v in lists]}"
            )
        full = [v for v in lists if v.few is None]
        if len(full) > 1:
            columns = zip(*[v.items() for v in full], strict=True)
            whole = TensorList(
                [sum_of(column) for column in columns],
                self.size,
                self.element,
                self.limit,
                _merged([v.dims for v in full]),
            )
            sparse = [v for v in lists if v.few is not None]
        else:
            most = max(
                lists, key=lambda v: MAX_SPARSE_ELEMENTS + 1 if v.few is None else len(v.few)
            )
            sparse = list(lists)
            whole = sparse.pop(next(i for i, v in enumerate(lists) if v is most))
        for other in sparse:
            for index, item in (other.few or {}).items():
                whole = whole.with_item(index, sum_of([whole.get(index), item]))
            if whole.dims is None and other.dims is not None:
                whole = whole.resized(whole.size)
                whole.dims = other.dims
        return whole


def _items_by_index(few: dict[int, Any], size: int) -> list[Any]:
    items: list[Any] = [None] * size
    for index, item in few.items():
        items[index] = item
    return items


def _merged(all_dims: Sequence[Dims]) -> Dims:
    return next((d for d in all_dims if d is not None), None)


def _zeros(item: Any) -> Any:
    if isinstance(item, TensorList):
        return item.zeros_like()
    return np.zeros(item.shape, item.dtype)


def sum_of(column: Sequence[Any]) -> Any:
    """The sum of the elements that are set; None if none is."""
    present = [c for c in column if c is not None]
    if not present:
        return None
    total = present[0]
    if isinstance(total, TensorList):
        return total.add_n(present)
    for item in present[1:]:
        total = total + item
    return total


def zero_element(element: DType, dims: tuple[int, ...]) -> Any:
    """What counts as the element that was never set."""
    if not element.is_numpy_compatible:
        return TensorList([], 0, element)
    if element is string:
        return np.full(dims, b"", object)
    return np.zeros(dims, element.numpy)


def rows_of(array: Any) -> list[Any]:
    """The rows of an array as arrays; they share its memory."""
    if array.ndim == 1:
        if array.dtype == object:
            return [array[i, ...] for i in range(len(array))]
        return list(array)
    return list(array)


def stacked(items: Sequence[Any], dims: tuple[int, ...], element: DType) -> Any:
    """Elements of one shape as the rows of an array; there is at least one."""
    kind = element.numpy
    if not dims:
        if element is string:
            array = np.empty(len(items), object)
            for i, item in enumerate(items):
                array[i] = item[()]
            return array
        return np.array(items, kind)
    return np.concatenate(items, dtype=kind).reshape(len(items), *dims)


__all__ = ["Stacked", "TensorList", "rows_of", "stacked", "sum_of", "zero_element"]
