"""`tf.saved_model.save`: a model's objects, functions and values as a folder.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/save.
"""

from __future__ import annotations

import os
import shutil
from inspect import FullArgSpec
from typing import Any

import numpy as np

from intaglio.base import files, replacing
from intaglio.function.concrete import ConcreteFunction, described
from intaglio.function.polymorphic import Function
from intaglio.function.signature import KEYWORD_ONLY
from intaglio.graphdef import structured, tensors
from intaglio.graphdef.saved_messages import SavedModel
from intaglio.opdef import door
from intaglio.runtime.eager import EagerTensor
from intaglio.runtime.lookup_tables import LookupTable
from intaglio.runtime.resources import Resource
from intaglio.saved_model import (
    bundle,
    fingerprint,
    names,
    object_graph,
    resources,
    revived,
    sharding,
)
from intaglio.saved_model import signatures as model_signatures
from intaglio.saved_model.gradient_writer import CapturedValue, GradientWriter
from intaglio.saved_model.graph_writer import GraphWriter, Table
from intaglio.saved_model.object_graph import ObjectGraph
from intaglio.saved_model.options import SaveOptions, VariablePolicy
from intaglio.saved_model.restored import RestoredFunction, SignatureMap
from intaglio.state.trackable_resource import Asset
from intaglio.state.tracking import Trackable, has_children
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope
from intaglio.type_specs.type_spec import TensorSpec

_OWN_FILES = frozenset((names.MODEL, names.VARIABLES, names.ASSETS, fingerprint.FILE, "debug"))
RESOURCE_TYPES = (Resource, LookupTable)
VERSION = "2.21.0"  # of the TensorFlow whose format this is


