"""Writes the nodes of an ONNX graph: operands are values or known arrays, names are unique in the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from intaglio.base.shapes import Dims
from intaglio.export.onnx import types
from intaglio.export.onnx.values import (
    ComplexValue,
    Operand,
    Unexportable,
    Value,
    dims_of,
    is_known,
    known,
)

INT64 = np.dtype(np.int64)
BOOL = np.dtype(np.bool_)
FLOAT32 = np.dtype(np.float32)


def tensor(array: Any, name: str) -> onnx.TensorProto:
    """An array as a message. Raises Unexportable for elements that ONNX has not."""
    array = np.asarray(array)
    if array.dtype.kind == "O":
        texts: Any = [v if isinstance(v, bytes) else str(v).encode() for v in array.reshape(-1)]
        return helper.make_tensor(name, onnx.TensorProto.STRING, array.shape, texts)
    types.element_type(array.dtype)
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


class Model:
    """What the graphs of one model share: names, initializers, and the version of the operators."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.initializers: dict[str, onnx.TensorProto] = {}
        self._taken: set[str] = set()
        self._arrays: dict[Any, tuple[str, Any]] = {}
        # The names of arrays that are variables' values.
        self.labels: dict[int, str] = {}

    def name(self, wanted: str) -> str:
        """A name like the wanted one, which nothing else of the model has."""
        base = re.sub(r"[\s:]+", "_", wanted) or "value"
        found, number = base, 1
        while found in self._taken:
            found, number = f"{base}_{number}", number + 1
        self._taken.add(found)
        return found

    def initializer(self, array: Any) -> str:
        """The name of the initializer with these numbers; equal small ones are one."""
        array = np.asarray(array)
        small = array.size <= 64 and array.dtype.kind != "O"
        key: Any = (array.dtype.str, array.dtype, array.shape, array.tobytes()) if small else 0
        key = key or id(array)
        found = self._arrays.get(key)
        if found is None:
            name = self.name(self.labels.get(id(array), "constant"))
            self.initializers[name] = tensor(array, name)
            found = self._arrays[key] = (name, array)
        return found[0]


