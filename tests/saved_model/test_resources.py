"""Look-up tables, files and other resources in saved models, exchanged with TensorFlow."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from intaglio import tf
from tests.saved_model import tables

FOLDER = pathlib.Path(__file__).parent
ANSWERS: dict[str, Any] = json.loads((FOLDER / "answers.json").read_text())


@pytest.mark.parametrize("maker", ["tensorflow_tables", "our_tables"])
def test_a_loaded_model_answers_as_in_tensorflow(maker: str) -> None:
    model = tf.saved_model.load(str(FOLDER / "models" / maker))
    assert tables.answers(tf, model) == ANSWERS[maker]


def test_tensorflow_answered_alike_with_our_model_and_its_own() -> None:
    assert ANSWERS["our_tables"] == ANSWERS["tensorflow_tables"]
    assert ANSWERS["our_tables_served"] == ANSWERS["our_tables"]["served"]


def test_loaded_twice_the_tables_are_two() -> None:
    path = str(FOLDER / "models/tensorflow_tables")
    one, two = tf.saved_model.load(path), tf.saved_model.load(path)
    assert int(one.learn(tf.constant("new"))) == 3
    assert int(one.learn(tf.constant("newer"))) == 4
    assert int(two.learn(tf.constant("new"))) == 3


def test_a_model_of_tensorflow_can_be_saved_again(tmp_path: pathlib.Path) -> None:
    model = tf.saved_model.load(str(FOLDER / "models/tensorflow_tables"))
    model.learn(tf.constant("zz"))
    path = str(tmp_path / "m")
    tf.saved_model.save(model, path, signatures=dict(model.signatures))
    again = tf.saved_model.load(path)
    assert tables.answers(tf, again)["called"]["changing"][4] == [1, 2]
    copied = again.file.asset_path.numpy().decode()
    assert copied == str(tmp_path / "m/assets/colours.txt")


def test_two_files_of_one_name_are_kept_apart(tmp_path: pathlib.Path) -> None:
    module = tf.Module()
    for i in range(2):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "words.txt").write_text("w" * (i + 1))
        setattr(module, f"file{i}", tf.saved_model.Asset(str(folder / "words.txt")))
    tf.saved_model.save(module, str(tmp_path / "m"))
    model = tf.saved_model.load(str(tmp_path / "m"))
    sizes = [len(tf.io.read_file(getattr(model, f"file{i}").asset_path).numpy()) for i in range(2)]
    assert sizes == [1, 2]


def test_a_missing_file_is_an_error(tmp_path: pathlib.Path) -> None:
    module = tf.Module()
    module.file = tf.saved_model.Asset(str(tmp_path / "none.txt"))
    with pytest.raises(tf.errors.NotFoundError):
        tf.saved_model.save(module, str(tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_a_class_of_resources_must_define_their_creation() -> None:
    class Bare(tf.saved_model.experimental.TrackableResource):
        pass

    with pytest.raises(NotImplementedError, match="_create_resource"):
        _ = Bare().resource_handle
    with pytest.raises(NotImplementedError, match="_initialize"):
        Bare()._initialize()


def test_checkpoints_of_tables_are_tensorflows(tmp_path: pathlib.Path) -> None:
    """The variables of a saved model are a checkpoint: a table is restored from it."""
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [-5, -6])
    prefix = FOLDER / "models/tensorflow_tables/variables/variables"
    tf.train.Checkpoint(changing=table).restore(str(prefix)).expect_partial()
    assert table.lookup(["blue"]).numpy().tolist() == [[9, 10]]
    again = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [-5, -6])
    path = tf.train.Checkpoint(changing=table).save(str(tmp_path / "c"))
    tf.train.Checkpoint(changing=again).restore(path).assert_consumed()
    assert again.size().numpy() == 2


def test_fingerprints_distinguish_models(tmp_path: pathlib.Path) -> None:
    read = tf.saved_model.experimental.read_fingerprint
    prints: list[Any] = []
    for name, value in (("a", 1.0), ("b", 1.0), ("c", 2.0)):
        module = tf.Module()
        module.v = tf.Variable(value)
        tf.saved_model.save(module, str(tmp_path / name))
        prints.append(read(str(tmp_path / name)))
    assert prints[0] == prints[1] and prints[0] != prints[2]
    assert prints[0].signature_def_hash == prints[2].signature_def_hash
    theirs = read(str(FOLDER / "models/tensorflow_tables"))
    assert theirs.singleprint().count("/") == 3 and theirs.version.producer == 4
    with pytest.raises(FileNotFoundError, match="Could not find fingerprint"):
        read(str(tmp_path))
    with pytest.raises(ValueError, match="lacks some"):
        tf.saved_model.experimental.Fingerprint(1, 2).singleprint()