_WITH_DEVICES = (VariablePolicy.SAVE_VARIABLE_DEVICES, VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES)


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Writes the model below `obj` to the folder `export_dir`.

    An existing model is replaced once the new one is complete. Raises ValueError for an
    object that cannot be saved, AssertionError inside a function that is being traced, and
    KeyError for a function that uses a variable which no attribute leads to.
    """
    if not door.level().eager:
        raise AssertionError(
            "`tf.saved_model.save` is not supported inside a traced @tf.function. Move the call to the outer eagerly-executed context."
        )
    if not has_children(obj):
        raise ValueError(
            "Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for export. "
            f"Got {obj} with type {type(obj)}."
        )
    save_and_return_graph(obj, export_dir, signatures, options)


def save_and_return_graph(
    obj: Any, export_dir: Any, signatures: Any = None, options: Any = None
) -> ObjectGraph:
    """Writes the model; returns its objects as they are numbered in the file.

    Keras 2 describes the layers among them in a file of its own. Raises what `save` raises for functions.
    """
    with init_scope():
        model = _Model(obj, signatures, options or SaveOptions())
    _write(os.fsdecode(export_dir), model)
    return model.graph


class _Model:
    """The messages and values of one model."""

    def __init__(self, root: Any, signatures: Any, options: SaveOptions) -> None:
        self.root = root
        self.options = options
        # What objects have made for this model, which their parents find there.
        self.cache: dict[Any, Any] = {}
        # The traces of functions, by the function's identity.
        self.traces: dict[int, list[ConcreteFunction]] = {}
        self.signatures = model_signatures.of_model(root, signatures, self._saved)
        self.graph = ObjectGraph(root, self._children)
        self.message = SavedModel(saved_model_schema_version=names.SCHEMA_VERSION)
        self.meta_graph = self.message.meta_graphs.add()
        info = self.meta_graph.meta_info_def
        info.tags.extend([names.SERVING, *(options.extra_tags or ())])
        info.tensorflow_version = VERSION
        self.writer = GraphWriter(self.meta_graph)
        self.tensor_names: dict[int, str] = {}
        # The numbers of what functions capture: resources by what is behind their handle,
        # assets by their tensor.
        self.resources: dict[int, int] = {}
        self.assets = resources.Assets()
        # The functions that write and read the values of tables, by the table's number.
        self.savers: dict[int, list[int]] = {}
        self.functions: list[ConcreteFunction] = []
        self._fill()

    def _children(self, value: Any) -> dict[str, Any]:
        """Attributes, the functions of classes, and the traces of functions."""
        if isinstance(value, Function):
            return {f"trace_{i}": t for i, t in enumerate(self._traces(value))}
        found = self._saved(value)
        if resources.is_resource(value):
            return {**found, **resources.functions_of(value)}
        if value is self.root:
            found.pop("signatures", None)
            return {**found, **object_graph.functions_of(value), "signatures": self.signatures}
        return {**found, **object_graph.functions_of(value)}

    def _saved(self, value: Any) -> dict[str, Any]:
        return object_graph.children(value, "savedmodel", cache=self.cache)

    def _traces(self, function: Function) -> list[ConcreteFunction]:
        found = self.traces.get(id(function))
        if found is None:
            found = [model_signatures.of_one_device(function, t) for t in traces_of(function)]
            self.traces[id(function)] = found
        return found

    def _fill(self) -> None:
        saver: list[tuple[str, str, Variable]] = []
        self.values: dict[str, np.ndarray] = {}
        for number, variable in self.graph.variables():
            key = self.graph.key(number)
            self.values[key] = variable._saved_value()
            for copy in variable._copies:
                self.resources[id(copy._resource)] = number
            handle = self.tensor_names[number] = self.writer.variable(variable)
            saver.append((key, handle, variable))
        self._resources_and_assets()
        for function in self.signatures.values():
            self._check_tracked(function)
        for value in list(self.graph.objects):
            if isinstance(value, ConcreteFunction):
                self._captures(value)
        if self.options.experimental_custom_gradients:
            self._gradients()
        for number, value in enumerate(self.graph.objects):
            node = self.meta_graph.object_graph_def.nodes.add()
            self.graph.fill_children(number, node.children)
            self._fill_object(node, number, value)
        for key, function in self.signatures.items():
            bound = self._bound_inputs(function)
            self.writer.signature(key, function, [self.tensor_names[n] for n in bound])
        self.writer.initializer(self._fillers())
        if not self.options.experimental_skip_saver:
            self.writer.saver(saver, self._tables())
        self._aliases()
        graph = self.graph.message().SerializeToString()
        self.values[names.OBJECT_GRAPH_KEY] = np.array(graph, object)

    # -- functions ---------------------------------------------------------------------

    def _aliases(self) -> None:
        aliases = self.meta_graph.meta_info_def.function_aliases
        for alias, function in self.options.function_aliases.items():
            single = isinstance(function, ConcreteFunction)
            for trace in [function] if single else self._traces(function):
                aliases[self.writer.function(trace.frozen)] = alias

    def _check_tracked(self, function: ConcreteFunction) -> None:
        for tensor, inner in function.graph.captures:
            array = getattr(tensor, "_array", None)
            if isinstance(array, RESOURCE_TYPES) and id(array) not in self.resources:
                raise AssertionError(
                    "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) "
                    "captured by functions must be 'tracked' by assigning them to an attribute of a tracked object or assigned "
                    f"to an attribute of the main object directly. See the information below:\n\tFunction name = "
                    f"{function.name!r}\n\tCaptured Tensor = {array!r}\n\tInternal Tensor = {inner}"
                )

    def _captures(self, function: ConcreteFunction) -> None:
        """Captured constants become objects; captured variables must be objects already."""
        number = self.graph.numbers[id(function)]
        for i, tensor in enumerate(function.captured_inputs):
            array = getattr(tensor, "_array", None)
            if id(array) in self.resources:
                asset = self.graph.objects[self.resources[id(array)]]
                if isinstance(asset, Asset):
                    self.graph.add(number, f"capture_{i}", asset)
                continue
            if not isinstance(array, (np.ndarray, np.generic)):
                raise KeyError(
                    f"Failed to add concrete function '{function.name!r}' to object-based SavedModel as it captures tensor "
                    f"{tensor!r} which is unsupported or not reachable from root. One reason could be that a stateful object or "
                    "a variable that the function depends on is not assigned to an attribute of the serialized trackable "
                    "object (see SaveTest.test_captures_unreachable_variable)."
                )
            found = self.graph.add(number, f"capture_{i}", tensor)
            if found not in self.tensor_names:
                self.tensor_names[found] = self.writer.constant(array)

    def _gradients(self) -> None:
        """The functions of custom gradients; what they capture becomes objects."""
        writer = GradientWriter(self.writer.library, self._captured, self.graph.append)
        writer.trace(v.frozen for v in self.graph.objects if isinstance(v, ConcreteFunction))
        writer.write(self.meta_graph.object_graph_def.concrete_functions)

    def _captured(self, tensor: Any, gradient: str) -> int:
        """The object that an eager tensor is, which a gradient function captures."""
        array = getattr(tensor, "_array", None)
        if id(array) in self.resources:
            return self.resources[id(array)]
        if not isinstance(array, (np.ndarray, np.generic)):
            raise AssertionError(
                f"The custom gradient {gradient!r} uses {array!r}, which no attribute of the model leads to: "
                "assign it to an attribute of the object that is saved."
            )
        number = self.graph.append(tensor)
        if number not in self.tensor_names:
            self.tensor_names[number] = self.writer.constant(array)
        return number

    def _bound_inputs(self, function: ConcreteFunction) -> list[int]:
        """The objects that a function captures, by number."""
        return [
            self.resources[id(t._array)]
            if id(t._array) in self.resources
            else self.graph.numbers[id(t)]
            for t in function.captured_inputs
        ]

    def _fill_concrete(self, function: ConcreteFunction) -> str:
        name = self.writer.function(function.frozen)
        concrete_proto = self.meta_graph.object_graph_def.concrete_functions[name]
        if not concrete_proto.bound_inputs and not concrete_proto.HasField("output_signature"):
            concrete_proto.bound_inputs.extend(self._bound_inputs(function))
            signature = structured.encode(function.structured_input_signature)
            concrete_proto.canonicalized_input_signature.CopyFrom(signature)
            concrete_proto.output_signature.CopyFrom(structured.encode(_output_specs(function)))
        return name

    # -- resources -----------------------------------------------------------------------

    def _resources_and_assets(self) -> None:
        """Handles of the resources and paths of the assets, as nodes of the graph."""
        self.asset_numbers: dict[int, int] = {}
        for number, value in enumerate(self.graph.objects):
            if isinstance(value, Asset):
                files = self.meta_graph.asset_file_def
                self.asset_numbers[number] = len(files)
                self.resources[id(value.asset_path._array)] = number
                name = self.assets.name(value)
                self.tensor_names[number] = self.writer.asset(files.add(), name)
            elif resources.is_resource(value):
                array = value.resource_handle._array
                creator = self._of_resource(number, resources.CREATE)
                if creator.captured_inputs:
                    raise ValueError(
                        f"`_create_resource` of {value!r} uses tensors from outside: "
                        f"{creator.captured_inputs}. Make them in the function."
                    )
                self.resources[id(array)] = number
                self.tensor_names[number] = self.writer.call(creator.frozen, ())
                if isinstance(array, LookupTable) and not array.fixed:
                    self._keep_table(number, value)

    def _of_resource(self, number: int, name: str) -> ConcreteFunction:
        """The trace of a function of a resource."""
        found = dict(self.graph.children[number])[name]
        return self._traces(self.graph.objects[found])[0]

    def _keep_table(self, number: int, table: Any) -> None:
        kept = [f.get_concrete_function() for f in resources.table_functions(table)]
        self.savers[number] = [self.graph.append(trace) for trace in kept]
        keys, rows = table.resource_handle._array.export()
        self.graph.value_names[number] = ["table-keys", "table-values"]
        self.values[self.graph.key(number, "table-keys")] = keys
        self.values[self.graph.key(number, "table-values")] = rows

    def _tables(self) -> list[Table]:
        """The tables whose values the graph restores."""
        found: list[Table] = []
        for number, (_, restore) in self.savers.items():
            array = self.graph.objects[number].resource_handle._array
            found.append(
                Table(
                    self.graph.key(number, "table"),
                    self.tensor_names[number],
                    (array.key_dtype, array.spec.dtype),
                    self.graph.objects[restore].frozen,
                )
            )
        return found

    def _fillers(self) -> list[str]:
        """Calls of the functions that fill the resources."""
        calls: list[str] = []
        for number, value in enumerate(self.graph.objects):
            if resources.is_resource(value):
                filler = self._of_resource(number, resources.FILL)
                bound = [self.tensor_names[n] for n in self._bound_inputs(filler)]
                first = [self.writer.first_reads.get(name, name) for name in bound]
                calls.append(self.writer.call(filler.frozen, first))
        return calls

    def _fill_resource(self, node: Any, number: int) -> None:
        node.resource.SetInParent()
        if number in self.savers:
            saves = node.saveable_objects["table"]
            saves.save_function, saves.restore_function = self.savers[number]

    # -- objects -----------------------------------------------------------------------

    def _fill_object(self, node: Any, number: int, value: Any) -> None:
        if isinstance(value, Variable):
            _fill_variable(node.variable, value)
            if self.options.experimental_variable_policy in _WITH_DEVICES:
                node.variable.device = value.device
        elif isinstance(value, Function):
            node.function.SetInParent()
            for trace in self._traces(value):
                node.function.concrete_functions.append(self._fill_concrete(trace))
            fill_function_spec(node.function.function_spec, value)
            self.graph.fill_children(number, node.dependencies)
        elif isinstance(value, ConcreteFunction):
            bare = node.bare_concrete_function
            bare.concrete_function_name = self._fill_concrete(value)
            bare.argument_keywords.extend(value.arg_keywords)
            bare.allowed_positional_arguments = len(value.arg_keywords)
            _fill_bare_spec(bare.function_spec, value)
            self.graph.fill_children(number, node.dependencies)
        elif isinstance(value, Asset):
            node.asset.asset_file_def_index = self.asset_numbers[number]
        elif resources.is_resource(value):
            self._fill_resource(node, number)
        elif isinstance(value, CapturedValue):
            node.captured_tensor.name = value.name
            node.captured_tensor.concrete_function = value.function
        elif isinstance(value, EagerTensor):
            node.constant.operation = self.tensor_names[number]
            node.registered_name = "tf.TrackableConstant"
        elif not revived.fill(node.user_object, value):
            node.user_object.identifier = _identifier(value)
            node.user_object.version.producer = 1
            node.user_object.version.min_consumer = 1


def traces_of(function: Function) -> list[ConcreteFunction]:
    """The traces that can be saved: all whose arguments have a written form."""
    if isinstance(function, RestoredFunction):
        found = function.concrete_functions
    else:
        found = function._list_all_concrete_functions()
        if not found and function.input_signature is not None:
            found = [function.get_concrete_function()]
    return [t for t in found if structured.can_encode(t.structured_input_signature)]


def _identifier(value: Any) -> str:
    if isinstance(value, list):
        return "trackable_list_wrapper"
    if isinstance(value, tuple):
        return "trackable_tuple_wrapper"
    if isinstance(value, SignatureMap):
        return "signature_map"
    if isinstance(value, dict):
        return "trackable_dict_wrapper"
    return getattr(value, "_object_identifier", Trackable._object_identifier)


def _fill_variable(proto: Any, variable: Variable) -> None:
    proto.dtype = variable.dtype.as_datatype_enum
    proto.shape.CopyFrom(tensors.shape_proto(variable._dims))
    proto.trainable = variable.trainable
    proto.synchronization = variable.synchronization.value
    proto.aggregation = variable.aggregation.value
    proto.name = variable._shared_name


def fill_function_spec(proto: Any, function: Function) -> None:
    """How the function's Python signature binds arguments."""
    spec = function.function_spec.fullargspec
    defaults = spec.defaults if structured.can_encode(spec.defaults) else None
    if defaults is None and spec.defaults:
        defaults = tuple([d if structured.can_encode(d) else None for d in spec.defaults])
    named = {
        k: v if structured.can_encode(v) else None for k, v in (spec.kwonlydefaults or {}).items()
    }
    spec = spec._replace(defaults=defaults, kwonlydefaults=named or None, annotations={})
    proto.fullargspec.CopyFrom(structured.encode(spec))
    proto.input_signature.CopyFrom(structured.encode(function.input_signature))
    jit = function._options.jit_compile
    proto.jit_compile = 0 if jit is None else 1 if jit else 2


