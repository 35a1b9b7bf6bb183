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
tf.while_loop(lambda a: tf.reduce_sum(tf.abs(a)) > 1, lambda a: (a * .5,), [X], maximum_iterations=20)[0]
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

# Further families: ragged and sparse matrices, images, networks, matrices of a size, transforms, random numbers.
OTHERS = """
tf.RaggedTensor.from_tensor(X, padding=0).to_tensor()
tf.reduce_sum(tf.RaggedTensor.from_value_rowids(X, tf.range(tf.shape(X)[0]) // 2), 1)
tf.RaggedTensor.from_row_lengths(tf.reshape(X, [-1]), tf.fill(tf.shape(X)[:1], tf.shape(X)[1])).to_tensor() * 2
tf.concat([tf.RaggedTensor.from_tensor(X), tf.RaggedTensor.from_tensor(X[:, 1:])], 1).to_tensor()
tf.gather(tf.RaggedTensor.from_tensor(X), tf.range(tf.shape(X)[0])[::-1]).to_tensor()
tf.ragged.boolean_mask(X, X > 0).to_tensor()
tf.sparse.to_dense(tf.sparse.from_dense(X))
tf.sparse.reduce_sum(tf.sparse.from_dense(tf.nn.relu(X)), 1, keepdims=True)
tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(tf.nn.relu(X)), X, adjoint_b=True) * .1
tf.sparse.to_dense(tf.sparse.softmax(tf.sparse.from_dense(X)))
tf.sparse.to_dense(tf.sparse.transpose(tf.sparse.slice(tf.sparse.from_dense(X), [0, 0], [2, 2])))
tf.sparse.to_dense(tf.sparse.add(tf.sparse.from_dense(X), tf.sparse.from_dense(tf.nn.relu(X))))
tf.sparse.to_dense(tf.sparse.map_values(tf.tanh, tf.sparse.from_dense(X)))
tf.sparse.segment_sum(X, tf.range(tf.shape(X)[0])[::-1], tf.range(tf.shape(X)[0]) // 2)
tf.sparse.segment_mean(X, I % tf.shape(X)[0], tf.range(tf.size(I)) // 3)
tf.nn.embedding_lookup(X, I % tf.shape(X)[0])
tf.math.segment_max(X, tf.range(tf.shape(X)[0]) // 2)
tf.math.segment_min(tf.transpose(X), tf.range(tf.shape(X)[1]) // 3)
tf.math.segment_prod(tf.tanh(X), tf.range(tf.shape(X)[0]) // 2)
tf.math.unsorted_segment_min(X, tf.range(tf.shape(X)[0]) // 2, tf.shape(X)[0] // 2 + 1)[:-1]
tf.math.unsorted_segment_prod(tf.tanh(X), tf.range(tf.shape(X)[0]) % 2, 2)
tf.math.unsorted_segment_sqrt_n(X, tf.range(tf.shape(X)[0]) % 2, 2)
tf.tensor_scatter_nd_min(X, [[0]], X[-1:])
tf.tensor_scatter_nd_sub(X, [[0], [0]], tf.concat([X, X], 0)[:2])
tf.matmul(tf.stack([X, X * 2]), tf.stack([X, -X]), transpose_b=True)[1] * .1
tf.matmul(X[tf.newaxis], X, transpose_a=True)[0] * .1
tf.einsum('ij,jk,kl->il', X, X[:1, :, tf.newaxis][0] * .1, tf.ones([1, 2], X.dtype))
tf.einsum('ii->i', tf.matmul(X, X, transpose_b=True))[tf.newaxis] * .1
tf.einsum('...j,j->...j', X, X[0]) * .1
tf.linalg.solve(tf.matmul(X[:3], X[:3], transpose_b=True) + 2 * tf.eye(tf.minimum(tf.shape(X)[0], 3), dtype=X.dtype), X[:3])
tf.linalg.triangular_solve(tf.linalg.band_part(tf.ones([2, 2], X.dtype), -1, 0) * 2, tf.concat([X, X], 0)[:2])
tf.linalg.cholesky_solve(tf.eye(2, dtype=X.dtype) * 2, tf.concat([X, X], 0)[:2])
tf.linalg.det(tf.linalg.diag(1 + tf.square(tf.tanh(X[:, :4]))))[tf.newaxis]
tf.linalg.logdet(tf.linalg.diag(1 + tf.square(tf.tanh(X[:, :4]))))[tf.newaxis]
tf.linalg.expm(tf.matmul(tf.tanh(X[:3]), tf.tanh(X[:3]), transpose_b=True) * .1)
tf.linalg.eigvalsh(tf.matmul(tf.tanh(X[:3]), tf.tanh(X[:3]), transpose_b=True))[tf.newaxis]
tf.linalg.svd(tf.tanh(X[:4, :4]), compute_uv=False)[tf.newaxis]
tf.linalg.norm(X, axis=1, keepdims=True)
tf.linalg.tensor_diag_part(tf.matmul(X, X, transpose_b=True))[tf.newaxis] * .1
tf.linalg.cross(X[:1, :1] * tf.ones([2, 3], X.dtype), tf.reshape(tf.range(6.), [2, 3]))
tf.linalg.adjoint(X)
tf.linalg.tridiagonal_matmul(tf.ones([3, tf.shape(X)[0]], X.dtype), X, 'compact')
tf.nn.conv2d(X[tf.newaxis, ..., tf.newaxis], tf.ones([3, 3, 1, 2], X.dtype) * .1, 2, 'SAME')[0, ..., 1]
tf.nn.conv2d(tf.pad(X, [[1, 1], [1, 1]])[tf.newaxis, ..., tf.newaxis], tf.ones([2, 2, 1, 1], X.dtype) * .3, 1, 'VALID', dilations=2)[0, ..., 0]
tf.nn.conv2d_transpose(X[tf.newaxis, ..., tf.newaxis], tf.ones([2, 2, 1, 1], X.dtype) * .5, [1, tf.shape(X)[0] * 2, tf.shape(X)[1] * 2, 1], 2)[0, ..., 0]
tf.nn.depthwise_conv2d(tf.stack([X, -X], 2)[tf.newaxis], tf.reshape(tf.constant([.5, 1., -1., 2.], X.dtype), [1, 2, 2, 1]), [1, 1, 1, 1], 'SAME')[0, ..., 0]
tf.nn.separable_conv2d(tf.stack([X, -X], 2)[tf.newaxis], tf.ones([2, 2, 2, 1], X.dtype) * .3, tf.ones([1, 1, 2, 1], X.dtype), [1, 1, 1, 1], 'SAME')[0, ..., 0]
tf.nn.conv3d(X[tf.newaxis, tf.newaxis, ..., tf.newaxis], tf.ones([1, 2, 2, 1, 1], X.dtype) * .3, [1, 1, 1, 1, 1], 'SAME')[0, 0, ..., 0]
tf.nn.max_pool2d(X[tf.newaxis, ..., tf.newaxis], [1, 3], [1, 2], 'SAME')[0, ..., 0]
tf.nn.avg_pool1d(X[..., tf.newaxis], 2, 2, 'SAME')[..., 0]
tf.nn.max_pool_with_argmax(X[tf.newaxis, ..., tf.newaxis], 2, 2, 'SAME')[0][0, ..., 0]
tf.nn.dilation2d(X[tf.newaxis, ..., tf.newaxis], tf.zeros([2, 2, 1], X.dtype), [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])[0, ..., 0]
tf.nn.local_response_normalization(X[tf.newaxis, tf.newaxis], 1)[0, 0]
tf.nn.bias_add(X, X[0])
tf.nn.batch_normalization(X, tf.reduce_mean(X, 0), tf.math.reduce_variance(X, 0), .5, 2., .01)
tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(X), X * .5)[tf.newaxis]
tf.nn.sparse_softmax_cross_entropy_with_logits(I % tf.shape(X)[1], tf.gather(X, I % tf.shape(X)[0]))[tf.newaxis]
tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(X), X)
tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid(X), X, 2.)
tf.nn.log_poisson_loss(tf.abs(X), X * .1)
tf.nn.crelu(X)
tf.nn.leaky_relu(X, .1)
tf.nn.silu(X)
tf.nn.selu(X) + 1
tf.nn.relu6(X)
tf.nn.softsign(X)
tf.nn.dropout(X, 0.)
tf.math.erf(X)
tf.math.lgamma(tf.abs(X) + 1)
tf.math.digamma(tf.abs(X) + 1)
tf.math.igamma(tf.abs(X) + 1, tf.abs(X) * .5 + 1)
tf.math.xlogy(tf.abs(X), tf.abs(X) + 1)
tf.math.bessel_i0e(X)
tf.math.expm1(X * .2)
tf.math.asinh(X)
tf.math.atan2(X, X[:1])
tf.math.acosh(1 + tf.abs(X))
tf.math.nextafter(X, X + 1)
tf.math.polyval([1., X * .5, .25], X)
tf.math.cumulative_logsumexp(X, 0, exclusive=True)[1:]
tf.where(tf.reduce_all(X > 0, 1, keepdims=True), X, -X)
tf.math.approx_max_k(X, 1)[0]
tf.gather(X, tf.math.invert_permutation(tf.argsort(X[:, 0], stable=True)))
tf.cast(tf.math.in_top_k(I % tf.shape(X)[1], tf.cast(tf.gather(X, I % tf.shape(X)[0]), tf.float32), 1), X.dtype)[tf.newaxis]
tf.cast(tf.histogram_fixed_width(tf.cast(X, tf.float32), [-2., 2.], 5), X.dtype)[tf.newaxis]
tf.cast(tf.math.bincount(tf.abs(whole(X)) % 6, minlength=6), X.dtype)[tf.newaxis]
tf.cast(tf.math.confusion_matrix(I % 3, (I + 1) % 3, 3), X.dtype) * X[0, 0]
tf.math.real(tf.signal.ifft(tf.cast(X, tf.complex64)))
tf.signal.irfft(tf.signal.rfft(tf.pad(X, [[0, 0], [0, tf.shape(X)[1] % 2]])))
tf.math.real(tf.signal.fft2d(tf.complex(X, X * .5))) * .1
tf.math.imag(tf.math.log(tf.complex(X, tf.abs(X) + 1)))
tf.abs(tf.matmul(tf.complex(X, -X), tf.complex(X, X), adjoint_b=True)) * .1
tf.math.angle(tf.exp(tf.complex(X * .1, X)))
tf.math.real(tf.reduce_prod(tf.complex(tf.tanh(X), X * .1), 1, keepdims=True))
tf.signal.overlap_and_add(tf.pad(X, [[0, 0], [0, 2]]), 1)[tf.newaxis]
tf.signal.dct(X) * .1
tf.image.resize(X[tf.newaxis, ..., tf.newaxis], [5, 4], 'nearest')[0, ..., 0]
tf.image.resize(X[tf.newaxis, ..., tf.newaxis], [3, 6], 'bicubic')[0, ..., 0]
tf.image.resize(X[tf.newaxis, ..., tf.newaxis], [2, 2], 'area')[0, ..., 0]
tf.image.rot90(X[..., tf.newaxis])[..., 0]
tf.image.flip_up_down(X[..., tf.newaxis])[..., 0]
tf.image.sobel_edges(X[tf.newaxis, ..., tf.newaxis])[0, ..., 0, 1]
tf.image.total_variation(X[..., tf.newaxis])[tf.newaxis, tf.newaxis]
tf.image.adjust_contrast(X[..., tf.newaxis], .5)[..., 0]
tf.image.per_image_standardization(X[..., tf.newaxis])[..., 0]
tf.image.crop_and_resize(X[tf.newaxis, ..., tf.newaxis], [[.1, .1, .8, .9]], [0], [3, 3])[0, ..., 0]
tf.nn.space_to_depth(tf.pad(X, [[0, tf.shape(X)[0] % 2], [0, tf.shape(X)[1] % 2]])[tf.newaxis, ..., tf.newaxis], 2)[0, ..., 3]
tf.nn.depth_to_space(tf.stack([X, X, -X, X * 2], 2)[tf.newaxis], 2)[0, ..., 0]
tf.batch_to_space(tf.stack([X, -X])[..., tf.newaxis], [1, 2], [[0, 0], [0, 1]])[0, ..., 0]
tf.quantization.fake_quant_with_min_max_args(X, -2, 2, 4)
tf.quantization.quantize_and_dequantize_v2(X, -2., 2., range_given=True)
tf.random.stateless_uniform(tf.shape(X), [1, 2], dtype=X.dtype) + X
tf.random.stateless_normal([tf.shape(X)[1], 2], [3, 4], dtype=X.dtype)
tf.random.experimental.stateless_shuffle(X, [5, 6])
tf.cast(tf.random.stateless_uniform(tf.shape(X), [7, 8], 0, 9, tf.int32), X.dtype)
tf.unique(tf.round(tf.reshape(X, [-1]))).y[tf.newaxis]
tf.cast(tf.unique_with_counts(tf.round(tf.reshape(X, [-1]))).count[tf.newaxis], X.dtype)
tf.gather(X, tf.constant([0, 0]), axis=-1)
tf.gather_nd(X, [[0], [0]])
tf.gather_nd(tf.stack([X, -X]), [[1, 0]])
tf.gather(tf.stack([X, -X]), [[0], [0]], axis=1, batch_dims=1)[:, 0]
tf.cast(tf.searchsorted(tf.sort(X[0]), tf.reshape(X, [-1]), 'right'), X.dtype)[tf.newaxis]
tf.cast(tf.raw_ops.Bucketize(input=tf.cast(X, tf.float32), boundaries=[-1., 0., 1.]), X.dtype)
tf.tensor_scatter_nd_update(X, [[0, 0]], X[-1:, -1])
tf.cast(tf.bitwise.right_shift(tf.bitcast(tf.cast(X, tf.float32), tf.int32), 23), X.dtype) * .01
tf.cast(tf.bitwise.left_shift(whole(X) % 8, 2) | 1, X.dtype)
tf.cast(tf.cast(whole(X), tf.uint64) % tf.cast(7, tf.uint64), X.dtype)
tf.cast(tf.cast(whole(X), tf.uint32) // tf.cast(3, tf.uint32) % tf.cast(100, tf.uint32), X.dtype)
tf.cast(tf.cast(whole(X) % 30, tf.uint16) * tf.cast(3, tf.uint16), X.dtype)
tf.cast(tf.saturate_cast(X * 100, tf.int8), X.dtype)
tf.cast(tf.saturate_cast(X * 60, tf.uint8), X.dtype)
tf.cast(tf.strings.to_number(tf.strings.as_string(whole(X))), X.dtype)
tf.cast(tf.strings.length(tf.strings.as_string(whole(X))), X.dtype)
tf.ensure_shape(X, [None, None])
tf.grad_pass_through(tf.round)(X)
tf.clip_by_norm(X, 2., [1])
tf.clip_by_global_norm([X, X * 2], 3.)[0][1]
tf.math.accumulate_n([X, X * 2, X])
tf.add_n([X, X * X, X])
tf.norm(X, 1, axis=0, keepdims=True)
X * tf.cast(tf.rank(X), X.dtype)
tf.sequence_mask(I % 4, tf.shape(X)[0], X.dtype)
tf.linspace(X[:1, 0], X[:1, 0] + 2, 4, axis=1)
tf.cast(tf.range(tf.shape(X)[1]), X.dtype) + X
tf.where(tf.random.stateless_uniform(tf.shape(X), [1, 1]) > .5, X, 0)
tf.map_fn(lambda p: p[0] * tf.reduce_sum(p[1]), (X, X), fn_output_signature=X.dtype)
tf.map_fn(lambda e: tf.stack([e[0], e[0] * V]), X)
tf.vectorized_map(lambda e: tf.sort(e)[::-1] + tf.gather(e, [0]), X)
tf.vectorized_map(lambda e: tf.cond(e[0] > 0, lambda: e * 2, lambda: -e), X)
tf.vectorized_map(lambda e: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * .5 + e), [0, e])[1], X)
tf.scan(lambda s, e: (s[0] + e[0], tf.maximum(s[1], e[1])), (X, X * X), (X[0], X[0]))[1]
tangent(lambda z: tf.nn.softmax(z) * z, X)
slope(lambda z: tf.reduce_sum(tf.nn.conv2d(z[tf.newaxis, ..., tf.newaxis], tf.ones([2, 2, 1, 1], z.dtype), 1, 'SAME') ** 2), X) * .1
slope(lambda z: tf.reduce_sum(tf.nn.max_pool2d(z[tf.newaxis, ..., tf.newaxis], 2, 2, 'SAME') ** 2), X)
slope(lambda z: tf.reduce_sum(tf.math.segment_max(z, tf.range(tf.shape(z)[0]) // 2) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.math.cumprod(tf.tanh(z), 1) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.sort(z, 0) * tf.cumsum(z, 0)), X)
slope(lambda z: tf.reduce_sum(tf.linalg.cholesky(tf.matmul(z[:2], z[:2], transpose_b=True) + 2 * tf.eye(tf.minimum(tf.shape(z)[0], 2), dtype=z.dtype))), X)
slope(lambda z: tf.reduce_sum(tf.gather(z, I % tf.shape(z)[0]) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.image.resize(z[tf.newaxis, ..., tf.newaxis], [4, 3]) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(tf.nn.relu(z)), z, adjoint_b=True)), X) * .1
slope(lambda z: tf.reduce_sum(tf.foldl(lambda s, e: tf.tanh(s * e) + e, z) ** 2), X)
slope(lambda z: tf.reduce_sum(tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a) * z), [0, z])[1]), X)
slope(lambda z: tf.reduce_sum(tf.einsum('ij,kj->ik', z, z) ** 2), X) * .01
jacobian(lambda z: tf.cumsum(z * z, 1), X)
jacobian(lambda z: tf.nn.softmax(z), X)
""".strip().splitlines()
