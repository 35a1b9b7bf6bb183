"""Variables as messages; TensorFlow 2.21 was asked."""

import pytest

import intaglio.tf as tf2

tf = tf2.compat.v1


def test_a_variable_is_found_again_by_its_message():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(3.0, use_resource=True)
        session.run(variable.initializer)
        proto = variable.to_proto()
        assert proto.variable_name == "Variable:0"
        assert proto.initializer_name == "Variable/Assign"
        assert proto.snapshot_name == "Variable/Read/ReadVariableOp:0"
        assert proto.initial_value_name == "Variable/Initializer/initial_value:0"
        assert proto.is_resource and proto.trainable
        again = tf.Variable.from_proto(proto)
        assert again.name == "Variable:0" and again.trainable
        session.run(variable.assign_add(1.0))
        assert session.run(again) == 4.0


def test_names_in_a_message_are_relative_to_a_scope():
    with tf.Graph().as_default():
        with tf.name_scope("net"):
            variable = tf.Variable(3.0, use_resource=True)
        assert variable.to_proto("other") is None
        proto = variable.to_proto("net")
        assert proto.variable_name == "Variable:0"
        assert tf.Variable.from_proto(proto, "net").name == "net/Variable:0"
        with pytest.raises(ValueError, match="Variable:0"):
            tf.Variable.from_proto(proto)


def test_eager_variables_have_no_message():
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        tf2.Variable(1.0).to_proto()
