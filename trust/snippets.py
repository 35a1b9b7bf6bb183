"""Expressions of one matrix, of any size: the parts of the compositions of `compositions.py`.

`X` is a floating-point matrix, `Y` another one of the program, `I` its vector of int32, of as many
elements as the program's argument has rows; `V` is a variable of one number, `W` one of shape [3, 4].
Each gives a matrix, of whatever size, for any X that has elements; most for an empty one, too.
Those of SPECIAL draw from X what the ends of a dtype are: NaN, infinities, zeros of either sign.
"""

from __future__ import annotations

ELEMENTWISE = """
-X
tf.abs(X)
tf.exp(X * .2)
tf.tanh(X) * 2
tf.sigmoid(X)
tf.nn.relu(X)
tf.nn.elu(X) + 1
tf.nn.gelu(X)
tf.nn.softplus(X)
tf.square(X)
tf.sqrt(tf.abs(X))
tf.math.rsqrt(tf.abs(X) + 1)
tf.math.log1p(tf.abs(X))
tf.sin(X)
tf.sign(X)
tf.floor(X)
tf.round(X * 4) / 4
tf.math.floormod(X, .75)
X * X - X
X / (1 + X * X)
X ** 2
tf.abs(X) ** .5
2. ** tf.clip_by_value(X, -3, 3)
tf.clip_by_value(X, -1, 1)
tf.where(X > 0, X, -X * .5)
tf.where(X > 0, tf.math.log(tf.where(X > 0, X, 1)), 0)
tf.math.divide_no_nan(X, tf.nn.relu(X))
tf.maximum(X, 0.25)
tf.math.squared_difference(X, 1)
tf.stop_gradient(X)
tf.identity(X)
tf.zeros_like(X) + X
X * tf.ones_like(X)
tf.cast(tf.cast(X, tf.int32), X.dtype)
tf.cast(tf.cast(tf.clip_by_value(X * 3, -100, 100), tf.int8), X.dtype)
tf.cast(tf.cast(tf.minimum(tf.abs(X) * 9, 250), tf.uint8) * 7, X.dtype)
tf.cast(tf.cast(X, tf.float16), X.dtype)
tf.cast(tf.cast(X, tf.float64) * 2, X.dtype)
tf.cast(X > 0, X.dtype)
tf.cast(tf.bitwise.bitwise_xor(tf.cast(X * 9, tf.int32), 5) % 7, X.dtype)
tf.cast(tf.cast(X * 9, tf.int64) // 4 * 3, X.dtype)
tf.cast((X > 0) & ~(X > 1) | (X < -1), X.dtype)
""".strip().splitlines()

