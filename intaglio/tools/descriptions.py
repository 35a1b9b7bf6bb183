"""What files hold, for `intaglio show`: the kind is told by the content, and nothing of a model is run.

SavedModels, GraphDefs and MetaGraphDefs as bytes or text, models and weights of Keras, ONNX models, checkpoints,
and files of records.
"""

from __future__ import annotations

import collections
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Any

from intaglio.base import dtypes, later
from intaglio.base.errors import DataLossError
from intaglio.data import record_files
from intaglio.export import onnx
from intaglio.graphdef.declarations import MalformedError, parsed, parsed_text
from intaglio.graphdef.example_messages import SequenceExample
from intaglio.graphdef.messages import GraphDef
from intaglio.graphdef.saved_messages import MetaGraphDef, SavedModel
from intaglio.native.regions import may_be_native
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.saved_model import names, reader
from intaglio.saved_model.checkpoint import STATE_FILE, get_checkpoint_state, load_checkpoint

# Records at the beginning of a file whose features are listed.
MAX_RECORDS = 100
# Parts of a folder that a message names.
MAX_NAMED = 5
Description = dict[str, Any]

_HDF5 = b"\x89HDF\r\n\x1a\n"
_GZIP = b"\x1f\x8b"
_ARCHIVE = b"PK\x03\x04"
# Kinds of files that have something if they are whole, by the ends of their names.
_NEVER_EMPTY = (".keras", ".h5", ".hdf5", ".onnx", ".pb", ".pbtxt", ".meta")
# The end of a table of keys, which is a whole checkpoint of the first format.
_TABLE_END = bytes.fromhex("57fb808b247547db")
# A file of a checkpoint, behind the prefix that names it.
_PART = re.compile(r"(.+)\.(?:index|data-\d{5}-of-\d{5})")
_OP_TYPE = re.compile(r"[A-Za-z_][\w>.]*")


def described(path: str) -> Description:
    """What is at a path. Raises ValueError for what is none of the kinds, OSError where nothing is."""
    if os.path.isdir(path):
        return _folder(path)
    if os.path.exists(f"{path}.index"):
        return _checkpoint(path)
    part = _PART.fullmatch(path)
    if part is not None and os.path.exists(f"{part[1]}.index"):
        return _checkpoint(part[1])
    if os.path.basename(path) == STATE_FILE and os.path.isfile(path):
        return _checkpoint(os.path.dirname(path) or ".")
    if os.path.basename(path) in (names.MODEL, names.MODEL_TEXT):
        return _saved_model(os.path.dirname(path) or ".")
    with open(path, "rb") as file:
        head = file.read(record_files.HEAD)
    if not head and path.endswith(_NEVER_EMPTY):
        raise ValueError(f"{path} is empty.")
    if head.startswith(_ARCHIVE):
        return _keras(path)
    if head.startswith(_HDF5):
        return _hdf5(path)
    compression = _compression(head)
    if compression or record_files.begins_record(head):  # also a file without any
        return _records(path, compression)
    return _message(path)


def _folder(path: str) -> Description:
    if reader.contains_saved_model(path):
        return _saved_model(path)
    if os.path.exists(os.path.join(path, STATE_FILE)):
        return _checkpoint(path)
    raise ValueError(
        f"{path} is a folder without {names.MODEL} and without a checkpoint.{_inside(path)}"
    )


def _inside(path: str) -> str:
    """What in a folder can be shown, as the end of a message."""
    entries = sorted(os.listdir(path))
    found = [e for e in entries if reader.contains_saved_model(os.path.join(path, e))]
    found += [e.removesuffix(".index") for e in entries if e.endswith(".index")]
    found += [e for e in entries if e.endswith((*_NEVER_EMPTY, ".tfrecord", ".tfrecords"))]
    more = ", ..." if len(found) > MAX_NAMED else ""
    return f" Name one in it: {', '.join(found[:MAX_NAMED])}{more}." if found else ""


def _compression(head: bytes) -> str:
    """How a file is compressed, by the head of its data."""
    if head.startswith(_GZIP):
        return "GZIP"
    deflated = len(head) >= 2 and head[0] & 15 == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    # A record's length may begin like that, too.
    return "ZLIB" if deflated and not record_files.begins_record(head) else ""


# -- graphs --------------------------------------------------------------------------------


