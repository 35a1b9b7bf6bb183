"""`intaglio show`, `intaglio run-signature` and `intaglio compile` on models of every kind."""

from __future__ import annotations

import json
import pathlib
import shutil
import zipfile
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from intaglio.graphdef import declarations, saved_messages
from intaglio.tools import command, exporting, model_files

MODEL = str(pathlib.Path(__file__).parents[1] / "saved_model" / "models" / "tensorflow")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert command.main(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_saved_models(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "show", MODEL, "--json")
    (graph,) = found["graphs"]
    assert found["kind"] == "SavedModel"
    assert graph["tags"] == ["serve"]
    inputs = graph["signatures"]["predict"]["inputs"]
    assert inputs == {"x": {"dtype": "float32", "shape": [None, 3], "name": "predict_x:0"}}
    assert graph["ops"]["MatMul"] == 2
    assert "unknown ops" not in graph
    for other in (
        "ours",
        "tensorflow_tables",
    ):  # the nodes that save are in a scope, or in functions
        (graph,) = printed(capsys, "show", str(pathlib.Path(MODEL).with_name(other)), "--json")[
            "graphs"
        ]
        assert "unknown ops" not in graph
    kernel = found["variables"]["layers/0/w/.ATTRIBUTES/VARIABLE_VALUE"]
    assert kernel == {"dtype": "float32", "shape": [3, 4]}
    assert command.main(["show", MODEL]) == 0
    assert "x: float32 [?, 3]  predict_x:0" in capsys.readouterr().out


def test_graph_defs(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.TensorSpec([2, None], tf.float32, name="x")
    graph = tf.function(lambda x: tf.sqrt(x) + 1.0).get_concrete_function(x).graph
    tf.io.write_graph(graph, tmp_path, "graph.pb", as_text=False)
    found = printed(capsys, "show", str(tmp_path / "graph.pb"), "--json")
    assert found["inputs"] == {"x": {"dtype": "float32", "shape": [2, None]}}
    assert found["ops"]["Sqrt"] == 1
    assert "ops without native code" not in found


def test_ops_without_native_code_are_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = tf.TensorSpec([None], tf.string, name="words")
    lengths = tf.function(lambda words: tf.nn.relu(tf.strings.length(words)) * 2)
    graph = lengths.get_concrete_function(words).graph
    tf.io.write_graph(graph, tmp_path, "graph.pb", as_text=False)
    found = printed(capsys, "show", str(tmp_path / "graph.pb"), "--json")
    assert found["ops without native code"] == ["StringLength"]
    assert {"Mul", "Relu", "StringLength"} <= found["ops"].keys()


def test_unknown_ops_are_named(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tf.function(lambda: tf.constant(1.0) * 2).get_concrete_function().graph
    message = graph.as_graph_def()
    message.node[-1].op = "OpOfAnotherLibrary"
    (tmp_path / "graph.pb").write_bytes(message.SerializeToString())
    found = printed(capsys, "show", str(tmp_path / "graph.pb"), "--json")
    assert found["unknown ops"] == ["OpOfAnotherLibrary"]


def test_checkpoints(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(str(tmp_path / "c"))
    for named in (path, f"{path}.index", str(tmp_path)):
        found = printed(capsys, "show", named, "--json")
        assert found["variables"]["v/.ATTRIBUTES/VARIABLE_VALUE"] == {
            "dtype": "float32",
            "shape": [2],
        }


def test_records(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": values}))
    path = str(tmp_path / "data.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(3):
            writer.write(example.SerializeToString())
    found = printed(capsys, "show", path, "--json")
    assert found["records"] == 3
    assert found["features"] == {"x": "float[2]"}


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_records(
    compression: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The head of the data says how a file is compressed, whatever its name."""
    step = tf.train.Feature(float_list=tf.train.FloatList(value=[1.0]))
    context = tf.train.Features(
        feature={"n": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}
    )
    steps = tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=[step, step])})
    record = tf.train.SequenceExample(context=context, feature_lists=steps).SerializeToString()
    path = tmp_path / "data"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        writer.write(record)
    found = printed(capsys, "show", str(path), "--json")
    assert found["compression"] == compression
    assert found["features"] == {"n": "int64[1]", "t": "list[2] of float[1]"}
    path.write_bytes(path.read_bytes()[:-9])
    assert model_files.show([str(path)]) == 1
    assert f"decompressed as {compression}: truncated" in capsys.readouterr().err


def test_text_and_meta_graphs(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a message is follows from what it has, not from the name of the file."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v1.placeholder(tf.float32, [None, 2], name="x")
        v1.train.export_meta_graph(str(tmp_path / "model.meta"))
        tf.io.write_graph(graph, str(tmp_path), "graph.txt")
    found = printed(capsys, "show", str(tmp_path / "model.meta"), "--json")
    assert (found["kind"], found["ops"]) == ("MetaGraphDef", {"Placeholder": 1})
    found = printed(capsys, "show", str(tmp_path / "graph.txt"), "--json")
    assert found["inputs"] == {"x": {"dtype": "float32", "shape": [None, 2]}}
    source = pathlib.Path(MODEL, "saved_model.pb").read_bytes()
    (tmp_path / "alone.pb").write_bytes(source)
    found = printed(capsys, "show", str(tmp_path / "alone.pb"), "--json")
    text = tmp_path / "text"
    text.mkdir()
    message = declarations.parsed(saved_messages.SavedModel, source, "the model")
    (text / "saved_model.pbtxt").write_text(declarations.as_text(message))
    (graph,) = printed(capsys, "show", str(text), "--json")["graphs"]
    assert found["kind"] == "SavedModel"
    assert found["graphs"] == [graph]


def test_hdf5(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "weights", "w") as file:
        file["dense/kernel"] = np.zeros((3, 2), np.float32)
        file.attrs["model_config"] = json.dumps({"class_name": "Sequential", "config": {}})
    found = printed(capsys, "show", str(tmp_path / "weights"), "--json")
    assert found["class"] == "Sequential"
    assert found["arrays"] == {"dense/kernel": {"dtype": "float32", "shape": [3, 2]}}


def test_onnx_models(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    x = tf.TensorSpec([None, 3], name="x")
    intaglio.export_onnx(tf.function(tf.nn.relu), tmp_path / "relu.onnx", args=[x])
    found = printed(capsys, "show", str(tmp_path / "relu.onnx"), "--json")
    assert found["inputs"] == {"x": {"dtype": "float32", "shape": [None, 3]}}
    assert found["operators"]["Relu"] == 1


def test_keras_files(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file is described without running what it names."""
    path = tmp_path / "model.keras"
    layers = [{"class_name": "Evil>run", "config": {"name": "dense"}}]
    with zipfile.ZipFile(path, "w") as archive:
        config = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
    found = printed(capsys, "show", str(path), "--json")
    assert found["layers"] == ["dense: Evil>run"]


def test_what_is_no_model(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "noise.pb").write_bytes(b"\xff" * 64)
    (tmp_path / "table").write_bytes(bytes(40) + bytes.fromhex("57fb808b247547db"))
    (tmp_path / "noise.tfrecord").write_bytes(b"\x01" * 64)
    for name in ("noise.pb", "noise.tfrecord", "table", "missing", ""):
        assert model_files.show([str(tmp_path / name)]) == 1
        assert capsys.readouterr().err.startswith("intaglio show: ")


def test_signatures_run(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.ones([2, 3], np.float32)
    np.save(tmp_path / "x.npy", x)
    inputs = ["--signature", "predict", "--inputs", f"x={tmp_path / 'x.npy'}"]
    output = str(tmp_path / "y.npz")
    found = printed(capsys, "run-signature", MODEL, *inputs, "--json", "--output", output)
    expected = tf.saved_model.load(MODEL).signatures["predict"](x=tf.constant(x))
    np.testing.assert_array_equal(np.float32(found["logits"]), expected["logits"].numpy())
    np.testing.assert_array_equal(np.load(output)["hidden"], expected["hidden"].numpy())
    assert model_files.run_signature([MODEL]) == 1
    assert "no signature 'serving_default'; there are predict" in capsys.readouterr().err
    assert model_files.run_signature([MODEL, "--signature", "predict"]) == 1
    assert "input 'x' is missing: --inputs x=FILE.npy" in capsys.readouterr().err
    predict = [MODEL, "--signature", "predict", "--inputs"]
    assert model_files.run_signature([*predict, "x"]) == 1
    assert "--inputs x: write NAME=FILE.npy" in capsys.readouterr().err
    np.save(tmp_path / "objects.npy", np.array([b"a"], object))
    assert model_files.run_signature([*predict, f"x={tmp_path / 'objects.npy'}"]) == 1
    assert "Save strings as np.array(strings, dtype='S'), or as" in capsys.readouterr().err


def test_strings_and_complex_numbers(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Strings with any bytes come from a file of records; complex numbers are pairs in JSON."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def f(words: Any) -> Any:
        size = tf.cast(tf.strings.length(words), tf.float32)
        return {"size": size, "z": tf.complex(size, 1.0)}

    folder = str(tmp_path / "model")
    tf.saved_model.save(tf.Module(), folder, signatures=f)
    with tf.io.TFRecordWriter(str(tmp_path / "words"), "GZIP") as writer:
        writer.write(b"\xff\x00a")
    inputs = ["--inputs", f"words={tmp_path / 'words'}"]
    found = printed(capsys, "run-signature", folder, *inputs, "--json")
    assert found == {"size": [3.0], "z": [[3.0, 1.0]]}


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_models_of_tensorflow_are_compiled(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "model")]
    assert exporting.compile_model([MODEL, *output, "--batch-size", "1,4"]) == 0
    assert "model_run(x: float32[rows, 3]) -> hidden" in capsys.readouterr().out
    assert exporting.compile_model([MODEL, *output, "--batch-size", "4,8"]) == 1
    assert "with 1 among them" in capsys.readouterr().err
    assert (
        command.main(["compile", MODEL, *output, "--shape", "x=2,3", "--signature", "predict"]) == 0
    )
    assert "model_run(x: float32[2, 3]) -> hidden: float32[2, 4]" in capsys.readouterr().out
    assert (tmp_path / "libmodel.a").exists()
    open_ = ["--shape", "x=n,3", "--size", "n=1:4", "--kind", "object", "--signature", "predict"]
    assert exporting.compile_model([MODEL, *output, *open_]) == 0
    assert "model_run(x: float32[n, 3]) -> hidden: float32[n, 4]" in capsys.readouterr().out
    assert exporting.compile_model([MODEL, *output, "--size", "n=few"]) == 1
    assert "--size n=few: write n=1:64, or n=16,32" in capsys.readouterr().err
