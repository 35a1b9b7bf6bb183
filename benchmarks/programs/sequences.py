"""Recurrences, decoding and dynamic programming."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def masked_lstm(tf: Any, inputs: Inputs) -> Any:
    """An LSTM by tf.scan over padded sequences, trained."""
    b, n = inputs.size(8, 32, 2), inputs.size(12, 40, 4)
    d, h = inputs.size(8, 32, 3), inputs.size(16, 64, 4)
    w = tf.Variable(inputs.weights(d + h, 4 * h))
    bias = tf.Variable(tf.zeros([4 * h]))
    out = tf.Variable(inputs.weights(h, 5))

    def step(x: Any, lengths: Any, labels: Any) -> Any:
        mask = tf.transpose(tf.sequence_mask(lengths, n, tf.float32))[:, :, None]

        def cell(state: Any, now: Any) -> Any:
            (old_h, old_c), (x_t, m) = state, now
            i, f, g, o = tf.split(tf.concat([x_t, old_h], 1) @ w + bias, 4, axis=1)
            c = tf.sigmoid(f + 1.0) * old_c + tf.sigmoid(i) * tf.tanh(g)
            return (m * tf.sigmoid(o) * tf.tanh(c) + (1 - m) * old_h, m * c + (1 - m) * old_c)

        with tf.GradientTape() as tape:
            zeros = tf.zeros([b, h])
            states, _ = tf.scan(cell, (tf.transpose(x, [1, 0, 2]), mask), (zeros, zeros))
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, states[-1] @ out)
            loss = tf.reduce_mean(losses)
        variables = [w, bias, out]
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    lengths = 1 + inputs.integers(n, b)
    return step, (
        tf.constant(inputs.normal(b, n, d)),
        tf.constant(lengths),
        tf.constant(inputs.integers(5, b)),
    )


@program()
def gru_generation(tf: Any, inputs: Inputs) -> Any:
    """A GRU that feeds its best symbol back, in a while loop."""
    b, h, symbols = inputs.size(4, 24, 2), inputs.size(32, 96, 4), inputs.size(30, 200, 6)
    steps = inputs.size(15, 50, 4)
    table = tf.constant(inputs.normal(symbols, h))
    wz, wr, wh = (tf.constant(inputs.weights(2 * h, h)) for _ in range(3))
    out = tf.constant(inputs.weights(h, symbols))

    def step(state: Any) -> Any:
        symbol = tf.zeros([b], tf.int32)
        found = tf.TensorArray(tf.int32, size=steps)
        for t in tf.range(steps):
            x = tf.gather(table, symbol)
            both = tf.concat([x, state], 1)
            z, r = tf.sigmoid(both @ wz), tf.sigmoid(both @ wr)
            new = tf.tanh(tf.concat([x, r * state], 1) @ wh)
            state = z * state + (1 - z) * new
            symbol = tf.argmax(state @ out, axis=1, output_type=tf.int32)
            found = found.write(t, symbol)
        return found.stack()[:2], state * 0.1

    return step, (tf.constant(inputs.normal(b, h)),)


def _keras_step(tf: Any, model: Any, x: Any, labels: Any) -> Any:
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.05)
    model(x)
    optimizer.build(model.trainable_variables)

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step, (x, labels)


@program(tolerance=0.3)
def bidirectional_lstm(tf: Any, inputs: Inputs) -> Any:
    """Keras' layers with a mask from the embedding; training step."""
    b, n = inputs.size(8, 32, 2), inputs.size(10, 40, 4)
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential(
        [
            layers.Embedding(500, inputs.size(16, 48, 3), mask_zero=True),
            layers.Bidirectional(layers.LSTM(inputs.size(16, 48, 4))),
            layers.Dense(5),
        ]
    )
    words = 1 + inputs.integers(499, b, n)
    words *= np.arange(n) < 1 + inputs.integers(n, b, 1)
    return _keras_step(tf, model, tf.constant(words), tf.constant(inputs.integers(5, b)))


@program(tolerance=0.3)
def stacked_gru(tf: Any, inputs: Inputs) -> Any:
    """Two GRU layers of Keras, all outputs of the first one; training step."""
    b, n, d = inputs.size(8, 32, 2), inputs.size(10, 40, 4), inputs.size(6, 30, 3)
    h = inputs.size(16, 64, 4)
    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential(
        [layers.GRU(h, return_sequences=True), layers.GRU(h), layers.Dense(5)]
    )
    x, labels = inputs.normal(b, n, d), inputs.integers(5, b)
    return _keras_step(tf, model, tf.constant(x), tf.constant(labels))


