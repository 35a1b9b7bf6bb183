"""Imports the graphs that Intaglio wrote into real TensorFlow, runs them, keeps the answers.

Runs where TensorFlow is installed, and nowhere else:

    python tests/parity/record_graphs.py

Inputs come from `graphs/inputs.json`, which `exported_graphs.py` writes with the graphs.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np
import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent / "graphs"


def run(name: str, inputs: list[object]) -> dict[str, object]:
    """The answer of TensorFlow for one graph."""
    proto = tf.compat.v1.GraphDef()
    proto.ParseFromString((FOLDER / f"{name}.pb").read_bytes())
    with tf.Graph().as_default() as graph:
        tf.graph_util.import_graph_def(proto, name="")
        feeds = {}
        for i, value in enumerate(inputs):
            tensor = graph.get_tensor_by_name(f"input{i}:0")
            feeds[tensor] = np.array(value, tensor.dtype.as_numpy_dtype)
        with tf.compat.v1.Session(graph=graph) as session:
            answer = session.run("result:0", feeds)
    values = [v.decode() if isinstance(v, bytes) else v for v in answer.reshape(-1).tolist()]
    dtype = "string" if answer.dtype == object else str(answer.dtype)
    return {"dtype": dtype, "shape": list(answer.shape), "values": values}


def main() -> None:
    """Writes answers.json."""
    given = json.loads((FOLDER / "inputs.json").read_text(encoding="utf-8"))
    answers = {"tensorflow": tf.__version__, "graphs": {n: run(n, v) for n, v in given.items()}}
    (FOLDER / "answers.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    print(f"{len(given)} graphs ran in TensorFlow {tf.__version__}")


if __name__ == "__main__":
    main()