MOVES = """
tf.transpose(X)
tf.reverse(X, [0])
tf.reverse(X, [1])
tf.reverse(X, [0, 1])
tf.roll(X, 1, 0)
tf.roll(X, 3, 1)
tf.roll(X, [1, -2], [0, 1])
X[::2]
X[1:]
X[:-1]
X[:, 1:]
X[:, ::-2]
X[::-1, :1]
X[-1:]
X[:0]
X[tf.newaxis, ..., -1]
X[..., tf.newaxis][:, 0]
X[tf.shape(X)[0] // 2:]
X[:, tf.shape(X)[1] // 3: tf.shape(X)[1] - 1]
X[k0(X):k0(X) + 2]
X[k0(X)][tf.newaxis]
X[tf.argmax(tf.reduce_sum(X, 1))][tf.newaxis]
tf.slice(X, [0, 0], [1, -1])
tf.strided_slice(X, [-1, 0], [0, 9], [-1, 2], begin_mask=2, end_mask=3)
tf.pad(X, [[1, 0], [0, 2]])
tf.pad(X, [[0, 1], [1, 0]], constant_values=3)
tf.pad(X, [[1, 1], [0, 0]], 'SYMMETRIC')
tf.pad(X, [[1, 2], [2, 1]])[1:-1, 1:-1]
tf.pad(X[1:], [[1, 0], [0, 0]])
tf.concat([X, X], 0)
tf.concat([X, X * 2], 1)
tf.concat([X[1:], X[:1]], 0)
tf.concat([X[:, 1:], X[:, :1], X], 1)
tf.concat([tf.transpose(X), tf.transpose(X)], 1)
tf.concat([tf.zeros([1, tf.shape(X)[1]], X.dtype), X, X[:1]], 0)
tf.tile(X, [2, 1])
tf.tile(X, [1, 3])
tf.tile(X[:1], [3, 1])
tf.repeat(X, 2, 0)
tf.repeat(X, 2, 1)
tf.repeat(X, tf.range(tf.shape(X)[0]) % 3, 0)
tf.reshape(X, [-1, 1])
tf.reshape(X, [1, -1])
tf.reshape(X, tf.shape(X)[::-1])
tf.reshape(tf.transpose(X), tf.shape(X))
tf.reshape(X[..., tf.newaxis], [tf.shape(X)[0], -1])
tf.reshape(tf.stack([X, -X], 1), [-1, tf.shape(X)[1]])
tf.expand_dims(X, 1)[:, 0]
tf.squeeze(X[:, tf.newaxis, :, tf.newaxis], [1, 3])
tf.stack([X, X * 2], 2)[..., 1]
tf.stack([X, X + 1, X * 2], 1)[:, ::2][:, 1]
tf.transpose(tf.stack([X, -X]), [1, 0, 2])[:, 1]
tf.transpose(tf.reshape(tf.stack([X, X * .5], 2), [tf.shape(X)[0], 2, -1]), [1, 0, 2])[1]
tf.unstack(tf.stack([X, X + 1]))[1]
tf.split(tf.concat([X, X + 1], 1), 2, 1)[1]
tf.split(X, [1, -1], 0)[1]
tf.meshgrid(X[0], X[:, 0])[1]
tf.broadcast_to(X[:1], tf.shape(X))
tf.broadcast_to(X[:, :1], tf.shape(X))
tf.broadcast_to(X[:1], [3, tf.shape(X)[1]])
tf.broadcast_to(tf.reduce_sum(X), tf.shape(X))
tf.fill(tf.shape(X), tf.reduce_max(X))
tf.linalg.band_part(X, 0, -1)
tf.linalg.band_part(X, 1, 0)
tf.linalg.set_diag(X, tf.zeros([tf.minimum(tf.shape(X)[0], tf.shape(X)[1])], X.dtype))
tf.linalg.diag(tf.reduce_sum(X, 1))
tf.linalg.diag_part(tf.stack([X, X * 2]))
tf.gather(X, tf.range(tf.shape(X)[0])[::-1])
tf.gather(X, tf.range(tf.shape(X)[1]) // 2, axis=1)
tf.gather(X, I % tf.shape(X)[0])
tf.gather(X, tf.argsort(tf.reduce_sum(tf.abs(X), 1), stable=True))
tf.gather(X, tf.argsort(X, 1, stable=True), axis=1, batch_dims=1)
tf.gather_nd(X, tf.stack([tf.range(tf.shape(X)[0]), tf.range(tf.shape(X)[0]) % tf.shape(X)[1]], 1))[tf.newaxis]
tf.dynamic_stitch([tf.range(tf.shape(X)[0])[::-1]], [X])
tf.dynamic_partition(X, tf.range(tf.shape(X)[0]) % 2, 2)[0]
tf.boolean_mask(X, X[:, 0] > 0)
tf.cast(tf.where(X > 0), X.dtype)
tf.reverse_sequence(X, tf.minimum(tf.range(tf.shape(X)[0]), tf.shape(X)[1]), seq_axis=1, batch_axis=0)
tf.sequence_mask(tf.range(tf.shape(X)[0]) % 3, tf.shape(X)[1], X.dtype) * X
tf.one_hot(tf.cast(tf.abs(X[:, 0]), tf.int32) % 3, 3, dtype=X.dtype)
tf.one_hot(I, 2, dtype=X.dtype, axis=0)
tf.signal.frame(tf.reshape(X, [-1]), 2, 1)
tf.image.extract_patches(X[tf.newaxis, ..., tf.newaxis], [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')[0, 0]
tf.space_to_batch(X[tf.newaxis, :, :, tf.newaxis], [1, 1], [[1, 0], [0, 0]])[0, ..., 0]
""".strip().splitlines()

