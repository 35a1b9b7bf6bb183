"""Element types of ONNX: which of NumPy they are, which ones an operator accepts, and wider ones."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper

from intaglio.base.dtypes import from_numpy
from intaglio.export.onnx.values import Unexportable

# Wider types, the nearest first: an operator without a type computes in one of these.
_WIDER = {
    "bool": ("uint8", "int32", "float32"),
    "int8": ("int16", "int32", "int64", "float32"),
    "uint8": ("uint16", "int32", "int64", "float32"),
    "int16": ("int32", "int64", "float32"),
    "uint16": ("uint32", "int32", "int64", "float32"),
    "int32": ("int64", "float64", "float32"),
    "uint32": ("uint64", "int64", "float64"),
    "int64": (),
    "uint64": (),
    "bfloat16": ("float32",),
    "float16": ("float32",),
    "float32": ("float64",),
    "float64": ("float32",),
}


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the elements in memory: integers where they are quantised."""
    fields = dtype.fields
    return dtype[0] if fields is not None and len(fields) == 1 else dtype


@functools.cache
def element_type(dtype: np.dtype[Any]) -> int:
    """The number of a dtype among ONNX' types. Raises Unexportable for one that ONNX has not."""
    if dtype.kind == "O":
        return onnx.TensorProto.STRING
    try:
        return helper.np_dtype_to_tensor_dtype(stored(dtype))
    except (KeyError, ValueError, TypeError) as e:
        raise Unexportable(f"ONNX has no elements of type {dtype}") from e


def type_text(dtype: np.dtype[Any]) -> str:
    """The type of a tensor as schemas write it: `tensor(float)`."""
    name = onnx.TensorProto.DataType.Name(element_type(dtype)).lower()
    return f"tensor({name})"


@functools.cache
def schema(operator: str, domain: str, opset: int) -> Any:
    """The schema of an operator; None where this version of ONNX has none."""
    try:
        return defs.get_schema(operator, opset, domain)
    except defs.SchemaError:
        return None


@functools.cache
def accepted(operator: str, domain: str, opset: int, position: int) -> frozenset[str] | None:
    """The types of an operator's input, as texts; None where every type is."""
    found = schema(operator, domain, opset)
    if found is None or not found.inputs:
        return None
    formal = found.inputs[min(position, len(found.inputs) - 1)]
    for constraint in found.type_constraints:
        if constraint.type_param_str == formal.type_str:
            return frozenset(constraint.allowed_type_strs)
    return frozenset([formal.type_str])


@functools.cache
def variable(operator: str, domain: str, opset: int, position: int, of_output: bool = False) -> str:
    """The name of the type of an operator's input or output: equal names are equal types."""
    found = schema(operator, domain, opset)
    formals = () if found is None else found.outputs if of_output else found.inputs
    return formals[min(position, len(formals) - 1)].type_str if formals else ""


def widened(operator: str, domain: str, opset: int, position: int, dtype: Any) -> np.dtype[Any]:
    """The dtype in which an operator computes with elements of a dtype: the same if it can.

    Raises Unexportable if it has none that holds them.
    """
    types = accepted(operator, domain, opset, position)
    if types is None or type_text(dtype) in types:
        return dtype
    for name in _WIDER.get(dtype.name, ()):
        wider = np.dtype(name)
        if type_text(wider) in types:
            return wider
    raise Unexportable(f"ONNX' {operator} takes no elements of type {_name(dtype)}")


def _name(dtype: np.dtype[Any]) -> str:
    try:
        return from_numpy(dtype).name
    except TypeError:
        return str(dtype)
