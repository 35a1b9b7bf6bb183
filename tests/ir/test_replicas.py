"""The graph of one replica as a graph of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import intaglio
from intaglio import tf
from intaglio.ir.replicas import expanded
from intaglio.opdef import raw
from tests.export.loaded import Loaded


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


def replicated() -> Any:
    """A concrete function of which two replicas compute a part, within a called function."""

    @tf.function
    def replica(x):
        return raw._SumOfReplicas(x * 2.0, count=2, name="Collective")

    spec = tf.TensorSpec([3], tf.float32, name="x")
    body = replica.get_concrete_function(spec).frozen

    @tf.function
    def called(x):
        devices = ["/job:localhost/replica:0/task:0/device:CPU:0"] * 2
        return raw._ReplicatedCall([x], f=body, devices=devices, Tout=[tf.float32], name="Call")[0]

    return tf.function(lambda x: called(x) + 1.0).get_concrete_function(spec)


def test_files_and_libraries_have_no_replicas(tmp_path):
    """What replicas do together is written, as a call: a file is read anywhere."""
    function = replicated()
    expected = [5.0, 9.0, 13.0]
    graph_def = function.graph.as_graph_def()
    ops = {n.op for n in graph_def.node}
    ops |= {n.op for f in graph_def.library.function for n in f.node_def}
    assert not [name for name in ops if name.startswith("_")]
    with tf.Graph().as_default():
        tf.graph_util.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session() as session:
            output = function.outputs[0].name
            assert session.run(output, {"x:0": [1.0, 2.0, 3.0]}).tolist() == expected
    library = Loaded(intaglio.export_library(function, tmp_path / "model", kinds=["shared"]))
    found = library.call("run", {"x": np.float32([1, 2, 3])})
    library.close()
    assert [v.tolist() for v in found.values()] == [expected]
    loaded = intaglio.load_onnx(intaglio.export_onnx(function, tmp_path / "model.onnx"))
    assert tf.nest.flatten(loaded(tf.constant([1.0, 2.0, 3.0])))[0].numpy().tolist() == expected
