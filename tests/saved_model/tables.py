"""A model with look-up tables, a file and a resource of its own, written against either."""

from __future__ import annotations

import pathlib
from typing import Any

WORDS = ["red", "green", "blue", "x", "zz", "dddd"]


def pair(tf: Any) -> Any:
    """Two numbers as a resource."""

    class Pair(tf.saved_model.experimental.TrackableResource):
        def __init__(self) -> None:
            super().__init__()
            self._initialize()

        def _create_resource(self) -> Any:
            return tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="a pair")

        def _initialize(self) -> None:
            tf.raw_ops.AssignVariableOp(
                resource=self.resource_handle, value=tf.constant([1.5, -2.0])
            )

    return Pair()


def build(tf: Any, vocabulary: str) -> Any:
    """A module; `tf` is TensorFlow or Intaglio, `vocabulary` the path of a file."""
    lookup = tf.lookup

    class Tables(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fixed = lookup.StaticHashTable(
                lookup.KeyValueTensorInitializer(["red", "blue"], [0.5, -1.5]), 9.0
            )
            self.words = lookup.StaticVocabularyTable(
                lookup.TextFileInitializer(
                    vocabulary,
                    tf.string,
                    lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    lookup.TextFileIndex.LINE_NUMBER,
                ),
                3,
            )
            self.changing = lookup.experimental.MutableHashTable(tf.string, tf.int64, [-5, -6])
            self.changing.insert(["x", "blue"], tf.constant([[7, 8], [9, 10]], tf.int64))
            self.dense = lookup.experimental.DenseHashTable(
                tf.int64, tf.int64, -1, 0, -2, initial_num_buckets=16
            )
            self.dense.insert([3, 4], [30, 40])
            self.file = tf.saved_model.Asset(vocabulary)
            self.pair = pair(tf)
            self.offset = tf.Variable(100, dtype=tf.int64)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, words: Any) -> Any:
            lengths = tf.cast(tf.strings.length(words), tf.int64)
            return {
                "fixed": self.fixed.lookup(words),
                "words": self.words.lookup(words),
                "changing": self.changing.lookup(words),
                "dense": self.dense.lookup(lengths) + self.offset,
                "bytes": tf.strings.length(tf.io.read_file(self.file.asset_path)),
                "pair": tf.raw_ops.ReadVariableOp(
                    resource=self.pair.resource_handle, dtype=tf.float32
                ),
            }

        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
        def learn(self, word: Any) -> Any:
            values = tf.constant([[1, 2]], tf.int64)
            self.changing.insert(tf.reshape(word, [1]), values)
            return self.changing.size()

    return Tables()


def save(tf: Any, folder: str) -> None:
    """Builds the module and saves it, with a vocabulary that is gone afterwards."""
    vocabulary = pathlib.Path(folder).with_name("colours.txt")
    vocabulary.write_text("red\ngreen\nblue\n")
    module = build(tf, str(vocabulary))
    signatures = {"look": module.__call__}
    tf.saved_model.save(module, folder, signatures=signatures)
    vocabulary.unlink()


def answers(tf: Any, model: Any) -> dict[str, Any]:
    """What a loaded model says, as plain values."""
    words = tf.constant(WORDS)
    found = {k: v.numpy().tolist() for k, v in model(words).items()}
    served = {k: v.numpy().tolist() for k, v in model.signatures["look"](words=words).items()}
    size = int(model.learn(tf.constant("zz")))
    learned = model(words)["changing"].numpy().tolist()
    return {"called": found, "served": served, "size": size, "learned": learned}
