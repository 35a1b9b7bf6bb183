"""SavedModels of sessions, written by TensorFlow and by Intaglio: `save(tf, folder)`.

    path/to/python-with-tensorflow -m tests.compat_v1.session_models

writes TensorFlow's to `session_models/`.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
from typing import Any

import numpy as np

FILES = pathlib.Path(__file__).with_name("session_models")


def save(tf: Any, folder: pathlib.Path, references: bool = False) -> None:
    """A model of one signature, and one with a table, a counter and two graphs."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        start = np.arange(6, dtype=np.float32).reshape(3, 2)
        w = v1.get_variable("w", initializer=start)
        b = v1.get_variable("b", initializer=np.array([1, -1], np.float32))
        h = tf.nn.relu(tf.matmul(x, w, name="product") + b, name="h")
        y = tf.reduce_sum(h, 1, name="y")
        session.run(v1.global_variables_initializer())
        session.run(b.assign([2, 3]))
        v1.saved_model.simple_save(session, str(folder / "simple"), {"x": x}, {"y": y, "h": h})
    words = folder / "words.txt"
    words.write_text("a\nb\nc\n")
    for reference in (False, True) if references else (False,):
        with tf.Graph().as_default(), v1.Session() as session:
            builder = v1.saved_model.Builder(str(folder / ("reference" if reference else "table")))
            _add_table(tf, session, str(words), builder, not reference)
            builder.save()
    words.unlink()


def _add_table(tf: Any, session: Any, words: str, builder: Any, use_resource: bool) -> None:
    v1 = tf.compat.v1
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.TextFileInitializer(
        words, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    given = v1.placeholder(tf.string, [None], name="given")
    ids = tf.lookup.StaticHashTable(lines, -1).lookup(given)
    start = np.arange(8, dtype=np.float32).reshape(4, 2)
    rows = v1.get_variable("rows", initializer=start, use_resource=use_resource)
    count = v1.get_variable("count", initializer=0.0, trainable=False, use_resource=use_resource)
    row = tf.gather(rows, ids + 1, name="row")
    more = tf.identity(v1.assign_add(count, 1.0), name="more")
    session.run([v1.global_variables_initializer(), v1.tables_initializer()])
    session.run(count.assign(5.0))
    saved = v1.saved_model
    signature = saved.predict_signature_def({"given": given}, {"row": row, "ids": ids})
    counted = saved.build_signature_def({}, {"n": saved.build_tensor_info(more)}, "count")
    assets = v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)
    builder.add_meta_graph_and_variables(
        session,
        ["serve"],
        {"serving_default": signature, "count": counted},
        assets,
        main_op=v1.tables_initializer(),
    )
    builder.add_meta_graph(["train", "gpu"], {"serving_default": signature})


if __name__ == "__main__":
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    os.chdir(FILES.parent)  # the models have the paths of their files: no absolute ones
    save(importlib.import_module("tensorflow"), pathlib.Path(FILES.name), references=True)
