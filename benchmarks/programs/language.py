"""Programs that prepare text and records for models."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program

STRINGS = ("eager", "graph")


@program(modes=STRINGS)
def vocabulary(tf: Any, inputs: Inputs) -> Any:
    """Distinct words with their counts, the most frequent first, and inverse frequencies."""
    lines = inputs.sentences(inputs.size(100, 800, 6), 600)

    def step(lines: Any) -> Any:
        words = tf.strings.split(tf.strings.lower(lines))
        distinct, ids, counts = tf.unique_with_counts(words.flat_values)
        order = tf.argsort(counts, direction="DESCENDING", stable=True)[:100]
        rows = tf.shape(lines)[0]
        cells = words.value_rowids() * tf.cast(tf.size(distinct), tf.int64) + tf.cast(ids, tf.int64)
        present, _ = tf.unique(cells)
        documents = tf.math.bincount(
            tf.cast(present % tf.cast(tf.size(distinct), tf.int64), tf.int32),
            minlength=tf.size(distinct),
        )
        idf = tf.math.log(tf.cast(rows, tf.float32) / tf.cast(documents, tf.float32))
        return tf.gather(distinct, order), tf.gather(counts, order), tf.gather(idf, order)

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def normalised_text(tf: Any, inputs: Inputs) -> Any:
    """Addresses, numbers and repeated letters replaced, spaces squeezed, ends stripped."""
    lines = inputs.sentences(inputs.size(100, 800, 6))
    lines = [f" {line} {i}.5 see me@{line[:4].strip()}.org  soooo" for i, line in enumerate(lines)]

    def step(lines: Any) -> Any:
        t = tf.strings.regex_replace(lines, r"[a-z]+@[a-zA-Z]+\.org", "<mail>")
        t = tf.strings.regex_replace(t, r"[0-9]+(\.[0-9]+)?", "<n>")
        t = tf.strings.regex_replace(t, r"o{3,}", "oo")
        t = tf.strings.regex_replace(t, r"\s+", " ")
        t = tf.strings.strip(t)
        return t, tf.strings.length(t)

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def report_lines(tf: Any, inputs: Inputs) -> Any:
    """A table of numbers as lines of text, by templates."""
    n = inputs.size(200, 2000, 5)

    def step(ids: Any, shares: Any, flags: Any) -> Any:
        number = tf.strings.as_string(ids, width=6, fill="0")
        share = tf.strings.as_string(shares, precision=2, width=8)
        wide = tf.strings.as_string(tf.cast(shares, tf.float64), scientific=True)
        yes = tf.where(flags, "yes", "no")
        line = tf.strings.join(["id=", number, " share=", share, " (", wide, ") ", yes])
        total = tf.strings.format("{} rows, up to {}", (tf.size(ids), tf.reduce_max(shares)))
        return line, tf.strings.upper(line), total

    flags = inputs.uniform(n) > 0.5
    return step, (
        tf.constant(inputs.integers(10**6, n)),
        tf.constant(inputs.normal(n)),
        tf.constant(flags),
    )


@program(modes=STRINGS)
def string_features(tf: Any, inputs: Inputs) -> Any:
    """Crossed and hashed columns of strings, prefixes, and a table with strings as values."""
    n, words = inputs.size(300, 3000, 9), inputs.words(50)
    a, b = (tf.constant([words[i] for i in inputs.integers(50, n)]) for _ in range(2))
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(
            tf.constant(words), tf.constant([w[::-1] for w in words])
        ),
        "?",
    )

    def step(a: Any, b: Any) -> Any:
        crossed = tf.strings.to_hash_bucket_strong(tf.strings.join([a, b], "_x_"), 1000, [1, 2])
        prefix = tf.strings.to_hash_bucket_fast(tf.strings.substr(a, 0, 2), 100)
        other = table.lookup(b)
        same = tf.strings.length(other) == tf.strings.length(a)
        first = tf.cast(tf.io.decode_raw(tf.strings.substr(a, 0, 1), tf.uint8)[:, 0], tf.int32)
        return crossed, prefix, other, same, first, tf.equal(a, b)

    return step, (a, b)


@program(modes=STRINGS)
def spelling_distance(tf: Any, inputs: Inputs) -> Any:
    """Words against a dictionary by edits of their characters, sparse."""
    n, words = inputs.size(30, 200, 5), inputs.words(120)
    typed = tf.constant([words[i][::-1] for i in inputs.integers(120, n)])
    known = tf.constant([words[i] for i in inputs.integers(120, n)])

    def step(typed: Any, known: Any) -> Any:
        a = tf.strings.unicode_split(typed, "UTF-8").to_sparse()
        b = tf.strings.unicode_split(known, "UTF-8").to_sparse()
        return tf.edit_distance(a, b, normalize=False), tf.edit_distance(a, b)

    return step, (typed, known)


@program(modes=STRINGS)
def masked_tokens(tf: Any, inputs: Inputs) -> Any:
    """Tokens of words as sequences with marks at the ends, cut, padded, some masked."""
    n = inputs.size(50, 400, 4)
    rows, noise = inputs.sentences(n), tf.constant(inputs.uniform(n, 32))
    keys = inputs.words(2000)
    table = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.range(3, len(keys) + 3, dtype=tf.int64)), 4
    )

    def step(lines: Any) -> Any:
        words = tf.strings.split(tf.strings.regex_replace(tf.strings.lower(lines), "[,.!]", ""))
        ids = tf.ragged.map_flat_values(table.lookup, words)[:, :30]
        start = tf.ones([n, 1], tf.int64)
        rows = tf.concat([start, ids, start + 1], 1)
        dense = rows.to_tensor(shape=[n, 32])
        masked = (noise < 0.15) & (dense > 2)
        labels = tf.where(masked, dense, -tf.ones_like(dense))
        return tf.where(masked, tf.zeros_like(dense), dense), labels, rows.row_lengths()

    return step, (tf.constant(rows),)


@program(modes=STRINGS)
def parsed_examples(tf: Any, inputs: Inputs) -> Any:
    """Serialised examples parsed: fixed, of several lengths, and ragged features."""
    n, d = inputs.size(50, 500, 4), inputs.size(5, 40, 3)
    train = tf.train
    x, lengths = inputs.normal(n, d), inputs.integers(6, n)

    def example(i: int) -> bytes:
        feature = {
            "x": train.Feature(float_list=train.FloatList(value=x[i])),
            "ids": train.Feature(int64_list=train.Int64List(value=range(lengths[i]))),
            "name": train.Feature(bytes_list=train.BytesList(value=[b"row%d" % i])),
        }
        return train.Example(features=train.Features(feature=feature)).SerializeToString()

    spec = {
        "x": tf.io.FixedLenFeature([d], tf.float32),
        "ids": tf.io.VarLenFeature(tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
        "missing": tf.io.FixedLenFeature([], tf.float32, default_value=0.5),
    }

    def step(serialised: Any) -> Any:
        found = tf.io.parse_example(serialised, spec)
        dense = tf.sparse.to_dense(found["ids"], default_value=-1)
        return found["x"], dense, found["name"], found["missing"]

    return step, (tf.constant([example(i) for i in range(n)]),)


@program(modes=("eager",))
def bucketed_batches(tf: Any, inputs: Inputs) -> Any:
    """Lines tokenised in parallel, batched with those of like length."""
    lines = inputs.sentences(inputs.size(200, 800, 12))
    data = tf.data.Dataset.from_tensor_slices(lines)
    data = data.map(lambda s: tf.strings.to_hash_bucket_fast(tf.strings.split(s), 500), 2)
    data = data.bucket_by_sequence_length(
        lambda ids: tf.shape(ids)[0], [6, 10, 15], [16, 16, 8, 8]
    ).prefetch(1)

    def step() -> Any:
        return tf.stack([tf.reduce_sum(b) for b in data])

    return step, ()


@program(modes=("eager",))
def joined_columns(tf: Any, inputs: Inputs) -> Any:
    """Columns of a table as a dataset of dictionaries: features made, cached, batched, folded."""
    n = inputs.size(500, 4000, 20)
    columns = {
        "age": inputs.integers(80, n), "income": inputs.uniform(n, high=1e5),
        "town": np.array([inputs.words(20)[i] for i in inputs.integers(20, n)]),
    }  # fmt: skip

    def features(row: Any) -> Any:
        age = tf.cast(row["age"], tf.float32) / 80.0
        income = tf.math.log1p(row["income"])
        town = tf.one_hot(tf.strings.to_hash_bucket_fast(row["town"], 16), 16)
        return tf.concat([[age, income, age * income], town], 0), row["age"] > 40

    data = tf.data.Dataset.from_tensor_slices(columns).map(features, tf.data.AUTOTUNE)
    data = data.enumerate().filter(lambda i, _: i % 3 != 0).map(lambda _, row: row).batch(32)

    def step() -> Any:
        return data.reduce(tf.zeros([19]), lambda s, row: s + tf.reduce_sum(row[0], 0))

    return step, ()
