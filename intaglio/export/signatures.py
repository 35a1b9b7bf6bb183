"""The functions that a library is made of: graphs with named arguments and results, and what they capture."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import nest, shapes
from intaglio.base.dtypes import resource
from intaglio.base.shapes import Dims
from intaglio.export import program_ops, sizes, texts
from intaglio.export.interface import (
    Function,
    InAnyCase,
    Port,
    Variable,
    c_name,
    function_name,
    has_c_type,
)
from intaglio.export.row_analysis import Dependent
from intaglio.export.row_rules import analysed
from intaglio.export.sizes import Size
from intaglio.function import whole_graph
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.decorator import function as tf_function
from intaglio.function.polymorphic import Function as TracedFunction
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.replicas import nowhere_replicas
from intaglio.opdef import raw
from intaglio.optimize.inline import inline_calls
from intaglio.runtime.resources import Resource
from intaglio.saved_model import object_graph, reader, signatures
from intaglio.type_specs.type_spec import TensorSpec

# A dimension that has a name is an argument of the C function.
Shapes = Mapping[str, Sequence[int | str | None]]
Sizes = Mapping[str, Sequence[int]]
BatchSize = int | Sequence[int] | None
# The numbers of rows that code is written for where their number is an argument.
BLOCKS = (1, 16)


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
    those of the inputs where the trace leaves dimensions open; None for what is captured. Where inputs have
    rows, whose number is an argument, code is written for the numbers of rows in `blocks`; where a dimension
    is one of the interface's sizes, which the shape has the label of, for each choice of sizes.
    """

    interface: Function
    graph: Graph
    captured: list[int]
    shapes: list[tuple[int | str | None, ...] | None]
    blocks: tuple[int, ...] = ()

    def fixed(self, chosen: Sequence[int], rows: int | None = None) -> list[Dims]:
        """The shapes of the inputs for a choice of sizes and a number of rows."""
        known: dict[int | str | None, int | None] = {None: rows}
        known |= {s.label: n for s, n in zip(self.interface.sizes, chosen, strict=True)}
        return [
            s if s is None else tuple([d if isinstance(d, int) else known[d] for d in s])
            for s in self.shapes
        ]


class Dimensions(NamedTuple):
    """What a user says of open dimensions: shapes by inputs, numbers by sizes, and the first dimension."""

    shapes: Shapes
    sizes: Sizes
    batch_size: BatchSize


def exported_functions(
    source: Any, options: Dimensions, signature: str | None = None
) -> tuple[list[ExportedFunction], list[Captured]]:
    """The functions of what a user exports, and the values that these capture.

    Raises ExportError for what has no signature, open dimensions or elements that C has no type for.
    """
    try:
        options = options._replace(sizes=sizes.checked(options.sizes))
    except ValueError as e:
        raise ExportError(str(e)) from e
    table = _Captures()
    found: list[ExportedFunction] = []
    for label, function in concrete_functions(source, signature).items():
        name = function_name(label, [f.interface.name for f in found])
        found.append(_exported(name, function, table, options))
    _check_used(
        "shapes", "input", options.shapes, [p.label for f in found for p in f.interface.inputs]
    )
    taken = [s.label for f in found for s in f.interface.sizes]
    _check_used("sizes", "open dimension", options.sizes, taken)
    return found, table.values


def _check_used(option: str, what: str, names: Iterable[str], there: Sequence[str]) -> None:
    """Raises ExportError for a name that nothing has."""
    unused = sorted({*names} - {*there})
    if unused:
        known = f"there are {', '.join(dict.fromkeys(there))}" if there else "there is none"
        raise ExportError(f"{option}: no {what} {unused[0]!r}; {known}.")


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
        named = signatures.of_model(source, None, object_graph.children)
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
            array,
            Variable(c_name(label, InAnyCase(taken)), label, contents.dtype, tuple(array.shape)),
        )


