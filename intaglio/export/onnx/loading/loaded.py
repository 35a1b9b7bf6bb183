"""A model as a `tf.function`: traced when it is loaded, so that every node has been looked at."""

from __future__ import annotations

import inspect
import keyword
import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any

import onnx

from intaglio.export.onnx.loading.model_files import Weights, check, read_model
from intaglio.export.onnx.loading.program import Program
from intaglio.export.onnx.loading.tensor_lists import TensorList
from intaglio.export.onnx.loading.values import ModelError, dtype_of, tensor
from intaglio.function.decorator import function as tf_function
from intaglio.type_specs.type_spec import TensorSpec


def loaded(source: str | os.PathLike[str] | onnx.ModelProto) -> Any:
    """The function of a model. See `intaglio.load_onnx`."""
    if isinstance(source, onnx.ModelProto):
        check(source, source.graph.name or "the model")
        return function_of(source, Weights(None))
    path = pathlib.Path(source)
    return function_of(read_model(path), Weights(path.parent))


def function_of(model: onnx.ModelProto, weights: Weights) -> Any:
    """The `tf.function` of a model, traced once."""
    initialized = {t.name for t in model.graph.initializer}
    arguments = [v for v in model.graph.input if v.name not in initialized]
    outputs = [v.name for v in model.graph.output]
    program = Program(model, weights)
    parameters = _parameters([v.name for v in arguments])
    specs = [_spec(v, name) for v, name in zip(arguments, parameters, strict=True)]

    def call(*tensors: Any) -> Any:
        found = program.run(model.graph, tensors)
        results = [_result(v) for v in found]
        return results[0] if len(results) == 1 else dict(zip(outputs, results, strict=True))

    call.__name__ = call.__qualname__ = _identifier(model.graph.name, "onnx_model")
    call.__doc__ = model.doc_string or model.graph.doc_string or None
    call.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]  # names for keywords
        [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in parameters]
    )
    traced: Any = tf_function(_of_names(call, parameters), input_signature=specs, autograph=False)
    traced.get_concrete_function()
    return traced


def _of_names(call: Any, parameters: Sequence[str]) -> Any:
    """The function with parameters of these names."""

    def run(*args: Any, **kwargs: Any) -> Any:
        bound = call.__signature__.bind(*args, **kwargs)
        return call(*[bound.arguments[p] for p in parameters])

    run.__name__, run.__qualname__, run.__doc__ = call.__name__, call.__qualname__, call.__doc__
    run.__signature__ = call.__signature__  # pyright: ignore[reportFunctionMemberAccess]  # names for keywords
    return run


def _identifier(text: str, default: str) -> str:
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or default
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name


def _parameters(labels: Sequence[str]) -> list[str]:
    found: list[str] = []
    for label in labels:
        name = _identifier(label, "input")
        while name in found:
            name += "_"
        found.append(name)
    return found


def _spec(value: onnx.ValueInfoProto, name: str) -> Any:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        raise ModelError(
            f"input {value.name!r} is a {kind or 'value without a type'}, not a tensor"
        )
    declared = value.type.tensor_type
    dims: Any = None
    if declared.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else None for d in declared.shape.dim]
        if any(d is not None and d < 0 for d in dims):
            raise ModelError(f"input {value.name!r} has the shape {dims}")
    return TensorSpec(dims, dtype_of(declared.elem_type), name=name)


def _result(value: Any) -> Any:
    if isinstance(value, list):
        return [_result(v) for v in value]
    if isinstance(value, TensorList):
        raise ModelError("an output that is a sequence whose length is computed")
    if value is None:
        raise ModelError("an output that is an optional without a value")
    return tensor(value)
