"""pennylane: the gradient of a circuit by TensorFlow's interface."""

import pennylane as qml
import tensorflow as tf

device = qml.device("default.qubit", wires=2)


@qml.qnode(device, interface="tf", diff_method="parameter-shift")
def circuit(x):
    qml.RX(x[0], wires=0)
    qml.RY(x[1], wires=1)
    qml.CNOT(wires=[0, 1])
    return qml.expval(qml.PauliZ(1))


x = tf.Variable([0.3, 0.7], dtype=tf.float64)
with tf.GradientTape() as tape:
    value = circuit(x)
print("value", round(float(value), 5))
print("gradient", [round(float(g), 5) for g in tape.gradient(value, x)])
