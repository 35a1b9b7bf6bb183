"""Saves the model with real TensorFlow, loads the one that Intaglio saved, keeps the answers.

    python -m tests.saved_model.write      writes models/ours with Intaglio
    python tests/saved_model/record.py     (where TensorFlow is) the rest

`models/tensorflow` is what TensorFlow saved; `answers.json` has what TensorFlow answers with
its own model and with ours.
"""

from __future__ import annotations

import importlib.util
import json
import pathlib
from typing import Any

import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent


def _program(name: str) -> Any:
    """A program beside this file, without the package, which imports Intaglio."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


network, tables = _program("network"), _program("tables")
custom_gradients = _program("custom_gradients")


def gradients() -> dict[str, object]:
    """Saves the model with custom gradients, and gives its answers."""
    folder = str(FOLDER / "models/tensorflow_gradients")
    custom_gradients.save(tf, folder)
    model = tf.saved_model.load(folder)
    return {n: custom_gradients.slopes(tf, model, n) for n in custom_gradients.NAMES}


def served_tables(path: str) -> dict[str, object]:
    """The answers of a session, which fills and restores the tables with ops of the graph."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta_graph = tf.compat.v1.saved_model.load(session, ["serve"], path)
        signature = meta_graph.signature_def["look"]
        names = {k: v.name for k, v in signature.outputs.items()}
        feeds = {signature.inputs["words"].name: tables.WORDS}
        found = session.run(names, feeds)
        return {k: v.tolist() for k, v in found.items()}


def served(path: str) -> list[object]:
    """The answer of a session, which restores with the ops that are in the graph."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        meta_graph = tf.compat.v1.saved_model.load(session, ["serve"], path)
        signature = meta_graph.signature_def["predict"]
        feeds = {signature.inputs["x"].name: network.INPUT}
        return session.run(signature.outputs["logits"].name, feeds).tolist()


def main() -> None:
    """Records."""
    theirs, ours = str(FOLDER / "models/tensorflow"), str(FOLDER / "models/ours")
    their_tables, our_tables = [
        str(FOLDER / "models" / n) for n in ("tensorflow_tables", "our_tables")
    ]
    network.save(tf, theirs)
    tables.save(tf, their_tables)
    found = {
        "version": tf.__version__,
        "tensorflow": network.answers(tf, tf.saved_model.load(theirs)),
        "ours": network.answers(tf, tf.saved_model.load(ours)),
        "ours_served": served(ours),
        "tensorflow_tables": tables.answers(tf, tf.saved_model.load(their_tables)),
        "our_tables": tables.answers(tf, tf.saved_model.load(our_tables)),
        "our_tables_served": served_tables(our_tables),
        "gradients": gradients(),
    }
    text = json.dumps(found, indent=1, sort_keys=True)
    (FOLDER / "answers.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
