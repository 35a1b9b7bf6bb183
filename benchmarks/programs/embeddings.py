"""Programs that train tables by the rows that a batch names."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


def _classifier(tf: Any, inputs: Inputs, optimizer: Any) -> Any:
    rows, d = inputs.size(10_000, 40_000, 30), inputs.size(16, 80)
    batch, length, classes = inputs.size(32, 128), inputs.size(8, 30), inputs.size(5, 40)
    table = tf.Variable(inputs.normal(rows, d))
    dense = tf.Variable(inputs.weights(d, classes))
    optimizer.build([table, dense])

    def step(words: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            mean = tf.reduce_mean(tf.nn.embedding_lookup(table, words), axis=1)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, mean @ dense)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, [table, dense])
        optimizer.apply_gradients(zip(gradients, [table, dense], strict=True))
        return loss

    words = tf.constant(inputs.integers(rows, batch, length))
    return step, (words, tf.constant(inputs.integers(classes, batch)))


@program()
def embedding_sgd(tf: Any, inputs: Inputs) -> Any:
    """Bag of words with Keras' SGD."""
    return _classifier(tf, inputs, tf.keras.optimizers.SGD(0.1))


@program()
def embedding_adam(tf: Any, inputs: Inputs) -> Any:
    """The same with Adam."""
    return _classifier(tf, inputs, tf.keras.optimizers.Adam(1e-3))


@program()
def embedding_adagrad(tf: Any, inputs: Inputs) -> Any:
    """The same with Adagrad."""
    return _classifier(tf, inputs, tf.keras.optimizers.Adagrad(1e-2))


@program()
def word2vec(tf: Any, inputs: Inputs) -> Any:
    """Skip-gram with negative samples, sparse updates by hand."""
    rows, d, batch = inputs.size(8000, 30_000, 40), inputs.size(50, 150), inputs.size(200, 800)
    into = tf.Variable(inputs.normal(rows, d, scale=0.1))
    out = tf.Variable(inputs.normal(rows, d, scale=0.1))

    def step(centre: Any, context: Any, negatives: Any) -> Any:
        with tf.GradientTape() as tape:
            c, o = tf.gather(into, centre), tf.gather(out, context)
            n = tf.gather(out, negatives)
            good = tf.reduce_sum(c * o, -1)
            bad = tf.einsum("bd,bkd->bk", c, n)
            loss = tf.reduce_mean(tf.nn.softplus(-good)) + tf.reduce_mean(tf.nn.softplus(bad))
        for variable, slices in zip((into, out), tape.gradient(loss, (into, out)), strict=True):
            variable.scatter_sub(tf.IndexedSlices(slices.values * 0.5, slices.indices))
        return loss

    return step, (
        tf.constant(inputs.integers(rows, batch)),
        tf.constant(inputs.integers(rows, batch)),
        tf.constant(inputs.integers(rows, batch, 5)),
    )


@program()
def matrix_factorisation(tf: Any, inputs: Inputs) -> Any:
    """Ratings of users and items with biases."""
    users, items = inputs.size(5000, 20_000, 20), inputs.size(2000, 8000, 30)
    d, batch = inputs.size(10, 60), inputs.size(500, 3000)
    p, q = tf.Variable(inputs.normal(users, d, scale=0.1)), tf.Variable(inputs.normal(items, d))
    bu, bi = tf.Variable(tf.zeros([users])), tf.Variable(tf.zeros([items]))
    variables = (p, q, bu, bi)

    def step(u: Any, i: Any, rating: Any) -> Any:
        with tf.GradientTape() as tape:
            pu, qi = tf.gather(p, u), tf.gather(q, i)
            guess = tf.reduce_sum(pu * qi, 1) + tf.gather(bu, u) + tf.gather(bi, i)
            penalty = tf.reduce_mean(tf.reduce_sum(pu * pu + qi * qi, 1))
            loss = tf.reduce_mean((guess - rating) ** 2) + 0.02 * penalty
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.scatter_sub(tf.IndexedSlices(0.1 * g.values, g.indices))
        return loss

    return step, (
        tf.constant(inputs.integers(users, batch)),
        tf.constant(inputs.integers(items, batch)),
        tf.constant(inputs.uniform(batch, high=5.0)),
    )


@program()
def click_prediction(tf: Any, inputs: Inputs) -> Any:
    """DLRM: several tables, products of all pairs, a network; plain gradient steps."""
    batch, d, count = inputs.size(64, 300), inputs.size(8, 32, 4), inputs.size(4, 10, 3)
    tables = [tf.Variable(inputs.normal(inputs.size(500, 5000, 20), d)) for _ in range(count)]
    pairs = (count + 1) * (count + 1)
    bottom = tf.Variable(inputs.weights(13, d))
    top = tf.Variable(inputs.weights(pairs + d, 64))
    last = tf.Variable(inputs.weights(64, 1))
    variables = [*tables, bottom, top, last]

    def step(dense: Any, sparse: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            x = tf.nn.relu(dense @ bottom)
            vectors = [tf.gather(t, sparse[:, n]) for n, t in enumerate(tables)]
            stack = tf.stack([x, *vectors], axis=1)
            products = tf.reshape(tf.matmul(stack, stack, transpose_b=True), [-1, pairs])
            logits = tf.nn.relu(tf.concat([x, products], 1) @ top) @ last
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            if isinstance(g, tf.IndexedSlices):
                v.scatter_sub(tf.IndexedSlices(0.05 * g.values, g.indices))
            else:
                v.assign_sub(0.05 * g)
        return loss

    least = min(int(t.shape[0]) for t in tables)
    return step, (
        tf.constant(inputs.normal(batch, 13)),
        tf.constant(inputs.integers(least, batch, count)),
        tf.constant(inputs.integers(2, batch, 1).astype("float32")),
    )
