"""Lists of tensors as values of a graph: what loops gather, and what their gradients take back.

A list is never changed. Lists that grow out of one another share a buffer, so that pushing
and popping take the same short time however long the list is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import ALL, VARIANT_MARKER, DType, int32, variant
from intaglio.base.errors import invalid_argument
from intaglio.op import raw
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec


class TensorList:
    """The value of a list tensor: the first `size` elements of `buffer`."""

    __slots__ = ("buffer", "element", "limit", "size")

    dtype = VARIANT_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(
        self, buffer: list[Any], size: int, element: DType, limit: int = -1
    ) -> None:
        self.buffer = buffer
        self.size = size
        self.element = element
        self.limit = limit

    def items(self) -> list[Any]:
        """The elements; None for those never set."""
        return self.buffer[: self.size]

    def pushed(self, item: Any) -> TensorList:
        """The list with one more element. Raises InvalidArgumentError beyond the limit."""
        if 0 <= self.limit <= self.size:
            raise invalid_argument(
                f"Tried to push item into a full list list size: {self.size} max_num_elements: {self.limit}"
            )
        buffer = self.buffer
        if len(buffer) != self.size:  # another list has grown here already
            buffer = self.items()
        buffer.append(item)
        return TensorList(buffer, self.size + 1, self.element, self.limit)

    def popped(self) -> TensorList:
        """The list without its last element. Raises InvalidArgumentError if it is empty."""
        if not self.size:
            raise invalid_argument("Trying to pop from an empty list.")
        return TensorList(self.buffer, self.size - 1, self.element, self.limit)

    def last(self) -> Any:
        """The last element. Raises InvalidArgumentError if there is none."""
        if not self.size:
            raise invalid_argument("Trying to pop from an empty list.")
        return self.buffer[self.size - 1]

    def zeros_like(self) -> TensorList:
        """A list of zeros with the elements' shapes."""
        zeros = [_zeros(item) for item in self.items()]
        return TensorList(zeros, self.size, self.element, self.limit)

    def add_n(self, lists: Sequence[TensorList]) -> TensorList:
        """The sum of lists of one length, element by element."""
        if any(other.size != self.size for other in lists):
            raise invalid_argument(
                f"Trying to add two lists of tensors with different lengths. One is {[v.size for v in lists]}"
            )
        sums = [
            _sum(column) for column in zip(*[v.items() for v in lists], strict=True)
        ]
        return TensorList(sums, self.size, self.element, self.limit)


def _zeros(item: Any) -> Any:
    if item is None:
        return None
    if isinstance(item, TensorList):
        return item.zeros_like()
    return np.zeros(item.shape, item.dtype)


def _sum(column: Sequence[Any]) -> Any:
    present = [c for c in column if c is not None]
    if not present:
        return None
    total = present[0]
    if isinstance(total, TensorList):
        return total.add_n(present)
    for item in present[1:]:
        total = total + item
    return total


def absent_element(element: DType, dims: Any) -> Any:
    """What an element counts as that was never set: zeros. Raises if its shape is open."""
    if not shapes.known(dims):
        raise invalid_argument(
            "Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{shapes.text(dims)} and no other tensor in the list is set."
        )
    return np.zeros(dims, element.numpy)


class ListOp(Op):
    """An op on lists of tensors."""

    element_dtype = ALL
    shape_type = (int32,)


@op
class EmptyTensorList(ListOp):
    """A list without elements; `max_num_elements` of -1 sets no limit."""

    signature = (
        "element_shape: shape_type, max_num_elements: int32; element_dtype: type"
        " -> handle: variant"
    )
    differentiable = False

    def infer(self, element_shape: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, max_num_elements, element_dtype):
        return TensorList([], 0, element_dtype, int(max_num_elements))


@op
class TensorListPushBack(ListOp):
    """The list with one more element."""

    signature = "input_handle: variant, tensor: element_dtype -> output_handle: variant"

    def infer(self, input_handle: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, input_handle, tensor):
        return input_handle.pushed(tensor)

    def gradient(self, doutput_handle, tensor: Spec) -> Any:
        rest, last = raw.TensorListPopBack(
            doutput_handle, element_form(tensor), element_dtype=tensor.dtype
        )
        return rest, last


