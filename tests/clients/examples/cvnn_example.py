"""cvnn: layers of complex numbers, trained with complex gradients."""

import numpy as np
import tensorflow as tf
from cvnn import layers, losses

numbers = np.random.RandomState(0)
x = (numbers.randn(8, 8, 8, 2) + 1j * numbers.randn(8, 8, 8, 2)).astype("complex64")
y = numbers.randint(0, 3, 8)
model = tf.keras.Sequential(
    [
        layers.ComplexInput((8, 8, 2)),
        layers.ComplexConv2D(3, (3, 3), activation="cart_relu"),
        layers.ComplexAvgPooling2D((2, 2)),
        layers.ComplexFlatten(),
        layers.ComplexDense(4, activation="cart_tanh"),
        layers.ComplexDense(3, activation="convert_to_real_with_abs"),
    ]
)
model.set_weights(
    [
        (0.2 * (numbers.randn(*w.shape) + 1j * numbers.randn(*w.shape))).astype(w.dtype)
        if w.dtype.kind == "c"
        else (0.2 * numbers.randn(*w.shape)).astype(w.dtype)
        for w in model.get_weights()
    ]
)
model.compile(
    tf.keras.optimizers.legacy.SGD(0.05),
    tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
history = model.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0)
print("losses", [f"{loss:.4f}" for loss in history.history["loss"]])
print("predicted", np.round(model.predict(x[:2], verbose=0), 4).tolist())
normal = layers.ComplexBatchNormalization(dtype=tf.complex64)
print("normalised", np.round(normal(x[:4, 0, 0], training=True), 3).tolist())
pooled = layers.ComplexMaxPooling2D((2, 2))(x[:1])
print("pooled", np.round(pooled[0, 0, 0], 3).tolist())
print("loss", losses.__name__)