def _message(path: str) -> Description:
    """A file with one message."""
    with open(path, "rb") as file:
        data = file.read()
    if data.endswith(_TABLE_END):
        raise _first_format(path)
    if path.endswith(".onnx"):
        onnx.check_installed()
        return _onnx(path)
    kinds: list[tuple[Any, Callable[[Any], Any], Callable[[Any], Description]]] = [
        (GraphDef, lambda m: m, _graph_def),
        (MetaGraphDef, lambda m: m.graph_def, lambda m: {"kind": "MetaGraphDef", **_meta_graph(m)}),
        (SavedModel, lambda m: m.meta_graphs and m.meta_graphs[0].graph_def, _model),
    ]
    for kind, graph_of, describe in kinds:
        message = _parsed(kind, data, path)
        if message is not None and _is_graph(graph_of(message)):
            found = describe(message)
            return {"kind": found.pop("kind"), "bytes": len(data), **found}
    if onnx.is_installed():
        try:
            return _onnx(path)
        except ValueError:
            pass  # of no kind at all
    raise ValueError(
        f"{path} is no graph, model of Keras or ONNX, checkpoint or file of TFRecords, or the beginning "
        "of it is damaged."
    )


def _onnx(path: str) -> Description:
    return {"kind": "ONNX model", "bytes": _bytes(path), **onnx.described(path)}


def _parsed(kind: Any, data: bytes, path: str) -> Any:
    """Bytes or text as a message; None if they are none."""
    try:
        return parsed(kind, data, path)
    except MalformedError:
        pass
    try:
        return parsed_text(kind, data.decode(), path)
    except (MalformedError, UnicodeDecodeError):
        return None


def _is_graph(graph: Any) -> bool:
    """Whether a message that could be read has nodes: bytes of another kind may be read, too."""
    if not graph or not (graph.node or graph.library.function):
        return False
    return all([n.name and _OP_TYPE.fullmatch(n.op) for n in graph.node])


def _saved_model(folder: str) -> Description:
    model = _model(reader.read_message(folder))
    found: Description = {"kind": model.pop("kind"), "bytes": _bytes(folder), **model}
    prefix = os.path.join(folder, "variables", "variables")
    if os.path.exists(f"{prefix}.index"):
        found["variables"] = _variables(prefix)
    return found


def _model(message: Any) -> Description:
    return {"kind": "SavedModel", "graphs": [_meta_graph(m) for m in message.meta_graphs]}


def _meta_graph(meta: Any) -> Description:
    """A graph with its tags and signatures."""
    signatures = {
        key: {
            "method": signature.method_name,
            "inputs": {k: _tensor_info(v) for k, v in sorted(signature.inputs.items())},
            "outputs": {k: _tensor_info(v) for k, v in sorted(signature.outputs.items())},
        }
        for key, signature in sorted(meta.signature_def.items())
        if key != names.INIT_SIGNATURE
    }
    return {
        "tags": [*meta.meta_info_def.tags],
        "written by": meta.meta_info_def.tensorflow_version,
        "signatures": signatures,
        **_ops([n.op for n in _nodes_of_model(meta)]),
    }


def _nodes_of_model(meta: Any) -> list[Any]:
    """The nodes of a graph and its functions, without those that write and read the variables.

    Loading a model does that without them. They are functions that two nodes call, or nodes of a name scope.
    """
    saver = meta.saver_def
    scope, _, _ = saver.restore_op_name.rpartition("/")
    calls = {saver.save_tensor_name.partition(":")[0], saver.restore_op_name}
    nodes = [n for n in meta.graph_def.node if not (scope and n.name.startswith(f"{scope}/"))]
    savers = {n.attr["f"].func.name for n in nodes if n.name in calls and "f" in n.attr}
    for function in meta.graph_def.library.function:
        if function.signature.name not in savers:
            nodes += function.node_def
    return nodes


def _tensor_info(info: Any) -> Description:
    """A tensor of a signature; a value of several tensors has its class and these."""
    encoding = info.WhichOneof("encoding")
    if encoding == "composite_tensor":
        whole = info.composite_tensor
        components = {str(i): _tensor_info(c) for i, c in enumerate(whole.components)}
        return {"class": _class_of(whole.type_spec), "components": components}
    found = _typed(info.dtype, info.tensor_shape)
    if encoding == "coo_sparse":
        return {"class": "SparseTensorSpec", **found, "name": info.coo_sparse.values_tensor_name}
    return {**found, "name": info.name}