@program()
def beam_search(tf: Any, inputs: Inputs) -> Any:
    """The best paths of a bigram model, by top_k in a loop."""
    b, beams, symbols = inputs.size(2, 8, 2), inputs.size(3, 8, 2), inputs.size(100, 600, 7)
    steps = inputs.size(8, 25, 3)

    def step(bigrams: Any) -> Any:
        scores = tf.concat([tf.zeros([b, 1]), tf.fill([b, beams - 1], -1e9)], 1)
        last = tf.zeros([b, beams], tf.int32)
        paths = tf.zeros([b, beams, steps], tf.int32)
        for t in tf.range(steps):
            grown = scores[:, :, None] + tf.gather(bigrams, last)
            scores, best = tf.math.top_k(tf.reshape(grown, [b, -1]), beams)
            origin, last = best // symbols, best % symbols
            paths = tf.gather(paths, origin, batch_dims=1)
            paths = tf.where(tf.range(steps) == t, last[:, :, None], paths)
        return scores, paths

    bigrams = tf.nn.log_softmax(tf.constant(inputs.normal(symbols, symbols)))
    return step, (bigrams,)


@program()
def viterbi(tf: Any, inputs: Inputs) -> Any:
    """The best labels of a linear chain, with back pointers."""
    b, n, k = inputs.size(8, 40, 2), inputs.size(15, 60, 5), inputs.size(6, 30, 3)

    def step(unary: Any, binary: Any) -> Any:
        score = unary[:, 0]
        pointers = tf.TensorArray(tf.int32, size=n - 1)
        for t in tf.range(1, n):
            all_scores = score[:, :, None] + binary[None]
            pointers = pointers.write(t - 1, tf.argmax(all_scores, 1, output_type=tf.int32))
            score = tf.reduce_max(all_scores, 1) + unary[:, t]
        label = tf.argmax(score, 1, output_type=tf.int32)
        back = pointers.stack()
        found = tf.TensorArray(tf.int32, size=n).write(n - 1, label)
        for t in tf.range(n - 2, -1, -1):
            label = tf.gather(back[t], label, batch_dims=1)
            found = found.write(t, label)
        return tf.reduce_max(score, 1), tf.transpose(found.stack())

    return step, (tf.constant(inputs.normal(b, n, k)), tf.constant(inputs.normal(k, k)))


@program()
def hidden_markov(tf: Any, inputs: Inputs) -> Any:
    """Forward algorithm in log space, and its gradient by the transitions."""
    n, k, symbols = inputs.size(30, 120, 5), inputs.size(6, 30, 3), inputs.size(10, 40)

    def step(transitions: Any, emissions: Any, seen: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([transitions, emissions])
            log_a = tf.nn.log_softmax(transitions, 1)
            log_b = tf.gather(tf.nn.log_softmax(emissions, 1), seen, axis=1)
            alpha = log_b[:, 0]
            for t in tf.range(1, n):
                alpha = tf.reduce_logsumexp(alpha[:, None] + log_a, 0) + log_b[:, t]
            loss = -tf.reduce_logsumexp(alpha)
        return loss, tape.gradient(loss, [transitions, emissions])

    return step, (
        tf.constant(inputs.normal(k, k)),
        tf.constant(inputs.normal(k, symbols)),
        tf.constant(inputs.integers(symbols, n)),
    )


@program()
def edit_distance(tf: Any, inputs: Inputs) -> Any:
    """Levenshtein distances of pairs, row by row."""
    b, n = inputs.size(20, 100, 2), inputs.size(15, 50, 5)

    def step(x: Any, y: Any) -> Any:
        offsets = tf.range(n + 1)
        row = tf.repeat(offsets[None], b, axis=0)
        for i in tf.range(n):
            cost = tf.cast(y != x[:, i, None], tf.int32)
            first = tf.fill([b, 1], i + 1)
            best = tf.minimum(row[:, 1:] + 1, row[:, :-1] + cost)
            best = tf.concat([first, best], 1) - offsets
            row = -tf.scan(lambda a, z: tf.maximum(a, z), -tf.transpose(best))
            row = tf.transpose(row) + offsets
        return row[:, -1]

    return step, (tf.constant(inputs.integers(6, b, n)), tf.constant(inputs.integers(6, b, n)))


@program()
def nucleus_decoding(tf: Any, inputs: Inputs) -> Any:
    """Logits cut to the nucleus, penalties of repeated tokens by scatter, the best taken."""
    b, v, n = inputs.size(4, 32, 2), inputs.size(2000, 12000, 20), 6

    def step(logits: Any) -> Any:
        rows = tf.range(b)
        for _ in range(n):
            ordered, which = tf.math.top_k(logits, min(64, v))
            mass = tf.cumsum(tf.nn.softmax(ordered), 1, exclusive=True)
            kept = tf.where(mass < 0.9, ordered, -1e9)
            token = tf.gather(which, tf.argmax(kept, 1), batch_dims=1)
            at = tf.stack([rows, token], 1)
            logits = tf.tensor_scatter_nd_add(logits, at, tf.fill([b], -2.0))
        return token, tf.reduce_logsumexp(logits, 1)

    return step, (tf.constant(inputs.normal(b, v)),)
