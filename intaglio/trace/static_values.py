"""Constant evaluation of small integer tensors, so that inference knows sizes, axes and shapes.

A size that a program computes from constants is a number while it is traced:
`tf.zeros(tf.pad([10], [[3, 1]], constant_values=1))` has the shape (1, 1, 1, 10, 1). The `infer` rules of
the ops that compute most sizes propagate values; for other ops the kernels are called, as TensorFlow does
for its shape functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int32, int64, string
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef.spec import Spec, of_array
from intaglio.runtime import interpreter

# Maximum number of elements of an evaluated tensor; larger ones are no sizes.
MAX_ELEMENTS = 254
# Maximum number of nodes evaluated for one tensor.
MAX_NODES = 64


class StaticValues:
    """The values of one graph's tensors that have been evaluated so far."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, Any] = {}  # by id: an array, or None

    def specs_with(self, values: Sequence[SymbolicTensor]) -> list[Spec] | None:
        """The specs of an op's inputs, with the values found by evaluation; None if there are none."""
        specs: list[Spec] | None = None
        for index, value in enumerate(values):
            if value.spec.value is None and value.dtype in (int32, int64):
                array = self._value(value, [MAX_NODES])
                if array is not None:
                    specs = [v.spec for v in values] if specs is None else specs
                    specs[index] = of_array(array, value.dtype)
        return specs

    def _value(self, tensor: SymbolicTensor, nodes_left: list[int]) -> Any:
        known = tensor.spec.value
        if known is not None:
            return known if np.size(known) <= MAX_ELEMENTS else None
        if id(tensor) not in self._found:
            self._found.update(dict.fromkeys(map(id, tensor.node.outputs)))
            if nodes_left[0] > 0 and _is_evaluated(tensor.node):
                nodes_left[0] -= 1
                self._evaluate(tensor.node, nodes_left)
        return self._found[id(tensor)]

    def _evaluate(self, node: Node, nodes_left: list[int]) -> None:
        operands: list[Any] = []
        for value in node.inputs:
            array = self._value(value, nodes_left)
            if array is None:
                return
            operands.append(array)
        try:
            arrays = interpreter.run_node(node, operands)
        except Exception:
            return  # the same error is raised when the graph runs
        for output, array in zip(node.outputs, arrays, strict=True):
            self._found[id(output)] = np.asarray(array)


def _is_evaluated(node: Node) -> bool:
    """Whether a node's outputs depend on its inputs alone, and are small."""
    op = node.op
    if op.stateful or op.is_random or op.has_graphs or op.kernel_fn is None or node.control:
        return False
    return all(_is_small(v.spec) for v in node.outputs)


def _is_small(spec: Spec) -> bool:
    count = shapes.count(spec.shape)
    return count is not None and count <= MAX_ELEMENTS and spec.dtype is not string
