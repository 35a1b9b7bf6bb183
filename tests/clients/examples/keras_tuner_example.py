"""keras_tuner: a grid of two hyperparameters is searched."""

import tempfile

import keras
import keras_tuner
import numpy as np

x = np.linspace(-1, 1, 32, dtype="float32").reshape(16, 2)
y = x.sum(1, keepdims=True)


def build(hp):
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(keras.optimizers.SGD(hp.Choice("rate", [0.01, 0.1, 0.3])), "mse")
    return model


tuner = keras_tuner.GridSearch(build, "val_loss", max_trials=3, directory=tempfile.mkdtemp())
tuner.search(x, y, validation_data=(x, y), epochs=3, verbose=0, shuffle=False)
print("best", tuner.get_best_hyperparameters()[0].values)
print("score", round(tuner.oracle.get_best_trials()[0].score, 5))
