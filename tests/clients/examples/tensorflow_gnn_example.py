"""tensorflow_gnn: a graph tensor, broadcasting and pooling along its edges, a convolution."""

import numpy as np
import tensorflow as tf
import tensorflow_gnn as tfgnn

graph = tfgnn.GraphTensor.from_pieces(
    node_sets={
        "n": tfgnn.NodeSet.from_fields(
            sizes=[3], features={"x": tf.constant([[1.0], [2.0], [4.0]])}
        )
    },
    edge_sets={
        "e": tfgnn.EdgeSet.from_fields(
            sizes=[3],
            features={},
            adjacency=tfgnn.Adjacency.from_indices(("n", [0, 1, 2]), ("n", [1, 2, 2])),
        )
    },
)
sent = tfgnn.broadcast_node_to_edges(graph, "e", tfgnn.SOURCE, feature_name="x")
print("sent", sent.numpy().tolist())
print(
    "pooled",
    tfgnn.pool_edges_to_node(graph, "e", tfgnn.TARGET, "sum", feature_value=sent).numpy().tolist(),
)
layer = tfgnn.keras.layers.SimpleConv(
    tf.keras.layers.Dense(2, kernel_initializer="ones"),
    "sum",
    sender_edge_feature=None,
    sender_node_feature="x",
    receiver_feature="x",
    receiver_tag=tfgnn.TARGET,
)
print("conv", np.round(layer(graph, edge_set_name="e"), 4).tolist())
