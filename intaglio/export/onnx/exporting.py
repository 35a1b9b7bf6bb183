"""A function as an ONNX model: found, lowered, and written beside its place before it takes it."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from intaglio.base.dtypes import resource, variant
from intaglio.base.replacing import replaced
from intaglio.export.onnx import rules, types
from intaglio.export.onnx.builder import Builder, Model
from intaglio.export.onnx.lowering import Lowering
from intaglio.export.onnx.values import Unexportable, Value, Variable, dims_of, is_complex
from intaglio.export.signatures import ExportError, concrete_functions, output_labels
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.polymorphic import Function
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.replicas import nowhere_replicas
from intaglio.optimize.pipeline import optimize
from intaglio.optimize.specialize import specialized
from intaglio.runtime.resources import Resource

# The first version whose reductions, splits and paddings take their axes as rules write them.
FIRST_OPSET = 18
DEFAULT_OPSET = 21
DEFAULT_SIGNATURE = "serving_default"
# Weights of more bytes go to a file of their own: a message has at most 2 GiB.
MAX_INSIDE_BYTES = 1 << 30
# Smaller arrays stay in the model, where tools read shapes and axes.
MIN_BESIDE_BYTES = 1024
_ALIGNMENT = 4096


def exported(
    source: Any,
    path: str | os.PathLike[str],
    args: Sequence[Any] | None,
    opset: int,
    signature: str | None,
    weights: str | None,
) -> pathlib.Path:
    """Writes the model; gives its path. See `intaglio.export_onnx`."""
    if weights not in (None, "inside", "beside"):
        raise ExportError(f"weights={weights!r} is neither 'inside' nor 'beside'.")
    return write(converted(source, args, opset, signature), path, weights)


def converted(
    source: Any, args: Sequence[Any] | None, opset: int | None, signature: str | None
) -> onnx.ModelProto:
    """The model of what `intaglio.export_onnx` takes, as a message."""
    opset = DEFAULT_OPSET if opset is None else opset
    if not FIRST_OPSET <= opset <= onnx.defs.onnx_opset_version():
        raise ExportError(
            f"opset={opset}: models are written for opset {FIRST_OPSET} to "
            f"{onnx.defs.onnx_opset_version()}, which is the last one that onnx {onnx.__version__} has."
        )
    return model_of(_function(source, args, signature), opset)


def write(
    model: onnx.ModelProto, path: str | os.PathLike[str], weights: str | None
) -> pathlib.Path:
    """Writes a message beside the path, then there; gives the path. See `intaglio.export_onnx`."""
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    _write(model, place, weights)
    return place


def _function(source: Any, args: Sequence[Any] | None, signature: str | None) -> ConcreteFunction:
    if args is not None:
        if not isinstance(source, Function):
            raise ExportError(
                f"args are for a tf.function, and {type(source).__name__} is none: "
                "export one of its functions."
            )
        return source.get_concrete_function(*args)
    found = concrete_functions(source, signature)
    if len(found) > 1 and DEFAULT_SIGNATURE in found:
        return found[DEFAULT_SIGNATURE]
    if len(found) > 1:
        raise ExportError(
            f"an ONNX model is one function, and there are {', '.join(found)}: "
            f"name one with signature={next(iter(found))!r}."
        )
    return next(iter(found.values()))


def model_of(
    function: ConcreteFunction, opset: int, used: Callable[[Node, str], None] | None = None
) -> onnx.ModelProto:
    """The model of a function. Raises ExportError for an op that ONNX has no expression for."""
    # What is known once constants are folded decides about shapes.
    graph = optimize(nowhere_replicas(function.frozen))
    graph = specialized(graph, [None] * len(graph.inputs))
    arrays = function.capture_arrays
    count = len(graph.inputs) - len(arrays)
    labels = {id(v.handle._array): str(v.name).split(":")[0] for v in function.variables}
    captured = [_captured(a, v, labels) for a, v in zip(arrays, graph.inputs[count:], strict=True)]
    outputs = output_labels(function, len(graph.outputs))
    return model_of_graph(graph, function.arg_keywords, captured, outputs, opset, used)


def model_of_graph(
    graph: Graph,
    labels: Sequence[str],
    captured: Sequence[Any],
    output_names: Sequence[str],
    opset: int,
    used: Callable[[Node, str], None] | None = None,
) -> onnx.ModelProto:
    """The model of a graph whose first inputs are arguments with labels; the others are known."""
    model = Model(opset)
    builder = Builder(model)
    arguments = [
        _argument(model, label, v)
        for label, v in zip(labels, graph.inputs[: len(labels)], strict=True)
    ]
    names = [model.name(name) for name in output_names]
    found = Lowering(builder, used).run(graph, [*arguments, *captured])
    results: list[Value] = []
    for name, operand, tensor in zip(names, found, graph.outputs, strict=True):
        if isinstance(operand, Variable) or getattr(operand, "is_sequence", False):
            raise ExportError(f"the result {name!r} is no tensor: return one.")
        if is_complex(operand):
            raise ExportError(
                f"the result {name!r} has complex elements, which ONNX' operators do not take. Return "
                "tf.math.real and tf.math.imag of it."
            )
        builder.node("Identity", [builder.name_of(operand)], [name])
        results.append(Value(name, np.dtype(operand.dtype), tensor.dims or dims_of(operand)))
    body = helper.make_graph(
        builder.nodes,
        graph.name or "function",
        [_declared(v, v.name) for v in arguments],
        [_declared(v, "") for v in results],
        initializer=_used_initializers(model, builder.nodes),
    )
    operators = helper.make_opsetid("", opset)
    written = helper.make_model(body, opset_imports=[operators], producer_name="intaglio")
    written.ir_version = helper.find_min_ir_version_for([operators])
    return written


def _captured(array: Any, value: SymbolicTensor, labels: dict[int, str]) -> Any:
    if isinstance(array, Resource):
        return Variable(labels.get(id(array), "variable"), np.asarray(array.read()))
    if value.dtype in (resource, variant):
        raise ExportError(
            f"{value.node.name} is a {type(array).__name__}, which an ONNX model has not. "
            "Export a function without tables, datasets and iterators."
        )
    return np.asarray(array)


def _argument(model: Model, label: str, value: SymbolicTensor) -> Value:
    if value.dtype.is_complex:
        raise ExportError(
            f"input {label!r} has elements of type {value.dtype.name}, which ONNX' operators do not take. Pass the real and "
            "the imaginary part, and join them with tf.complex."
        )
    try:
        types.element_type(value.dtype.numpy)
    except (Unexportable, TypeError, AttributeError) as e:
        raise ExportError(
            f"input {label!r} has elements of type {value.dtype.name}, which ONNX has not. "
            "Convert them outside of the function."
        ) from e
    return Value(model.name(label), value.dtype.numpy, value.dims)


def _declared(value: Value, prefix: str) -> onnx.ValueInfoProto:
    """The declaration of an input or output; open dimensions of inputs have names."""
    dims: Any = value.dims
    if dims is not None:
        dims = [
            d if d is not None else f"{prefix}_dim_{i}" if prefix else None
            for i, d in enumerate(dims)
        ]
    return helper.make_tensor_value_info(value.name, types.element_type(value.dtype), dims)


def _used_initializers(model: Model, nodes: Sequence[onnx.NodeProto]) -> list[onnx.TensorProto]:
    """The initializers that nodes refer to, also in branches and bodies."""
    used: set[str] = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        used.update(node.input)
        for attribute in node.attribute:
            pending.extend(attribute.g.node)
            used.update([v.name for v in attribute.g.output])
    return [t for name, t in model.initializers.items() if name in used]


# -- files ---------------------------------------------------------------------------------------


def _write(model: onnx.ModelProto, path: pathlib.Path, weights: str | None) -> None:
    inside = sum([len(t.raw_data) for t in model.graph.initializer])
    if weights is None:
        weights = "inside" if inside <= MAX_INSIDE_BYTES else "beside"
    if weights == "beside":
        _write_weights(model, path)
    try:
        data = model.SerializeToString()
    except ValueError as e:
        raise ExportError(
            f"the model has more than 2 GiB, which one file cannot hold: weights='beside'. {e}"
        ) from e
    with replaced(str(path)) as file:
        file.write(data)


def _write_weights(model: onnx.ModelProto, path: pathlib.Path) -> None:
    """Moves large initializers to a file beside the model, each at an offset that can be mapped."""
    beside = path.with_name(f"{path.name}.data")
    with replaced(str(beside)) as file:
        offset = 0
        for tensor in model.graph.initializer:
            size = len(tensor.raw_data)
            if size < MIN_BESIDE_BYTES:
                continue
            file.write(bytes(-offset % _ALIGNMENT))
            offset += -offset % _ALIGNMENT
            file.write(tensor.raw_data)
            where = {"location": beside.name, "offset": str(offset), "length": str(size)}
            offset += size
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in where.items():
                tensor.external_data.add(key=key, value=value)


__all__ = ["converted", "exported", "model_of", "model_of_graph", "rules", "write"]
