"""Tensor lists and tensors: stacked, gathered and joined, or taken apart into lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType, int64, variant
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.opdef.op import op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.list_value import TensorList, rows_of, stacked, zero_element
from intaglio.ops.control_flow.tensor_list import (
    ListOp,
    check_dtype,
    dims_of_form,
    element_form,
    element_shape_of,
    merged_dims,
    rows_form,
    zeros_of,
)
from intaglio.ops.control_flow.variants import Variants

# -- lists to tensors ----------------------------------------------------------------


@op
class TensorListStack(ListOp):
    """All elements as one tensor; `num_elements` of -1 allows any number."""

    signature = (
        "input_handle: variant, element_shape: int32; element_dtype: type,"
        " num_elements: int = -1 -> tensor: element_dtype"
    )
    native_exact = True

    def infer(self, element_shape: Spec, element_dtype: DType, num_elements: int) -> Spec:
        dims = element_shape_of(element_shape)
        count = None if num_elements < 0 else num_elements
        return Spec(element_dtype, None if dims is None else (count, *dims))

    def kernel(self, input_handle, element_shape, element_dtype, num_elements):
        check_dtype(input_handle, element_dtype)
        size = input_handle.size
        if num_elements not in (-1, size):
            raise invalid_argument(
                f"Operation expected a list with {num_elements} elements but got a list with {size} elements."
            )
        items = input_handle.items()
        dims = merged_dims(input_handle, element_shape)
        if not items:
            if not shapes.known(dims):
                raise invalid_argument(
                    "Tried to stack elements of an empty list with non-fully-defined element_shape: "
                    f"{shapes.brackets(dims)}"
                )
            if element_dtype is variant:
                return Variants([], (0, *dims))
            return np.zeros((0, *dims), element_dtype.numpy)
        return _stack(items, dims, element_dtype, "stack list")

    def gradient(self, dtensor, tensor: Spec) -> Any:
        return raw.TensorListFromTensor(dtensor, rows_form(tensor)), None


def _stack(items: list[Any], dims: Dims, element: DType, what: str) -> Any:
    """Elements as rows, zeros for those never set. Raises if their shapes differ."""
    for item in items:
        if item is not None and item.shape != dims:
            try:
                dims = shapes.merge(item.shape, dims)
            except ValueError:
                raise invalid_argument(
                    f"PartialTensorShape: Incompatible shapes during merge: {shapes.brackets(dims)} vs. "
                    f"{shapes.brackets(item.shape)}"
                ) from None
    if not shapes.known(dims):
        raise invalid_argument(
            f"Tried to {what} which only contains uninitialized tensors and has a non-fully-defined element_shape: "
            f"{shapes.brackets(dims)}"
        )
    if any(item is None for item in items):
        zero = zero_element(element, dims)
        items = [zero if item is None else item for item in items]
    if element is variant:
        return Variants.stacked(items)
    return stacked(items, dims, element)


@op
class TensorListGather(ListOp):
    """The elements at the indices as one tensor."""

    signature = (
        "input_handle: variant, indices: int32, element_shape: int32;"
        " element_dtype: type -> values: element_dtype"
    )

    def infer(self, indices: Spec, element_shape: Spec, element_dtype: DType) -> Spec:
        dims = element_shape_of(element_shape)
        count = None if indices.shape is None else indices.shape[0]
        return Spec(element_dtype, None if dims is None else (count, *dims))

    def kernel(self, input_handle, indices, element_shape, element_dtype):
        check_dtype(input_handle, element_dtype)
        dims = merged_dims(input_handle, element_shape)
        if not len(indices):
            if not shapes.known(dims):
                raise invalid_argument(
                    f"Tried to gather 0-elements from a list with non-fully-defined shape: {shapes.brackets(dims)}"
                )
            return np.zeros((0, *dims), element_dtype.numpy)
        items, size = input_handle.items(), input_handle.size
        for index in indices.tolist():
            if not 0 <= index < size:
                raise invalid_argument(f"Index {index} out o range; list only has {size} elements.")
        taken = [items[i] for i in indices.tolist()]
        if not shapes.known(dims) and all(item is None for item in taken):
            raise invalid_argument(
                f"Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: "
                f"{shapes.brackets(dims)}"
            )
        return _stack(taken, dims, element_dtype, "gather from a list")

    def gradient(self, dvalues, input_handle: Spec, indices, values: Spec) -> Any:
        length = raw.TensorListLength(input_handle.tensor)
        # An element gathered twice gets the sum of both rows.
        different, ids = raw.Unique(indices)
        count = raw.Size(different)
        sums = raw.UnsortedSegmentSum(dvalues, ids, count)
        form = rows_form(values)
        return raw.TensorListScatterV2(sums, different, form, length), None, None


class Concatenated(ListOp):
    """The elements joined along their first dimension, and the length of each."""

    def joined(self, handle: TensorList, dims: Dims, element: DType, lengths: Sequence[int]) -> Any:
        """The two outputs. `lengths` are those of elements never set."""
        check_dtype(handle, element)
        items = handle.items()
        if not items:
            rest = None if dims is None else dims[1:]
            if not shapes.known(rest):
                raise invalid_argument(
                    "All except the first dimension must be fully defined when concating an empty tensor list. "
                    f"element_shape: {shapes.brackets(dims)}"
                )
            return np.zeros((0, *rest), element.numpy), np.zeros(0, np.int64)
        if any(item is None for item in items):
            items = _filled(items, dims, element, lengths)
        for at, item in enumerate(items):
            if not item.ndim:
                raise invalid_argument(
                    f"Concat saw a scalar shape at index {at} but requires at least vectors."
                )
        tails = {item.shape[1:] for item in items}
        if len(tails) > 1:
            shown = " vs. ".join([shapes.brackets(t) for t in list(tails)[:2]])
            raise invalid_argument(f"PartialTensorShape: Incompatible shapes during merge: {shown}")
        sizes = [len(item) for item in items]
        return np.concatenate(items), np.asarray(sizes, np.int64)


def _filled(items: list[Any], dims: Dims, element: DType, lengths: Sequence[int]) -> list[Any]:
    """The elements with zeros for those never set."""
    present = [item.shape for item in items if item is not None]
    tail = present[0][1:] if present else None if dims is None else dims[1:]
    if not shapes.known(tail):
        raise invalid_argument(
            "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully "
            f"defined: {shapes.brackets(tail)}"
        )
    first = dims[0] if dims else None
    if first is None and present and len({s[0] for s in present if s}) == 1:
        first = present[0][0]
    result: list[Any] = []
    for at, item in enumerate(items):
        if item is None:
            length = first
            if length is None:
                if at >= len(lengths):
                    raise invalid_argument(
                        f"List contains uninitialized tensor at index {at} but leading_dims has only {len(lengths)} "
                        "elements."
                    )
                length = lengths[at]
            item = zero_element(element, (length, *tail))
        result.append(item)
    return result


def _joined_spec(element_dtype: DType, dims: Dims) -> Any:
    shape = None if dims is None else (None, *dims[1:])
    return Spec(element_dtype, shape), Spec(int64, (None,))


@op
class TensorListConcatV2(Concatenated):
    """The elements joined; `leading_dims` are the lengths of elements never set."""

    signature = (
        "input_handle: variant, element_shape: shape_type, leading_dims: int64;"
        " element_dtype: type -> tensor: element_dtype, lengths: int64"
    )

    def infer(self, element_shape: Spec, element_dtype: DType) -> Any:
        return _joined_spec(element_dtype, element_shape_of(element_shape))

    def kernel(self, input_handle, element_shape, leading_dims, element_dtype):
        dims = merged_dims(input_handle, element_shape)
        return self.joined(input_handle, dims, element_dtype, leading_dims.tolist())

    def gradient(self, dtensor, lengths, tensor: Spec) -> Any:
        return raw.TensorListSplit(dtensor, _open_form(tensor), lengths), None, None


@op
class TensorListConcat(Concatenated):
    """The elements joined; those never set need a shape with their length."""

    signature = (
        "input_handle: variant; element_dtype: type, element_shape: shape = None"
        " -> tensor: element_dtype, lengths: int64"
    )

    def infer(self, element_dtype: DType, element_shape: Any) -> Any:
        return _joined_spec(element_dtype, shapes.as_dims(element_shape))

    def kernel(self, input_handle, element_dtype, element_shape):
        dims = shapes.merge(shapes.as_dims(element_shape), input_handle.dims)
        return self.joined(input_handle, dims, element_dtype, ())

    def gradient(self, dtensor, lengths, tensor: Spec) -> Any:
        return raw.TensorListSplit(dtensor, _open_form(tensor), lengths)


def _open_form(tensor: Spec) -> Any:
    """The shape of parts of a tensor, whatever their length."""
    dims = tensor.shape
    if dims is not None and shapes.known(dims[1:]):
        return element_form(Spec(tensor.dtype, (None, *dims[1:])))
    tail = raw.Shape(tensor.tensor)[1:]
    return raw.ConcatV2([np.asarray([-1], np.int32), tail], np.int32(0))


# -- tensors to lists ----------------------------------------------------------------


@op
class TensorListFromTensor(ListOp):
    """The rows of a tensor as a list."""

    signature = "tensor: element_dtype, element_shape: shape_type -> output_handle: variant"
    native_exact = True
    cheap = True

    def infer(self, tensor: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, tensor, element_shape, element_dtype):
        if not np.ndim(tensor):
            raise invalid_argument("Tensor must be at least a vector, but saw shape: []")
        dims, declared = tensor.shape[1:], dims_of_form(element_shape)
        if not shapes.compatible(dims, declared):
            raise invalid_argument(
                f"Specified a list with shape {shapes.brackets(declared)} from a tensor with shape "
                f"{shapes.brackets(dims)}"
            )
        return TensorList(rows_of(tensor), len(tensor), element_dtype, -1, declared)

    def gradient(self, doutput_handle, tensor: Spec) -> Any:
        count = tensor.shape[0] if tensor.shape else None
        rows = raw.TensorListStack(
            doutput_handle,
            rows_form(tensor),
            element_dtype=tensor.dtype,
            num_elements=-1 if count is None else count,
        )
        return rows, None


@op
class TensorListSplit(ListOp):
    """Consecutive parts of a tensor, of these lengths, as a list."""

    signature = (
        "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant"
    )

    def infer(self, tensor: Spec, lengths: Spec) -> Spec:
        if tensor.rank == 0:
            raise shapes.ShapeError("Shape must be at least rank 1 but is rank 0")
        if lengths.rank not in (1, None):
            raise shapes.ShapeError(f"Shape must be rank 1 but is rank {lengths.rank}")
        return Spec(variant, ())

    def kernel(self, tensor, element_shape, lengths, element_dtype):
        if not tensor.ndim:
            raise invalid_argument(
                f"Tensor must be at least a vector, but saw shape: {shapes.brackets(tensor.shape)}"
            )
        if lengths.ndim != 1:
            raise invalid_argument(
                f"Expected lengths to be a vector, received shape: {shapes.brackets(lengths.shape)}"
            )
        parts: list[Any] = []
        start = 0
        for length in lengths.tolist():
            if length < 0:
                raise invalid_argument(f"Invalid value in lengths: {length}")
            if start + length > len(tensor):
                raise invalid_argument(
                    f"Attempting to slice [{start}, {start + length}] from tensor with length {len(tensor)}"
                )
            parts.append(tensor[start : start + length])
            start += length
        if start != len(tensor):
            raise invalid_argument(
                f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {start}"
            )
        declared = dims_of_form(element_shape)
        return TensorList(parts, len(parts), element_dtype, -1, declared)

    def gradient(self, doutput_handle, tensor: Spec, lengths) -> Any:
        whole, _ = raw.TensorListConcatV2(
            doutput_handle, _open_form(tensor), lengths, element_dtype=tensor.dtype
        )
        return whole, None, None


class Scattered(ListOp):
    """A list with the rows of a tensor at the indices."""

    def infer(self, tensor: Spec, indices: Spec) -> Spec:
        return Spec(variant, ())

    def filled(self, start: TensorList, tensor: Any, indices: Any) -> TensorList:
        """`start` with the rows at the indices, longer if they need it."""
        if not np.ndim(tensor):
            raise invalid_argument(
                f"Tensor must be at least a vector, but saw shape: {shapes.brackets(tensor.shape)}"
            )
        if len(indices) != len(tensor):
            raise invalid_argument(
                f"Expected len(indices) == tensor.shape[0], but saw: {len(indices)} vs. {len(tensor)}"
            )
        numbers = indices.tolist()
        for index in numbers:
            if index < 0:
                raise invalid_argument("Indices in TensorListScatter must all be non-negative.")
        most = max(numbers, default=-1) + 1
        if most > start.size:
            start = start.resized(most)
        items = start.items()
        for index, row in zip(numbers, rows_of(tensor), strict=True):
            items[index] = row
        return TensorList(items, start.size, start.element, -1, start.dims)


def _lasting(indices: Any) -> Any:
    """1 for the rows that are kept in a list, 0 for those that a later row overwrites."""
    _, ids = raw.Unique(indices)
    count = raw.Size(indices)
    order = raw.Range(np.int32(0), count, np.int32(1))
    last = raw.GatherV2(raw.UnsortedSegmentMax(order, ids, count), ids, np.int32(0))
    return raw.Equal(last, order)


def _gradient_of_rows(handle: Any, tensor: Spec, indices: Any) -> Any:
    rows = raw.TensorListGather(handle, indices, rows_form(tensor), element_dtype=tensor.dtype)
    return raw.Select(_lasting(indices), rows, raw.ZerosLike(rows))


@op
class TensorListScatterV2(Scattered):
    """A list of `num_elements` (-1: as many as needed) with the rows at the indices."""

    signature = (
        "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32"
        " -> output_handle: variant"
    )

    def kernel(self, tensor, indices, element_shape, num_elements, element_dtype):
        size = max(int(num_elements), 0)
        dims = dims_of_form(element_shape)
        start = TensorList.unset(size, element_dtype, dims)
        return self.filled(start, tensor, indices)

    def gradient(self, doutput_handle, tensor: Spec, indices) -> Any:
        rows = _gradient_of_rows(doutput_handle, tensor, indices)
        return rows, None, None, None


@op
class TensorListScatter(Scattered):
    """A list of as many elements as needed with the rows at the indices."""

    signature = (
        "tensor: element_dtype, indices: int32, element_shape: shape_type -> output_handle: variant"
    )

    def kernel(self, tensor, indices, element_shape, element_dtype):
        start = TensorList.unset(0, element_dtype, dims_of_form(element_shape))
        return self.filled(start, tensor, indices)

    def gradient(self, doutput_handle, tensor: Spec, indices) -> Any:
        return _gradient_of_rows(doutput_handle, tensor, indices), None, None


@op
class TensorListScatterIntoExistingList(Scattered):
    """A list with the elements at the indices replaced by the rows of a tensor."""

    signature = (
        "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant"
    )

    def kernel(self, input_handle, tensor, indices, element_dtype):
        check_dtype(input_handle, element_dtype)
        return self.filled(input_handle, tensor, indices)

    def gradient(self, doutput_handle, input_handle: Spec, tensor: Spec, indices) -> Any:
        def of_list() -> Any:
            rest = raw.TensorListScatterIntoExistingList(doutput_handle, zeros_of(tensor), indices)
            length = raw.TensorListLength(input_handle.tensor)
            return raw.TensorListResize(rest, length)

        return of_list, lambda: _gradient_of_rows(doutput_handle, tensor, indices), None
