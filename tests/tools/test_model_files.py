"""`intaglio show`, `intaglio run-signature` and `intaglio compile` on models of every kind."""

from __future__ import annotations

import json
import pathlib
import shutil
import zipfile
from typing import Any

import numpy as np
import pytest

from intaglio import tf
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
    (tmp_path / "noise.tfrecord").write_bytes(b"\x01" * 64)
    for name in ("noise.pb", "noise.tfrecord", "missing", ""):
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


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_models_of_tensorflow_are_compiled(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["--output", str(tmp_path / "model")]
    assert exporting.compile_model([MODEL, *output]) == 1
    assert "Give shapes={'x': (8, 3)}, or batch_size=1" in capsys.readouterr().err
    assert (
        command.main(["compile", MODEL, *output, "--shape", "x=2,3", "--signature", "predict"]) == 0
    )
    assert "model_run(x: float32[2, 3]) -> hidden: float32[2, 4]" in capsys.readouterr().out
    assert (tmp_path / "libmodel.a").exists()
