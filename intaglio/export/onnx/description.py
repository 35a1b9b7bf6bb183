"""What an ONNX model has, without loading it: operators, inputs and outputs, weights."""

from __future__ import annotations

import collections
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import onnx
from onnx import helper

from intaglio.export.onnx.loading.model_files import read_model


def described(path: str) -> dict[str, Any]:
    """A model by parts. Raises OSError, and ModelError for a file that is no valid model."""
    model = read_model(pathlib.Path(path))
    graph = model.graph
    weights = {t.name for t in graph.initializer}
    counts = collections.Counter([n.op_type for n in _nodes(graph)])
    return {
        "written by": f"{model.producer_name} {model.producer_version}".strip(),
        "opsets": {e.domain or "ai.onnx": e.version for e in model.opset_import},
        "inputs": {v.name: _type(v.type) for v in graph.input if v.name not in weights},
        "outputs": {v.name: _type(v.type) for v in graph.output},
        "operators": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        "weights": len(weights),
        "elements of weights": sum([math.prod(t.dims) for t in graph.initializer]),
    }


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """The nodes of a graph, and those of its branches and bodies."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from _nodes(inner)


def _type(kind: onnx.TypeProto) -> Any:
    if not kind.HasField("tensor_type"):
        return kind.WhichOneof("value") or "unknown"
    tensor = kind.tensor_type
    name = helper.tensor_dtype_to_string(tensor.elem_type).removeprefix("TensorProto.").lower()
    dims = None
    if tensor.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    return {"dtype": {"float": "float32", "double": "float64"}.get(name, name), "shape": dims}
