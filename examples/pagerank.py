"""PageRank: a sparse matrix, multiplied until nothing changes; `break` under a tensor's condition."""

from intaglio import tf

LINKS = {"a": "bc", "b": "c", "c": "a", "d": "c", "e": "ad"}
NAMES = sorted(LINKS)


@tf.function
def ranked(links, limit):
    n = links.dense_shape[0]
    rank = tf.ones([n, 1]) / tf.cast(n, tf.float32)
    steps = 0
    for _ in tf.range(limit):
        steps += 1
        new = 0.15 / tf.cast(n, tf.float32) + 0.85 * tf.sparse.sparse_dense_matmul(links, rank)
        change = tf.reduce_sum(tf.abs(new - rank))
        rank = new
        if change < 1e-6:
            break
    return rank[:, 0], steps


entries = {(NAMES.index(t), NAMES.index(s)): 1 / len(to) for s, to in LINKS.items() for t in to}
links = tf.sparse.reorder(tf.SparseTensor(list(entries), list(entries.values()), [5, 5]))
rank, iterations = ranked(links, 100)
order = tf.argsort(rank, direction="DESCENDING").numpy()
print(" ".join(f"{NAMES[i]}={float(rank[i]):.3f}" for i in order), "after", int(iterations))
