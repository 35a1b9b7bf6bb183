"""Tensors as the bytes of a TensorProto, and back."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType
from intaglio.base.errors import invalid_argument
from intaglio.graphdef import messages, tensors
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.strings import filled, shape_text


@op
class SerializeTensor(Op):
    """A tensor as the bytes of a TensorProto."""

    signature = "tensor: T -> serialized: string"
    T = (*dtypes.NUMERIC, dtypes.bool_, dtypes.string)
    differentiable = False

    def infer(self) -> Spec:
        return Spec(dtypes.string, ())

    def kernel(self, tensor, T: DType):
        return filled([tensor_bytes(tensor, T)], ())


def tensor_bytes(tensor: Any, dtype: DType) -> bytes:
    """An array as the bytes of a TensorProto."""
    proto = messages.TensorProto(
        dtype=dtype.as_datatype_enum, tensor_shape=tensors.shape_proto(np.shape(tensor))
    )
    if dtype is dtypes.string:
        proto.string_val.extend(np.asarray(tensor, object).ravel().tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(tensor).tobytes()
    return _bytes(proto, np.shape(tensor))


def _bytes(proto: Any, dims: Any) -> bytes:
    # A scalar has a shape message without dimensions, which is written all the same.
    if not dims:
        proto.tensor_shape.SetInParent()
    return proto.SerializeToString(deterministic=True)


@op
class ParseTensor(Op):
    """The tensor that a string is the TensorProto of."""

    signature = "serialized: string; out_type: type -> output: out_type"
    out_type = (*dtypes.NUMERIC, dtypes.bool_, dtypes.string)
    differentiable = False

    def infer(self, out_type: DType) -> Spec:
        return Spec(out_type, None)

    def kernel(self, serialized, out_type: DType):
        if np.ndim(serialized):
            raise invalid_argument(
                f"Expected `serialized` to be a scalar, got shape: {shape_text(np.shape(serialized))}"
            )
        data: Any = np.asarray(serialized, object)[()]
        try:
            proto = parsed(messages.TensorProto, data, "`serialized`")
        except MalformedError:
            shown = base64.b64encode(data).decode()
            raise invalid_argument(
                f"Could not parse `serialized` as TensorProto, base64: {shown}"
            ) from None
        try:
            array = tensors.array_of(proto)
        except MalformedError as e:
            raise invalid_argument(f"Cannot parse tensor from proto: {e}") from None
        found = tensors.dtype_of(proto.dtype)
        if found is not out_type:
            raise invalid_argument(
                f"Type mismatch between parsed tensor ({_name(found)}) and dtype ({_name(out_type)})"
            )
        return np.array(array)


def _name(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)
