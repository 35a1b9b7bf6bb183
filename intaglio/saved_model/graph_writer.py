"""The graph of a MetaGraphDef: handles of variables, constants, signatures, restoring."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import dtypes, nest
from intaglio.function.concrete import ConcreteFunction
from intaglio.graphdef import export, structured, tensors
from intaglio.ir.graph import Graph
from intaglio.opdef import late, raw
from intaglio.opdef.tensor import Tensor
from intaglio.saved_model import names
from intaglio.state.variable import Variable
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

_INVALID = re.compile(r"[^A-Za-z0-9_.\\/-]")
Attribute = tuple[Any, str]  # a value and its kind, as `tensors.set_attribute` takes them


class Table(NamedTuple):
    """A table that changes: where its values are kept, its handle, and how it gets them."""

    key: str
    handle: str
    types: tuple[dtypes.DType, dtypes.DType]
    restore: Graph


class GraphWriter:
    """Writes nodes and functions into a MetaGraphDef."""

    def __init__(self, meta_graph: Any) -> None:
        self.meta_graph = meta_graph
        graph_def = meta_graph.graph_def
        graph_def.versions.producer = export.PRODUCER
        graph_def.versions.min_consumer = 12
        self.nodes = graph_def.node
        self.library = export.Library(graph_def.library)
        self._taken = {node.name.lower() for node in self.nodes}
        # The ops that keep the paths of assets.
        self.assigned: list[str] = []
        # Reads of those paths for the ops that run while they are kept, by the later reads.
        self.first_reads: dict[str, str] = {}

    def node(self, name: str, op: str, inputs: Sequence[str] = (), **attrs: Attribute) -> str:
        """Adds a node; returns the name that it got."""
        base = _INVALID.sub("_", name)
        base = base if base[:1].isalnum() else f"n{base}"
        found, n = base, 0
        while found.lower() in self._taken:
            n += 1
            found = f"{base}_{n}"
        self._taken.add(found.lower())
        node_def = self.nodes.add(name=found, op=op, input=inputs)
        for key, (value, kind) in attrs.items():
            tensors.set_attribute(node_def.attr[key], value, kind, self.library.name_of)
        return found

    def function(self, graph: Graph) -> str:
        """The name of a function in the library."""
        return self.library.name_of(graph)

    def variable(self, variable: Variable) -> str:
        """The handle of a variable."""
        name = self.node(
            variable._shared_name,
            raw.VarHandleOp.name,
            dtype=(variable.dtype, "type"),
            shape=(variable._dims, "shape"),
            container=("", "str"),
        )
        self.nodes[-1].attr["shared_name"].s = name.encode()
        return name

    def constant(self, array: Any, name: str = raw.Const.name) -> str:
        """A constant."""
        array = np.asarray(array)
        dtype = dtypes.from_numpy(array.dtype)
        return self.node(name, raw.Const.name, value=(array, "tensor"), dtype=(dtype, "type"))

    def call(self, graph: Graph, inputs: Sequence[str]) -> str:
        """A call of a function."""
        return self.node(
            raw.StatefulPartitionedCall.name,
            raw.StatefulPartitionedCall.name,
            inputs,
            Tin=([v.dtype for v in graph.inputs], "list(type)"),
            Tout=([v.dtype for v in graph.outputs], "list(type)"),
            f=(graph, "func"),
        )

    def asset(self, definition: Any, filename: str) -> str:
        """The path of an asset: fed to a placeholder when the model is initialized, and kept
        in a variable for later."""
        string = (dtypes.string, "type")
        path = self.node(
            "asset_path_initializer", raw.Placeholder.name, dtype=string, shape=((), "shape")
        )
        definition.filename = filename
        definition.tensor_info.name = f"{path}:0"
        handle = self.node(
            "asset_path",
            raw.VarHandleOp.name,
            dtype=string,
            shape=((), "shape"),
            container=("", "str"),
        )
        self.nodes[-1].attr["shared_name"].s = handle.encode()
        kept = self.node(
            f"{handle}/Assign", raw.AssignVariableOp.name, [handle, path], dtype=string
        )
        self.assigned.append(kept)
        read = self.node(f"{handle}/Read", raw.ReadVariableOp.name, [handle], dtype=string)
        self.first_reads[read] = self.node(
            f"{handle}/FirstRead", raw.ReadVariableOp.name, [handle, f"^{kept}"], dtype=string
        )
        return read

    # -- signatures ---------------------------------------------------------------------

    def signature(self, key: str, function: ConcreteFunction, captured: Sequence[str]) -> None:
        """A call of the function with placeholders, and the SignatureDef that names them."""
        signature_def = self.meta_graph.signature_def[key]
        signature_def.method_name = "tensorflow/serving/predict"
        inputs: list[str] = []
        keywords = function.arg_keywords
        for label, value in zip(keywords, function.inputs, strict=False):
            inputs.append(
                self.node(
                    f"{key}_{label}",
                    raw.Placeholder.name,
                    dtype=(value.dtype, "type"),
                    shape=(value.dims, "shape"),
                )
            )
            _tensor_info(signature_def.inputs[label], f"{inputs[-1]}:0", value)
        graph = function.frozen
        inputs += captured
        call = self.call(graph, inputs)
        flat = iter(range(len(graph.outputs)))
        for label in sorted(function.structured_outputs):
            info, value = signature_def.outputs[label], function.structured_outputs[label]
            if isinstance(value, (Tensor, TensorSpec)):
                index = next(flat)
                _tensor_info(info, f"{call}:{index}", graph.outputs[index])
                continue
            spec = value if isinstance(value, TypeSpec) else value._type_spec
            whole = info.composite_tensor
            whole.type_spec.CopyFrom(structured.encode(spec).type_spec_value)
            for _ in nest.flatten(spec, expand_composites=True):
                index = next(flat)
                _tensor_info(whole.components.add(), f"{call}:{index}", graph.outputs[index])

    # -- initialising and restoring --------------------------------------------------------

    def initializer(self, fillers: Sequence[str]) -> None:
        """The op that serving runs first: paths of assets are kept, resources filled."""
        first = [*self.assigned, *fillers]
        name = self.node(raw.NoOp.name, raw.NoOp.name, [f"^{n}" for n in first])
        self.meta_graph.collection_def["saved_model_main_op"].node_list.value.append(name)
        signature_def = self.meta_graph.signature_def[names.INIT_SIGNATURE]
        info = signature_def.outputs[names.INIT_SIGNATURE]
        info.name = name
        info.tensor_shape.unknown_rank = True

    def saver(
        self, variables: Sequence[tuple[str, str, Variable]], tables: Sequence[Table]
    ) -> None:
        """Saving and restoring as ops, for loaders that run graphs: (key, handle, variable)."""
        if not variables and not tables:
            return
        filename = self.node(
            "saver_filename",
            raw.Placeholder.name,
            dtype=(dtypes.string, "type"),
            shape=((), "shape"),
        )
        names = [key for key, _, _ in variables]
        kinds = [v.dtype for _, _, v in variables]
        for kept in tables:
            names += [f"{kept.key}-keys", f"{kept.key}-values"]
            kinds += kept.types
        keys = np.empty(len(names), object)
        keys[:] = [name.encode() for name in names]
        blanks = np.full(len(names), b"", object)
        types = (kinds, "list(type)")
        files = [
            filename,
            self.constant(keys, "save/tensor_names"),
            self.constant(blanks, "save/shape_and_slices"),
        ]
        reads = [
            self.node("save/Read", raw.ReadVariableOp.name, [handle], dtype=(v.dtype, "type"))
            for _, handle, v in variables
        ]
        for kept in tables:
            export = self.node(
                "save/Export",
                late.LookupTableExportV2.name,
                [kept.handle],
                Tkeys=(kept.types[0], "type"),
                Tvalues=(kept.types[1], "type"),
            )
            reads += [export, f"{export}:1"]
        save = self.node("save/SaveV2", "SaveV2", [*files, *reads], dtypes=types)
        saved = self.node(
            "save/saved", raw.Identity.name, [filename, f"^{save}"], T=(dtypes.string, "type")
        )
        restore = self.node("save/RestoreV2", "RestoreV2", files, dtypes=types)
        done = self.node(
            "save/restore_all",
            raw.NoOp.name,
            [f"^{n}" for n in self._restored(restore, variables, tables)],
        )
        saver = self.meta_graph.saver_def
        saver.filename_tensor_name = f"{filename}:0"
        saver.save_tensor_name = f"{saved}:0"
        saver.restore_op_name = done
        saver.version = 2

    def _restored(
        self, restore: str, variables: Sequence[tuple[str, str, Variable]], tables: Sequence[Table]
    ) -> list[str]:
        """The ops that put back what the op `restore` has read."""
        calls = [
            self.node(
                "save/Assign",
                raw.AssignVariableOp.name,
                [handle, f"{restore}:{i}" if i else restore],
                dtype=(v.dtype, "type"),
            )
            for i, (_, handle, v) in enumerate(variables)
        ]
        at = len(variables)
        for kept in tables:
            parts = [f"{restore}:{n}" if n else restore for n in (at, at + 1)]
            calls.append(self.call(kept.restore, [*parts, kept.handle]))
            at += 2
        return calls


def _tensor_info(info: Any, name: str, value: Any) -> None:
    info.name, info.dtype = name, value.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(tensors.shape_proto(value.dims))
