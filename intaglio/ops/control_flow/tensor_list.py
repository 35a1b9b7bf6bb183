"""Lists of tensors as values of a graph, which loops fill and their gradients read.

The ops here create lists and access single elements; those between lists and whole tensors are in
`tensor_list_stacking`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, DType, int32, int64, string, variant
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.list_value import TensorList, zero_element

# Zeros of at most this many elements are constants in a graph.
MAX_CONSTANT_ELEMENTS = 128
_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


class ListOp(Op):
    """An op on lists of tensors."""

    element_dtype = ALL
    shape_type = (int32, int64)


@op
class EmptyTensorList(ListOp):
    """A list without elements; `max_num_elements` of -1 sets no limit."""

    signature = (
        "element_shape: shape_type, max_num_elements: int32; element_dtype: type -> handle: variant"
    )
    differentiable = False
    native_exact = True
    cheap = True

    def infer(self, element_shape: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, element_shape, max_num_elements, element_dtype):
        dims = dims_of_form(element_shape)
        return TensorList([], 0, element_dtype, int(max_num_elements), dims)


@op
class TensorListReserve(ListOp):
    """A list of `num_elements` elements, none of them set."""

    signature = (
        "element_shape: shape_type, num_elements: int32; element_dtype: type -> handle: variant"
    )
    differentiable = False
    native_exact = True
    cheap = True

    def infer(self, element_shape: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, element_shape, num_elements, element_dtype):
        size = int(num_elements)
        if size < 0:
            raise invalid_argument(
                f"The num_elements to reserve must be a non negative number, but got {size}"
            )
        dims = dims_of_form(element_shape)
        return TensorList.unset(size, element_dtype, dims)


@op
class TensorListPushBack(ListOp):
    """The list with one more element."""

    signature = "input_handle: variant, tensor: element_dtype -> output_handle: variant"
    native_exact = True

    def infer(self, input_handle: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, input_handle, tensor, element_dtype):
        if input_handle.element is not element_dtype or input_handle.dims != tensor.shape:
            check_element(input_handle, tensor, element_dtype, "push")
        return input_handle.pushed(tensor)

    def gradient(self, doutput_handle, tensor: Spec) -> Any:
        rest, last = raw.TensorListPopBack(
            doutput_handle, form_of(tensor), element_dtype=tensor.dtype
        )
        return rest, last


@op
class TensorListPopBack(ListOp):
    """The list without its last element, and that element."""

    signature = (
        "input_handle: variant, element_shape: int32; element_dtype: type"
        " -> output_handle: variant, tensor: element_dtype"
    )
    native_exact = True
    shape_input = "element_shape"

    def infer(self, input_handle: Spec, element_shape: Spec, element_dtype: DType) -> Any:
        return Spec(variant, ()), Spec(element_dtype, element_shape_of(element_shape))

    def kernel(self, input_handle, element_shape, element_dtype):
        if input_handle.element is not element_dtype:
            check_dtype(input_handle, element_dtype)
        rest, item = input_handle.taken()
        if item is None:
            item = absent_element(input_handle, element_shape)
        return rest, item

    def gradient(self, doutput_handle, dtensor) -> Any:
        return raw.TensorListPushBack(doutput_handle, dtensor), None


@op
class TensorListPushBackBatch(ListOp):
    """Lists of a batch, each with one more element: a row of the tensor."""

    signature = "input_handles: variant, tensor: element_dtype -> output_handles: variant"
    differentiable = False

    def infer(self, input_handles: Spec) -> Spec:
        return Spec(variant, input_handles.shape)

    def kernel(self, input_handles, tensor):
        raise invalid_argument(
            "TensorListPushBackBatch takes a vector of lists, and this list is a scalar: use TensorListPushBack."
        )


@op
class TensorListLength(ListOp):
    """The number of elements."""

    signature = "input_handle: variant -> length: int32"
    differentiable = False
    native_exact = True

    def infer(self, input_handle: Spec) -> Spec:
        return Spec(int32, ())

    def kernel(self, input_handle):
        return np.asarray(input_handle.size, np.int32)


@op
class TensorListElementShape(ListOp):
    """The shape that all elements have, -1 for dims that differ."""

    signature = "input_handle: variant; shape_type: type -> element_shape: shape_type"
    differentiable = False

    def infer(self, input_handle: Spec, shape_type: DType) -> Spec:
        return Spec(shape_type, None)

    def kernel(self, input_handle, shape_type):
        return _as_form(input_handle.dims).astype(shape_type.numpy)


@op
class TensorListResize(ListOp):
    """The list with `size` elements: the first ones, or as many more that are not set."""

    signature = "input_handle: variant, size: int32 -> output_handle: variant"

    def infer(self, input_handle: Spec, size: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, input_handle, size):
        if size < 0:
            raise invalid_argument(
                f"TensorListSlice expects size to be non-negative. Got: {int(size)}"
            )
        return input_handle.resized(int(size))

    def gradient(self, doutput_handle, input_handle: Spec) -> Any:
        length = raw.TensorListLength(input_handle.tensor)
        return raw.TensorListResize(doutput_handle, length), None


@op
class TensorListSetItem(ListOp):
    """The list with another element at an index."""

    signature = (
        "input_handle: variant, index: int32, item: element_dtype;"
        " resize_if_index_out_of_bounds: bool = False -> output_handle: variant"
    )
    native_exact = True

    def infer(self, input_handle: Spec, index: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, input_handle, index, item, resize_if_index_out_of_bounds, element_dtype):
        at = scalar_index(index)
        check_element(input_handle, item, element_dtype, "set")
        if not 0 <= at < input_handle.size:
            if at < 0 or not resize_if_index_out_of_bounds:
                raise invalid_argument(
                    f"Trying to modify element {at} in a list with {input_handle.size} elements."
                )
            input_handle = input_handle.resized(at + 1)
        return input_handle.with_item(at, item)

    def gradient(
        self, doutput_handle, input_handle: Spec, index, item: Spec, resize_if_index_out_of_bounds
    ) -> Any:
        def of_list() -> Any:
            zeros = zeros_of(item)
            rest = raw.TensorListSetItem(doutput_handle, index, zeros)
            if resize_if_index_out_of_bounds:
                length = raw.TensorListLength(input_handle.tensor)
                rest = raw.TensorListResize(rest, length)
            return rest

        def of_item() -> Any:
            return raw.TensorListGetItem(
                doutput_handle, index, form_of(item), element_dtype=item.dtype
            )

        return of_list, None, of_item


@op
class TensorListGetItem(ListOp):
    """One element; zeros if it was never set."""

    signature = (
        "input_handle: variant, index: int32, element_shape: Tshape;"
        " element_dtype: type -> item: element_dtype"
    )
    Tshape = (int32, int64)
    native_exact = True
    shape_input = "element_shape"

    def infer(self, input_handle: Spec, element_shape: Spec, element_dtype: DType):
        return Spec(element_dtype, element_shape_of(element_shape))

    def kernel(self, input_handle, index, element_shape, element_dtype):
        at = scalar_index(index)
        check_dtype(input_handle, element_dtype)
        if not 0 <= at < input_handle.size:
            raise invalid_argument(
                f"Trying to access element {at} in a list with {input_handle.size} elements."
            )
        item = input_handle.get(at)
        return absent_element(input_handle, element_shape) if item is None else item

    def gradient(self, ditem, input_handle: Spec, index, item: Spec) -> Any:
        # A list with one element: sums of lists take time for the elements that are set only.
        length = raw.TensorListLength(input_handle.tensor)
        empty = raw.TensorListReserve(form_of(item), length, element_dtype=item.dtype)
        return raw.TensorListSetItem(empty, index, ditem), None, None


@op
class TensorListConcatLists(ListOp):
    """The elements of two lists as one list."""

    signature = "input_a: variant, input_b: variant; element_dtype: type -> output: variant"
    differentiable = False

    def infer(self, input_a: Spec, input_b: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, input_a, input_b, element_dtype):
        check_dtype(input_a, element_dtype)
        check_dtype(input_b, element_dtype)
        items = input_a.items() + input_b.items()
        dims = shapes.join(input_a.dims, input_b.dims)
        return TensorList(items, len(items), element_dtype, -1, dims)


# -- elements and their shapes ---------------------------------------------------------


def scalar_index(index: Any) -> int:
    """An index that a kernel was given. Raises InvalidArgumentError for vectors."""
    if getattr(index, "ndim", 0):
        raise invalid_argument(
            f"Expected argument 1 to be a scalar. ReceivedTensor<type: int32 shape: {shapes.brackets(index.shape)}>"
        )
    return int(index)


def check_dtype(handle: Any, element_dtype: DType) -> None:
    """Raises InvalidArgumentError unless the list has elements of that type."""
    if handle.element is not element_dtype:
        raise invalid_argument(
            f"Invalid data types; op elements {_kernel_name(element_dtype)} but list elements "
            f"{_kernel_name(handle.element)}"
        )


def check_element(handle: Any, item: Any, element_dtype: DType, verb: str) -> None:
    """Raises InvalidArgumentError if the list may not contain the item."""
    if handle.element is not element_dtype:
        check_dtype(handle, element_dtype)
    dims = handle.dims
    if dims is None or dims == item.shape:
        return
    if not shapes.compatible(dims, item.shape):
        what = "push item" if verb == "push" else "set a tensor at an index"
        raise invalid_argument(
            f"Tried to {what} with incompatible shape. Item element shape: {shapes.brackets(item.shape)} list shape: "
            f"{shapes.brackets(dims)}"
        )


def _kernel_name(dtype: DType) -> str:
    return _KERNEL_NAMES.get(dtype.name, dtype.name)


def merged_dims(handle: TensorList, form: Any) -> Dims:
    """The elements' shape, merged from the op's and the list's. Raises if they contradict."""
    declared = dims_of_form(form)
    try:
        return shapes.merge(declared, handle.dims)
    except ValueError:
        raise invalid_argument(
            f"PartialTensorShape: Incompatible shapes during merge: {shapes.brackets(declared)} vs. "
            f"{shapes.brackets(handle.dims)}"
        ) from None


