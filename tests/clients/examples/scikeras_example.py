"""scikeras: a Keras model as an estimator of scikit-learn."""

import keras
import numpy as np
from scikeras.wrappers import KerasRegressor

x = np.linspace(-1, 1, 32, dtype="float32").reshape(16, 2)
y = x.sum(1)


def build():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])


estimator = KerasRegressor(
    build, loss="mse", optimizer="sgd", epochs=5, verbose=0, fit__shuffle=False
)
estimator.fit(x, y)
print("predict", np.round(estimator.predict(x[:3]), 5).tolist())
print("score", round(float(estimator.score(x, y)), 4))