REDUCTIONS = """
X + tf.reduce_sum(X, 0)
X - tf.reduce_mean(X, 1, keepdims=True)
X * tf.reduce_max(tf.abs(X), 0, keepdims=True)
X / (1 + tf.reduce_sum(tf.abs(X), 1, keepdims=True))
X + tf.reduce_sum(X)
(X - tf.reduce_mean(X, 1, keepdims=True)) * tf.math.rsqrt(tf.math.reduce_variance(X, 1, keepdims=True) + .1)
tf.nn.softmax(X)
tf.nn.softmax(X, 0)
tf.nn.log_softmax(X)
tf.reduce_sum(X, 0, keepdims=True)
tf.reduce_sum(X, 1, keepdims=True)
tf.reduce_sum(X * X[:, :1], 1)[:, tf.newaxis]
tf.reduce_max(X, 1)[:, tf.newaxis]
tf.reduce_min(X, 0)[tf.newaxis]
tf.reduce_mean(X, 0)[tf.newaxis]
tf.reduce_sum(X, [0, 1], keepdims=True)
tf.reduce_sum(tf.stack([X, X * X], 1), 1)
tf.reduce_max(tf.stack([X, -X]), 0)
tf.reduce_sum(X[:, tf.newaxis] * X[tf.newaxis], 2)
tf.reduce_sum(tf.tanh(X[:, tf.newaxis] - X[tf.newaxis]), 1)
tf.reduce_mean(tf.broadcast_to(X[:, :1], tf.shape(X)), 0, keepdims=True)
tf.math.reduce_variance(X, 0, keepdims=True)
tf.math.reduce_std(X, 1, keepdims=True)
tf.math.reduce_euclidean_norm(X, 0, keepdims=True)
tf.nn.moments(X, [0])[1][tf.newaxis]
tf.reduce_logsumexp(X, 1, keepdims=True)
tf.reduce_prod(tf.tanh(X), 0, keepdims=True)
tf.nn.l2_normalize(X, 1)
tf.cast(tf.math.count_nonzero(X > 0, 1, keepdims=True), X.dtype)
tf.cast(tf.reduce_any(X > 1, 0, keepdims=True), X.dtype)
tf.cast(tf.argmax(X, 1)[:, tf.newaxis], X.dtype)
tf.cast(tf.argmin(X, 0)[tf.newaxis], X.dtype)
tf.cast(tf.reduce_sum(tf.cast(tf.minimum(tf.abs(X) * 50, 200), tf.uint8), 1, keepdims=True), X.dtype)
tf.cast(tf.reduce_sum(tf.cast(X * 9, tf.int32), 0, keepdims=True), X.dtype)
tf.cumsum(X, 0)
tf.cumsum(X, 1, reverse=True)
tf.cumsum(X, 1, exclusive=True)
tf.cumsum(X, 0, exclusive=True, reverse=True)
tf.cumsum(tf.reverse(X, [0]), 0)[::-1]
tf.cast(tf.cumsum(tf.cast(tf.clip_by_value(X * 9, -120, 120), tf.int8), 0), X.dtype)
tf.math.cumprod(tf.tanh(X), 0)
tf.math.cumulative_logsumexp(X, 1)
tf.sort(X, 0)
tf.sort(X, 1, 'DESCENDING')
tf.cast(tf.argsort(X, 1, stable=True), X.dtype)
tf.math.top_k(X, 1).values
tf.math.top_k(tf.transpose(X), 2).values
tf.cast(tf.math.top_k(X, 1).indices, X.dtype)
tf.cast(tf.searchsorted(tf.sort(X, 1), X), X.dtype)
tf.math.unsorted_segment_sum(X, tf.range(tf.shape(X)[0]) % 2, 2)
tf.math.unsorted_segment_max(X, tf.range(tf.shape(X)[0]) % 2, 2) if tf.shape(X)[0] > 1 else X
tf.math.unsorted_segment_mean(X, tf.range(tf.shape(X)[0]) % 3 - 1, 2)
tf.math.segment_sum(X, tf.range(tf.shape(X)[0]) // 2)
tf.math.segment_mean(X, tf.range(tf.shape(X)[0]) // 3)
tf.tensor_scatter_nd_add(X, [[0], [0]], tf.concat([X, X], 0)[:2])
tf.tensor_scatter_nd_max(X, [[0]], X[-1:])
tf.tensor_scatter_nd_update(X, tf.range(tf.shape(X)[0])[::2, tf.newaxis], X[::2] * 2)
tf.scatter_nd(tf.range(tf.shape(X)[0])[:, tf.newaxis] * 2, X, tf.stack([tf.shape(X)[0] * 2, tf.shape(X)[1]]))
tf.scatter_nd(tf.range(tf.shape(X)[0])[:, tf.newaxis] % 2, X, tf.stack([2, tf.shape(X)[1]]))
tf.math.bincount(tf.cast(tf.abs(tf.reshape(X, [-1])), tf.int32) % 4, weights=tf.cast(tf.reshape(X, [-1]), tf.float32), minlength=4)[tf.newaxis]
tf.cast(tf.unique(tf.cast(tf.reshape(X, [-1]), tf.int32)).y, X.dtype)[tf.newaxis]
""".strip().splitlines()

