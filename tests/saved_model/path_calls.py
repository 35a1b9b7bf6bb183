"""Every function that takes a path, called with paths that do not fit: the classes of errors.

    path/to/python-with-tensorflow tests/saved_model/path_calls.py

records what TensorFlow raises in `path_errors.json`; `test_path_errors.py` compares. Calls that end
TensorFlow's process are recorded as "crash". This file does not import Intaglio.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

ANSWERS = pathlib.Path(__file__).with_name("path_errors.json")
KINDS = (
    "missing",
    "file",
    "folder",
    "full",
    "missing/below",
    "file/below",
    "empty",
    "bytes",
    "long",
)


def path_of(kind: str, base: str) -> str:
    """A path of a kind, below the new folder `base`."""
    if kind == "empty":
        return ""
    if kind in ("missing", "missing/below"):
        return base + ("/m" if kind == "missing" else "/m/n")
    if kind == "long":
        return base + "/" + "a" * 300
    if kind in ("file", "file/below", "bytes"):
        data = bytes(range(256)) * 9 if kind == "bytes" else b"hello, world\n"
        pathlib.Path(base, "f").write_bytes(data)
        return base + ("/f/g" if kind == "file/below" else "/f")
    os.mkdir(base + "/d")
    if kind == "full":
        pathlib.Path(base, "d", "a").write_text("1")
    return base + "/d"


def _checkpoint(tf: Any) -> Any:
    return tf.train.Checkpoint(v=tf.Variable(1.0))


def _module(tf: Any) -> Any:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    return module


def _open(mode: str) -> Callable[[Any, str], Any]:
    def call(tf: Any, path: str) -> None:
        with tf.io.gfile.GFile(path, mode) as file:
            file.read() if mode == "r" else file.write("a")

    return call


def _new_file() -> str:
    path = tempfile.mkdtemp() + "/new"
    pathlib.Path(path).write_text("x")
    return path


def _table(tf: Any, path: str) -> Any:
    index = tf.lookup.TextFileIndex
    file = tf.lookup.TextFileInitializer(
        path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    return tf.lookup.StaticVocabularyTable(file, 1)


def _numbers(tf: Any, path: str) -> Any:
    file = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, delimiter=",")
    return tf.lookup.StaticHashTable(file, -1)


def _print(tf: Any, path: str) -> None:
    tf.print("a", output_stream="file://" + path)


CALLS: dict[str, Callable[[Any, str], Any]] = {
    "Checkpoint.write below": lambda tf, p: _checkpoint(tf).write(p + "/c"),
    "Checkpoint.write": lambda tf, p: _checkpoint(tf).write(p),
    "Checkpoint.save below": lambda tf, p: _checkpoint(tf).save(p + "/c"),
    "Checkpoint.read": lambda tf, p: _checkpoint(tf).read(p).expect_partial(),
    "Checkpoint.restore": lambda tf, p: _checkpoint(tf).restore(p).expect_partial(),
    "CheckpointManager": lambda tf, p: tf.train.CheckpointManager(_checkpoint(tf), p, 3).save(),
    "load_checkpoint": lambda tf, p: tf.train.load_checkpoint(p),
    "load_variable": lambda tf, p: tf.train.load_variable(p, "v"),
    "list_variables": lambda tf, p: tf.train.list_variables(p),
    "latest_checkpoint": lambda tf, p: tf.train.latest_checkpoint(p),
    "get_checkpoint_state": lambda tf, p: tf.train.get_checkpoint_state(p),
    "CheckpointView": lambda tf, p: tf.train.CheckpointView(p),
    "saved_model.save": lambda tf, p: tf.saved_model.save(_module(tf), p),
    "saved_model.load": lambda tf, p: tf.saved_model.load(p),
    "contains_saved_model": lambda tf, p: tf.saved_model.contains_saved_model(p),
    "read_fingerprint": lambda tf, p: tf.saved_model.experimental.read_fingerprint(p),
    "Dataset.save": lambda tf, p: tf.data.Dataset.range(3).save(p),
    "Dataset.load": lambda tf, p: list(tf.data.Dataset.load(p)),
    "Dataset.cache": lambda tf, p: list(tf.data.Dataset.range(3).cache(p)),
    "Dataset.cache below": lambda tf, p: list(tf.data.Dataset.range(3).cache(p + "/c")),
    "Dataset.snapshot": lambda tf, p: list(tf.data.Dataset.range(3).snapshot(p)),
    "Dataset.list_files": lambda tf, p: list(tf.data.Dataset.list_files(p)),
    "TextLineDataset": lambda tf, p: list(tf.data.TextLineDataset(p)),
    "TFRecordDataset": lambda tf, p: list(tf.data.TFRecordDataset(p)),
    "FixedLengthRecordDataset": lambda tf, p: list(tf.data.FixedLengthRecordDataset(p, 4)),
    "CsvDataset": lambda tf, p: list(tf.data.experimental.CsvDataset(p, [tf.string] * 2)),
    "TFRecordWriter": lambda tf, p: tf.io.TFRecordWriter(p).close(),
    "TFRecordWriter below": lambda tf, p: tf.io.TFRecordWriter(p + "/c").close(),
    "read_file": lambda tf, p: tf.io.read_file(p),
    "write_file": lambda tf, p: tf.io.write_file(p, "a"),
    "write_file below": lambda tf, p: tf.io.write_file(p + "/q/c", "a"),
    "matching_files": lambda tf, p: tf.io.matching_files(p),
    "matching_files below": lambda tf, p: tf.io.matching_files(p + "/*"),
    "GFile r": _open("r"),
    "GFile w": _open("w"),
    "GFile a": _open("a"),
    "gfile.exists": lambda tf, p: tf.io.gfile.exists(p),
    "gfile.isdir": lambda tf, p: tf.io.gfile.isdir(p),
    "gfile.listdir": lambda tf, p: tf.io.gfile.listdir(p),
    "gfile.glob": lambda tf, p: tf.io.gfile.glob(p),
    "gfile.stat": lambda tf, p: tf.io.gfile.stat(p),
    "gfile.remove": lambda tf, p: tf.io.gfile.remove(p),
    "gfile.rmtree": lambda tf, p: tf.io.gfile.rmtree(p),
    "gfile.mkdir": lambda tf, p: tf.io.gfile.mkdir(p),
    "gfile.mkdir below": lambda tf, p: tf.io.gfile.mkdir(p + "/a/b"),
    "gfile.makedirs": lambda tf, p: tf.io.gfile.makedirs(p),
    "gfile.makedirs below": lambda tf, p: tf.io.gfile.makedirs(p + "/a/b"),
    "gfile.rename": lambda tf, p: tf.io.gfile.rename(p, _new_file() + "2"),
    "gfile.rename to": lambda tf, p: tf.io.gfile.rename(_new_file(), p),
    "gfile.copy": lambda tf, p: tf.io.gfile.copy(p, _new_file() + "2"),
    "gfile.copy to": lambda tf, p: tf.io.gfile.copy(_new_file(), p),
    "gfile.walk": lambda tf, p: list(tf.io.gfile.walk(p)),
    "lines of a table": _table,
    "columns of a table": _numbers,
    "create_file_writer": lambda tf, p: tf.summary.create_file_writer(p).flush(),
    "write_graph": lambda tf, p: tf.io.write_graph(tf.Graph().as_graph_def(), p, "x.pb"),
    "print": _print,
    "print below": lambda tf, p: _print(tf, p + "/x"),
}


def answer(tf: Any, name: str, kind: str) -> str:
    """The class of the error of a call with a path of a kind, or "ok". Changes the working directory."""
    base = tempfile.mkdtemp()
    os.mkdir(base + "/here")
    os.chdir(base + "/here")
    try:
        CALLS[name](tf, path_of(kind, base))
    except Exception as e:
        return type(e).__name__
    return "ok"


def kinds(name: str) -> tuple[str, ...]:
    """The kinds of paths that a call is made with."""
    if name.endswith("below"):  # of "", that would be the root of the file system
        return tuple([k for k in KINDS if k != "empty"])
    return KINDS


def _record_one(name: str) -> None:
    import tensorflow as tf

    for kind in kinds(name):
        print("answer", kind, answer(tf, name, kind), flush=True)


def _record() -> None:
    found: dict[str, dict[str, str]] = {}
    for name in CALLS:
        left = subprocess.run(
            [sys.executable, __file__, name], capture_output=True, text=True, check=False
        )
        rows = [line.split()[1:] for line in left.stdout.splitlines() if line.startswith("answer")]
        found[name] = dict.fromkeys(kinds(name), "crash") | {row[0]: row[1] for row in rows}
    ANSWERS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    _record_one(sys.argv[1]) if len(sys.argv) > 1 else _record()