def absent_element(handle: TensorList, form: Any) -> Any:
    """What an element counts as that was never set: zeros.

    Raises InvalidArgumentError if neither a shape nor another element determines their size.
    """
    dims = merged_dims(handle, form)
    if not shapes.known(dims):
        found = {item.shape for item in handle.items() if item is not None}
        if len(found) != 1:
            raise invalid_argument(
                "Trying to read an uninitialized tensor but element_shape is not fully defined: "
                f"{shapes.brackets(dims)} and {'no list element is set' if not found else 'set elements differ in shape'}."
            )
        dims = found.pop()
    return zero_element(handle.element, dims)


def dims_of_form(form: Any) -> Dims:
    """The shape that a kernel was given: -1 is unknown, a scalar any rank."""
    if np.ndim(form) == 0:
        return None
    return tuple([None if d < 0 else d for d in form.tolist()])


def _as_form(dims: Dims) -> np.ndarray:
    if dims is None:
        return np.asarray(-1, np.int32)
    return np.asarray([-1 if d is None else d for d in dims], np.int32)


def element_form(spec: Spec) -> np.ndarray:
    """A shape as list ops take it: -1 for each unknown dimension, a scalar -1 for any rank."""
    return _as_form(spec.shape)


def form_of(spec: Spec) -> Any:
    """The shape of a gradient rule's input: in numbers, or computed where it is open."""
    if shapes.known(spec.shape) or spec.tensor is None:
        return element_form(spec)
    if not spec.dtype.is_numpy_compatible:
        return np.asarray([], np.int32)
    return raw.Shape(spec.tensor)


