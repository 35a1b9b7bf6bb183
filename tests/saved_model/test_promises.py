"""What SECURITY.md promises of files from strangers, as far as no other test keeps it."""

from __future__ import annotations

import ast
import pathlib
import re
import sys
from typing import Any

import pytest

import intaglio
from intaglio import tf
from intaglio.data import snapshots
from intaglio.graphdef import structured
from intaglio.graphdef.saved_messages import StructuredValue
from intaglio.saved_model import names, reader

PACKAGE = pathlib.Path(intaglio.__file__).parent
ROOT = pathlib.Path(__file__).parents[2]
# Modules whose formats are programs.
RUNNING = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}


class Model(tf.Module):
    """A file, and functions that would leave traces if loading ran them."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__()
        (folder / "words.txt").write_text("inside")
        self.file = tf.saved_model.Asset(str(folder / "words.txt"))
        self.trace = str(folder / "trace")

    @tf.function(input_signature=[])
    def leave(self) -> Any:
        tf.io.write_file(self.trace, "it ran")
        return tf.constant(1)

    @tf.function(input_signature=[])
    def read(self) -> Any:
        return tf.io.read_file(self.file.asset_path)


@pytest.fixture
def saved(tmp_path: pathlib.Path) -> pathlib.Path:
    tf.saved_model.save(Model(tmp_path), str(tmp_path / "m"))
    return tmp_path / "m"


def _changed(model: pathlib.Path, change: Any) -> None:
    message = reader.read_message(str(model))
    change(message.meta_graphs[0])
    (model / names.MODEL).write_bytes(message.SerializeToString())


def test_loading_runs_no_function_of_the_model(saved: pathlib.Path) -> None:
    loaded = tf.saved_model.load(str(saved))
    assert not (saved.parent / "trace").exists()
    loaded.leave()
    assert (saved.parent / "trace").read_text() == "it ran"


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "..", "../m/../../secret"])
def test_names_of_assets_stay_in_the_folder(name: str, saved: pathlib.Path) -> None:
    (saved.parent / "secret").write_text("secret")

    def change(meta_graph: Any) -> None:
        for asset in meta_graph.asset_file_def:
            asset.filename = name

    _changed(saved, change)
    try:
        loaded = tf.saved_model.load(str(saved))
        path = pathlib.Path(loaded.file.asset_path.numpy().decode())
    except (ValueError, tf.errors.OpError):
        return
    assert path.resolve().is_relative_to(saved.resolve()), path
    with pytest.raises(tf.errors.OpError):
        loaded.read()


@pytest.mark.parametrize("run", ["../other", "..", ".", "/tmp", "a/b", ""])
def test_names_of_runs_stay_in_the_folder(run: str, tmp_path: pathlib.Path) -> None:
    tf.data.Dataset.range(3).save(str(tmp_path / "d"))
    path = tmp_path / "d" / snapshots.METADATA
    record = snapshots.SnapshotMetadataRecord.FromString(path.read_bytes())
    record.run_id = run
    path.write_bytes(record.SerializeToString())
    with pytest.raises(tf.errors.InvalidArgumentError, match="names the impossible run"):
        list(tf.data.Dataset.load(str(tmp_path / "d"), tf.TensorSpec([], tf.int64)))


@pytest.mark.parametrize("name", ["os.system", "subprocess.Popen", "builtins.eval", "antigravity"])
@pytest.mark.parametrize("number", [*range(14), 99])
def test_structures_name_no_class_that_is_not_listed(name: str, number: int) -> None:
    proto = StructuredValue()
    proto.type_spec_value.type_spec_class = number
    proto.type_spec_value.type_spec_class_name = name
    proto.type_spec_value.type_state.string_value = "echo"
    before = set(sys.modules)
    with pytest.raises((ValueError, NotImplementedError)):
        structured.decode(proto)
    assert not {name, name.partition(".")[0]} & (set(sys.modules) - before)


@pytest.mark.parametrize("field", ["__class__", "_replace", "import", "a b", "a=print()", ""])
def test_fields_of_named_tuples_are_names(field: str) -> None:
    proto = StructuredValue()
    proto.named_tuple_value.name = "N"
    pair = proto.named_tuple_value.values.add(key=field)
    pair.value.int64_value = 1
    with pytest.raises(ValueError, match="impossible fields"):
        structured.decode(proto)


def test_nothing_that_reads_files_unpickles() -> None:
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported: list[str] = []
            if isinstance(node, ast.Import):
                imported = [a.name for a in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported = [node.module]
            elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                imported = ["pickle"] * (getattr(node.value, "value", True) is not False)
            if {name.partition(".")[0] for name in imported} & RUNNING:
                found.add(path.relative_to(PACKAGE).parts[0])
    # Programs that are exported are sent to processes that compile them.
    assert found <= {"export"}


def test_each_promise_names_the_tests_that_keep_it() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = text.partition("## What is promised")[2].partition("\n## ")[0].split("\n- **")[1:]
    assert len(promises) >= 5
    for promise in promises:
        tests = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", promise)
        assert tests, promise
        for path, name in tests:
            source = (ROOT / path).read_text(encoding="utf-8")
            assert not name or f"def {name}(" in source, (path, name)
