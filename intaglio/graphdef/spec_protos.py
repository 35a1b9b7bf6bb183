"""How types, shapes and specs are written as messages, for `experimental_as_proto`."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import DType
from intaglio.base.messages import Form
from intaglio.base.shapes import TensorShape
from intaglio.graphdef import saved_messages, tensors
from intaglio.graphdef.messages import TensorShapeProto
from intaglio.type_specs.type_spec import TensorSpec


def _dtype(dtype: DType) -> Any:
    return saved_messages.SerializedDType(datatype=dtype.as_datatype_enum)


def _spec(spec: TensorSpec) -> Any:
    spec_proto = saved_messages.TensorSpecProto(
        name=spec.name or "", dtype=spec.dtype.as_datatype_enum
    )
    spec_proto.shape.CopyFrom(tensors.shape_proto(spec.dims))
    return spec_proto


def _read_spec(proto: Any) -> TensorSpec:
    return TensorSpec(
        tensors.shape_of(proto.shape), tensors.dtype_of(proto.dtype), proto.name or None
    )


FORMS = {
    "DType": Form(
        lambda: saved_messages.SerializedDType,
        _dtype,
        lambda proto: tensors.dtype_of(proto.datatype),
    ),
    "TensorShape": Form(
        lambda: TensorShapeProto,
        lambda shape: shape.as_proto(),
        lambda proto: TensorShape(tensors.shape_of(proto)),
    ),
    "TensorSpec": Form(lambda: saved_messages.TensorSpecProto, _spec, _read_spec),
}
