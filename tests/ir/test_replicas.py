"""The graph of one replica as a graph of all of them."""

from __future__ import annotations

from intaglio import tf
from intaglio.ir.replicas import expanded
from intaglio.opdef import raw


def test_collectives_keep_their_control_dependencies():
    @tf.function
    def replica(x):
        with tf.control_dependencies([tf.print("before")]):
            total = raw._SumOfReplicas(x, count=2, name="Collective")
        with tf.control_dependencies([total]):
            return tf.identity(x)

    graph = expanded(replica.get_concrete_function(tf.TensorSpec([2])).frozen, 2)
    (total,) = [n for n in graph.nodes if n.op is raw.AddN]
    assert [n.op.name for n in total.control] == ["PrintV2", "PrintV2"]
    after = [n for n in graph.nodes if n.op is raw.Identity and total in n.control]
    assert len(after) == 1
