"""dm-sonnet: a network is trained for some steps."""

import sonnet as snt
import tensorflow as tf

net = snt.Sequential(
    [
        snt.Linear(4, w_init=snt.initializers.Constant(0.1)),
        tf.nn.relu,
        snt.Linear(1, w_init=snt.initializers.Ones()),
    ]
)
optimizer = snt.optimizers.Adam(0.01)
x = tf.reshape(tf.range(6.0), [3, 2])


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x) - 1.0))
    variables = net.trainable_variables
    optimizer.apply(tape.gradient(loss, variables), variables)
    return loss


net(x)
print("losses", [round(float(step()), 5) for _ in range(4)])
