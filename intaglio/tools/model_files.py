"""`intaglio show` and `intaglio run-signature`: what model files hold, and a signature run once.

`show` tells by its content what a path is: the folder of a SavedModel, a GraphDef, a `.keras` file,
a checkpoint or a file of records. It runs nothing of a model.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import sys
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.errors import OpError
from intaglio.data import record_files
from intaglio.graphdef import load
from intaglio.graphdef.example_messages import Example
from intaglio.native.regions import may_be_native
from intaglio.opdef import convert, raw
from intaglio.opdef.op import Op
from intaglio.saved_model import names, reader
from intaglio.saved_model.checkpoint import load_checkpoint

# Records at the beginning of a file whose features are listed.
MAX_RECORDS = 100
Description = dict[str, Any]


def show(arguments: Sequence[str]) -> int:
    """The command `intaglio show`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="intaglio show",
        description="Describes a SavedModel, GraphDef, .keras file, checkpoint or file of TFRecords.",
    )
    parser.add_argument("path")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        found = described(options.path)
    except (ValueError, OSError, OpError) as e:
        print(f"intaglio show: {e}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(_lines(found)))
    return 0


def described(path: str) -> Description:
    """What is at a path. Raises ValueError for what is none of the kinds, OSError where nothing is."""
    if os.path.isdir(path):
        if os.path.exists(os.path.join(path, names.MODEL)):
            return _saved_model(path)
        if os.path.exists(os.path.join(path, "checkpoint")):
            return _checkpoint(path)
        raise ValueError(f"{path} is a folder without {names.MODEL} and without a checkpoint.")
    if os.path.exists(f"{path}.index"):
        return _checkpoint(path)
    if path.endswith(".index"):
        return _checkpoint(path.removesuffix(".index"))
    if os.path.basename(path) == names.MODEL:
        return _saved_model(os.path.dirname(path) or ".")
    if zipfile.is_zipfile(path):
        return _keras(path)
    if path.endswith(".pb"):
        return _graph_def(path)
    return _records(path)


# -- kinds of files ------------------------------------------------------------------------


def _saved_model(folder: str) -> Description:
    model = reader.read_message(folder)
    graphs: list[Description] = []
    for meta in model.meta_graphs:
        signatures = {
            key: {
                "method": signature.method_name,
                "inputs": {k: _tensor_info(v) for k, v in sorted(signature.inputs.items())},
                "outputs": {k: _tensor_info(v) for k, v in sorted(signature.outputs.items())},
            }
            for key, signature in sorted(meta.signature_def.items())
            if key != names.INIT_SIGNATURE
        }
        nodes = _nodes_of_model(meta)
        graphs.append(
            {
                "tags": [*meta.meta_info_def.tags],
                "written by": meta.meta_info_def.tensorflow_version,
                "signatures": signatures,
                **_ops([n.op for n in nodes]),
            }
        )
    found: Description = {"kind": "SavedModel", "bytes": _bytes(folder), "graphs": graphs}
    prefix = os.path.join(folder, "variables", "variables")
    if os.path.exists(f"{prefix}.index"):
        found["variables"] = _variables(prefix)
    return found


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
    shape = None
    if not info.tensor_shape.unknown_rank:
        shape = [None if d.size < 0 else d.size for d in info.tensor_shape.dim]
    return {"dtype": dtypes.as_dtype(info.dtype).name, "shape": shape, "name": info.name}


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


def _graph_def(path: str) -> Description:
    with open(path, "rb") as file:
        graph = load.parse_graph_def(file.read())
    nodes = [n.op for n in graph.node]
    for function in graph.library.function:
        nodes += [n.op for n in function.node_def]
    inputs = {n.name: _placeholder(n) for n in graph.node if n.op == raw.Placeholder.name}
    return {
        "kind": "GraphDef",
        "bytes": _bytes(path),
        "inputs": inputs,
        "functions": [f.signature.name for f in graph.library.function],
        **_ops(nodes),
    }


def _placeholder(node: Any) -> Description:
    shape = node.attr["shape"].shape
    dims = None if shape.unknown_rank else [None if d.size < 0 else d.size for d in shape.dim]
    return {"dtype": dtypes.as_dtype(node.attr["dtype"].type).name, "shape": dims}


def _keras(path: str) -> Description:
    with zipfile.ZipFile(path) as archive:
        if "config.json" not in archive.namelist():
            raise ValueError(f"{path} is an archive without config.json, so no model of Keras.")
        config = json.loads(archive.read("config.json"))
        metadata = json.loads(archive.read("metadata.json"))
        members = {i.filename: i.file_size for i in archive.infolist()}
    layers = config.get("config", {}).get("layers", [])
    return {
        "kind": "Keras model",
        "bytes": _bytes(path),
        "class": config.get("class_name"),
        "name": config.get("config", {}).get("name"),
        "written by": f"Keras {metadata.get('keras_version')}",
        "layers": [f"{_layer_name(one)}: {one.get('class_name')}" for one in layers],
        "files": members,
    }


def _layer_name(layer: Description) -> str:
    return str(layer.get("name") or layer.get("config", {}).get("name", ""))


def _checkpoint(prefix: str) -> Description:
    return {"kind": "checkpoint", "variables": _variables(prefix)}


def _variables(prefix: str) -> Description:
    checkpoint = load_checkpoint(prefix)
    kinds = checkpoint.get_variable_to_dtype_map()
    found: Description = {
        key: {"dtype": kinds[key].name, "shape": list(shape)}
        for key, shape in sorted(checkpoint.get_variable_to_shape_map().items())
        if not key.startswith("_CHECKPOINTABLE")
    }
    return found


def _records(path: str) -> Description:
    features: dict[str, set[str]] = {}
    count, size = 0, 0
    with open(path, "rb") as file:
        for count, record in enumerate(record_files.records(file), 1):
            size += len(record)
            if count <= MAX_RECORDS:
                for key, kind in _features(record):
                    features.setdefault(key, set()).add(kind)
    listed = {key: ", ".join(sorted(kinds)) for key, kinds in sorted(features.items())}
    return {
        "kind": "TFRecord",
        "bytes": _bytes(path),
        "records": count,
        "bytes of records": size,
        "features": listed,
    }


def _features(record: bytes) -> Iterable[tuple[str, str]]:
    """The features of a record that is an Example, with the kind and length of each."""
    example = Example()
    try:
        example.ParseFromString(record)
    except Exception:  # some other message
        return
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        if kind is not None:
            yield key, f"{kind.removesuffix('_list')}[{len(getattr(feature, kind).value)}]"


def _bytes(path: str) -> int:
    if not os.path.isdir(path):
        return os.path.getsize(path)
    paths = [os.path.join(root, f) for root, _, files in os.walk(path) for f in files]
    return sum(map(os.path.getsize, paths))


def _lines(value: Any, indent: str = "") -> list[str]:
    """A description as indented lines."""
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict) and {*item} >= {"dtype", "shape"}:
            shape = "unknown rank" if item["shape"] is None else item["shape"]
            name = f"  {item['name']}" if "name" in item else ""
            lines.append(f"{indent}{key}: {item['dtype']} {shape}{name}".replace("None", "?"))
        elif isinstance(item, dict):
            lines += [f"{indent}{key}:", *_lines(item, indent + "  ")]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            for part in item:
                lines += [f"{indent}{key}:", *_lines(part, indent + "  ")]
        elif isinstance(item, list):
            lines.append(f"{indent}{key}: {', '.join(map(str, item))}")
        else:
            lines.append(f"{indent}{key}: {item}")
    return lines