class Builder:
    """Writes the nodes of one graph: the model's own, a branch or a body."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes: list[onnx.NodeProto] = []
        # What names and notes of new nodes follow: the node that is being lowered.
        self.label = "value"
        self.note = ""

    def within(self) -> Builder:
        """A builder for a branch or body."""
        found = Builder(self.model)
        found.label, found.note = self.label, self.note
        return found

    def name_of(self, operand: Operand) -> str:
        """The name by which a node refers to an operand; None is an input left out."""
        if operand is None:
            return ""
        if is_known(operand):
            return self.model.initializer(operand)
        if isinstance(operand, Value):
            return operand.name
        if isinstance(operand, ComplexValue):
            raise Unexportable("ONNX' operators take no complex numbers")
        raise Unexportable(f"a {type(operand).__name__} is no operand of an ONNX graph")

    # -- nodes -----------------------------------------------------------------------------

    def add(
        self,
        operator: str,
        *operands: Operand,
        dtype: Any = None,
        dims: Dims = None,
        domain: str = "",
        **attributes: Any,
    ) -> Value:
        """A node of one output, of the first operand's dtype if none is named."""
        outputs = self.several(operator, operands, [dtype], domain, **attributes)
        return outputs[0]._replace(dims=dims)

    def several(
        self,
        operator: str,
        operands: Sequence[Operand],
        dtypes: Sequence[Any],
        domain: str = "",
        **attributes: Any,
    ) -> list[Value]:
        """A node with outputs of these dtypes; None is the first operand's.

        Operands of a type that the operator has not are computed with in a wider one.
        """
        operands, wide = self._accepted(operator, operands, domain)
        names = [self.name_of(v) for v in operands]
        first = next((v.dtype for v in operands if v is not None), FLOAT32)
        values: list[Value] = []
        returned: list[Value] = []
        for position, dtype in enumerate(dtypes):
            wanted = np.dtype(dtype if dtype is not None else wide.get("", first))
            kind = types.variable(operator, domain, self.model.opset, position, True)
            computed = wide.get(f"wide {kind}", wanted) if wanted == wide.get(kind) else wanted
            values.append(Value(self.model.name(self.label), np.dtype(computed)))
            returned.append(values[-1]._replace(dtype=wanted))
        self.node(operator, names, [v.name for v in values], domain, **attributes)
        return [
            v if v.dtype == r.dtype else self.cast(v, r.dtype)
            for v, r in zip(values, returned, strict=True)
        ]

    def node(
        self,
        operator: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str = "",
        **attributes: Any,
    ) -> None:
        """A node between names."""
        attributes = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(operator, inputs, outputs, domain=domain, **attributes)
        node.name = outputs[0] if outputs else ""
        node.doc_string = self.note
        self.nodes.append(node)

    def _accepted(
        self, operator: str, operands: Sequence[Operand], domain: str
    ) -> tuple[list[Operand], dict[str, Any]]:
        """The operands in types that the operator takes, and the dtypes that were widened by type name."""
        opset = self.model.opset
        found: list[Operand] = []
        wide: dict[str, Any] = {}
        for position, operand in enumerate(operands):
            if operand is None or (isinstance(operand, Value) and operand.is_sequence):
                found.append(operand)
                continue
            dtype = np.dtype(operand.dtype)
            kind = types.variable(operator, domain, opset, position)
            wider = types.widened(operator, domain, opset, position, dtype)
            if position == 0:
                wide[""] = dtype
            if wider != dtype:
                wide[kind], wide[f"wide {kind}"] = dtype, wider
                operand = self.cast(operand, wider)
            found.append(operand)
        return found, wide

    # -- what many rules write ------------------------------------------------------------

    def cast(self, x: Operand, dtype: Any) -> Operand:
        """The elements in another dtype."""
        dtype = np.dtype(dtype)
        if np.dtype(x.dtype) == dtype:
            return x
        if is_known(x):
            return np.asarray(x).astype(dtype)
        name = self.model.name(self.label)
        self.node("Cast", [x.name], [name], to=types.element_type(dtype))
        return Value(name, dtype, x.dims)

    def int64(self, x: Operand) -> Operand:
        """Sizes and indices as ONNX takes them."""
        return self.cast(x, INT64)

    def shape(self, x: Operand) -> Operand:
        """The sizes of all dimensions, of int64; known ones at once."""
        dims = dims_of(x)
        if dims is not None and None not in dims:
            return np.array(dims, np.int64)
        found = self.add("Shape", x, dtype=INT64)
        return found._replace(dims=None if dims is None else (len(dims),))

    def sizes(self, x: Operand, axes: Sequence[int]) -> Operand:
        """The sizes of some dimensions, in a vector of int64."""
        shape = self.shape(x)
        if is_known(shape):
            return np.asarray(shape)[list(axes)]
        return self.add("Gather", shape, np.array(axes, np.int64), axis=0, dims=(len(axes),))

    def reshape(self, x: Operand, shape: Operand, dims: Dims = None) -> Operand:
        """The elements in another shape; a dimension of -1 follows, one of 0 has no elements."""
        if is_known(x) and is_known(shape):
            return np.asarray(x).reshape(np.asarray(shape))
        return self.add("Reshape", x, self.int64(shape), allowzero=1, dims=dims)

    def transpose(self, x: Operand, perm: Sequence[int]) -> Operand:
        """The dimensions in another order; known arrays, such as filters, at once."""
        order = [int(p) for p in perm]
        if order == sorted(order):
            return x
        if is_known(x):
            array = np.asarray(x)
            found = np.ascontiguousarray(array.transpose(order))
            if id(x) in self.model.labels:
                self.model.labels[id(found)] = self.model.labels[id(x)]
            return found
        dims = None if x.dims is None else tuple([x.dims[p] for p in order])
        return self.add("Transpose", x, perm=order, dims=dims)

    def unsqueeze(self, x: Operand, axes: Sequence[int]) -> Operand:
        """The elements with dimensions of one in these places of the result."""
        if is_known(x):
            return np.expand_dims(np.asarray(x), tuple(axes))
        return self.add("Unsqueeze", x, np.array(axes, np.int64))

    def squeeze(self, x: Operand, axes: Sequence[int]) -> Operand:
        """The elements without these dimensions of one."""
        if is_known(x):
            return np.squeeze(np.asarray(x), tuple(axes))
        return self.add("Squeeze", x, np.array(axes, np.int64))

    def concat(self, values: Sequence[Operand], axis: int = 0) -> Operand:
        """The values one after the other."""
        if all(is_known(v) for v in values):
            return np.concatenate([np.asarray(v) for v in values], axis)
        return self.add("Concat", *values, axis=axis)

    def vector(self, x: Operand) -> Operand:
        """A scalar, or a vector of one element, as a vector of int64."""
        x = self.int64(x)
        return np.asarray(x).reshape(1) if is_known(x) else self.reshape(x, np.array([1]))

    def slice(
        self, x: Operand, starts: Operand, ends: Operand, axes: Operand, steps: Operand = None
    ) -> Value:
        """A part of each of some dimensions."""
        return self.add("Slice", x, starts, ends, axes, steps)

    def filled(self, shape: Operand, value: Any, dtype: Any) -> Operand:
        """A value in every element of a shape."""
        if is_known(shape) and np.prod(np.asarray(shape), initial=1) <= 1024:
            return np.full(tuple(np.asarray(shape)), value, dtype)
        number = tensor(np.full((1,), value, np.dtype(dtype)), "value")
        return self.add("ConstantOfShape", self.int64(shape), dtype=dtype, value=number)

    def scalar(self, value: Any, like: Operand) -> np.ndarray:
        """A number of an operand's dtype."""
        return np.asarray(value, np.dtype(like.dtype))

    def constants(self, x: Operand, what: str) -> list[int]:
        """The integers of a value that must be known."""
        return [int(v) for v in known(x, what).reshape(-1)]