def _class_of(spec: Any) -> str:
    """The class of a spec: that of an extension type by its own name."""
    name = spec.DESCRIPTOR.fields_by_name["type_spec_class"].enum_type.values_by_number
    kind = name[spec.type_spec_class].name if spec.type_spec_class in name else ""
    own = kind in ("", "UNKNOWN", "REGISTERED_TYPE_SPEC", "EXTENSION_TYPE_SPEC")
    if own and spec.type_spec_class_name:
        return spec.type_spec_class_name
    return "".join([word.capitalize() for word in kind.split("_")])


def _typed(number: int, shape: Any) -> Description:
    """A dtype, also one that is not known, and a shape."""
    dtype = dtypes.BY_NUMBER.get(number)
    dims = None if shape.unknown_rank else [None if d.size < 0 else d.size for d in shape.dim]
    return {"dtype": f"unknown ({number})" if dtype is None else dtype.name, "shape": dims}


def _ops(types: Iterable[str]) -> Description:
    counts = collections.Counter(types)
    known = {name: op for name in counts if (op := _op(name)) is not None}
    found: Description = {"ops": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))}
    for title, names_of_ops in (
        ("ops without native code", [n for n, op in known.items() if not may_be_native(op)]),
        ("unknown ops", [n for n in counts if n not in known]),
    ):
        if names_of_ops:
            found[title] = sorted(names_of_ops)
    return found


def _op(name: str) -> Op | None:
    try:
        return raw.find(name)
    except (AttributeError, KeyError):
        return None


def _graph_def(graph: Any) -> Description:
    nodes = [n.op for n in graph.node]
    for function in graph.library.function:
        nodes += [n.op for n in function.node_def]
    inputs = {n.name: _placeholder(n) for n in graph.node if n.op == raw.Placeholder.name}
    return {
        "kind": "GraphDef",
        "inputs": inputs,
        "functions": [f.signature.name for f in graph.library.function],
        **_ops(nodes),
    }


def _placeholder(node: Any) -> Description:
    return _typed(node.attr["dtype"].type, node.attr["shape"].shape)


# -- models of Keras, checkpoints ----------------------------------------------------------


def _keras(path: str) -> Description:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {i.filename: i.file_size for i in archive.infolist()}
            config = _member(archive, members, "config.json")
            metadata = _member(archive, members, "metadata.json")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as e:
        raise ValueError(f"{path} is an archive that is damaged or cut off: {e}.") from None
    if config is None:
        raise ValueError(f"{path} is an archive without config.json, so no model of Keras.")
    return {
        "kind": "Keras model",
        "bytes": _bytes(path),
        **_configured(config, path),
        "written by": f"Keras {_dict(metadata, path).get('keras_version')}",
        "files": members,
    }


def _member(archive: zipfile.ZipFile, members: Container[str], name: str) -> bytes | None:
    return archive.read(name) if name in members else None


def _configured(config: bytes | str, path: str) -> Description:
    """The class, name and layers of a model. Raises ValueError for a configuration that is none."""
    model = _dict(config, path)
    inner = model.get("config")
    inner = inner if isinstance(inner, dict) else {}
    layers = [one for one in inner.get("layers") or () if isinstance(one, dict)]
    listed = [f"{_layer_name(one)}: {one.get('class_name')}" for one in layers]
    return {"class": model.get("class_name"), "name": inner.get("name"), "layers": listed}


def _dict(text: bytes | str | None, path: str) -> Description:
    """An object of JSON; {} if there is none. Raises ValueError for other text."""
    try:
        found = {} if text is None else json.loads(text)
    except ValueError as e:
        raise ValueError(f"{path}: its configuration is no JSON ({e}).") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: its configuration is no object of JSON.")
    return found


def _layer_name(layer: Description) -> str:
    config = layer.get("config")
    return str(layer.get("name") or (config.get("name", "") if isinstance(config, dict) else ""))


def _checkpoint(prefix: str) -> Description:
    return {"kind": "checkpoint", "variables": _variables(prefix)}


