"""TensorArrays as lists: what flows from write to write is the list itself, not a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.shapes import Dims
from intaglio.graphdef import messages
from intaglio.graphdef.dataflow.edges import (
    CONTROL,
    DATAFLOW,
    MERGE,
    SWITCH,
    Edge,
    Nodes,
    controls,
    edge,
    edges,
    operand,
    unique,
)
from intaglio.graphdef.tensors import MalformedError, shape_of, tensor_proto
from intaglio.opdef import raw
from intaglio.opdef.op import Op

VARIANT = dtypes.variant.as_datatype_enum
INT32 = dtypes.int32.as_datatype_enum
_PASSES_ON = DATAFLOW | {raw.Identity.name}


def with_lists(nodes: Nodes) -> Nodes:
    """The graph, where TensorArrays are lists. Raises MalformedError for one whose handle is not found."""
    if not any(n.op in TENSOR_ARRAYS for n in nodes.values()):
        return nodes
    return _Rewriting(nodes).nodes


class _Rewriting:
    def __init__(self, nodes: Nodes) -> None:
        self.old = nodes
        self.nodes: Nodes = {}
        flows = self._flows()
        for name, node in nodes.items():
            rewrite = TENSOR_ARRAYS.get(node.op)
            if rewrite is not None:
                rewrite(self, node)
                continue
            copy = self.nodes[name] = messages.NodeDef()
            copy.CopyFrom(node)
            if name in flows:
                copy.attr["T"].type = VARIANT
                copy.attr.pop("_output_shapes", None)
        for node in self.nodes.values():
            self._rename(node)

    def _flows(self) -> set[str]:
        """The nodes that pass on a flow, around loops too."""
        users: dict[Edge, list[str]] = {}
        for name, node in self.old.items():
            if node.op in _PASSES_ON:
                passed = [e for e in edges(node) if e.output != CONTROL]
                for taken in passed if node.op in MERGE else passed[:1]:
                    users.setdefault(taken, []).append(name)
        found: set[str] = set()
        work = [Edge(n.name, FLOWS[n.op]) for n in self.old.values() if n.op in FLOWS]
        while work:
            for user in users.get(work.pop(), ()):
                if user not in found:
                    found.add(user)
                    work.append(Edge(user, 0))
                    if self.old[user].op in SWITCH:
                        work.append(Edge(user, 1))
        return found

    def _rename(self, node: Any) -> None:
        """The flow of a new array is its second output, the list the only one."""
        for i, text in enumerate(node.input):
            taken = edge(text)
            source = self.old.get(taken.node)
            if source is not None and FLOWS.get(source.op) == taken.output == 1:
                node.input[i] = Edge(taken.node, 0).text

    def array(self, node: Any) -> Any:
        """The TensorArrayV3 whose handle an op takes."""
        found = self.old.get(operand(node, 0).node)
        for _ in range(len(self.old)):
            if found is None or found.op not in _PASSES_ON:
                break
            found = self.old.get(operand(found, 0).node)
        if found is None or found.op != "TensorArrayV3":
            raise MalformedError(
                f"the TensorArray that '{node.name}' ({node.op}) takes is not found"
            )
        return found

    def constant(self, node: Any, label: str, value: Any, dtype: Any) -> str:
        """The name of a new constant that runs where what the node takes last does."""
        name = unique(f"{node.name}/{label}", {**self.old, **self.nodes})
        new = self.nodes[name] = messages.NodeDef(op=raw.Const.name, name=name)
        data = [e for e in edges(node) if e.output != CONTROL]
        new.input.extend([f"^{data[-1].node}"] if data else [])
        new.attr["dtype"].type = dtype.as_datatype_enum
        new.attr["value"].tensor.CopyFrom(tensor_proto(np.array(value, dtype.numpy)))
        return name

    def shape(self, node: Any, dims: Dims) -> str:
        """The name of a new constant for the shape of elements."""
        value = -1 if dims is None else [-1 if d is None else d for d in dims]
        return self.constant(node, "element_shape", value, dtypes.int32)

    def put(self, old: Any, op: Op, inputs: Sequence[str], **attrs: int) -> Any:
        """A new node in the place of an old one; attributes are data types."""
        new = self.nodes[old.name] = messages.NodeDef(op=op.name, name=old.name, device=old.device)
        new.input.extend([*inputs, *controls(old)])
        for key, value in attrs.items():
            new.attr[key].type = value
        return new


def _declared(node: Any, name: str) -> Dims:
    return shape_of(node.attr[name].shape) if name in node.attr else None


def _inputs(node: Any) -> list[str]:
    return [text for text in node.input if text[:1] != "^"]


def _new(rewriting: _Rewriting, node: Any) -> None:
    shape = rewriting.shape(node, _declared(node, "element_shape"))
    kind = node.attr["dtype"].type
    inputs = [shape, operand(node, 0).text]
    rewriting.put(node, raw.TensorListReserve, inputs, element_dtype=kind, shape_type=INT32)


def _write(rewriting: _Rewriting, node: Any) -> None:
    _, index, value, flow = _inputs(node)
    new = rewriting.put(
        node, raw.TensorListSetItem, [flow, index, value], element_dtype=node.attr["T"].type
    )
    new.attr["resize_if_index_out_of_bounds"].b = rewriting.array(node).attr["dynamic_size"].b


def _read(rewriting: _Rewriting, node: Any) -> None:
    _, index, flow = _inputs(node)
    shape = rewriting.shape(node, _declared(rewriting.array(node), "element_shape"))
    kind = node.attr["dtype"].type
    rewriting.put(node, raw.TensorListGetItem, [flow, index, shape], element_dtype=kind)


def _gather(rewriting: _Rewriting, node: Any) -> None:
    _, indices, flow = _inputs(node)
    shape = rewriting.shape(node, _declared(node, "element_shape"))
    kind = node.attr["dtype"].type
    rewriting.put(node, raw.TensorListGather, [flow, indices, shape], element_dtype=kind)


def _scatter(rewriting: _Rewriting, node: Any) -> None:
    _, indices, value, flow = _inputs(node)
    kind, op = node.attr["T"].type, raw.TensorListScatterIntoExistingList
    rewriting.put(node, op, [flow, value, indices], element_dtype=kind)


def _concat(rewriting: _Rewriting, node: Any) -> None:
    _, flow = _inputs(node)
    rest = _declared(node, "element_shape_except0")
    shape = rewriting.shape(node, None if rest is None else (None, *rest))
    leading = rewriting.constant(node, "leading_dims", np.zeros(0), dtypes.int64)
    kind = node.attr["dtype"].type
    inputs = [flow, shape, leading]
    rewriting.put(node, raw.TensorListConcatV2, inputs, element_dtype=kind, shape_type=INT32)


def _split(rewriting: _Rewriting, node: Any) -> None:
    _, value, lengths, _ = _inputs(node)
    shape = rewriting.shape(node, None)
    kind = node.attr["T"].type
    inputs = [value, shape, lengths]
    rewriting.put(node, raw.TensorListSplit, inputs, element_dtype=kind, shape_type=INT32)


def _size(rewriting: _Rewriting, node: Any) -> None:
    rewriting.put(node, raw.TensorListLength, [_inputs(node)[1]])


def _close(rewriting: _Rewriting, node: Any) -> None:
    rewriting.put(node, raw.NoOp, [])


# What stands for each op on TensorArrays.
TENSOR_ARRAYS: dict[str, Callable[[_Rewriting, Any], None]] = {
    "TensorArrayV3": _new,
    "TensorArrayWriteV3": _write,
    "TensorArrayReadV3": _read,
    "TensorArrayGatherV3": _gather,
    "TensorArrayScatterV3": _scatter,
    "TensorArrayConcatV3": _concat,
    "TensorArraySplitV3": _split,
    "TensorArraySizeV3": _size,
    "TensorArrayCloseV3": _close,
}
# The output of each that is a flow.
FLOWS = {
    "TensorArrayV3": 1,
    "TensorArrayWriteV3": 0,
    "TensorArrayScatterV3": 0,
    "TensorArraySplitV3": 0,
}
