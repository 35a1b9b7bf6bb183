"""The functions that a library is made of: graphs with named arguments and results, and what they capture."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import nest, shapes
from intaglio.base.dtypes import resource
from intaglio.export import program_ops
from intaglio.export.interface import Function, Port, Variable, c_name, has_c_type
from intaglio.function import whole_graph
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.decorator import function as tf_function
from intaglio.function.polymorphic import Function as TracedFunction
from intaglio.ir import walk
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.runtime.resources import Resource
from intaglio.saved_model import reader, signatures
from intaglio.type_specs.type_spec import TensorSpec

Shapes = Mapping[str, Sequence[int]]


class ExportError(ValueError):
    """What cannot be exported: the message names it, the line of the program, and what to write instead."""


class Captured(NamedTuple):
    """A value that functions use besides their arguments."""

    array: np.ndarray
    # The variable that it is the value of; None for a tensor.
    variable: Variable | None


class ExportedFunction(NamedTuple):
    """A function with its graph, whose inputs are the arguments and then what it captures.

    `captured` are numbers in the list of all values that functions of the library capture. `shapes` are
    those of the inputs where the trace leaves dimensions open; None for what is captured.
    """

    interface: Function
    graph: Graph
    captured: list[int]
    shapes: list[tuple[int, ...] | None]


def exported_functions(
    source: Any, shape_options: Shapes, batch_size: int | None, signature: str | None = None
) -> tuple[list[ExportedFunction], list[Captured]]:
    """The functions of what a user exports, and the values that these capture.

    Raises ExportError for what has no signature, open dimensions or elements that C has no type for.
    """
    table = _Captures()
    found: list[ExportedFunction] = []
    unused = set(shape_options)
    for label, function in concrete_functions(source, signature).items():
        name = c_name(label, [f.interface.name for f in found])
        found.append(_exported(name, function, table, shape_options, batch_size))
        unused -= {p.label for p in found[-1].interface.inputs}
    if unused:
        names = [p.label for f in found for p in f.interface.inputs]
        raise ExportError(f"shapes: no input {sorted(unused)[0]!r}; there are {', '.join(names)}.")
    return found, table.values


def concrete_functions(source: Any, signature: str | None) -> dict[str, ConcreteFunction]:
    """The functions of what a user exports, by the names of their signatures; `run` if there is one.

    Raises ExportError for what has no function with a signature.
    """
    if isinstance(source, (str, os.PathLike)):
        source = reader.load(source)
    if isinstance(source, Mapping):
        return {str(name): _concrete(f, str(name)) for name, f in source.items()}
    if isinstance(source, (ConcreteFunction, TracedFunction)) or _is_keras_model(source):
        return {"run": _concrete(source, "the function")}
    named = getattr(source, "signatures", None)
    if not named:
        named = signatures.of_model(source, None)
    usable = {k: f for k, f in named.items() if isinstance(f, ConcreteFunction)}
    if signature is not None:
        if signature not in usable:
            raise ExportError(
                f"no signature {signature!r}; there are {', '.join(usable) or 'none'}."
            )
        return {"run": usable[signature]}
    if not usable:
        raise ExportError(
            f"{type(source).__name__} has no function to export. Pass one of its functions, "
            "tf.function(model.__call__).get_concrete_function(tf.TensorSpec(shape, dtype)), or "
            "{name: function} for several that share their variables."
        )
    return {"run": next(iter(usable.values()))} if len(usable) == 1 else dict(usable)


def _is_keras_model(source: Any) -> bool:
    return callable(source) and hasattr(source, "inputs") and hasattr(source, "predict")


def _concrete(function: Any, name: str) -> ConcreteFunction:
    if isinstance(function, ConcreteFunction):
        return function
    if _is_keras_model(function):
        return of_keras(function)
    if isinstance(function, TracedFunction):
        try:
            return function.get_concrete_function()
        except (TypeError, ValueError) as e:
            raise ExportError(
                f"{name} has no signature, or several. Pass one trace of it: "
                "f.get_concrete_function(tf.TensorSpec(shape, dtype)), or write "
                "@tf.function(input_signature=[tf.TensorSpec(shape, dtype)])."
            ) from e
    raise ExportError(
        f"{name} is a {type(function).__name__}. Export a tf.function, one of its concrete functions, "
        "a tf.Module, a Keras model or the folder of a SavedModel."
    )


def of_keras(model: Any, specs: Sequence[Any] | None = None) -> ConcreteFunction:
    """A Keras model as it predicts, for inputs of these specs; without any, those that it was built for.

    Raises ExportError if there are none.
    """
    if specs is None:
        if not model.inputs:
            raise ExportError("the Keras model was never called: call it, or give it an Input.")
        specs = [
            TensorSpec(tuple(v.shape), v.dtype, name=c_name(str(v.name).split(":")[0]))
            for v in model.inputs
        ]
    single = len(specs) == 1

    def predict(*inputs: Any) -> Any:
        return model(inputs[0] if single else list(inputs), training=False)

    return tf_function(predict, autograph=False).get_concrete_function(*specs)


class _Captures:
    """What functions capture: each variable and each tensor once."""

    def __init__(self) -> None:
        self.values: list[Captured] = []
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []

    def number(self, value: Any, labels: dict[int, str]) -> int:
        """The number of an array or of the resource of a variable."""
        if id(value) not in self._numbers:
            self._kept.append(value)
            self._numbers[id(value)] = len(self.values)
            self.values.append(self._captured(value, labels))
        return self._numbers[id(value)]

    def _captured(self, value: Any, labels: dict[int, str]) -> Captured:
        if not isinstance(value, Resource):
            return Captured(np.asarray(value, order="C"), None)
        label = labels.get(id(value), "variable").split(":")[0]
        array = np.asarray(value.read(), order="C")  # `ascontiguousarray` makes vectors of scalars
        taken = [c.variable.name for c in self.values if c.variable is not None]
        contents = value.spec
        return Captured(
            array, Variable(c_name(label, taken), label, contents.dtype, tuple(array.shape))
        )


def _exported(
    name: str,
    function: ConcreteFunction,
    captures: _Captures,
    shape_options: Shapes,
    batch_size: int | None,
) -> ExportedFunction:
    graph = _of_catalogue_ops(function.frozen)
    _check_reach(graph)
    arrays = function.capture_arrays
    count = len(graph.inputs) - len(arrays)
    labels = function.arg_keywords
    dims = [
        _fixed(value, label, shape_options, batch_size)
        for value, label in zip(graph.inputs[:count], labels, strict=True)
    ]
    variables = {id(v.handle._array): str(v.name) for v in function.variables}
    for value, array in zip(graph.inputs[count:], arrays, strict=True):
        if value.dtype is resource and not isinstance(array, Resource):
            raise ExportError(
                f"{value.node.name} is a {type(array).__name__}, which a library has not. "
                "Export a function without tables, datasets and iterators."
            )
    numbers = [captures.number(a, variables) for a in arrays]
    inputs = _ports(graph.inputs[:count], labels, dims)
    names = output_labels(function, len(graph.outputs))
    outputs = _ports(graph.outputs, names, [()] * len(names))
    shapes_of_inputs = [*dims, *[None] * len(arrays)]
    return ExportedFunction(Function(name, inputs, outputs), graph, numbers, shapes_of_inputs)


def _of_catalogue_ops(graph: Graph) -> Graph:
    """The graph without ops of the program's own. Raises ExportError for one that has no expression."""
    try:
        return program_ops.expressed(graph)
    except program_ops.NoExpression as e:
        where = f" ({e.node.frames[0].short})" if e.node.frames else ""
        raise ExportError(
            f"{e.node.op.name} '{e.node.name}'{where} is an op of the program, which has no code in a library. "
            "Give its class a rule `decompose`, an equal expression in other ops, or `scalar`."
        ) from e


