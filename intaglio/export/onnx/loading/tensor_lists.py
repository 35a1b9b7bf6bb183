"""Sequences whose length is computed when the model runs: tensor lists, with what is known of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType
from intaglio.export.onnx.loading.values import ModelError, cast, rank, static, tensor
from intaglio.opdef import raw

Form = tuple[int | None, ...] | None


class TensorList:
    """A list by its handle. `dims` are what the shapes of all elements have in common, None for an unknown rank.

    `is_empty` says that nothing determines them yet: there was no element, or none with numbers, as in the
    lists that loops fill.
    """

    def __init__(self, handle: Any, dtype: DType, dims: Form, is_empty: bool = False) -> None:
        self._handle = handle
        self.dtype, self.dims = dtype, dims
        self.is_empty = is_empty or (dims is not None and 0 in dims)

    @property
    def handle(self) -> Any:
        """The tensor that holds the list."""
        return self._handle

    @property
    def form(self) -> Any:
        """The shape of the elements as ops take it: -1 for what is not known."""
        return form_of(self.dims)

    @property
    def length(self) -> Any:
        """The number of elements, of int32."""
        return raw.TensorListLength(self.handle)

    def place(self, position: Any) -> Any:
        """A position, which counts from the end if it is negative, as a scalar of int32."""
        known = static(position)
        if known is not None and known.reshape(-1)[0] >= 0:
            return np.int32(known.reshape(-1)[0])
        place = raw.Reshape(cast(tensor(position), dtypes.int32), np.zeros(0, np.int32))
        return raw.SelectV2(raw.Less(place, np.int32(0)), raw.AddV2(place, self.length), place)

    def at(self, position: Any) -> Any:
        """An element."""
        return raw.TensorListGetItem(
            self.handle, self.place(position), self.form, element_dtype=self.dtype
        )

    def stacked(self) -> Any:
        """All elements, one beside the other."""
        return raw.TensorListStack(self.handle, self.form, element_dtype=self.dtype)

    def inserted(self, value: Any, position: Any = None) -> TensorList:
        """The list with one element more."""
        value = tensor(value)
        dims = merged(self, value.dims)
        if position is None:
            return TensorList(raw.TensorListPushBack(self.handle, value), self.dtype, dims)
        at, rows = self.place(position), self.stacked()
        parts = [rows[:at], raw.ExpandDims(value, np.int32(0)), rows[at:]]
        return from_rows(raw.ConcatV2(parts, np.int32(0)))

    def erased(self, position: Any = None) -> TensorList:
        """The list without an element, without the last one if no position is given."""
        if position is not None:
            return _Erased(self, position)
        rest, _ = raw.TensorListPopBack(self.handle, self.form, element_dtype=self.dtype)
        return TensorList(rest, self.dtype, self.dims, self.is_empty)


class _Erased(TensorList):
    """A list that lacks an element: with another in its place, it is the list with the element set."""

    def __init__(self, whole: TensorList, position: Any) -> None:
        super().__init__(None, whole.dtype, whole.dims, whole.is_empty)
        self._whole, self._position = whole, position

    @property
    def handle(self) -> Any:
        if self._handle is None:
            rows = self._whole.stacked()
            at = self._whole.place(self._position)
            rest = raw.ConcatV2([rows[:at], rows[raw.AddV2(at, np.int32(1)) :]], np.int32(0))
            self._handle = from_rows(rest).handle
        return self._handle

    def inserted(self, value: Any, position: Any = None) -> TensorList:
        if position is not self._position or position is None:
            return super().inserted(value, position)
        value, whole = tensor(value), self._whole
        handle = raw.TensorListSetItem(whole.handle, whole.place(position), value)
        return TensorList(handle, self.dtype, merged(self, value.dims))


def form_of(dims: Form) -> Any:
    """A shape as an array: -1 for what is not known."""
    if dims is None:
        return np.array(-1, np.int32)
    return np.array([-1 if d is None else d for d in dims], np.int32)


def merged(one: TensorList, dims: Form) -> Form:
    """What the elements of a list have in common with another."""
    return dims if one.is_empty else common(one.dims, dims)


def common(one: Form, other: Form) -> Form:
    """What two shapes have in common."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple([a if a == b else None for a, b in zip(one, other, strict=True)])


def empty(dtype: DType) -> TensorList:
    """A list without elements."""
    handle = raw.EmptyTensorList(form_of(None), np.int32(-1), element_dtype=dtype)
    return TensorList(handle, dtype, None, True)


def from_rows(rows: Any) -> TensorList:
    """The list of a tensor's slices along its first dimension."""
    if rank(rows) == 0:
        raise ModelError("a scalar cannot be split into a sequence")
    dims = tuple(rows.dims[1:])
    handle = raw.TensorListFromTensor(rows, form_of(None))  # others may take their places
    return TensorList(handle, rows.dtype, dims)


def as_list(value: Any, dtype: DType | None = None) -> TensorList:
    """A sequence of tensors as a list; `dtype` is that of the elements of an empty one."""
    if isinstance(value, TensorList):
        return value
    if not isinstance(value, list):
        raise ModelError("a tensor where a sequence is needed")
    if not value:
        if dtype is None:
            raise ModelError("an empty sequence of elements whose type is not declared")
        return empty(dtype)
    found = empty(tensor(value[0]).dtype)
    for one in value:
        found = found.inserted(one)
    return found
