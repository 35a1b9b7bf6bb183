"""A loaded graph may name local files only, unless `INTAGLIO_FILESYSTEMS` allows more."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from intaglio import tf
from intaglio.opdef import raw

PATH = tf.TensorSpec([], tf.string)
# How inputs of ops that name files are called.
PATH_NAMES = {"filename", "filenames", "path", "logdir"}


class Files(tf.Module):
    """What a model may do with files."""

    @tf.function(input_signature=[PATH])
    def read(self, path: Any) -> Any:
        return tf.io.read_file(path)

    @tf.function(input_signature=[PATH])
    def write(self, path: Any) -> Any:
        tf.io.write_file(path, "gs://is/data")
        return path

    @tf.function(input_signature=[PATH])
    def match(self, path: Any) -> Any:
        return tf.io.matching_files(path)

    @tf.function(input_signature=[PATH])
    def lines(self, path: Any) -> Any:
        files = tf.data.Dataset.from_tensors(path)
        return files.flat_map(tf.data.TextLineDataset).reduce("", lambda a, b: a + b)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = str(tmp_path_factory.mktemp("paths") / "m")
    tf.saved_model.save(Files(), path)
    return tf.saved_model.load(path)


def test_local_files_may_be_used(loaded: Any, tmp_path: pathlib.Path) -> None:
    name = str(tmp_path / "t")
    loaded.write(name)
    assert loaded.read(f"file://{name}").numpy() == b"gs://is/data"
    assert loaded.match(f"{tmp_path}/*").numpy().tolist() == [name.encode()]
    assert loaded.lines(name).numpy() == b"gs://is/data"


@pytest.mark.parametrize("name", ["read", "write", "match", "lines"])
def test_other_file_systems_are_refused(name: str, loaded: Any) -> None:
    with pytest.raises(tf.errors.PermissionDeniedError, match="names 'memory://a/b'"):
        getattr(loaded, name)("memory://a/b")


def test_the_environment_allows_more(loaded: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setenv("INTAGLIO_FILESYSTEMS", "gs, memory")
    loaded.write("memory://allowed/t")
    assert loaded.read("memory://allowed/t").numpy() == b"gs://is/data"
    monkeypatch.setenv("INTAGLIO_FILESYSTEMS", "gs")
    with pytest.raises(tf.errors.PermissionDeniedError):
        loaded.read("memory://allowed/t")


def test_a_program_of_ones_own_may_use_them() -> None:
    pytest.importorskip("fsspec")
    Files().write(tf.constant("memory://own/t"))
    assert tf.io.read_file("memory://own/t").numpy() == b"gs://is/data"


def test_every_op_says_which_inputs_are_paths() -> None:
    for name, op in raw.catalogue().items():
        named = {a.name for a in op.sig.inputs if a.dtype is tf.string} & PATH_NAMES
        assert named <= set(op.path_inputs), name
        assert set(op.path_inputs) <= set(op.input_names), name
