"""The functions of a saved model as concrete functions and `tf.function`s."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.errors import UnsupportedFileError
from intaglio.base.shapes import Dims
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.options import Options
from intaglio.function.signature import FunctionType, Signature, typed
from intaglio.function.trace_types import from_value
from intaglio.graphdef import structured
from intaglio.graphdef.declarations import MalformedError
from intaglio.graphdef.load import Functions, UnknownOpError, function_graph
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor, from_array, spec_of
from intaglio.saved_model.gradient_reader import GradientReader
from intaglio.saved_model.restored import RestoredFunction, Unusable, signature_of
from intaglio.state.trackable_resource import Asset, TrackableResource
from intaglio.state.variable import Variable
from intaglio.trace.graph import FuncGraph
from intaglio.type_specs.trace_type import Tracing
from intaglio.type_specs.type_spec import TensorSpec

_INFERENCE = re.compile(r"^__inference_(.*?)(_\d+)+$")


class FunctionReader:
    """Makes the functions of one model; `objects` are those that they capture, by number.

    `suffix` is given to the names of shared resources, which are then this model's own.
    """

    def __init__(self, meta_graph: Any, objects: Mapping[int, Any], suffix: str = "") -> None:
        self.graph = meta_graph.object_graph_def
        if suffix:
            _rename_shared(meta_graph.graph_def.library, suffix)
        self.functions = Functions(meta_graph.graph_def.library)
        self.objects = objects
        self._loaded: dict[str, ConcreteFunction | Unusable] = {}
        self.functions.gradient_of = GradientReader(
            meta_graph, self.functions.graph, self._captured, self._refuse_python
        ).named

    def concrete(
        self, name: str, spec: Any, keywords: Sequence[str] = ()
    ) -> ConcreteFunction | Unusable:
        """The function of that name, whose FunctionSpec message is `spec`."""
        if name not in self._loaded:
            try:
                self._loaded[name] = self._concrete(name, spec, keywords)
            except (UnknownOpError, NotImplementedError) as e:
                self._loaded[name] = Unusable(name, str(e))
        return self._loaded[name]

    def _concrete(self, name: str, spec: Any, keywords: Sequence[str]) -> ConcreteFunction:
        if name not in self.graph.concrete_functions:
            raise MalformedError(f"the concrete function '{name}' does not exist")
        saved = self.graph.concrete_functions[name]
        proto = self.functions.protos.get(name)
        if proto is None:
            raise MalformedError(f"function '{name}' is not in the library")
        self._refuse_python(name)
        args, kwargs = _call_structure(name, saved)
        signature = _signature(spec, plain_name(name), args, kwargs, keywords)
        try:
            bound = signature.bind(tuple(args), kwargs)
        except TypeError as e:
            raise MalformedError(
                f"function '{name}': its arguments do not fit its signature: {e}"
            ) from None
        context = Tracing(for_signature=True)
        types = [from_value(v, context) for v in bound.values]
        parameters = typed(signature, bound, types)
        output = structured.decode(saved.output_signature)
        output_type = from_value(output, context)
        graph = self._graph(name, proto, [self._captured(i) for i in saved.bound_inputs])
        _check_counts(name, graph, types, output_type, len(saved.bound_inputs))
        graph.structured_outputs = output
        whole = FunctionType(list(parameters.parameters.values()), output_type)
        return ConcreteFunction(graph, whole, bound, plain_name(name))

    def _refuse_python(self, name: str) -> None:
        """Raises ValueError for functions that would run Python code, of this function or below."""
        seen, work = {name}, [name]
        while work:
            proto = self.functions.protos.get(work.pop())
            for node in proto.node_def if proto is not None else ():
                if _calls_python(node.op):
                    raise ValueError(
                        f"The function '{name}' of the SavedModel calls Python (node '{node.name}', op "
                        f"{node.op}). Loading a model never runs code, so it cannot be used here."
                    )
                for attr in node.attr.values():
                    for part in (attr.func, *attr.list.func):
                        if part.name and part.name not in seen:
                            seen.add(part.name)
                            work.append(part.name)

    def _captured(self, number: int) -> Any:
        found = self.objects.get(number)
        if isinstance(found, Asset):
            return found.asset_path
        if isinstance(found, TrackableResource) and found.is_created:
            return found.resource_handle
        if not isinstance(found, (Variable, Tensor)):
            raise UnsupportedFileError(
                f"it captures the object {number}, a {type(found).__name__}, which is neither a variable nor a constant"
            )
        return found

    def _graph(self, name: str, proto: Any, captured: Sequence[Any]) -> FuncGraph:
        count = len(proto.signature.input_arg) - len(captured)
        if count < 0:
            raise MalformedError(f"function '{name}' captures more than it has arguments")
        tensors: list[Any] = [v.handle if isinstance(v, Variable) else v for v in captured]
        known = {count + i: _known(t) for i, t in enumerate(tensors)}
        for i, spec in known.items():
            if spec.dtype.as_datatype_enum != proto.signature.input_arg[i].type:
                raise MalformedError(
                    f"function '{name}' captures a {spec.dtype.name} as another type"
                )
        graph: Any = function_graph(proto, self.functions, known)
        graph.name = plain_name(name)
        for outer, inner in zip(tensors, graph.inputs[count:], strict=True):
            if id(outer) in graph.captured:  # the same thing twice: two inputs all the same
                outer = from_array(outer._array)
            graph.captured[id(outer)] = (outer, inner)
        graph.kept = [v for v in captured if isinstance(v, Variable)]
        for variable in graph.kept:
            graph.watch_variable(variable)
        return graph

    def function(self, node: Any, name: str) -> RestoredFunction:
        """The `tf.function` of a SavedFunction message."""
        spec = node.function_spec
        traces = [self.concrete(n, spec) for n in node.concrete_functions]
        found = structured.decode(spec.fullargspec)
        signature = signature_of(_checked_spec(found, spec.is_method), name)
        input_signature = (
            structured.decode(spec.input_signature) if spec.HasField("input_signature") else None
        )
        options = Options(
            input_signature=input_signature,
            autograph=False,
            jit_compile={0: None, 1: True}.get(spec.jit_compile, False),
        )
        return RestoredFunction(name, signature, traces, options)


def _rename_shared(library: Any, suffix: str) -> None:
    for function in library.function:
        for node in function.node_def:
            if "shared_name" in node.attr and node.attr["shared_name"].s:
                node.attr["shared_name"].s += suffix.encode()


def plain_name(name: str) -> str:
    """The Python function's name in that of a trace: `__inference_f_61` is `f`."""
    found = _INFERENCE.match(name)
    return found.group(1) if found else name


