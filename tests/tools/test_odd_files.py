"""`intaglio show` on files that are damaged, cut off, empty, or not what their names say: always a message."""

from __future__ import annotations

import json
import pathlib
import random
import shutil
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.graphdef.saved_messages import SavedModel
from intaglio.tools import model_files

MODEL = pathlib.Path(__file__).parents[1] / "saved_model" / "models" / "tensorflow"
TABLE_END = bytes.fromhex("57fb808b247547db")


def shown(capsys: pytest.CaptureFixture[str], path: pathlib.Path) -> tuple[int, Any]:
    """The exit code, and the description or the message."""
    code = model_files.show([str(path), "--json"])
    out, err = capsys.readouterr()
    if code:
        assert not out and err.startswith("intaglio show: ") and path.name in err
        return code, err
    return code, json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], path: pathlib.Path) -> str:
    code, message = shown(capsys, path)
    assert code == 1
    return message


# -- damaged files -----------------------------------------------------------------------------------


def _graph(path: pathlib.Path) -> None:
    graph = tf.function(lambda x: tf.sqrt(x) + 1.0)
    concrete = graph.get_concrete_function(tf.TensorSpec([2], tf.float32))
    tf.io.write_graph(concrete.graph, path.parent, path.name, as_text=path.suffix == ".pbtxt")


def _records(path: pathlib.Path) -> None:
    compression = {".gz": "GZIP", ".z": "ZLIB"}.get(path.suffix, "")
    values = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": values}))
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for _ in range(3):
            writer.write(example.SerializeToString())


def _keras(path: pathlib.Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        layers = [{"class_name": "Dense", "config": {"name": "dense"}}]
        config = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))


def _hdf5(path: pathlib.Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["dense/kernel"] = np.zeros((3, 2), np.float32)
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {}})


def _onnx(path: pathlib.Path) -> None:
    pytest.importorskip("onnx")
    spec = tf.TensorSpec([None, 3], name="x")
    intaglio.export_onnx(tf.function(tf.nn.relu), path, args=[spec])


def _saved_model(path: pathlib.Path) -> None:
    shutil.copy(MODEL / "saved_model.pb", path)


def _index(path: pathlib.Path) -> None:
    tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(str(path.with_suffix("")))