def _first_format(path: str) -> ValueError:
    return ValueError(
        f"{path} is a checkpoint of the first format (write_version=1), which is not read. "
        "Write it again with tf.compat.v1.train.Saver() in TensorFlow."
    )


def _variables(prefix: str) -> Description:
    state = get_checkpoint_state(prefix) if os.path.isdir(prefix) else None
    newest = prefix if state is None else state.model_checkpoint_path
    folder, name = os.path.split(newest)
    if not os.path.exists(f"{newest}.index") and os.path.isdir(folder or "."):
        files = os.listdir(folder or ".")
        if any([f == name or f.startswith(f"{name}-00000-of-") for f in files if name]):
            raise _first_format(newest)
    checkpoint = load_checkpoint(newest)
    kinds = checkpoint.get_variable_to_dtype_map()
    found: Description = {
        key: {"dtype": kinds[key].name, "shape": list(shape)}
        for key, shape in sorted(checkpoint.get_variable_to_shape_map().items())
        if not key.startswith("_CHECKPOINTABLE")
    }
    return found


def _hdf5(path: str) -> Description:
    """The arrays of a file of HDF5, and the class of the model of Keras if it is one."""
    try:
        hdf5 = later.named("h5py")
    except ImportError:
        raise ValueError(
            f"{path} is a file of HDF5: pip install h5py to see what it has."
        ) from None
    arrays: Description = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, hdf5.Dataset):
            kind = "string" if item.dtype.kind in "OS" else item.dtype.name
            arrays[name] = {"dtype": kind, "shape": [*item.shape]}

    try:
        with hdf5.File(path, "r") as file:
            file.visititems(visit)
            config = file.attrs.get("model_config")
            version = file.attrs.get("keras_version")
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as e:  # as h5py has them
        raise ValueError(f"{path} is a file of HDF5 that is damaged or cut off: {e}.") from None
    found: Description = {"kind": "HDF5", "bytes": _bytes(path)}
    if config is not None:
        found |= _configured(config, path)
    if version is not None:
        text = version.decode() if isinstance(version, bytes) else str(version)
        found["written by"] = f"Keras {text}"
    return {**found, "arrays": arrays}


# -- records -------------------------------------------------------------------------------


def _records(path: str, compression: str) -> Description:
    features: dict[str, set[str]] = {}
    count, size = 0, 0
    for count, record in enumerate(records_of(path, compression), 1):
        size += len(record)
        if count <= MAX_RECORDS:
            for key, kind in _features(record):
                features.setdefault(key, set()).add(kind)
    listed = {key: ", ".join(sorted(kinds)) for key, kinds in sorted(features.items())}
    return {
        "kind": "TFRecord",
        "bytes": _bytes(path),
        **({"compression": compression} if compression else {}),
        "records": count,
        "bytes of records": size,
        "features": listed,
    }


def records_of(path: str, compression: str | None = None) -> Iterator[bytes]:
    """The records of a file; the head says how it is compressed. Raises DataLossError for other files."""
    if compression is None:
        with open(path, "rb") as file:
            compression = _compression(file.read(record_files.HEAD))
    with record_files.opened(path, compression) as file:
        try:
            yield from record_files.records(file)
        except DataLossError as e:
            where = f" decompressed as {compression}" if compression else ""
            raise ValueError(f"{path}{where}: {e.message}") from None


def _features(record: bytes) -> Iterable[tuple[str, str]]:
    """The features of a record that is an Example or SequenceExample, with the kind and length of each."""
    example = SequenceExample()
    try:
        example.ParseFromString(record)
    except Exception:  # some other message
        return
    for key, feature in example.context.feature.items():
        kind = _kind(feature)
        if kind:
            yield key, kind
    for key, features in example.feature_lists.feature_list.items():
        kinds = sorted({_kind(f) for f in features.feature} - {""})
        yield key, f"list[{len(features.feature)}] of {', '.join(kinds) or 'nothing'}"


def _kind(feature: Any) -> str:
    kind = feature.WhichOneof("kind")
    return f"{kind.removesuffix('_list')}[{len(getattr(feature, kind).value)}]" if kind else ""


def _bytes(path: str) -> int:
    if not os.path.isdir(path):
        return os.path.getsize(path)
    paths = [os.path.join(root, f) for root, _, files in os.walk(path) for f in files]
    return sum(map(os.path.getsize, paths))
