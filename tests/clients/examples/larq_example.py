"""larq: binary layers, trained for a step."""

import larq
import numpy as np
import tensorflow as tf

x = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
layer = larq.layers.QuantDense(
    2,
    input_quantizer="ste_sign",
    kernel_quantizer="ste_sign",
    kernel_constraint="weight_clip",
    kernel_initializer=tf.keras.initializers.Constant(0.5),
)
model = tf.keras.Sequential([tf.keras.Input((4,)), layer])
print("predict", model.predict(x, verbose=0).tolist())
model.compile("sgd", "mse")
history = model.fit(x, np.ones((3, 2)), epochs=2, verbose=0, shuffle=False)
print("loss", np.round(history.history["loss"], 5).tolist())
with larq.context.quantized_scope(True):
    print("kernel", layer.get_weights()[0].tolist())
