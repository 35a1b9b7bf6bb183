"""Programs on strings."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program

STRINGS = ("eager", "graph")


@program(modes=STRINGS)
def word_ids(tf: Any, inputs: Inputs) -> Any:
    """Lower case, no punctuation, words, a vocabulary, padding."""
    lines = inputs.sentences(inputs.size(200, 1000, 6))
    words = inputs.words(2000)[::2]
    keys, values = tf.constant(words), tf.range(2, len(words) + 2)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), 1)

    def step(lines: Any) -> Any:
        clean = tf.strings.regex_replace(tf.strings.lower(lines), "[^a-z ]", "")
        tokens = tf.strings.split(clean)
        ids = table.lookup(tokens.flat_values)
        return tf.RaggedTensor.from_row_splits(ids, tokens.row_splits).to_tensor(shape=[None, 24])

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def hashed_ngrams(tf: Any, inputs: Inputs) -> Any:
    """Words and bigrams hashed to buckets, counted by line."""
    n = inputs.size(200, 900, 6)
    buckets = inputs.size(200, 1000, 20)

    def step(lines: Any) -> Any:
        tokens = tf.strings.split(tf.strings.lower(lines))
        grams = tf.strings.ngrams(tokens, [1, 2], separator="_")
        hashed = tf.strings.to_hash_bucket_fast(grams.flat_values, buckets)
        flat = grams.value_rowids() * buckets + hashed
        counts = tf.math.bincount(tf.cast(flat, tf.int32), minlength=n * buckets)
        return tf.reshape(counts, [n, buckets])

    return step, (tf.constant(inputs.sentences(n)),)


@program(modes=STRINGS)
def log_lines(tf: Any, inputs: Inputs) -> Any:
    """Fields of lines by regular expressions, to numbers."""
    n = inputs.size(500, 3000, 8)
    words = inputs.words(30)
    lines = [
        f"2026-{1 + i % 12:02d}-{1 + i % 28:02d} {words[i % 30]}: took {i * 37 % 900}.{i % 10} ms"
        for i in range(n)
    ]

    def step(lines: Any) -> Any:
        months = tf.strings.to_number(tf.strings.substr(lines, 5, 2), tf.int32)
        times = tf.strings.to_number(tf.strings.regex_replace(lines, ".*took ([0-9.]+) ms", "\\1"))
        slow = tf.strings.regex_full_match(lines, ".*: took [5-9]\\d\\d\\..*")
        mean = tf.math.unsorted_segment_mean(times, months - 1, 12)
        return mean, tf.reduce_sum(tf.cast(slow, tf.int32))

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def characters(tf: Any, inputs: Inputs) -> Any:
    """Code points of lines as padded rows with lengths and frequencies."""
    lines = inputs.sentences(inputs.size(200, 1000, 6))

    def step(lines: Any) -> Any:
        points = tf.strings.unicode_decode(lines, "UTF-8")
        counts = tf.math.bincount(points.flat_values, minlength=128)
        return points.to_tensor(default_value=0, shape=[None, 100]), points.row_lengths(), counts

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def formatting(tf: Any, inputs: Inputs) -> Any:
    """Numbers to strings, joined to lines, and their lengths."""
    n = inputs.size(500, 4000, 8)

    def step(ids: Any, values: Any) -> Any:
        fields = [tf.strings.as_string(ids), tf.strings.as_string(values, precision=3)]
        lines = tf.strings.join(fields, separator=",")
        padded = tf.strings.join([lines, tf.fill([n], "\n")])
        return tf.strings.reduce_join(padded), tf.reduce_sum(tf.strings.length(lines))

    return step, (tf.range(n), tf.constant(inputs.normal(n)))


@program(modes=STRINGS)
def csv_columns(tf: Any, inputs: Inputs) -> Any:
    """Lines of CSV to columns, normalised."""
    n = inputs.size(500, 3000, 8)
    words = inputs.words(20)
    numbers = inputs.normal(n, 3)
    lines = [f"{i},{a:.4f},{b:.3f},,{words[i % 20]},{c:.2f}" for i, (a, b, c) in enumerate(numbers)]
    defaults = [0, 0.0, 0.0, 1.5, "", 0.0]

    def step(lines: Any) -> Any:
        number, a, b, missing, word, c = tf.io.decode_csv(lines, [[d] for d in defaults])
        x = tf.stack([a, b, missing, c], 1)
        x = (x - tf.reduce_mean(x, 0)) / (tf.math.reduce_std(x, 0) + 1e-3)
        return number, x, tf.strings.to_hash_bucket_fast(word, 50)

    return step, (tf.constant(lines),)


@program(modes=STRINGS)
def ragged_features(tf: Any, inputs: Inputs) -> Any:
    """Ragged rows: mean embedding, maximum, concatenation, masks."""
    n, d = inputs.size(200, 1000, 6), inputs.size(8, 40, 3)
    lengths = inputs.integers(20, n) + 1
    values = inputs.integers(300, int(lengths.sum()))
    table = tf.constant(inputs.normal(300, d))

    def step(values: Any, lengths: Any) -> Any:
        rows = tf.RaggedTensor.from_row_lengths(values, lengths)
        even = tf.ragged.boolean_mask(rows, rows % 2 == 0)
        both = tf.concat([rows, even], axis=1)
        vectors = tf.gather(table, both)
        return tf.reduce_mean(vectors, axis=1), tf.reduce_max(rows, axis=1), both.row_lengths()

    return step, (tf.constant(values), tf.constant(lengths))


@program(modes=("eager", "graph"))
def address_patterns(tf: Any, inputs: Inputs) -> Any:
    """Addresses told apart by patterns that match the whole."""
    n, words = inputs.size(1000, 6000, 80), inputs.words(200)
    addresses = [
        f"https://{words[i % 200]}.com/{words[i * 7 % 200]}/{i}?q={words[i * 3 % 200]}"
        for i in range(n)
    ]
    patterns = (r"https://[a-m].*", r"[a-z:/]+\.com/.*\?q=(a|b|c)[a-z]*", r".*/\d*[05]\?.*")

    def step(texts: Any) -> Any:
        return [tf.strings.regex_full_match(texts, pattern) for pattern in patterns]

    return step, (tf.constant(addresses),)


@program(("eager", "graph"))
def token_counts(tf: Any, inputs: Inputs) -> Any:
    """Bags of words: lower case, split, hashed, counted for each text."""
    n = inputs.size(200, 800, 5)

    def step(texts: Any) -> Any:
        clean = tf.strings.regex_replace(tf.strings.lower(texts), "[[:punct:]]", "")
        words = tf.strings.split(clean)
        buckets = tf.strings.to_hash_bucket_fast(words, 256)
        cells = tf.cast(buckets.values + 256 * words.value_rowids(), tf.int32)
        return tf.reshape(tf.math.bincount(cells, minlength=256 * n), [n, 256])

    return step, (tf.constant(inputs.sentences(n)),)


@program(("eager", "graph"))
def byte_pairs(tf: Any, inputs: Inputs) -> Any:
    """The most frequent pair of neighbouring symbols replaced, ten times over."""
    n = inputs.size(5000, 20000, 30)
    symbols = tf.constant(inputs.integers(24, n))

    def step(s: Any) -> Any:
        for merge in range(10):
            pair = s[:-1] * 64 + s[1:]
            best = tf.argmax(tf.math.bincount(pair, minlength=4096), output_type=tf.int32)
            hit = tf.concat([pair == best, [False]], 0)
            behind = tf.concat([[False], hit[:-1]], 0)
            hit = tf.logical_and(hit, tf.logical_not(behind))
            drop = tf.concat([[False], hit[:-1]], 0)
            s = tf.boolean_mask(tf.where(hit, 24 + merge, s), tf.logical_not(drop))
        return s

    return step, (symbols,)
