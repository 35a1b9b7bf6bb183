"""SavedModels written and read by sessions: `tf.compat.v1.saved_model`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/saved_model/Builder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base.errors import UnsupportedFileError
from intaglio.compat_v1 import meta_graphs
from intaglio.compat_v1.savers import Saver
from intaglio.compat_v1.signature_defs import predict_signature_def
from intaglio.compat_v1.variable_scopes import (
    GraphKeys,
    global_variables_initializer,
    local_variables_initializer,
    tables_initializer,
)
from intaglio.graphdef.declarations import as_text as written_as_text
from intaglio.graphdef.saved_messages import AssetFileDef, SavedModel
from intaglio.ir.graph import Node
from intaglio.opdef import raw
from intaglio.saved_model import names, reader
from intaglio.saved_model.session_models import (
    ASSETS_KEY,
    LEGACY_INIT_OP_KEY,
    MAIN_OP_KEY,
    assets_of,
    initializer_of,
)
from intaglio.trace import scopes

_ANY = "type.googleapis.com/tensorflow.AssetFileDef"


class SavedModelBuilder:
    """Writes a SavedModel: the values of a session, and one or more graphs with tags.

    Raises AssertionError if the folder exists and has files in it.
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = os.fsdecode(export_dir)
        if os.path.isdir(self._export_dir) and os.listdir(self._export_dir):
            raise AssertionError(
                f"Export directory {self._export_dir} already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory."
            )
        os.makedirs(self._export_dir, exist_ok=True)
        self._model = SavedModel(saved_model_schema_version=names.SCHEMA_VERSION)
        self._saved = False

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the session's graph, and writes the values of its variables and the files of `assets_collection`.

        Raises AssertionError the second time.
        """
        if self._saved:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        with sess.graph.as_default():
            writer = saver or Saver(sharded=True, allow_empty=True)
            self._add(
                writer,
                tags,
                signature_def_map,
                assets_collection,
                main_op or legacy_init_op,
                MAIN_OP_KEY if main_op is not None else LEGACY_INIT_OP_KEY,
                clear_devices,
            )
            folder = os.path.join(self._export_dir, names.VARIABLES)
            os.makedirs(folder, exist_ok=True)
            prefix = os.path.join(folder, names.VARIABLES)
            writer.save(sess, prefix, write_meta_graph=False, write_state=False)
        self._saved = True

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the current graph with other tags. Raises AssertionError before variables are written."""
        if not self._saved:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        self._add(
            saver or Saver(sharded=True, allow_empty=True),
            tags,
            signature_def_map,
            assets_collection,
            main_op or legacy_init_op,
            MAIN_OP_KEY if main_op is not None else LEGACY_INIT_OP_KEY,
            clear_devices,
        )

    def _add(
        self,
        saver: Saver,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None,
        assets_collection: Any,
        first_op: Any,
        first_key: str,
        clear_devices: bool,
    ) -> None:
        if first_op is not None and not isinstance(first_op, Node):
            raise TypeError(f"main_op needs to be an Operation: {first_op!r}")
        proto = saver.export_meta_graph(clear_devices=clear_devices)
        proto.meta_info_def.tags.extend(tags)
        for key, signature in (signature_def_map or {}).items():
            _check_signature(key, signature)
            proto.signature_def[key].ParseFromString(signature.SerializeToString())
        if first_op is not None:
            proto.collection_def[first_key].node_list.value.append(first_op.name)
        for tensor in assets_collection or ():
            self._add_asset(proto, tensor)
        self._model.meta_graphs.add().CopyFrom(proto)

    def _add_asset(self, proto: Any, tensor: Any) -> None:
        path = os.fsdecode(_text_of(tensor))
        folder = os.path.join(self._export_dir, names.ASSETS)
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
        asset = AssetFileDef(filename=os.path.basename(path))
        asset.tensor_info.name = tensor.name
        stored = proto.collection_def[ASSETS_KEY].any_list.value.add()
        stored.type_url, stored.value = _ANY, asset.SerializeToString()

    def save(self, as_text: bool = False) -> bytes:
        """Writes the model's main file; returns its path."""
        path = os.path.join(self._export_dir, names.MODEL_TEXT if as_text else names.MODEL)
        data = written_as_text(self._model).encode() if as_text else self._model.SerializeToString()
        with open(path, "wb") as file:
            file.write(data)
        return os.fsencode(path)


def _check_signature(key: str, signature: Any) -> None:
    for where in (signature.inputs, signature.outputs):
        for name, info in where.items():
            if info.WhichOneof("encoding") is None or not (info.dtype or info.name == ""):
                raise AssertionError(
                    f"All TensorInfo protos used in the SignatureDefs must have the name and dtype fields set: {name} of {key}"
                )


def _text_of(tensor: Any) -> bytes:
    """The text of a constant."""
    if tensor.node.op is not raw.Const:
        raise TypeError(f"Asset path {tensor!r} must be a constant of the graph.")
    return bytes(np.asarray(tensor.node.attrs["value"]).item())


def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Writes the graph of a session for serving: one signature, from these inputs to these outputs."""
    builder = SavedModelBuilder(export_dir)
    with session.graph.as_default():
        signature = predict_signature_def(inputs, outputs)
        builder.add_meta_graph_and_variables(
            session,
            tags=[names.SERVING],
            signature_def_map={names.DEFAULT_SIGNATURE: signature},
            assets_collection=session.graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=legacy_init_op,
            clear_devices=True,
        )
    builder.save()


def load(
    sess: Any, tags: Sequence[str], export_dir: Any, import_scope: str | None = None, **saver: Any
) -> Any:
    """Adds the graph of a SavedModel to that of a session, restores the variables and fills tables.

    Returns the MetaGraphDef. Raises RuntimeError if the model has no graph with these tags, OSError if
    there is no model.
    """
    folder = os.fsdecode(export_dir)
    proto = _with_tags(reader.read_message(folder), tags)
    prefix = f"{import_scope}/" if import_scope else ""
    with sess.graph.as_default():
        if scopes.executing_eagerly():
            raise UnsupportedFileError("tf.compat.v1.saved_model.load needs a session's graph")
        variables = meta_graphs.imported(proto, import_scope)
        stored = meta_graphs.by_saved_name(proto, variables, prefix)
        path = os.path.join(folder, names.VARIABLES, names.VARIABLES)
        if stored and os.path.isfile(f"{path}.index"):
            Saver(stored).restore(sess, path)
        first = initializer_of(proto)
        if first is not None:
            fed = {prefix + name: path for name, path in assets_of(folder, proto)}
            sess.run(sess.graph.get_operation_by_name(prefix + first), fed)
    return proto


def _with_tags(model: Any, tags: Sequence[str]) -> Any:
    for proto in model.meta_graphs:
        if set(proto.meta_info_def.tags) == set(tags):
            return proto
    raise reader.no_such_tags(tags, model)


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """True if the folder has a saved model's main file."""
    return reader.contains_saved_model(export_dir)


def main_op() -> Any:
    """An operation that initializes variables, local variables and tables."""
    return _after_all(
        [global_variables_initializer(), local_variables_initializer(), tables_initializer()]
    )


def main_op_with_restore(restore_op_name: Any) -> Any:
    """As `main_op`, and then an operation that restores."""
    with scopes.control_dependencies([main_op()]):
        return _after_all([restore_op_name])


def _after_all(operations: list[Any]) -> Any:
    with scopes.control_dependencies(operations):
        return raw.NoOp(name="group_deps")
