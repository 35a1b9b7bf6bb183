"""ncps: liquid time constants and closed forms of them as recurrent layers, trained."""

import numpy as np
import tensorflow as tf
from ncps import wirings
from ncps.keras import LTC, CfC

numbers = np.random.RandomState(0)
x = numbers.rand(8, 10, 2).astype("float32")
y = np.cumsum(x[:, :, :1], axis=1) / 10
wiring = wirings.AutoNCP(8, 1, seed=3)
for layer in (
    LTC(wiring, return_sequences=True),
    CfC(wiring, return_sequences=True),
    CfC(4, mixed_memory=True, return_sequences=True),
):
    tf.keras.utils.set_random_seed(0)
    start = tf.keras.Input((10, 2))
    model = tf.keras.Model(start, tf.keras.layers.Dense(1)(layer(start)))
    weights = [0.3 * numbers.rand(*w.shape) + 0.1 for w in model.get_weights()]
    model.set_weights(weights)
    model.compile(tf.keras.optimizers.SGD(0.05), "mse")
    history = model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
    print(type(layer).__name__, [f"{loss:.4f}" for loss in history.history["loss"]])
    print("predicted", np.round(model.predict(x[:1], verbose=0)[0, -3:, 0], 3).tolist())
