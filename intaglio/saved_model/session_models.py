"""SavedModels of TensorFlow 1: a graph with variables and signatures, and no objects.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/load, "Importing SavedModels from TensorFlow
1.x". Each signature is the part of the graph between its inputs and outputs, as a function; the variables are
outside of it, with the values of the model's checkpoint.
"""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np

from intaglio.base.shapes import TensorShape
from intaglio.graphdef import tensors
from intaglio.graphdef.dataflow import functionalized
from intaglio.graphdef.declarations import MalformedError, parsed
from intaglio.graphdef.load import UnknownOpError
from intaglio.graphdef.ref_variables import own_resources, with_handles
from intaglio.graphdef.saved_messages import AssetFileDef, VariableDef
from intaglio.opdef import raw
from intaglio.runtime.eager import from_array
from intaglio.saved_model import names
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.graph_parts import GraphParts
from intaglio.saved_model.restored import SignatureMap, Unusable
from intaglio.state.trackable_resource import Asset
from intaglio.state.tracking import AutoTrackable
from intaglio.state.variable import Variable

_MODELS = itertools.count()
_LISTS = ("variables", "local_variables", "model_variables", "metric_variables")
# The collections of the operation that a loader runs first, and of a model's files.
MAIN_OP_KEY, LEGACY_INIT_OP_KEY = "saved_model_main_op", "legacy_init_op"
ASSETS_KEY = "saved_model_assets"


def load(folder: str, meta_graph: Any) -> Any:
    """The root object of a model without objects: its variables have the values of the checkpoint."""
    loader = _Loader(folder, meta_graph)
    root: Any = AutoTrackable()
    variables = loader.variables()
    parts = GraphParts(loader.graph_def, {f"{name}:0": v for name, v in variables.items()})
    signatures = {key: _signature(parts, key, s) for key, s in loader.signatures()}
    own = [v for name, v in variables.items() if name in loader.listed]
    assets = loader.assets()
    root.variables = own
    root.signatures = SignatureMap(signatures)
    root.asset_paths = [asset for _, asset in assets]
    root.prune = parts.prune
    root.graph = parts.graph
    root.restore = lambda path: _restore(path, variables)
    root.initializer = loader.initializer(parts, assets)
    if root.initializer is not None:
        root.initializer(*[asset.asset_path for _, asset in assets])
    return root


class _Loader:
    def __init__(self, folder: str, meta_graph: Any) -> None:
        self.folder = folder
        self.meta_graph = meta_graph
        # References are no variables that a program sees, in TensorFlow too.
        self.graph_def, self.references = with_handles(meta_graph.graph_def)
        own_resources(self.graph_def, f"_load_v1_{next(_MODELS)}")
        self.graph_def = functionalized(self.graph_def, with_gradients=False)
        self.listed: dict[str, Any] = {}
        for key in _LISTS:
            for data in meta_graph.collection_def[key].bytes_list.value:
                proto = parsed(VariableDef, data, f"collection {key}")
                if proto.is_resource:
                    name = proto.variable_name.partition(":")[0]
                    self.listed.setdefault(name, proto)

    def variables(self) -> dict[str, Variable]:
        """The variables by the names of their ops, those of the model's lists first."""
        found = {n.name: n for n in self.graph_def.node if n.op == raw.VarHandleOp.name}
        order = [n for n in self.listed if n in found]
        order += [n for n in found if n not in self.listed]
        prefix = os.path.join(self.folder, names.VARIABLES, names.VARIABLES)
        bundle = Bundle(prefix) if os.path.isfile(f"{prefix}.index") else None
        return {name: self._variable(name, found[name], bundle) for name in order}

    def _variable(self, name: str, node: Any, bundle: Bundle | None) -> Variable:
        """A variable; without a value if the checkpoint has none, as local ones."""
        dtype = tensors.dtype_of(node.attr["dtype"].type)
        dims = tensors.shape_of(node.attr["shape"].shape)
        proto = self.listed.get(name)
        array = None if bundle is None else _stored(bundle, name, proto)
        if array is not None and array.dtype != dtype.numpy:
            raise MalformedError(f"the variable '{name}' is {dtype.name}, its value {array.dtype}")
        blank = np.zeros([1 if d is None else d for d in dims or ()], dtype.numpy)
        variable = Variable(
            from_array(blank if array is None else array),
            trainable=proto is not None and proto.trainable,
            name=name,
            dtype=dtype,
            shape=TensorShape(dims),
        )
        if array is None and variable._resource is not None:
            variable._resource.clear()
        return variable

    def assets(self) -> list[tuple[str, Asset]]:
        """The files of the model, by the names of the tensors that take their paths."""
        return [(name, Asset(path)) for name, path in assets_of(self.folder, self.meta_graph)]

    def signatures(self) -> list[tuple[str, Any]]:
        """The signatures that are called, by name."""
        own = self.meta_graph.signature_def
        reserved = (names.INIT_SIGNATURE, "__saved_model_train_op")
        return [(key, own[key]) for key in sorted(own) if key not in reserved]

    def initializer(self, parts: GraphParts, assets: list[tuple[str, Asset]]) -> Any:
        """What fills the tables, a function of the paths of the assets; None if there is nothing to do."""
        found = initializer_of(self.meta_graph)
        if found is None:
            return None
        return parts.prune([name for name, _ in assets], found, "initializer")


def assets_of(folder: str, meta_graph: Any) -> list[tuple[str, str]]:
    """The files of a model: the names of the tensors that take their paths, and the paths."""
    protos = list(meta_graph.asset_file_def)
    if not protos:
        stored = meta_graph.collection_def[ASSETS_KEY].any_list.value
        protos = [
            parsed(AssetFileDef, item.value, "the assets of the SavedModel") for item in stored
        ]
    return [
        (p.tensor_info.name, os.path.join(folder, names.ASSETS, os.path.basename(p.filename)))
        for p in protos
    ]


def initializer_of(meta_graph: Any) -> str | None:
    """The name of the operation that a loader runs first, or None."""
    found: list[str] = []
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        found += meta_graph.collection_def[key].node_list.value
    if names.INIT_SIGNATURE in meta_graph.signature_def:
        outputs = meta_graph.signature_def[names.INIT_SIGNATURE].outputs
        found += [output.name for output in outputs.values()]
    return found[0] if found else None


def _stored(bundle: Bundle, name: str, proto: Any) -> np.ndarray | None:
    """A variable's value in the checkpoint: of a part of a variable, its slice."""
    part = None if proto is None else proto.save_slice_info_def
    if part is not None and part.full_name:
        where = [slice(o, o + n) for o, n in zip(part.var_offset, part.var_shape, strict=True)]
        return bundle.array(part.full_name)[tuple(where)]
    return bundle.array(name) if name in bundle else None


def _restore(path: Any, variables: dict[str, Variable]) -> None:
    """Gives the variables the values of another checkpoint, by their names."""
    bundle = Bundle(os.fsdecode(path))
    for name, variable in variables.items():
        if name in bundle:
            variable.assign(from_array(bundle.array(name)))


def _signature(parts: GraphParts, key: str, proto: Any) -> Any:
    """The function of a signature: arguments by name, results in a dict."""
    inputs = sorted(proto.inputs)
    outputs = {name: proto.outputs[name] for name in proto.outputs}
    try:
        return parts.prune([proto.inputs[name] for name in inputs], outputs, "signature", inputs)
    except (UnknownOpError, NotImplementedError, KeyError) as e:
        return Unusable(key, str(e.args[0]))
