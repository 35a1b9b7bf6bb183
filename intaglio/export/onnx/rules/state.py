"""Variables are initializers of the model; ops that hand on their inputs, and checks, which a model has not."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.rules.indexing import gathered, gathered_by_rows
from intaglio.export.onnx.values import Unexportable, Variable
from intaglio.opdef import raw


def _value(builder: Any, handle: Any) -> np.ndarray:
    """The value of a variable, named after it in the model."""
    if not isinstance(handle, Variable):
        raise Unexportable("it reads a resource that is no variable of the function")
    builder.model.labels[id(handle.array)] = handle.label
    return handle.array


@onnx_rule(raw.ReadVariableOp)
def _read(builder, resource) -> Any:
    return _value(builder, resource)


@onnx_rule(raw._ReadVariablesOp)
def _read_all(builder, resources) -> Any:
    return [[_value(builder, r) for r in resources]]


@onnx_rule(raw.ResourceGather)
def _gather(builder, resource, indices, batch_dims) -> Any:
    return gathered(builder, _value(builder, resource), indices, batch_dims, batch_dims)


@onnx_rule(raw.ResourceGatherNd)
def _gather_nd(builder, resource, indices) -> Any:
    return gathered_by_rows(builder, _value(builder, resource), indices)


@onnx_rule(raw.VariableShape)
def _variable_shape(builder, input, out_type: DType) -> Any:
    return np.array(_value(builder, input).shape, out_type.numpy)


@onnx_rule(raw.AssignVariableOp, raw.AssignAddVariableOp, raw.AssignSubVariableOp)
def _write(resource) -> Any:
    label = resource.label if isinstance(resource, Variable) else "a resource"
    raise Unexportable(
        f"it writes {label!r}, and an ONNX model keeps nothing between calls: return the new value "
        "from the function, and take the old one as an argument"
    )


@onnx_rule(raw.Identity, raw.StopGradient, raw.PreventGradient)
def _identity(input) -> Any:
    return input


@onnx_rule(raw.CheckNumerics, raw.CheckNumericsV2)
def _unchecked(tensor) -> Any:
    return tensor


@onnx_rule(raw.IdentityN)
def _identities(input) -> Any:
    return [list(input)]


@onnx_rule(raw.EnsureShape)
def _ensured(input) -> Any:
    return input


@onnx_rule(raw.PlaceholderWithDefault)
def _default(input) -> Any:
    return input


@onnx_rule(raw.NoOp, raw.Assert, raw._Refusal)
def _nothing() -> None:
    """A model does not check its data."""