PRODUCTS = """
tf.matmul(X, X, transpose_b=True) * .1
tf.matmul(X, X, transpose_a=True) * .1
tf.matmul(X, tf.ones([tf.shape(X)[1], 3], X.dtype)) * .1
tf.matmul(X, tf.reverse(X, [1]), transpose_b=True) * .1
tf.matmul(X[:, ::2], X[:, ::2], transpose_b=True) * .1
tf.nn.relu(tf.matmul(X, X, transpose_a=True) * .1 + X[0])
tf.einsum('ij,kj->ki', X, X) * .1
tf.einsum('ij,j->ij', X, tf.reduce_sum(X, 0)) * .1
tf.einsum('ij,ik->jk', X, X[:, :2]) * .1
tf.einsum('bi,bj->bij', X, X)[0] * .1
tf.tensordot(X, X, [[1], [1]]) * .1
tf.linalg.matvec(X, X[0])[tf.newaxis] * .1
X[:, :1] * X[:1]
tf.linalg.cholesky(tf.matmul(X[:3], X[:3], transpose_b=True) + 2 * tf.eye(tf.minimum(tf.shape(X)[0], 3), dtype=X.dtype))
tf.linalg.inv(tf.matmul(X[:2], X[:2], transpose_b=True) + 2 * tf.eye(tf.minimum(tf.shape(X)[0], 2), dtype=X.dtype))
tf.reshape(tf.nn.conv1d(X[..., tf.newaxis], tf.reshape(tf.constant([.5, -1., 2.], X.dtype), [3, 1, 1]), 1, 'SAME'), tf.shape(X))
tf.nn.conv2d(X[tf.newaxis, ..., tf.newaxis], tf.reshape(tf.constant([.5, -1., 2., 1.], X.dtype), [2, 2, 1, 1]), 1, 'SAME')[0, ..., 0]
tf.reshape(tf.nn.max_pool1d(X[..., tf.newaxis], 2, 1, 'SAME'), tf.shape(X))
tf.nn.max_pool2d(X[tf.newaxis, ..., tf.newaxis], 2, 2, 'SAME')[0, ..., 0]
tf.nn.avg_pool2d(X[tf.newaxis, ..., tf.newaxis], 3, 1, 'SAME')[0, ..., 0]
tf.math.real(tf.cast(X, tf.complex64) * tf.complex(0.5, 1.) + tf.math.conj(tf.cast(X, tf.complex64)))
tf.math.real(tf.signal.fft(tf.cast(X, tf.complex64))) * .1
tf.cast(tf.image.resize(X[tf.newaxis, ..., tf.newaxis], [4, 3])[0, ..., 0], X.dtype)
""".strip().splitlines()

