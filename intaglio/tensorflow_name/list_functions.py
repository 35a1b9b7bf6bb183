"""`tensorflow.python.ops.list_ops`: functions of lists of tensors, which tf-agents keeps trajectories in."""

from __future__ import annotations

from typing import Any

from intaglio.base.shapes import as_dims
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor

# Those whose parameters are the op's own.
tensor_list_concat_lists = raw.TensorListConcatLists
tensor_list_element_shape = raw.TensorListElementShape
tensor_list_length = raw.TensorListLength
tensor_list_push_back = raw.TensorListPushBack
tensor_list_push_back_batch = raw.TensorListPushBackBatch
tensor_list_resize = raw.TensorListResize


def _shape(element_shape: Any) -> Any:
    """A shape as list ops take it: an int32 vector, or the scalar -1 for an unknown rank."""
    if isinstance(element_shape, Tensor):
        return element_shape
    dims = as_dims(element_shape)
    return -1 if dims is None else [-1 if d is None else d for d in dims]


def empty_tensor_list(
    element_shape: Any, element_dtype: Any, max_num_elements: Any = None, name: str | None = None
) -> Any:
    """A list without elements, of at most `max_num_elements`."""
    most = -1 if max_num_elements is None else max_num_elements
    return raw.EmptyTensorList(
        element_shape=_shape(element_shape),
        element_dtype=element_dtype,
        max_num_elements=most,
        name=name,
    )


def tensor_list_reserve(
    element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """A list of so many elements without values."""
    return raw.TensorListReserve(
        element_shape=_shape(element_shape),
        num_elements=num_elements,
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Any:
    """The rows of a tensor as a list."""
    return raw.TensorListFromTensor(tensor=tensor, element_shape=_shape(element_shape), name=name)


def tensor_list_get_item(
    input_handle: Any,
    index: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Any:
    """The element at an index."""
    return raw.TensorListGetItem(
        input_handle=input_handle,
        index=index,
        element_shape=_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_pop_back(input_handle: Any, element_dtype: Any, name: str | None = None) -> Any:
    """The list without its last element, and that element."""
    return raw.TensorListPopBack(
        input_handle=input_handle, element_shape=-1, element_dtype=element_dtype, name=name
    )


def tensor_list_gather(
    input_handle: Any,
    indices: Any,
    element_dtype: Any,
    element_shape: Any = None,
    name: str | None = None,
) -> Any:
    """The elements at indices, stacked."""
    return raw.TensorListGather(
        input_handle=input_handle,
        indices=indices,
        element_shape=_shape(element_shape),
        element_dtype=element_dtype,
        name=name,
    )


def tensor_list_stack(
    input_handle: Any,
    element_dtype: Any,
    num_elements: int = -1,
    element_shape: Any = None,
    name: str | None = None,
) -> Any:
    """All elements, stacked."""
    return raw.TensorListStack(
        input_handle=input_handle,
        element_shape=_shape(element_shape),
        element_dtype=element_dtype,
        num_elements=num_elements,
        name=name,
    )


def tensor_list_scatter(
    tensor: Any,
    indices: Any,
    element_shape: Any = None,
    input_handle: Any = None,
    name: str | None = None,
) -> Any:
    """A list with the rows of a tensor at indices: a new one, or one that was there."""
    if input_handle is not None:
        return raw.TensorListScatterIntoExistingList(
            input_handle=input_handle, tensor=tensor, indices=indices, name=name
        )
    return raw.TensorListScatterV2(
        tensor=tensor,
        indices=indices,
        element_shape=_shape(element_shape),
        num_elements=-1,
        name=name,
    )


def tensor_list_set_item(
    input_handle: Any,
    index: Any,
    item: Any,
    resize_if_index_out_of_bounds: bool = False,
    name: str | None = None,
) -> Any:
    """The list with another element at an index."""
    return raw.TensorListSetItem(
        input_handle=input_handle,
        index=index,
        item=item,
        resize_if_index_out_of_bounds=resize_if_index_out_of_bounds,
        name=name,
    )