def _fill_bare_spec(proto: Any, function: ConcreteFunction) -> None:
    """The parameters of one trace; `*args` that were given are parameters of their own."""
    args: list[str] = []
    named: list[str] = []
    for p in function.function_type.parameters.values():
        (named if p.kind is KEYWORD_ONLY else args).append(p.name)
    spec = FullArgSpec(args, None, None, None, named, None, {})
    proto.fullargspec.CopyFrom(structured.encode(spec))
    proto.input_signature.none_value.SetInParent()


def _output_specs(function: ConcreteFunction) -> Any:
    output = function.function_type.output
    if isinstance(output, TensorSpec):
        return TensorSpec(output.dims, output.dtype, output.name or "unknown")
    return None if output is None else described(output, ())


# -- files -----------------------------------------------------------------------------


def _write(folder: str, model: _Model) -> None:
    """Writes the model into a folder beside, which then takes the place of `folder`."""
    files.make_folders(os.path.dirname(folder))
    with files.explained(folder), replacing.replaced_folder(folder, _OWN_FILES) as beside:
        for name in (names.VARIABLES, names.ASSETS):
            os.mkdir(os.path.join(beside, name))
        for path, name in model.assets.names.items():
            shutil.copyfile(path, os.path.join(beside, names.ASSETS, name))
        prefix = os.path.join(beside, names.VARIABLES, names.VARIABLES)
        callback = model.options.experimental_sharding_callback
        if callback is None:
            bundle.write(prefix, model.values)
        else:
            owners = {model.graph.key(n): v for n, v in model.graph.variables()}
            shards = sharding.sharded(model.values, callback, owners)
            bundle.write_shards(prefix, shards)
        with open(os.path.join(beside, names.MODEL), "wb") as file:
            file.write(model.message.SerializeToString(deterministic=True))
        fingerprint.write(beside, model.message)