@op
class TensorListPopBack(ListOp):
    """The list without its last element, and that element."""

    signature = (
        "input_handle: variant, element_shape: int32; element_dtype: type"
        " -> output_handle: variant, tensor: element_dtype"
    )

    def infer(
        self, input_handle: Spec, element_shape: Spec, element_dtype: DType
    ) -> Any:
        return Spec(variant, ()), Spec(element_dtype, element_shape_of(element_shape))

    def kernel(self, input_handle, element_shape, element_dtype):
        item = input_handle.last()
        if item is None:
            item = absent_element(element_dtype, _given_dims(element_shape))
        return input_handle.popped(), item

    def gradient(self, doutput_handle, dtensor) -> Any:
        return raw.TensorListPushBack(doutput_handle, dtensor), None


@op
class TensorListLength(ListOp):
    """The number of elements."""

    signature = "input_handle: variant -> length: int32"
    differentiable = False

    def infer(self, input_handle: Spec) -> Spec:
        return Spec(int32, ())

    def kernel(self, input_handle):
        return np.asarray(input_handle.size, np.int32)


@op
class TensorListStack(ListOp):
    """All elements as one tensor; `num_elements` of -1 allows any number."""

    signature = (
        "input_handle: variant, element_shape: int32; element_dtype: type,"
        " num_elements: int = -1 -> tensor: element_dtype"
    )

    def infer(
        self,
        input_handle: Spec,
        element_shape: Spec,
        element_dtype: DType,
        num_elements: int,
    ) -> Spec:
        dims = element_shape_of(element_shape)
        count = None if num_elements < 0 else num_elements
        return Spec(element_dtype, None if dims is None else (count, *dims))

    def kernel(self, input_handle, element_shape, element_dtype, num_elements):
        items = input_handle.items()
        if num_elements not in (-1, len(items)):
            raise invalid_argument(
                f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
            )
        present = next((item for item in items if item is not None), None)
        if present is None:
            dims = _given_dims(element_shape)
            if not items and shapes.known(dims):
                return np.zeros((0, *dims), element_dtype.numpy)  # type: ignore[misc]
            zero = absent_element(element_dtype, dims)
        else:
            zero = np.zeros(present.shape, element_dtype.numpy)
        return np.stack([zero if item is None else item for item in items])

    def gradient(self, dtensor, element_shape) -> Any:
        return raw.TensorListFromTensor(dtensor, element_shape), None


@op
class TensorListFromTensor(ListOp):
    """The rows of a tensor as a list."""

    signature = (
        "tensor: element_dtype, element_shape: shape_type -> output_handle: variant"
    )

    def infer(self, tensor: Spec) -> Spec:
        return Spec(variant, ())

    def kernel(self, tensor, element_dtype):
        if not np.ndim(tensor):
            raise invalid_argument(
                "Tensor must be at least a vector, but saw shape: []"
            )
        return TensorList(list(tensor), len(tensor), element_dtype)

    def gradient(self, doutput_handle, tensor: Spec) -> Any:
        dims = None if tensor.shape is None else tensor.shape[1:]
        stacked = raw.TensorListStack(
            doutput_handle,
            element_form(Spec(tensor.dtype, dims)),
            element_dtype=tensor.dtype,
        )
        return stacked, None


def _given_dims(form: Any) -> Any:
    """The shape that a kernel was given: -1 is unknown, a scalar any rank."""
    if np.ndim(form) == 0:
        return None
    return tuple([None if d < 0 else d for d in np.asarray(form).tolist()])


def element_form(spec: Spec) -> np.ndarray:
    """A shape as list ops take it: -1 for each unknown dimension, a scalar -1 for any rank."""
    if spec.shape is None:
        return np.asarray(-1, np.int32)
    return np.asarray([-1 if d is None else d for d in spec.shape], np.int32)


def element_shape_of(form: Spec) -> Any:
    """The shape that list ops were given, as far as it is known."""
    if form.rank == 0 or form.partial is None:
        return None
    return form.as_shape()


@op
class FakeParam(Op):
    """Stands for a value that the branch taken does not compute; nobody looks at it."""

    signature = "; dtype: type, shape: shape -> output: dtype"
    differentiable = False

    def infer(self, dtype: DType, shape: Any) -> Spec:
        return Spec(dtype, shape)

    def kernel(self, dtype, shape):
        if not dtype.is_numpy_compatible:
            return TensorList([], 0, dtype)
        sizes = [d or 0 for d in shape or ()]
        return np.zeros(sizes, dtype.numpy)
