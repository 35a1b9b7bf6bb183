"""`tf.saved_model.load`: the object graph of a saved model as live objects.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/load. Nothing of a model is
trusted: messages are checked before they are used, and functions that would call Python are
refused. Nothing is run but the functions that make and fill resources such as look-up tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import files, replacing
from intaglio.base.dtypes import DType
from intaglio.base.errors import NotFoundError, UnsupportedFileError
from intaglio.base.shapes import Dims, TensorShape
from intaglio.function.concrete import ConcreteFunction
from intaglio.graphdef import tensors
from intaglio.graphdef.declarations import MalformedError, parsed, parsed_text
from intaglio.graphdef.saved_messages import SavedModel, TrackableObjectGraph
from intaglio.opdef import raw
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names, revived, session_models
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.function_reader import FunctionReader
from intaglio.saved_model.options import LoadOptions
from intaglio.saved_model.resource_reader import ResourceReader
from intaglio.saved_model.restored import SignatureMap, Unusable, set_child, user_object
from intaglio.state.creation import VariableAggregation, VariableSynchronization
from intaglio.state.trackable_resource import Asset
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope, name_scope


def contains_saved_model(export_dir: Any) -> bool:
    """True if the folder has a saved model's main file."""
    folder = os.fsdecode(export_dir)
    return any(os.path.isfile(os.path.join(folder, n)) for n in (names.MODEL, names.MODEL_TEXT))


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """The root object of a saved model, with its variables restored.

    Raises OSError if there is no model, ValueError if `tags` are not the model's,
    MalformedError or DataLossError (of damaged files), NotImplementedError for what
    cannot be read.
    """
    folder = os.fsdecode(export_dir)
    model = read_message(folder)
    meta_graph = _chosen(model, tags, folder)
    with init_scope(), name_scope(""):
        if meta_graph.HasField("object_graph_def"):
            root = _Loader(folder, meta_graph, options or LoadOptions()).load()
        else:
            root = session_models.load(folder, meta_graph)
    info = meta_graph.meta_info_def
    for name, value in (
        ("tensorflow_version", info.tensorflow_version),
        ("tensorflow_git_version", info.tensorflow_git_version),
        ("graph_debug_info", ""),
    ):
        if hasattr(root, "__dict__"):
            setattr(root, name, value)
    return root


def load_parts(
    export_dir: Any, filters: Mapping[str, Any], tags: Any = None, options: Any = None
) -> dict[str, Any]:
    """The objects at these paths, such as "root.layer.kernel", with all below them.

    An object, or a pair of it and a function (owner, name, value) that sets its parts, takes the place of
    the one saved at its path: variables get their values, others what the model has below them. None
    stands for an object that is made. Raises KeyError for a path that the model has not, ValueError if
    functions need objects that are not below the paths, and what `load` raises.
    """
    folder = os.fsdecode(export_dir)
    meta_graph = _chosen(read_message(folder), tags, folder)
    with init_scope(), name_scope(""):
        loader = _Loader(folder, meta_graph, options or LoadOptions())
        numbers = {path: loader.number(path) for path in filters}
        for path, value in filters.items():
            if value is not None:
                pair = value if isinstance(value, tuple) else (value, setattr)
                loader.objects[numbers[path]], loader.setters[numbers[path]] = pair
        loader.wanted = loader.below(numbers.values())
        loader.load()
    return {path: loader.objects[number] for path, number in numbers.items()}


def read_message(folder: str) -> Any:
    """The SavedModel message of a folder. Raises OSError, MalformedError."""
    with files.explained(folder):
        replacing.finish(folder)
    found = [
        p for n in (names.MODEL, names.MODEL_TEXT) if os.path.isfile(p := os.path.join(folder, n))
    ]
    if not found:
        raise OSError(
            f"SavedModel file does not exist at: {folder}{os.sep}{{{names.MODEL_TEXT}|{names.MODEL}}}"
        )
    path = found[0]
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(names.MODEL):
        model = parsed(SavedModel, data, path)
    else:
        model = parsed_text(SavedModel, data.decode("utf-8", "replace"), path)
    if not model.meta_graphs:
        raise MalformedError(f"{path} has no graph")
    return model


