"""A graph with variables, saved by a Saver: run by TensorFlow it writes the files beside it.

path/to/python-with-tensorflow -m tests.compat_v1.saver_model
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

FILES = pathlib.Path(__file__).with_name("saved_by_tensorflow")


def build(tf: Any) -> Any:
    """The result of the model, in the current graph."""
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    first = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    w = v1.get_variable("w", [2, 3], initializer=v1.constant_initializer(first))
    b = v1.get_variable("b", [3], initializer=v1.zeros_initializer())
    v1.get_variable("word", initializer=tf.constant("abc"))
    y = tf.identity(tf.matmul(x, w) + b, name="y")
    v1.add_to_collection("results", y)
    v1.add_to_collection("numbers", 3)
    return b


def save(tf: Any, folder: pathlib.Path) -> None:
    """Writes checkpoints of four steps, of which two stay."""
    v1 = tf.compat.v1
    folder.mkdir(exist_ok=True)
    with tf.Graph().as_default():
        b = build(tf)
        saver = v1.train.Saver(max_to_keep=2, save_relative_paths=True)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for step in range(4):
                session.run(b.assign([1.0 + step, 2.0, 3.0]))
                saver.save(session, str(folder / "m"), global_step=step)


if __name__ == "__main__":
    save(importlib.import_module("tensorflow"), FILES)
