"""graph_nets: a graph network on a batch of graphs, its gradients, and changes of graphs."""

import graph_nets as gn
import numpy as np
import sonnet as snt
import tensorflow as tf

numbers = np.random.RandomState(0)


def graph(nodes, edges):
    """A graph with random features."""
    return {
        "globals": numbers.randn(2).astype("float32"),
        "nodes": numbers.randn(nodes, 4).astype("float32"),
        "edges": numbers.randn(edges, 3).astype("float32"),
        "senders": numbers.randint(0, nodes, edges),
        "receivers": numbers.randint(0, nodes, edges),
    }


graphs = gn.utils_tf.data_dicts_to_graphs_tuple([graph(3, 4), graph(5, 7)])
ones = snt.initializers.Constant(0.1)
network = gn.modules.GraphNetwork(
    *[lambda size=size: snt.nets.MLP([6, size], w_init=ones) for size in (3, 4, 2)]
)
with tf.GradientTape() as tape:
    out = network(graphs)
    loss = tf.reduce_sum(out.globals**2)
print("globals", np.round(out.globals, 4).tolist())
print("nodes", np.round(out.nodes[0], 4).tolist(), out.edges.shape.as_list())
slopes = tape.gradient(loss, network.trainable_variables)
print("slopes", [round(float(tf.norm(s)), 3) for s in slopes])
compiled = tf.function(network, input_signature=[gn.utils_tf.specs_from_graphs_tuple(graphs)])
print("compiled", bool(tf.reduce_all(tf.abs(compiled(graphs).globals - out.globals) < 1e-5)))
for kind in (gn.modules.InteractionNetwork, gn.modules.RelationNetwork):
    print(kind.__name__)
attention = gn.modules.SelfAttention()
queries = tf.reshape(tf.range(48.0), [8, 2, 3]) / 48
print("attention", np.round(attention(queries, queries, queries, graphs).nodes[0], 4).tolist())
joined = gn.utils_tf.concat([graphs, graphs], 0)
print("joined", joined.n_node.numpy().tolist(), joined.senders.numpy().tolist()[-7:])
second = gn.utils_tf.get_graph(graphs, 1)
print("second", second.n_edge.numpy().tolist(), np.round(second.globals, 3).tolist())
bare = graphs.replace(edges=None, senders=None, receivers=None, n_edge=tf.zeros([2], tf.int32))
full = gn.utils_tf.fully_connect_graph_dynamic(bare)
print("connected", full.n_edge.numpy().tolist())
