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

import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("network", FOLDER / "network.py")
assert spec is not None and spec.loader is not None
network = importlib.util.module_from_spec(spec)
spec.loader.exec_module(network)


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
    network.save(tf, theirs)
    found = {
        "version": tf.__version__,
        "tensorflow": network.answers(tf, tf.saved_model.load(theirs)),
        "ours": network.answers(tf, tf.saved_model.load(ours)),
        "ours_served": served(ours),
    }
    text = json.dumps(found, indent=1, sort_keys=True)
    (FOLDER / "answers.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
