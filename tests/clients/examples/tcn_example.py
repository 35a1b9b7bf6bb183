"""keras-tcn: a temporal convolutional network, trained on sequences."""

import numpy as np
import tensorflow as tf
from tcn import TCN

tf.keras.utils.set_random_seed(0)
numbers = np.random.RandomState(0)
x = numbers.randn(32, 20, 2).astype("float32")
y = x[:, -3:, 0].sum(axis=1, keepdims=True)
for options in (
    {"use_skip_connections": True},
    {"use_batch_norm": True, "return_sequences": True},
    {"use_layer_norm": True, "padding": "same"},
):
    layer = TCN(4, kernel_size=3, dilations=(1, 2, 4), **options)
    start = tf.keras.Input((20, 2))
    inner = layer(start)
    if options.get("return_sequences"):
        inner = tf.keras.layers.GlobalAveragePooling1D()(inner)
    model = tf.keras.Model(start, tf.keras.layers.Dense(1)(inner))
    model.set_weights([0.3 * numbers.randn(*w.shape) ** 2 for w in model.get_weights()])
    model.compile(tf.keras.optimizers.SGD(0.001), "mse")
    history = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
    print("losses", [f"{loss:.4f}" for loss in history.history["loss"]], layer.receptive_field)
    print("predicted", np.round(model.predict(x[:2], verbose=0), 3).tolist())
