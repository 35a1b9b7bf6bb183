"""keras-mdn-layer: a network whose output is a mixture of normal distributions."""

import keras
import keras_mdn_layer as mdn
import numpy as np

numbers = np.random.RandomState(0)
x = numbers.rand(64, 1).astype("float32")
y = np.concatenate([np.sin(6 * x), np.cos(6 * x)], axis=1)
model = keras.Sequential(
    [keras.Input((1,)), keras.layers.Dense(8, activation="relu"), mdn.MDN(2, 3)]
)
model.set_weights([numbers.randn(*w.shape) for w in model.get_weights()])
model.compile(keras.optimizers.SGD(0.01), mdn.get_mixture_loss_func(2, 3))
history = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
print("losses", [f"{loss:.4f}" for loss in history.history["loss"]])
parameters = model.predict(x[:2], verbose=0)
print("parameters", np.round(parameters, 4).tolist())
means, deviations, weights = mdn.split_mixture_params(parameters[0], 2, 3)
print("mixture", np.round(mdn.softmax(weights), 4).tolist(), np.round(deviations, 3).tolist())
