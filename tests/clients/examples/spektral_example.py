"""spektral: graph convolutions with dense and sparse adjacency, and a pooling layer."""

import numpy as np
import spektral
import tensorflow as tf

a = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], "float32")
x = np.arange(6, dtype="float32").reshape(3, 2)
filtered = spektral.utils.gcn_filter(a).astype("float32")
for one in (filtered, tf.sparse.from_dense(filtered)):
    out = spektral.layers.GCNConv(4, kernel_initializer="ones")([x, one])
    print("gcn", np.round(out, 4).tolist())
out = spektral.layers.GATConv(
    2,
    kernel_initializer="ones",
    attn_kernel_initializer="ones",
    attn_kernel_self_initializer="ones",
    attn_kernel_neighs_initializer="ones",
    dropout_rate=0.0,
)([x, a])
print("gat", np.round(out, 4).tolist())
print("pool", spektral.layers.GlobalSumPool()(x).numpy().tolist())