# -- running -------------------------------------------------------------------------------


def run_signature(arguments: Sequence[str]) -> int:
    """The command `intaglio run-signature`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="intaglio run-signature",
        description="Runs a signature of a SavedModel once, on arrays in files of NumPy.",
    )
    parser.add_argument("folder", help="the folder of a SavedModel")
    parser.add_argument("--signature", default=names.DEFAULT_SIGNATURE)
    parser.add_argument(
        "--inputs", nargs="*", default=[], metavar="NAME=FILE.npy", help="an array for each input"
    )
    parser.add_argument("--output", metavar="FILE.npz", help="write the results here")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args(arguments)
    try:
        results = _results(options.folder, options.signature, options.inputs)
    except (ValueError, TypeError, OSError, OpError) as e:
        print(f"intaglio run-signature: {e}", file=sys.stderr)
        return 1
    if options.output:
        np.savez(options.output, **results)
    if options.json:
        print(json.dumps({name: _listed(array) for name, array in results.items()}))
    elif not options.output:
        for name, array in results.items():
            print(f"{name}: {array.dtype}{[*array.shape]}\n{array}")
    return 0


def _results(folder: str, signature: str, inputs: Sequence[str]) -> dict[str, Any]:
    """The arrays that a signature returns. Raises ValueError for names that it has not."""
    loaded = reader.load(folder)
    if signature not in loaded.signatures:
        raise ValueError(
            f"no signature {signature!r}; there are {', '.join(loaded.signatures) or 'none'}."
        )
    function = loaded.signatures[signature]
    wanted = dict(zip(function.arg_keywords, itertools.chain(function.inputs), strict=False))
    arrays: dict[str, Any] = {}
    for text in inputs:
        name, _, path = text.partition("=")
        if name not in wanted:
            raise ValueError(f"no input {name!r}; there are {', '.join(wanted)}.")
        arrays[name] = convert.to_tensor(np.load(path, allow_pickle=False), wanted[name].dtype)
    missing = [name for name in wanted if name not in arrays]
    if missing:
        raise ValueError(f"input {missing[0]!r} is missing: --inputs {missing[0]}=FILE.npy")
    return {name: value.numpy() for name, value in function(**arrays).items()}


def _listed(array: Any) -> Any:
    """An array as JSON has it; bytes as text."""
    if array.dtype == object:
        return np.vectorize(lambda b: b.decode(errors="replace"), otypes=[object])(array).tolist()
    return array.astype(np.float64).tolist() if array.dtype.kind == "V" else array.tolist()
