"""tf2onnx: a function becomes an ONNX model."""

import tensorflow as tf
import tf2onnx


@tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
def f(x):
    return tf.nn.relu(tf.matmul(x, tf.constant([[1.0], [2.0], [3.0]])) - 1.0)


model, _ = tf2onnx.convert.from_function(f, input_signature=f.input_signature, opset=13)
print("ops", sorted({node.op_type for node in model.graph.node}))
print("inputs", [i.name.split(":")[0] for i in model.graph.input])