def _check_reach(graph: Graph) -> None:
    """Raises ExportError for ops that need more than arithmetic: text, files, Python."""
    for node in [n for g in (*walk.nested(graph), graph) for n in g.nodes]:
        found = whole_graph.reach(node)
        if found is not None:
            where = f" ({node.frames[0].short})" if node.frames else ""
            instead = found.instead.replace(", or without jit_compile=True", "")
            raise ExportError(
                f"{node.op.name} '{node.name}'{where} {found.why}, which a library cannot. {instead}."
            )


def _fixed(
    value: SymbolicTensor, label: str, options: Shapes, batch_size: int | None
) -> tuple[int, ...]:
    """The shape of an argument with its open dimensions as the user gave them."""
    dims = value.dims
    wanted = options.get(label)
    if wanted is not None:
        shape = tuple([int(d) for d in wanted])
        if not shapes.compatible(shape, dims):
            raise ExportError(
                f"shapes: {label!r} has the shape {shapes.text(dims)}, which {shape} does not fit."
            )
        return shape
    if dims is not None and batch_size is not None and dims and dims[0] is None:
        dims = (batch_size, *dims[1:])
    if dims is None or None in dims:
        example = [8 if d is None else d for d in dims or (None,)]
        raise ExportError(
            f"input {label!r} has the shape {shapes.text(value.dims)}, and a library has memory for one "
            f"shape. Give shapes={{{label!r}: {tuple(example)}}}, or batch_size=1 where the first "
            "dimension alone is open."
        )
    return tuple([d for d in dims if d is not None])


def output_labels(function: ConcreteFunction, count: int) -> list[str]:
    """The names of results: keys of mappings and fields; `output` for a single one."""
    paths = nest.flatten_with_paths(function.structured_outputs, expand_composites=True)
    tensors = [p for p, v in paths if v is not None]
    if len(tensors) != count:
        return [f"output_{i}" for i in range(count)]
    if tensors == [()]:
        return ["output"]
    return [
        "_".join([str(part) for part in path]) if isinstance(path[0], str) else f"output_{i}"
        for i, path in enumerate(tensors)
    ]


def _ports(
    values: Sequence[SymbolicTensor], labels: Sequence[str], dims: Sequence[tuple[int, ...]]
) -> list[Port]:
    """Arguments or results. Shapes of results are known when the graph is compiled."""
    ports: list[Port] = []
    for value, label, shape in zip(values, labels, dims, strict=True):
        if not has_c_type(value.dtype):
            raise ExportError(
                f"{label!r} has elements of type {value.dtype.name}, which C has no type for. "
                "Convert them outside of the function, and pass numbers."
            )
        ports.append(Port(c_name(label, [p.name for p in ports]), label, value.dtype, shape))
    return ports