def _chosen(model: Any, tags: Any, folder: str) -> Any:
    found = [list(m.meta_info_def.tags) for m in model.meta_graphs]
    if tags is None:
        if len(found) > 1:
            raise ValueError(
                f"Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one "
                f"MetaGraph. Got `tags=None`, but there are {len(found)} MetaGraphs in the SavedModel with tag sets: {found}. "
                "Pass a `tags=` argument to load this SavedModel."
            )
        return model.meta_graphs[0]
    wanted = [tags] if isinstance(tags, str) else list(tags)
    for meta_graph, has in zip(model.meta_graphs, found, strict=True):
        if set(wanted) == set(has):
            return meta_graph
    if len(found) == 1 and model.meta_graphs[0].HasField("object_graph_def"):
        raise ValueError(
            f"Got an incompatible argument to `tags`: {wanted}. The SavedModel at {folder} has one MetaGraph with tags "
            f"{found[0]}. You may omit the argument, pass 'None', or pass matching tags."
        )
    raise no_such_tags(wanted, model)


def no_such_tags(tags: Sequence[str], model: Any) -> RuntimeError:
    """The error for a SavedModel of TensorFlow 1, or with several graphs, none of which has these tags."""
    available = [{*m.meta_info_def.tags} for m in model.meta_graphs]
    return RuntimeError(
        f"MetaGraphDef associated with tags {str(list(tags)).strip('[]')} could not be found in SavedModel, with "
        f"available tags '{available}'. To inspect available tag-sets in the SavedModel, please use the SavedModel "
        "CLI: `saved_model_cli`."
    )