def _known(tensor: EagerTensor) -> Spec:
    spec = spec_of(tensor)
    return spec if isinstance(spec.value, Spec) else Spec(spec.dtype, spec.shape)


def _call_structure(name: str, saved: Any) -> tuple[list[Any], dict[str, Any]]:
    found = structured.decode(saved.canonicalized_input_signature)
    if (
        not isinstance(found, (tuple, list))
        or len(found) != 2
        or not isinstance(found[0], (tuple, list))
        or not isinstance(found[1], dict)
    ):
        raise MalformedError(f"the input signature of function '{name}' is none")
    return list(found[0]), found[1]


def _signature(
    spec: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], keywords: Sequence[str]
) -> Signature:
    if spec is not None and spec.HasField("fullargspec"):
        found = structured.decode(spec.fullargspec)
        return signature_of(_checked_spec(found, spec.is_method), name)
    names = [*keywords][: len(args)]
    names += [f"arg_{i}" for i in range(len(names), len(args))]
    spec_of_names = _Spec(names, None, None, None, list(kwargs), None)
    return signature_of(spec_of_names, name)


class _Spec:
    """The fields of a FullArgSpec by which arguments are bound."""

    def __init__(
        self,
        args: Any,
        varargs: Any,
        varkw: Any,
        defaults: Any,
        kwonlyargs: Any,
        kwonlydefaults: Any,
    ) -> None:
        self.args, self.varargs, self.varkw = args, varargs, varkw
        self.defaults = defaults
        self.kwonlyargs, self.kwonlydefaults = kwonlyargs, kwonlydefaults


def _checked_spec(found: Any, is_method: bool) -> _Spec:
    """The decoded FullArgSpec, every name an identifier and each once."""
    try:
        args, defaults = list(found.args), list(found.defaults or ())
        named, named_defaults = list(found.kwonlyargs or ()), found.kwonlydefaults or {}
        varargs, varkw = found.varargs, found.varkw
    except (AttributeError, TypeError):
        raise MalformedError("the signature of a function is none") from None
    if is_method and args:
        args = args[1:]
    names = [*args, *named, *[n for n in (varargs, varkw) if n]]
    if (
        any(not isinstance(n, str) or not n.isidentifier() for n in names)
        or len(set(names)) != len(names)
        or len(defaults) > len(args)
        or not isinstance(named_defaults, dict)
    ):
        raise MalformedError(f"a function has the impossible parameters {names[:8]}")
    return _Spec(args, varargs, varkw, defaults, named, named_defaults)


def _check_counts(
    name: str, graph: FuncGraph, types: Sequence[Any], output: Any, captured: int
) -> None:
    """Raises MalformedError unless the graph has the inputs and outputs of its signature."""
    flat = [t for kind in types for t in kind.flatten()]
    inputs = graph.inputs[: len(graph.inputs) - captured]
    for what, specs, values in (
        ("arguments", flat, inputs),
        ("results", output.flatten(), graph.outputs),
    ):
        if [s.dtype for s in specs] != [v.dtype for v in values] or not all(
            shapes.compatible(_dims(s), v.dims) for s, v in zip(specs, values, strict=True)
        ):
            raise MalformedError(f"the {what} of function '{name}' are not those of its signature")


def _dims(spec: Any) -> Dims:
    """The shape of a component of a signature; unknown where that does not say."""
    return spec.dims if isinstance(spec, TensorSpec) else None


def _calls_python(name: str) -> bool:
    """True for the name of an op that calls a Python function."""
    op = raw.find(name)
    return op is not None and op.reaches_outside == "python"
