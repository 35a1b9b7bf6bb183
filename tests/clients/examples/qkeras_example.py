"""qkeras: quantized layers and their quantizers."""

import numpy as np
import tensorflow as tf
from qkeras import QActivation, QDense, quantized_bits, quantized_relu

x = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
print("bits", quantized_bits(4, 0, 1)(tf.constant(x)).numpy().tolist())
print("relu", quantized_relu(3)(tf.constant(x)).numpy().tolist())
inputs = tf.keras.Input((4,))
out = QDense(
    2,
    kernel_quantizer=quantized_bits(3, 0, 1),
    kernel_initializer=tf.keras.initializers.Constant(0.3),
)(inputs)
model = tf.keras.Model(inputs, QActivation("quantized_relu(4)")(out))
model.compile("sgd", "mse")
print("predict", model.predict(x, verbose=0).tolist())
print("loss", round(float(model.train_on_batch(x, np.ones((3, 2)))), 5))