def _exported(
    name: str, function: ConcreteFunction, captures: _Captures, options: Dimensions
) -> ExportedFunction:
    graph = _of_catalogue_ops(nowhere_replicas(function.frozen))
    _check_reach(graph)
    arrays = function.capture_arrays
    count = len(graph.inputs) - len(arrays)
    labels = function.arg_keywords
    dims = [
        _argument_dims(value, label, options)
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
    names = output_labels(function, len(graph.outputs))
    has_rows = any(None in d for d in dims)
    taken = _sizes_of(name, dims, options.sizes, ["rows"] if has_rows else [])
    blocks = _blocks(options.batch_size) if has_rows else ()
    whole = ExportedFunction(Function(name, [], [], taken), graph, numbers, [*dims], blocks)
    whole = whole._replace(shapes=[*dims, *[None] * len(arrays)])
    groups = [0] * len(names)
    if has_rows:
        groups = _groups(whole, names, labels)
    inputs = _ports(graph.inputs[:count], labels, whole, [int(None in d) for d in dims])
    outputs = _ports(graph.outputs, names, None, groups)
    return whole._replace(interface=Function(name, inputs, outputs, taken))


def _sizes_of(
    name: str, dims: Sequence[Sequence[int | str | None]], options: Sizes, names: list[str]
) -> tuple[Size, ...]:
    """The sizes that shapes name, in the order in which they do. Raises ExportError for too many choices."""
    found: dict[str, Size] = {}
    for label in [d for shape in dims for d in shape if isinstance(d, str)]:
        if label not in found:
            taken = [*names, *[s.name for s in found.values()]]
            found[label] = Size(c_name(label, taken), label, tuple(options[label]))
    number = math.prod([len(s.values) for s in found.values()])
    if number > sizes.MAX_CHOICES:
        raise ExportError(
            f"sizes: {name} has {number} choices of {', '.join(map(repr, found))}, and a library has code for "
            f"{sizes.MAX_CHOICES} at most. Give fewer numbers, such as the multiples of 16, and pad to these."
        )
    return tuple(found.values())


def _blocks(batch_size: BatchSize) -> tuple[int, ...]:
    """The numbers of rows that code is written for, with 1 among them."""
    sizes = batch_size if isinstance(batch_size, Sequence) else BLOCKS
    if 1 not in sizes or min(sizes) < 1:
        raise ExportError(
            f"batch_size={batch_size!r}: write the numbers of rows that code is for, with 1 among them, "
            "such as (1, 16)."
        )
    return tuple(sorted({*sizes}))


def _groups(whole: ExportedFunction, names: Sequence[str], labels: Sequence[str]) -> list[int]:
    """How many elements the first dimension of each result has for a row.

    Raises ExportError if rows are not independent of each other, or are no first dimension.
    """
    # Not optimised: products of all iterations before a loop would mix what rows are made of.
    flat = inline_calls(whole.graph)
    label = next(
        n for n, d in zip(labels, whole.shapes, strict=False) if d is not None and None in d
    )
    alternative = (
        f"A library calls the code for some rows after the other, so the number of rows of {label!r} has to be "
        f"fixed here: give batch_size=8, or shapes by the inputs' names, or the numbers that it may be: "
        f"sizes={{{sizes.named(label, 0)!r}: range(1, 65)}}."
    )
    found: set[tuple[int, ...]] = set()
    for chosen in sizes.choices(whole.interface.sizes):
        try:
            results = analysed(flat, whole.fixed(chosen))
        except Dependent as e:
            node = e.node
            named = "" if node is None else f"{node.op.name} '{node.traced_name}'{_where(node)}"
            raise ExportError(
                f"{named or 'the function'} does not treat each row by itself: {e}. {alternative}"
            ) from e
        for result, name in zip(results, names, strict=True):
            if result.state.kind != "rows" or result.state.axis:
                raise ExportError(
                    f"rows are not the first dimension of the result {name!r}. {alternative}"
                )
        found.add(tuple([r.state.group for r in results]))
    return [max(groups) for groups in zip(*found, strict=True)]


def _where(node: Node) -> str:
    """The user's line that created a node, for messages: ` (model.py:12)`, or nothing."""
    return f" ({node.frame.short})" if node.frame is not None else ""


def _of_catalogue_ops(graph: Graph) -> Graph:
    """The graph without ops of the program's own. Raises ExportError for one that has no expression."""
    try:
        return program_ops.expressed(graph)
    except program_ops.NoExpression as e:
        raise ExportError(
            f"{e.node.op.name} '{e.node.name}'{_where(e.node)} is an op of the program, which has no code in a library. "
            "Give its class a rule `decompose`, an equal expression in other ops, or `scalar`."
        ) from e


def _check_reach(graph: Graph) -> None:
    """Raises ExportError for ops that need more than arithmetic: text, files, Python."""
    for node in [n for g in (*walk.nested(graph), graph) for n in g.nodes]:
        found = whole_graph.reach(node)
        if found is not None and not (found is whole_graph.STRINGS and texts.has_rule(node)):
            instead = found.instead.replace(", or without jit_compile=True", "")
            raise ExportError(
                f"{node.op.name} '{node.name}'{_where(node)} {found.why}, which a library cannot. {instead}."
            )


def _argument_dims(
    value: SymbolicTensor, label: str, options: Dimensions
) -> tuple[int | str | None, ...]:
    """The shape of an argument with its open dimensions as the user gave them: a number, the label of a size,
    or None for that of rows."""
    dims: Sequence[int | str | None] | None = value.dims
    wanted, batch_size = options.shapes.get(label), options.batch_size
    if wanted is not None:
        dims = tuple([d if d is None or isinstance(d, str) else int(d) for d in wanted])
        numbers = tuple([None if isinstance(d, str) else d for d in dims])
        named = [i for i, d in enumerate(dims) if isinstance(d, str)]
        fits = shapes.compatible(numbers, value.dims)
        if not fits or any([value.dims is not None and value.dims[i] is not None for i in named]):
            raise ExportError(
                f"shapes: {label!r} has the shape {shapes.text(value.dims)}, which {dims} does not fit."
            )
    elif isinstance(batch_size, int) and dims and dims[0] is None:
        dims = (batch_size, *dims[1:])
    if dims is None:
        raise _needs_shape(value, label, "")
    found: list[int | str | None] = []
    for axis, d in enumerate(dims):
        name = sizes.named(label, axis)
        if d is None and name in options.sizes:
            d = name
        if (d is None and axis) or (isinstance(d, str) and d not in options.sizes):
            raise _needs_shape(value, label, d or name)
        found.append(d)
    return tuple(found)


def _needs_shape(value: SymbolicTensor, label: str, size: str) -> ExportError:
    """The error for a dimension that is not the first one, and of which nothing is known."""
    example = tuple([8 if d is None else d for d in value.dims or (None,)])
    numbers = (
        f", or the numbers that it may be, which are arguments then: sizes={{{size!r}: range(1, 65)}}"
        if size
        else ""
    )
    return ExportError(
        f"input {label!r} has the shape {shapes.text(value.dims)}, and code is for numbers. "
        f"Give shapes={{{label!r}: {example}}}{numbers}; the first dimension alone may be any."
    )


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
    values: Sequence[SymbolicTensor],
    labels: Sequence[str],
    whole: ExportedFunction | None,
    groups: Sequence[int],
) -> list[Port]:
    """Arguments, or results, whose shapes are known when the graph is compiled.

    `groups` are the elements of the first dimension for a row; 0 for what has no rows.
    """
    taken = ["rows"] if any(groups) else []
    taken += [s.name for s in whole.interface.sizes] if whole is not None else []
    ports: list[Port] = []
    shapes_ = _largest(whole, len(values))
    for value, label, (shape, forms), group in zip(values, labels, shapes_, groups, strict=True):
        if not has_c_type(value.dtype):
            node = value.node
            source = (
                ""
                if node.op is raw.Placeholder
                else f"{node.op.name} '{node.name}'{_where(node)}: "
            )
            raise ExportError(
                f"{source}{label!r} has elements of type {value.dtype.name}, which C has no type for. "
                "Convert them outside of the function, and pass numbers."
            )
        name = c_name(label, taken)
        ports.append(Port(name, label, value.dtype, shape, group > 0, forms=forms))
        taken.append(name)
    return ports


def _largest(
    whole: ExportedFunction | None, count: int
) -> list[tuple[tuple[int, ...], tuple[str, ...]]]:
    """The shapes of arguments for the largest sizes, and in terms of sizes where they depend on these."""
    if whole is None:
        return [((), ())] * count
    names = {s.label: s.name for s in whole.interface.sizes}
    largest = whole.fixed([s.values[-1] for s in whole.interface.sizes], 1)
    found: list[tuple[tuple[int, ...], tuple[str, ...]]] = []
    for shape, dims in zip(whole.shapes[:count], largest[:count], strict=True):
        forms = [names[d] if isinstance(d, str) else str(d or 1) for d in shape or ()]
        is_open = any(isinstance(d, str) for d in shape or ())
        found.append((tuple(dims) if shapes.known(dims) else (), tuple(forms) if is_open else ()))
    return found
