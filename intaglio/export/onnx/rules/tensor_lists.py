"""Tensor lists as ONNX sequences: what TensorArrays and staged loops write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, string
from intaglio.export.onnx import types
from intaglio.export.onnx.builder import INT64
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import Operand, Unexportable, Value, is_known
from intaglio.opdef import raw


def _sequence(builder: Any, operator: str, *operands: Operand, dtype: Any, **more: Any) -> Value:
    found = builder.add(operator, *operands, dtype=dtype, **more)
    return found._replace(is_sequence=True)


def _slices(builder: Any, x: Operand) -> Value:
    """The slices of the first dimension."""
    return _sequence(builder, "SplitToSequence", x, dtype=x.dtype, axis=0, keepdims=0)


@onnx_rule(raw.EmptyTensorList)
def _empty(builder, element_dtype: DType) -> Any:
    kind = types.element_type(element_dtype.numpy)
    name = builder.model.name(builder.label)
    builder.node("SequenceEmpty", [], [name], dtype=kind)
    return Value(name, element_dtype.numpy, None, True)


@onnx_rule(raw.TensorListReserve)
def _reserve(builder, element_shape, num_elements, element_dtype: DType) -> Any:
    """Elements that are not set are zeros; of a shape that is not known, they have no elements."""
    form = np.asarray(element_shape).reshape(-1) if is_known(element_shape) else np.array([-1])
    dims = form if (form >= 0).all() and np.ndim(element_shape) else np.array([0])
    shape = builder.concat([builder.vector(num_elements), dims.astype(np.int64)])
    if is_known(shape) and element_dtype is not string:
        number = np.zeros((1,), element_dtype.numpy)
        filled = builder.add("Expand", number.reshape([1] * len(np.asarray(shape))), shape)
    else:
        filled = builder.filled(shape, 0, element_dtype.numpy)
    return _slices(builder, filled)


@onnx_rule(raw.TensorListFromTensor)
def _from_tensor(builder, tensor) -> Any:
    return _slices(builder, tensor)


@onnx_rule(raw.TensorListStack)
def _stack(builder, input_handle, element_dtype: DType) -> Any:
    return builder.add(
        "ConcatFromSequence", input_handle, dtype=element_dtype.numpy, axis=0, new_axis=1
    )


@onnx_rule(raw.TensorListLength)
def _length(builder, input_handle) -> Any:
    return builder.cast(builder.add("SequenceLength", input_handle, dtype=INT64), np.int32)


@onnx_rule(raw.TensorListGetItem)
def _get(builder, input_handle, index, element_dtype: DType) -> Any:
    place = builder.int64(index)
    return builder.add("SequenceAt", input_handle, place, dtype=element_dtype.numpy)


@onnx_rule(raw.TensorListSetItem)
def _set(builder, input_handle, index, item, resize_if_index_out_of_bounds) -> Any:
    place = builder.int64(index)
    dtype = input_handle.dtype
    if resize_if_index_out_of_bounds:
        raise Unexportable("a TensorArray that grows: create it with its size")
    shorter = _sequence(builder, "SequenceErase", input_handle, place, dtype=dtype)
    return _sequence(builder, "SequenceInsert", shorter, item, place, dtype=dtype)


@onnx_rule(raw.TensorListPushBack)
def _push(builder, input_handle, tensor) -> Any:
    return _sequence(builder, "SequenceInsert", input_handle, tensor, dtype=input_handle.dtype)


@onnx_rule(raw.TensorListPopBack)
def _pop(builder, input_handle, element_dtype: DType) -> Any:
    last = np.array(-1, np.int64)
    item = builder.add("SequenceAt", input_handle, last, dtype=element_dtype.numpy)
    rest = _sequence(builder, "SequenceErase", input_handle, dtype=input_handle.dtype)
    return rest, item


@onnx_rule(raw.TensorListGather)
def _gather(builder, input_handle, indices, element_dtype: DType) -> Any:
    whole = builder.add(
        "ConcatFromSequence", input_handle, dtype=element_dtype.numpy, axis=0, new_axis=1
    )
    return builder.add("Gather", whole, indices, axis=0)