# Functions of rows, loops and branches, which trace further graphs.
CONTROL = """
tf.map_fn(lambda e: e * tf.reduce_sum(e), X)
tf.map_fn(lambda e: tf.reverse(e, [0]), X)
tf.map_fn(lambda e: tf.sort(e)[:1] + V, X)
tf.scan(lambda s, e: s * .5 + e, X)
tf.scan(lambda s, e: tf.tanh(s) - e, X, reverse=True)
tf.scan(lambda s, e: (s[1], s[0] * .5 + e), X, (X[0], X[0] * 2))[1]
tf.foldl(lambda s, e: s * .5 + e, X)[tf.newaxis]
tf.foldr(lambda s, e: tf.maximum(s - 1, e), X)[tf.newaxis]
tf.vectorized_map(lambda e: tf.cumsum(e) * e[0], X)
tf.vectorized_map(lambda e: tf.nn.softmax(e) - tf.reduce_max(e), X)
tf.cond(tf.reduce_sum(X) > 0, lambda: X * 2, lambda: X - 1)
tf.cond(tf.reduce_max(X) > 1, lambda: tf.reverse(X, [0]), lambda: tf.cumsum(X, 0))
tf.switch_case(tf.shape(X)[0] % 3, [lambda: X, lambda: X * V, lambda: tf.sort(X, 0)])
tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.roll(a, 1, 0) * .5 + X), [0, X])[1]
tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) > 1, lambda a: (a * .5,), [X])[0]
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a[1:], a[:1] * .5], 0)), [0, X], maximum_iterations=2)[1]
slope(lambda z: tf.reduce_sum(tf.sort(z, 1) * z), X)
slope(lambda z: tf.reduce_sum(tf.cumsum(z, 0) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.nn.softmax(z) ** 2), X)
slope(lambda z: tf.reduce_max(z) + tf.reduce_sum(z[1:] * z[:-1]), X)
slope(lambda z: tf.reduce_sum(tf.concat([z, z], 0) * tf.tile(z, [2, 1])), X)
slope(lambda z: tf.reduce_sum(tf.tanh(tf.matmul(z, z, transpose_b=True))), X)
slope(lambda z: tf.reduce_sum(tf.pad(z, [[1, 1], [0, 0]], 'SYMMETRIC') ** 2), X)
slope(lambda z: tf.reduce_sum(tf.gather(z, [0, 0]) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.math.reduce_variance(z, 0)) + tf.reduce_sum(tf.reduce_max(z, 1)), X)
slope(lambda z: tf.reduce_sum(tf.scan(lambda s, e: tf.sin(s) + e, z)), X)
slope(lambda z: tf.reduce_sum(slope(lambda u: tf.reduce_sum(tf.tanh(u) * u[:, :1]), z) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.map_fn(lambda e: tf.cumsum(e) * e[0], z) * V), X)
slope(lambda z: tf.reduce_sum(tf.where(z > 0, tf.exp(-z), z * z)), X)
""".strip().splitlines()

STATE = """
X * V
X + W[0, 1]
X * tf.reduce_sum(W, 1)[:1]
V.assign(tf.reduce_mean(tf.tanh(X))) * X
X - V.assign_add(tf.reduce_max(tf.tanh(X)))
tf.concat([W[:, :1], tf.transpose(W)[:3, 1:2]], 1) * tf.reduce_mean(X)
tf.gather(W, I % 3) + tf.reduce_sum(tf.tanh(X))
W.assign(like(X, W)) * .5
W.assign_sub(like(tf.tanh(X), W))[::-1]
tf.transpose(W) * V
""".strip().splitlines()

# Statements without a result.
WRITES = """
V.assign(tf.reduce_mean(tf.tanh(X)))
V.assign_add(tf.reduce_sum(W[0]) * tf.cast(.125, V.dtype))
W[1].assign(like(tf.tanh(X), W[1]))
W[:, 2].assign(W[:, 1])
W[::2, 1:3].assign(like(tf.tanh(X), W[::2, 1:3]))
W.assign(tf.reverse(W, [0]))
W.assign(W * .5 + like(tf.tanh(X), W))
W.scatter_nd_add([[0], [0]], like(tf.tanh(X), W[:2]))
W.scatter_nd_update([[2, 1]], [V])
W.scatter_sub(tf.IndexedSlices(like(tf.tanh(X), W[:1]), [1]))
""".strip().splitlines()

SPECIAL = """
X / tf.cast(X > 0, X.dtype)
tf.where(X > 1, float('inf'), X)
tf.where(X > 0, -0.0, X)
tf.math.log(X)
tf.sqrt(X)
X * tf.reduce_max(X / tf.zeros_like(X))
tf.maximum(X, tf.math.log(X))
tf.cast(tf.math.is_nan(tf.math.log(X)) & (X > -1), X.dtype)
tf.math.reciprocal(tf.nn.relu(X))
tf.pow(X, .5)
tf.reduce_max(tf.math.log(X), 1, keepdims=True)
tf.cumsum(tf.math.log(tf.nn.relu(X)), 1)
tf.nn.softmax(tf.where(X > 0, X, float('-inf')))
tf.math.cumulative_logsumexp(tf.where(X > 0, X, float('-inf')), 0)
tf.math.unsorted_segment_max(tf.where(X > 0, X, float('-inf')), tf.range(tf.shape(X)[0]) % 2, 2)
tf.sort(tf.where(X > 1, float('inf'), -X), 1)
""".strip().splitlines()
