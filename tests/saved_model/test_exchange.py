"""Models exchanged with real TensorFlow: its model answers here as there, ours answered there.

`record` says how the folders and the answers were made.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from intaglio import tf
from intaglio.saved_model import reader
from tests.saved_model import network

FOLDER = pathlib.Path(__file__).parent
ANSWERS: dict[str, Any] = json.loads((FOLDER / "answers.json").read_text())


@pytest.mark.parametrize("maker", ["tensorflow", "ours"])
def test_a_loaded_model_answers_as_in_tensorflow(maker: str) -> None:
    model = tf.saved_model.load(str(FOLDER / "models" / maker))
    assert network.answers(tf, model) == ANSWERS[maker]


def test_tensorflow_answered_alike_with_our_model_and_its_own() -> None:
    assert ANSWERS["ours"] == ANSWERS["tensorflow"]
    assert ANSWERS["ours_served"] == ANSWERS["ours"]["logits"]


def test_we_still_write_what_tensorflow_loaded(tmp_path: pathlib.Path) -> None:
    network.save(tf, str(tmp_path / "m"))
    now = reader.read_message(str(tmp_path / "m")).meta_graphs[0]
    then = reader.read_message(str(FOLDER / "models/ours")).meta_graphs[0]
    kinds = [
        sorted(n.WhichOneof("kind") or "" for n in m.object_graph_def.nodes) for m in (now, then)
    ]
    assert kinds[0] == kinds[1]
    assert [n.op for n in now.graph_def.node] == [n.op for n in then.graph_def.node]
    assert now.signature_def["predict"] == then.signature_def["predict"]
    assert now.saver_def == then.saver_def
    files = ("variables/variables.index", "variables/variables.data-00000-of-00001")
    for name in files:
        assert (tmp_path / "m" / name).read_bytes() == (FOLDER / "models/ours" / name).read_bytes()


def test_a_model_of_tensorflow_can_be_saved_again(tmp_path: pathlib.Path) -> None:
    model = tf.saved_model.load(str(FOLDER / "models/tensorflow"))
    tf.saved_model.save(model, str(tmp_path / "m"), signatures=dict(model.signatures))
    again = tf.saved_model.load(str(tmp_path / "m"))
    assert network.answers(tf, again) == ANSWERS["tensorflow"]
