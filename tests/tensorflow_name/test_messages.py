"""Modules `tensorflow.core.*_pb2`, and messages of other libraries that have ours as fields."""

from __future__ import annotations

from tests.tensorflow_name.process import printed_by

OTHERS = """
from tensorflow.core.framework import tensor_shape_pb2, types_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
import tensorflow as tf

file = descriptor_pb2.FileDescriptorProto(name="other.proto", package="other", syntax="proto3")
file.dependency.append("tensorflow/core/framework/tensor_shape.proto")
file.dependency.append("tensorflow/core/framework/types.proto")
message = file.message_type.add(name="Feature")
message.field.add(name="shape", number=1, label=1, type=11, type_name=".tensorflow.TensorShapeProto")
message.field.add(name="dtype", number=2, label=1, type=14, type_name=".tensorflow.DataType")
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
Feature = message_factory.GetMessageClass(pool.FindMessageTypeByName("other.Feature"))
feature = Feature(dtype=types_pb2.DT_INT64)
feature.shape.CopyFrom(tf.TensorShape([2, None]).as_proto())
print(tf.TensorShape(feature.shape), tf.as_dtype(feature.dtype).name)
print(types_pb2.DataType.Name(1), types_pb2.DESCRIPTOR.name)
"""


def test_messages_of_other_libraries_have_ours_as_fields() -> None:
    program = f"import intaglio; intaglio.install_as_tensorflow()\n{OTHERS}"
    assert printed_by(program) == [
        "(2, None) int64",
        "DT_FLOAT tensorflow/core/framework/types.proto",
    ]


def test_options_of_sessions() -> None:
    program = """
    import intaglio; intaglio.install_as_tensorflow()
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2, saver_pb2
    import tensorflow as tf
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.graph_options.rewrite_options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF
    print(len(config.SerializeToString()), saver_pb2.SaverDef.V2)
    print(config_pb2.RunOptions.FULL_TRACE)
    with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
        print(session.run(tf.constant(1)))
    """
    assert printed_by(program) == ["12 2", "3", "1"]