def zeros_of(spec: Spec) -> Any:
    """Zeros like a gradient rule's input."""
    if not spec.dtype.is_numpy_compatible or not shapes.known(spec.shape):
        return raw.ZerosLike(spec.tensor)
    if spec.dtype is string:
        return np.full(spec.shape, b"", object)
    if (shapes.count(spec.shape) or 0) <= MAX_CONSTANT_ELEMENTS:
        return np.zeros(spec.shape, spec.dtype.numpy)
    zero = np.zeros((), spec.dtype.numpy)
    return raw.Fill(np.asarray(spec.shape, np.int32), zero)


def element_shape_of(form: Spec) -> Any:
    """The shape that list ops were given, as far as it is known."""
    if form.rank == 0 or form.partial is None:
        return None
    return form.as_shape()


def rows_form(spec: Spec) -> Any:
    """The shape of the rows of a gradient rule's input, as list ops take it."""
    dims = spec.shape
    if dims is not None and shapes.known(dims[1:]):
        return element_form(Spec(spec.dtype, dims[1:]))
    return raw.Shape(spec.tensor)[1:]


@op
class FakeParam(Op):
    """A dummy for a value that the branch taken does not compute; it is never used."""

    signature = "; dtype: type, shape: shape -> output: dtype"
    differentiable = False
    carries_strings = True

    def infer(self, dtype: DType, shape: Any) -> Spec:
        return Spec(dtype, shape)

    def kernel(self, dtype, shape):
        if not dtype.is_numpy_compatible:
            return TensorList([], 0, dtype)
        sizes = [d or 0 for d in shape or ()]
        return np.zeros(sizes, dtype.numpy)


__all__ = [
    "TensorList",
    "absent_element",
    "check_dtype",
    "element_form",
    "element_shape_of",
    "form_of",
    "merged_dims",
    "rows_form",
]
