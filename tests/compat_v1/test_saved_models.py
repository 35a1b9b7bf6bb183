"""SavedModels of TensorFlow 1: those that TensorFlow 2.21 wrote and ours, as functions and in sessions."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.compat_v1 import session_models

v1: Any = tf.compat.v1


@pytest.fixture(scope="module", params=["tensorflow", "ours"])
def folder(request: Any, tmp_path_factory: Any) -> pathlib.Path:
    if request.param == "tensorflow":
        return session_models.FILES
    own = tmp_path_factory.mktemp("models")
    session_models.save(tf, own)
    return own


def test_signatures_are_functions(folder: pathlib.Path) -> None:
    model = tf.saved_model.load(str(folder / "simple"))
    f = model.signatures["serving_default"]
    assert [(v.name, v.trainable) for v in model.variables] == [("w:0", True), ("b:0", True)]
    assert f.structured_input_signature[1]["x"].shape.as_list() == [None, 3]
    x = tf.constant([[1.0, 2.0, 3.0]])
    for found in (f(x=x), f(x)):
        assert found["h"].numpy().tolist() == [[18.0, 25.0]]
        assert found["y"].numpy().tolist() == [43.0]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(f(x=x)["y"])
    assert [g.numpy().ravel().tolist() for g in tape.gradient(loss, model.variables)] == [
        [1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
        [1.0, 1.0],
    ]
    model.variables[1].assign_add([1.0, 1.0])
    assert f(x=x)["y"].numpy().tolist() == [45.0]


def test_any_part_of_the_graph_is_a_function(folder: pathlib.Path) -> None:
    model = tf.saved_model.load(str(folder / "simple"))
    x = tf.constant([[1.0, 0.0, 0.0]])
    assert model.prune("x:0", "h:0")(x).numpy().tolist() == [[2.0, 4.0]]
    h = model.graph.get_tensor_by_name("h:0")
    both = model.prune(["x:0"], {"h": h, "all": [h, "y:0"]})(x)
    assert both["all"][1].numpy().tolist() == [6.0]
    inner = model.prune("product:0", "y:0")
    assert inner(tf.constant([[1.0, -7.0]])).numpy().tolist() == [3.0]
    with pytest.raises(KeyError, match="does not exist"):
        model.prune("x:0", "none:0")


@pytest.mark.parametrize("name", ["table", "reference"])
def test_tables_are_filled_from_the_models_files(
    folder: pathlib.Path, name: str, tmp_path: pathlib.Path
) -> None:
    if not (folder / name).exists():
        pytest.skip("references are TensorFlow's")
    moved = tmp_path / "moved"
    shutil.copytree(folder / name, moved)
    with pytest.raises(ValueError, match=r"more than one MetaGraph.*\['train', 'gpu'\]"):
        tf.saved_model.load(str(moved))
    model = tf.saved_model.load(str(moved), tags="serve")
    found = model.signatures["serving_default"](given=tf.constant(["b", "?"]))
    assert found["row"].numpy().tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert found["ids"].numpy().tolist() == [1, -1]
    assert [model.signatures["count"]()["n"].numpy() for _ in range(2)] == [6.0, 7.0]
    assert [a.asset_path.numpy() for a in model.asset_paths] == [
        bytes(moved / "assets" / "words.txt")
    ]
    assert len(model.variables) == (2 if name == "table" else 0)
    other = tf.saved_model.load(str(moved), tags=["gpu", "train"])
    assert list(other.signatures) == ["serving_default"]


@pytest.mark.parametrize("scope", [None, "inner"])
@pytest.mark.parametrize("name", ["table", "reference"])
def test_sessions_load_models(folder: pathlib.Path, name: str, scope: str | None) -> None:
    if not (folder / name).exists():
        pytest.skip("references are TensorFlow's")
    prefix = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        path = str(folder / name)
        proto = v1.saved_model.loader.load(session, ["serve"], path, import_scope=scope)
        info = proto.signature_def["serving_default"].outputs["row"]
        row = v1.saved_model.utils.get_tensor_from_tensor_info(info, graph, scope)
        assert session.run(row, {f"{prefix}given:0": ["b"]}).tolist() == [[4.0, 5.0]]
        assert [session.run(f"{prefix}more:0") for _ in range(2)] == [6.0, 7.0]
        assert [v.name for v in v1.trainable_variables()] == [f"{prefix}rows:0"]
        assert session.run(v1.global_variables()[1]) == 7.0


def test_what_cannot_be_written_or_read(tmp_path: pathlib.Path) -> None:
    saved = v1.saved_model
    with tf.Graph().as_default(), v1.Session() as session:
        with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
            saved.load(session, ["none"], str(session_models.FILES / "simple"))
        with pytest.raises(  # TensorFlow's words; a model of TensorFlow 2 has others
            RuntimeError, match=r"tags 'none' could not .* available tags '\[\{'serve'\}\]'"
        ):
            tf.saved_model.load(str(session_models.FILES / "simple"), tags=["none"])
        with pytest.raises(OSError, match="does not exist"):
            saved.load(session, ["serve"], str(tmp_path / "none"))
        with pytest.raises(AssertionError, match="isn't empty"):
            saved.Builder(str(session_models.FILES / "simple"))
        builder = saved.Builder(str(tmp_path / "new"))
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["serve"])
        v1.get_variable("v", initializer=1.0)
        session.run(v1.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ["serve"])
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(session, ["serve"])
        x = v1.placeholder(tf.float32, [None])
        with pytest.raises(ValueError, match="must be of type string"):
            saved.regression_signature_def(x, x)


def test_signatures_that_serving_takes() -> None:
    utils = v1.saved_model.signature_def_utils
    with tf.Graph().as_default():
        texts, x = v1.placeholder(tf.string, [None]), v1.placeholder(tf.float32, [None])
        scores = utils.classification_signature_def(texts, None, x)
        assert utils.is_valid_signature(scores)
        assert utils.is_valid_signature(utils.regression_signature_def(texts, x))
        assert utils.is_valid_signature(utils.predict_signature_def({"x": x}, {"y": x}))
        scores.method_name = "other"
        assert not utils.is_valid_signature(scores)


def test_functions_written_for_tensorflow_1() -> None:
    def net(x: Any) -> Any:
        with v1.variable_scope("net"):
            w = v1.get_variable("w", [2, 3], initializer=v1.ones_initializer())
            h = tf.identity(tf.matmul(x, w), name="h")
        return tf.nn.relu(h, name="out")

    f = v1.wrap_function(net, [tf.TensorSpec([None, 2], tf.float32)])
    assert [v.name for v in f.variables] == ["net/w:0"]
    assert f(tf.ones([1, 2])).numpy().tolist() == [[2.0, 2.0, 2.0]]
    inner = f.prune(f.inputs[0], "net/h:0")
    f.variables[0].assign(tf.fill([2, 3], 2.0))
    assert inner(tf.constant([[1.0, -5.0]])).numpy().tolist() == [[-8.0, -8.0, -8.0]]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(f(tf.ones([1, 2])))
    np.testing.assert_array_equal(tape.gradient(loss, f.variables[0]), np.ones([2, 3]))

    def counted() -> Any:
        v = v1.get_variable("count", initializer=0.0)
        return {"n": v1.assign_add(v, 1.0)}

    counter = v1.wrap_function(counted, [])
    assert [counter()["n"].numpy() for _ in range(2)] == [1.0, 2.0]


def test_each_session_fills_its_own_tables() -> None:
    with tf.Graph().as_default() as graph:
        words = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        found = tf.lookup.StaticHashTable(words, -1).lookup(tf.constant(["b", "?"]))
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        insert = table.insert(["k"], tf.constant([5], tf.int64))
        changed = table.lookup(tf.constant(["k"]))
        start = v1.tables_initializer()
    first, second = v1.Session(graph=graph), v1.Session(graph=graph)
    first.run(start)
    assert first.run(found).tolist() == [2, -1]
    with pytest.raises(tf.errors.FailedPreconditionError):
        second.run(found)
    first.run(insert)
    assert [s.run(changed).tolist() for s in (first, second)] == [[5], [-1]]