class _Loader:
    """Makes the objects of one model: first what others refer to, functions, then the links."""

    def __init__(self, folder: str, meta_graph: Any, options: LoadOptions) -> None:
        self.options = options
        self.folder = folder
        self.meta_graph = meta_graph
        self.nodes = meta_graph.object_graph_def.nodes
        self.objects: dict[int, Any] = {}
        # What sets the parts of objects that were there before, and the numbers of what is loaded.
        self.setters: dict[int, Callable[[Any, str, Any], None]] = {}
        self.wanted: Collection[int] = range(len(self.nodes))
        self.bundle: Bundle | None = None
        # What the checkpoint has of each object: keys by the names of attributes.
        self.stored: dict[int, dict[str, str]] = {}
        if not self.nodes:
            raise MalformedError(f"the SavedModel at {folder} has no objects")
        for number, node in enumerate(self.nodes):
            for child in node.children:
                if not 0 <= child.node_id < len(self.nodes):
                    raise MalformedError(
                        f"object {number} has the child {child.node_id}, which does not exist"
                    )

    def number(self, path: str) -> int:
        """The object that the names after "root" lead to. Raises KeyError."""
        found = 0
        for name in path.split(".")[1:]:
            numbers = {c.local_name: c.node_id for c in self.nodes[found].children}
            if name not in numbers:
                raise KeyError(f"The SavedModel at {self.folder} has no object {path!r}.")
            found = numbers[name]
        return found

    def below(self, numbers: Iterable[int]) -> set[int]:
        """These objects and those below. Raises ValueError if functions among them need others."""
        work = list(numbers)
        found = set(work)
        for number in work:
            new = {c.node_id for c in self.nodes[number].children} - found
            found |= new
            work += new
        functions = self.meta_graph.object_graph_def.concrete_functions
        for number in work:
            for name in _traces(self.nodes[number]):
                if not found.issuperset(functions[name].bound_inputs if name in functions else ()):
                    raise ValueError(
                        "Unable to partially load SavedModel since the specified filter does not include all required "
                        f"objects for loading (e.g. variables used in functions): the function '{name}' uses others."
                    )
        return found

    def load(self) -> Any:
        """The root object."""
        self.stored = self._checkpoint_keys()
        keys = {n: k[names.VALUE] for n, k in self.stored.items() if names.VALUE in k}
        constants = {n.name: n for n in self.meta_graph.graph_def.node}
        for number in self.wanted:
            node = self.nodes[number]
            kind = node.WhichOneof("kind")
            if number in self.objects:
                if kind == "variable" and number in keys:
                    self._restore(self.objects[number], node.variable, keys[number])
            elif kind == "variable":
                self.objects[number] = self._variable(node.variable, keys.get(number))
            elif kind == "constant":
                self.objects[number] = _constant(node.constant.operation, constants)
            elif kind == "asset":
                self.objects[number] = self._asset(node.asset.asset_file_def_index)
        resources = ResourceReader(self.nodes, self.objects, self.wanted)
        reader = FunctionReader(self.meta_graph, self.objects, resources.suffix)
        resources.make(reader)
        self._functions(reader)
        for number in self.wanted:
            if number not in self.objects:
                self.objects[number] = self._container(number)
        # Lists and dicts first: an owner may copy what it is given, as Keras 2's layers do.
        filled = [n for n in self.wanted if isinstance(self.objects[n], (list, dict))]
        for number in dict.fromkeys([*filled, *self.wanted]):
            self._link(self.objects[number], self.nodes[number], self.setters.get(number))
        if self.bundle is not None:
            resources.restore(reader, self.bundle, self.stored)
        resources.fill()
        return self.objects.get(0)

    # -- values ------------------------------------------------------------------------

    def _checkpoint_keys(self) -> dict[int, dict[str, str]]:
        """Where the bundle keeps what objects have, found by the names that lead to them."""
        prefix = os.path.join(self.folder, names.VARIABLES, names.VARIABLES)
        if self.options.experimental_skip_checkpoint or not any(
            n.WhichOneof("kind") in ("variable", "resource") for n in self.nodes
        ):
            return {}
        self.bundle = Bundle(prefix)
        stored = self.bundle.array(names.OBJECT_GRAPH_KEY)
        graph = parsed(TrackableObjectGraph, stored.item(), f"{prefix}: object graph")
        return keys_by_node(self.nodes, graph.nodes)

    def _variable(self, proto: Any, key: str | None) -> Variable:
        dtype, dims = tensors.dtype_of(proto.dtype), tensors.shape_of(proto.shape)
        if proto.experimental_distributed_variable_components:
            raise UnsupportedFileError(
                f"The variable '{proto.name}' is distributed, which is not read."
            )
        value = from_array(self._value(proto.name, key, dtype, dims))
        variable = Variable(
            value,
            trainable=proto.trainable,
            name=proto.name or None,
            dtype=dtype,
            shape=TensorShape(dims),
            synchronization=_mode(VariableSynchronization, proto.synchronization),
            aggregation=_mode(VariableAggregation, proto.aggregation),
        )
        if key is not None:
            variable._restore(value)  # of a sum, each copy has its share
            return variable
        for copy in variable._copies:
            if copy._resource is not None:
                copy._resource.clear()
        return variable

    def _restore(self, variable: Any, proto: Any, key: str) -> None:
        """Gives a variable that was there before its value. Raises ValueError for another kind or shape."""
        if isinstance(variable, Variable):
            dtype, dims = tensors.dtype_of(proto.dtype), tensors.shape_of(proto.shape)
            variable._restore(from_array(self._value(proto.name, key, dtype, dims)))

    def _value(self, name: str, key: str | None, dtype: DType, dims: Dims) -> np.ndarray:
        """A variable's value; zeros for one that stays uninitialized."""
        if key is not None and self.bundle is not None:
            if self.bundle.dtype(key) is not dtype:
                raise MalformedError(
                    f"the variable '{name}' is {dtype.name}, its value {self.bundle.dtype(key).name}"
                )
            return self.bundle.array(key)
        options = self.options
        if not options.experimental_skip_checkpoint and not options.allow_partial_checkpoint:
            raise NotFoundError(
                None, None, f"The checkpoint has no value of the variable '{name}'."
            )
        return np.broadcast_to(
            np.zeros((), dtype.numpy), [1 if d is None else d for d in dims or ()]
        )

    def _asset(self, index: int) -> Any:
        defs = self.meta_graph.asset_file_def
        if not 0 <= index < len(defs):
            raise MalformedError(f"there is no asset {index}")
        name = os.path.basename(defs[index].filename)
        path = os.path.join(self.folder, names.ASSETS, name)
        return Asset(path)

    # -- functions ---------------------------------------------------------------------

    def _functions(self, reader: FunctionReader) -> None:
        named = {c.node_id: c.local_name for n in self.nodes for c in n.children}
        for number in self.wanted:
            node = self.nodes[number]
            kind = node.WhichOneof("kind")
            if number in self.objects:
                continue
            if kind == "function":
                name = named.get(number, "function")
                self.objects[number] = reader.function(node.function, name)
            elif kind == "bare_concrete_function":
                bare = node.bare_concrete_function
                self.objects[number] = reader.concrete(
                    bare.concrete_function_name,
                    bare.function_spec if bare.HasField("function_spec") else None,
                    bare.argument_keywords,
                )

    # -- objects -----------------------------------------------------------------------

    def _container(self, number: int) -> Any:
        node = self.nodes[number]
        kind = node.WhichOneof("kind")
        if kind == "captured_tensor":
            return Unread(kind)
        identifier = node.user_object.identifier
        if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return []
        if identifier == "trackable_dict_wrapper":
            return {}
        if identifier == "signature_map":
            functions = {c.local_name: self.objects.get(c.node_id) for c in node.children}
            if not all(isinstance(f, (ConcreteFunction, Unusable)) for f in functions.values()):
                raise MalformedError("a signature of the SavedModel is no function")
            return SignatureMap(functions)  # type: ignore[arg-type]  # all of them are functions
        found = revived.created(node.user_object)
        if found is not None:
            self.setters[number] = found[1]
            return found[0]
        return user_object()

    def _link(self, owner: Any, node: Any, setter: Any = None) -> None:
        if node.WhichOneof("kind") not in ("user_object", "resource", None):
            return  # the traces of a function, the captures of a trace
        for child in node.children:
            value = self.objects[child.node_id]
            if setter is not None:
                setter(owner, child.local_name, value)
            elif isinstance(owner, list):
                _set_item(owner, child.local_name, value)
            elif isinstance(owner, dict):
                owner[child.local_name] = value
            elif not isinstance(owner, SignatureMap):
                set_child(owner, child.local_name, value)


