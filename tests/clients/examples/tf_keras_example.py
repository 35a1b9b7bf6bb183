"""tf_keras (Keras 2): a functional model is trained, saved, loaded and asked."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
import tf_keras as keras

keras.utils.set_random_seed(1)
x = np.linspace(-1, 1, 64, dtype="float32").reshape(16, 4)
y = x.sum(1, keepdims=True)
inputs = keras.Input((4,))
hidden = keras.layers.Dense(8, "tanh", kernel_initializer=keras.initializers.RandomNormal(seed=2))(
    inputs
)
hidden = keras.layers.BatchNormalization()(hidden)
model = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(hidden))
model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
history = model.fit(x, y, epochs=3, batch_size=4, shuffle=False, verbose=0)
print("loss", np.round(history.history["loss"], 5).tolist())
print("evaluate", np.round(model.evaluate(x, y, verbose=0), 5).tolist())
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "model.keras")
    model.save(path)
    again = keras.models.load_model(path)
print("same", bool(np.allclose(model.predict(x, verbose=0), again.predict(x, verbose=0))))
print("keras", tf.keras.Model is keras.Model)
