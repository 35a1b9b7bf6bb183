"""tf_slim: layers in a graph, run in a session."""

import numpy as np
import tensorflow as tf
import tf_slim as slim

v1 = tf.compat.v1
with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [None, 4])
    with slim.arg_scope([slim.fully_connected], weights_initializer=tf.ones_initializer()):
        hidden = slim.fully_connected(x, 3, scope="hidden")
        out = slim.fully_connected(hidden, 1, activation_fn=None, scope="out")
    loss = tf.reduce_mean(tf.square(out - 1.0))
    train = slim.learning.create_train_op(loss, v1.train.GradientDescentOptimizer(0.001))
    print("variables", [v.name for v in slim.get_model_variables()])
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        fed = {x: np.linspace(0, 1, 8).reshape(2, 4)}
        print("losses", [round(float(session.run(train, fed)), 4) for _ in range(3)])