class Unread:
    """Stands for an object of a kind that is not read, such as a tensor of another graph."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.kind} of a SavedModel, which is not read>"


def _traces(node: Any) -> Sequence[str]:
    """The names of the concrete functions that an object of the model is, or consists of."""
    kind = node.WhichOneof("kind")
    if kind == "bare_concrete_function":
        return [node.bare_concrete_function.concrete_function_name]
    return node.function.concrete_functions if kind == "function" else ()


def keys_by_node(saved: Sequence[Any], stored: Sequence[Any]) -> dict[int, dict[str, str]]:
    """The checkpoint keys of attributes, by the object's number in the saved object graph."""
    found: dict[int, dict[str, str]] = {}
    work, seen = [(0, 0)], {0}
    while work:
        number, stored_number = work.pop()
        if not 0 <= stored_number < len(stored):
            raise MalformedError(f"the checkpoint has no object {stored_number}")
        node = stored[stored_number]
        if node.attributes:
            found[number] = {a.name: a.checkpoint_key for a in node.attributes}
        numbers = {c.local_name: c.node_id for c in node.children}
        for child in saved[number].children:
            other = numbers.get(child.local_name)
            if other is not None and child.node_id not in seen:
                seen.add(child.node_id)
                work.append((child.node_id, other))
    return found


def _mode(kind: Any, number: int) -> Any:
    """How copies are brought together, by its number. Raises MalformedError if there is no such way."""
    if number not in [member.value for member in kind]:
        raise MalformedError(f"there is no tf.{kind.__name__} {number}")
    return kind(number)


def _constant(name: str, nodes: dict[str, Any]) -> Any:
    node = nodes.get(name)
    if node is None or node.op != raw.Const.name or "value" not in node.attr:
        raise MalformedError(f"there is no constant '{name}'")
    array = tensors.array_of(node.attr["value"].tensor)
    if array.dtype != tensors.dtype_of(node.attr["dtype"].type).numpy:
        raise MalformedError(f"the constant '{name}' has a value of another dtype than its own")
    return from_array(array)


def _set_item(owner: list[Any], name: str, value: Any) -> None:
    if not name.isdigit() or len(name) > 9:
        return  # something that a list wrapper had besides its elements
    index = int(name)
    if index > len(owner) + 100000:
        raise MalformedError(f"a list has the element {index} after {len(owner)}")
    owner.extend([None] * (index + 1 - len(owner)))
    owner[index] = value
