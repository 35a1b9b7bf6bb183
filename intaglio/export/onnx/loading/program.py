"""Carries out the graphs of a model: each node becomes ops, by its operator or by the function that defines it."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import defs

from intaglio.base.errors import OpError
from intaglio.export.onnx.loading import operators
from intaglio.export.onnx.loading.registry import Call
from intaglio.export.onnx.loading.tensor_lists import TensorList
from intaglio.export.onnx.loading.values import ModelError, element
from intaglio.export.onnx.types import element_type

Scope = ChainMap[str, Any]
# Functions of functions of models; each that calls itself would go on for ever.
MAX_DEPTH = 64
_WRONG = (TypeError, ValueError, OpError, LookupError, ArithmeticError, AttributeError)


class Program:
    """A model whose initializers are read."""

    def __init__(self, model: onnx.ModelProto, read: Callable[[onnx.TensorProto], Any]) -> None:
        self.model = model
        self.versions = {o.domain or "": o.version for o in model.opset_import}
        self.versions.setdefault("", self.versions.get("ai.onnx", 1))
        self._functions = {(f.domain, f.name): f for f in model.functions}
        self.read = read
        self._depth = 0

    def run(self, graph: Any, inputs: Sequence[Any], outer: Scope | None = None) -> list[Any]:
        """The outputs of a graph. Raises ModelError for a node that cannot be carried out."""
        scope: Scope = ChainMap({}, *(outer.maps if outer is not None else []))
        for initializer in graph.initializer:
            scope[initializer.name] = self.read(initializer)
        names = [v.name for v in graph.input if v.name not in scope.maps[0]]
        complete = len(inputs) == len(graph.input)
        declared = [v.name for v in graph.input] if complete else names
        if len(inputs) != len(declared):
            raise ModelError(
                f"graph {graph.name!r} has {len(declared)} inputs, and gets {len(inputs)}"
            )
        scope.maps[0].update(zip(declared, inputs, strict=True))
        self._nodes(graph.node, scope)
        return [self._value(v.name, scope) for v in graph.output]

    def _value(self, name: str, scope: Scope) -> Any:
        if name not in scope:
            raise ModelError(f"the value {name!r} is used before a node computes it")
        return scope[name]

    def _nodes(self, nodes: Any, scope: Scope) -> None:
        for node in nodes:
            inputs = [self._value(name, scope) if name else None for name in node.input]
            found = self._carried_out(node, inputs, scope)
            for name, value in zip(node.output, found, strict=False):
                if name:
                    scope.maps[0][name] = value

    def _carried_out(self, node: Any, inputs: Sequence[Any], scope: Scope) -> Sequence[Any]:
        domain = "" if node.domain == "ai.onnx" else node.domain
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise ModelError("functions that call one another without end")
            return self._result(node, domain, inputs, scope)
        except ModelError as e:
            if e.args and str(e.args[0]).startswith("node "):
                raise
            raise ModelError(f"node {_name(node)}: {e}") from e
        except _WRONG as e:
            raise ModelError(f"node {_name(node)}: {e}") from e
        finally:
            self._depth -= 1

    def _result(self, node: Any, domain: str, inputs: Sequence[Any], scope: Scope) -> Sequence[Any]:
        function = self._functions.get((domain, node.op_type))
        if function is not None:
            return self._function(function, node, inputs, Program._versions_of(function))
        version = self.versions.get(domain)
        if version is None:
            raise ModelError(f"the model imports no operators of the domain {domain!r}")
        rule = operators.OPERATORS.get((domain, node.op_type))
        if rule is not None:
            result = rule(Call(node, version, self, scope), *inputs)
            return result if isinstance(result, tuple) else (result,)
        function = _definition(node, domain, version, inputs)
        if function is None:
            raise ModelError(
                "there is no such operator here; docs/onnx.md lists those that there are"
            )
        return self._function(function, node, inputs, Program._versions_of(function))

    @staticmethod
    def _versions_of(function: Any) -> dict[str, int]:
        return {o.domain or "": o.version for o in function.opset_import}

    def _function(
        self, function: Any, node: Any, inputs: Sequence[Any], versions: dict[str, int]
    ) -> list[Any]:
        """The outputs of a function with the attributes of the node that calls it."""
        attributes = {a.name: a for a in function.attribute_proto}
        attributes.update({a.name: a for a in node.attribute})
        values = [*inputs, *[None] * (len(function.input) - len(inputs))]
        scope: Scope = ChainMap(dict(zip(function.input, values, strict=True)))
        own, self.versions = self.versions, {**self.versions, **versions}
        try:
            for inner in function.node:
                self._nodes([_with_attributes(inner, attributes)], scope)
        finally:
            self.versions = own
        return [scope.get(name) for name in function.output]


def _name(node: Any) -> str:
    name = f" {node.name!r}" if node.name else f" of {node.output[0]!r}" if node.output else ""
    return f"{node.domain + '.' if node.domain else ''}{node.op_type}{name}"


def _with_attributes(node: Any, attributes: dict[str, Any]) -> Any:
    """A node of a function whose references to attributes are replaced by these."""
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    _substitute(copy, attributes)
    return copy


def _substitute(node: Any, attributes: dict[str, Any]) -> None:
    kept: list[Any] = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            found = attributes.get(attribute.ref_attr_name)
            if found is None:
                continue
            copy = onnx.AttributeProto()
            copy.CopyFrom(found)
            copy.name = attribute.name
            kept.append(copy)
            continue
        for inner in attribute.g.node:
            _substitute(inner, attributes)
        kept.append(attribute)
    kept = [_copied(a) for a in kept]
    del node.attribute[:]
    node.attribute.extend(kept)


def _copied(attribute: Any) -> Any:
    copy = onnx.AttributeProto()
    copy.CopyFrom(attribute)
    return copy


def _definition(node: Any, domain: str, version: int, inputs: Sequence[Any]) -> Any:
    """The function that ONNX defines an operator with; None for a primitive one."""
    try:
        schema: Any = defs.get_schema(node.op_type, version, domain)
    except defs.SchemaError:
        return None
    function = onnx.FunctionProto()
    if schema.has_function:
        versions = [v for v in schema.function_opset_versions if v <= version]
        data = schema.get_function_with_opset_version(
            max(versions or schema.function_opset_versions)
        )
    elif schema.has_context_dependent_function:
        types = [_type_of(v).SerializeToString() for v in inputs]
        own = schema.context_dependent_function_opset_versions
        versions = [v for v in own if v <= version]
        data = schema.get_context_dependent_function_with_opset_version(
            max(versions or own), node.SerializeToString(), types
        )
    else:
        return None
    function.ParseFromString(data)
    # Attributes that the node leaves out have the defaults of the schema.
    defaults = [a.default_value for a in schema.attributes.values() if a.default_value.name]
    function.attribute_proto.extend(defaults)
    return function


def _type_of(value: Any) -> onnx.TypeProto:
    kind = onnx.TypeProto()
    if value is None or isinstance(value, (list, TensorList)):
        return kind
    kind.tensor_type.elem_type = element_type(np.dtype(element(value).numpy))
    sizes = value.shape if isinstance(value, np.ndarray) else value.dims
    if sizes is not None:
        kind.tensor_type.shape.Clear()
        for d in sizes:
            dim = kind.tensor_type.shape.dim.add()
            if d is not None:
                dim.dim_value = d
    return kind