FILES: dict[str, Callable[[pathlib.Path], None]] = {
    "graph.pb": _graph, "graph.pbtxt": _graph, "model.pb": _saved_model, "data.tfrecord": _records,
    "data.gz": _records, "data.z": _records, "net.keras": _keras, "net.h5": _hdf5, "net.onnx": _onnx,
    "check.index": _index,
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_damaged_files(
    name: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part of a file, and one with other bytes, is described, or a message names it."""
    path = tmp_path / name
    FILES[name](path)
    assert shown(capsys, path)[0] == 0
    whole, rng = path.read_bytes(), random.Random(0)
    for number in range(16):
        data = bytearray(whole[: len(whole) * number // 8] if number < 8 else whole)
        for _ in range(0 if number < 8 else 3 * (number - 7)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        shown(capsys, path)


@pytest.mark.parametrize("name", ["model.onnx", "model.keras", "w.weights.h5", "m.pb", "m.pbtxt"])
def test_empty_files(name: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(b"")
    assert "is empty" in refused(capsys, tmp_path / name)


def test_files_of_no_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.tfrecord").write_bytes(b"")
    code, found = shown(capsys, tmp_path / "none.tfrecord")
    assert (code, found["kind"], found["records"]) == (0, "TFRecord", 0)


# -- files that are something else ----------------------------------------------------------------------


def test_archives(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of arrays, without a part, with another configuration than an object, and cut off."""
    np.savez(tmp_path / "arrays.npz", x=np.zeros(3))
    assert "archive without config.json" in refused(capsys, tmp_path / "arrays.npz")
    path = tmp_path / "net.keras"
    for text, part in (("[1]", "no object of JSON"), ("{", "no JSON")):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json", text)
        assert part in refused(capsys, path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps({"class_name": "Model", "config": None}))
    code, found = shown(capsys, path)
    assert (code, found["class"], found["layers"]) == (0, "Model", [])
    path.write_bytes(path.read_bytes()[:-20])
    assert "damaged or cut off" in refused(capsys, path)


def test_models_of_onnx_by_any_name(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _onnx(tmp_path / "net.onnx")
    (tmp_path / "net.onnx").rename(tmp_path / "net.bin")
    code, found = shown(capsys, tmp_path / "net.bin")
    assert (code, found["kind"]) == (0, "ONNX model")


def test_parts_of_checkpoints(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of the files names the checkpoint; one of the first format is said to be one."""
    prefix = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(str(tmp_path / "c"))
    for path in (f"{prefix}.data-00000-of-00001", str(tmp_path / "checkpoint"), f"{prefix}.index"):
        code, found = shown(capsys, pathlib.Path(path))
        assert (code, found["kind"]) == (0, "checkpoint")
    old = tmp_path / "old"
    old.mkdir()
    (old / "model.ckpt").write_bytes(bytes(40) + TABLE_END)
    (old / "checkpoint").write_text('model_checkpoint_path: "model.ckpt"\n')
    for path in (old / "model.ckpt", old):
        assert "first format" in refused(capsys, path)
    (old / "model.ckpt").rename(old / "model.ckpt-00000-of-00001")
    assert "first format" in refused(capsys, old)


def test_folders_of_something_else(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what can be shown in one."""
    folder = tmp_path / "models"
    shutil.copytree(MODEL, folder / "7")
    (folder / "net.keras").write_bytes(b"")
    assert "Name one in it: 7, net.keras." in refused(capsys, folder)
    (tmp_path / "empty").mkdir()
    assert "Name one" not in refused(capsys, tmp_path / "empty")


def test_values_of_several_tensors(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ragged and sparse inputs of a signature, a dtype of a later version, and a name with the word None."""
    model = SavedModel()
    model.ParseFromString((MODEL / "saved_model.pb").read_bytes())
    signature = model.meta_graphs[0].signature_def["predict"]
    ragged = signature.inputs["ragged"].composite_tensor
    ragged.type_spec.type_spec_class = 3
    for name in ("values:0", "splits:0"):
        part = ragged.components.add(name=name, dtype=9)
        part.tensor_shape.dim.add(size=-1)
    sparse = signature.inputs["sparse"]
    sparse.coo_sparse.values_tensor_name, sparse.dtype = "NoneOf:0", 1
    sparse.tensor_shape.unknown_rank = True
    signature.inputs["later"].name, signature.inputs["later"].dtype = "later:0", 99
    (tmp_path / "saved_model.pb").write_bytes(model.SerializeToString())
    (graph,) = shown(capsys, tmp_path)[1]["graphs"]
    inputs = graph["signatures"]["predict"]["inputs"]
    assert inputs["ragged"]["class"] == "RaggedTensorSpec"
    parts = inputs["ragged"]["components"]
    assert parts["1"] == {"dtype": "int64", "shape": [None], "name": "splits:0"}
    assert inputs["later"]["dtype"] == "unknown (99)"
    assert model_files.show([str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "sparse: SparseTensorSpec of float32 unknown rank  NoneOf:0" in text


def test_messages_of_running(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without a model, a file of something else, and results that cannot be written."""
    np.save(tmp_path / "x.npy", np.ones([2, 3], np.float32))
    inputs = ["--signature", "predict", "--inputs", f"x={tmp_path / 'x.npy'}"]
    for model in (tmp_path, tmp_path / "x.npy", tmp_path / "missing"):
        assert model_files.run_signature([str(model), *inputs]) == 1
        assert capsys.readouterr().err.startswith("intaglio run-signature: ")
    beyond = ["--output", str(tmp_path / "no" / "folder.npz")]
    assert model_files.run_signature([str(MODEL), *inputs, *beyond]) == 1
    assert "folder.npz" in capsys.readouterr().err
