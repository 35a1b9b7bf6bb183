"""What is written besides the functions: devices, aliases, assets; as TensorFlow answers."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf
from intaglio.graphdef.saved_messages import SavedModel

SPEC = tf.TensorSpec([None], tf.float32)


def message(folder: pathlib.Path) -> Any:
    """The MetaGraphDef of a model."""
    return SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs[0]


@pytest.mark.parametrize(
    "policy, device",
    [
        (None, ""),
        ("save_variable_devices", "/job:localhost/replica:0/task:0/device:CPU:0"),
        ("expand_distributed_variables", "/job:localhost/replica:0/task:0/device:CPU:0"),
    ],
)
def test_devices_of_variables(tmp_path: pathlib.Path, policy: Any, device: str) -> None:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    options = tf.saved_model.SaveOptions(experimental_variable_policy=policy)
    tf.saved_model.save(module, str(tmp_path / "m"), options=options)
    nodes = message(tmp_path / "m").object_graph_def.nodes
    assert [n.variable.device for n in nodes if n.WhichOneof("kind") == "variable"] == [device]
    assert tf.saved_model.load(str(tmp_path / "m")).v.numpy() == 1.0


def test_aliases_name_every_trace(tmp_path: pathlib.Path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1.0)
    for size in (2, 3):
        module.f(tf.zeros([size]))
    options = tf.saved_model.SaveOptions(function_aliases={"plus": module.f})
    tf.saved_model.save(module, str(tmp_path / "m"), options=options)
    graph = message(tmp_path / "m")
    aliases = dict(graph.meta_info_def.function_aliases)
    assert set(aliases.values()) == {"plus"} and len(aliases) == 2
    assert set(aliases) <= {f.signature.name for f in graph.graph_def.library.function}


@pytest.mark.parametrize("error", [AttributeError, ValueError, RuntimeError])
def test_a_default_signature_that_raises_is_none(tmp_path: pathlib.Path, error: Any) -> None:
    class Model(tf.Module):
        @property
        def _default_save_signature(self) -> Any:
            raise error("not built")

        @tf.function(input_signature=[SPEC])
        def __call__(self, x: Any) -> Any:
            return x

    tf.saved_model.save(Model(), str(tmp_path))
    assert list(tf.saved_model.load(str(tmp_path)).signatures) == ["serving_default"]


def test_tables_of_assets(tmp_path: pathlib.Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    index = tf.lookup.TextFileIndex
    module = tf.Module()
    module.words = tf.saved_model.Asset(str(words))
    file = tf.lookup.TextFileInitializer(
        module.words, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    module.table = tf.lookup.StaticHashTable(file, -1)
    module.find = tf.function(
        module.table.lookup, input_signature=[tf.TensorSpec([None], tf.string)]
    )
    assert tf.io.read_file(module.words).numpy() == b"a\nb\n"
    tf.saved_model.save(module, str(tmp_path / "m"))
    words.unlink()
    assert [p.name for p in (tmp_path / "m" / "assets").iterdir()] == ["words.txt"]
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert loaded.find(tf.constant(["b", "z"])).numpy().tolist() == [1, -1]
