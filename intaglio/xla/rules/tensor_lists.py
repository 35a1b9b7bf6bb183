"""Ops on tensor lists: those of one list and one element, stacks and sums."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims
from intaglio.opdef import raw
from intaglio.xla.lists import List
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, is_traced, known


def _dims(form: Any) -> Dims:
    """The dimensions that an op gives its elements: -1 for what is open, a scalar for any rank."""
    if is_traced(form):
        return None
    sizes = np.asarray(form)
    return tuple([None if d < 0 else int(d) for d in sizes]) if sizes.ndim else None


def _list(handle: Any) -> List:
    if not isinstance(handle, List):
        raise Untraceable("a variant that is no tensor list")
    return handle


@xla(raw.EmptyTensorList)
def _empty(element_shape, max_num_elements, element_dtype: DType) -> List:
    limit = int(known(max_num_elements, "the limit of a list"))
    return List.empty(element_dtype, _dims(element_shape), limit)


@xla(raw.TensorListReserve)
def _reserve(element_shape, num_elements, element_dtype: DType) -> List:
    size = int(known(num_elements, "the number of elements of a list"))
    return List.unset(element_dtype, _dims(element_shape), size)


@xla(raw.TensorListPushBack)
def _push(input_handle, tensor) -> List:
    return _list(input_handle).pushed(tensor)


@xla(raw.TensorListPopBack)
def _pop(input_handle, element_shape) -> Any:
    return _list(input_handle).popped(_dims(element_shape))


@xla(raw.TensorListLength)
def _length(input_handle) -> Any:
    length = _list(input_handle).length
    return length.astype(np.int32) if is_traced(length) else np.asarray(length, np.int32)


@xla(raw.TensorListElementShape)
def _element_shape(input_handle, shape_type: DType) -> Any:
    dims = _list(input_handle).dims
    form = -1 if dims is None else [-1 if d is None else d for d in dims]
    return np.asarray(form, shape_type.numpy)


@xla(raw.TensorListSetItem)
def _set(input_handle, index, item, resize_if_index_out_of_bounds) -> List:
    return _list(input_handle).with_item(index, item, resize_if_index_out_of_bounds)


@xla(raw.TensorListGetItem)
def _get(input_handle, index, element_shape) -> Any:
    return _list(input_handle).get(index, _dims(element_shape))


@xla(raw.TensorListResize)
def _resize(input_handle, size) -> List:
    found, wanted = _list(input_handle), int(known(size, "the size of a list"))
    if found.base is not None:
        raise Untraceable("the number of elements of a list depends on data")
    return found.reserved(wanted).like(size=wanted)


@xla(raw.TensorListStack)
def _stack(input_handle, element_shape) -> Any:
    return _list(input_handle).rows(_dims(element_shape))


@xla(raw.TensorListGather)
def _gather(input_handle, indices, element_shape) -> Any:
    return jnp.take(_list(input_handle).rows(_dims(element_shape)), indices, 0, mode="clip")


@xla(raw.TensorListFromTensor)
def _from_tensor(tensor, element_dtype: DType) -> List:
    return List.of(element_dtype, tensor)


@xla(raw.TensorListScatterV2)
def _scatter(tensor, indices, element_dtype: DType, num_elements) -> List:
    where = known(indices, "the indices of a list")
    size = int(known(num_elements, "the number of elements of a list"))
    size = max(size, int(where.max(initial=-1)) + 1)
    rows = jnp.zeros((size, *tensor.shape[1:]), tensor.dtype).at[where].set(tensor)
    return List.of(element_dtype, rows)


@xla(raw.AddN, raw.AccumulateNV2)
def _sum(inputs, node, evaluator) -> Any:
    whole = evaluator.stacked.get(tuple(map(id, node.inputs)))
    if whole is not None:  # a sum over replicas is a collective
        return jnp.sum(whole, axis=0, dtype=whole.dtype)
    if not isinstance(inputs[0], List):
        total = inputs[0]
        for value in inputs[1:]:
            total = jnp.add(total, value)
        return total
    filled = [v for v in inputs if v.buffer is not None] or list(inputs[:1])
    buffers = [v.reserved(max(v.capacity for v in filled)).buffer for v in filled]
    return filled[0].like(
        buffer=None if buffers[0] is None else sum(buffers[1:], buffers[0]),
        capacity=max(v.capacity for v in filled),
    )


@xla(raw.ZerosLike)
def _zeros_like(x) -> Any:
    if isinstance(x, List):
        return x.like(buffer=None if x.buffer is None else jnp.zeros_like(x.buffer))
    if is_traced(x):
        return jnp.zeros_like(x)
    raise Untraceable("zeros of what is no array")
