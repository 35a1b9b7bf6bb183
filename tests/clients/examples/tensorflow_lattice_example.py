"""tensorflow_lattice: a monotonic model of calibrated features, trained."""

import numpy as np
import tensorflow as tf
import tensorflow_lattice as tfl

tf.keras.utils.set_random_seed(1)
x = np.random.RandomState(0).rand(64, 2).astype("float32")
y = (x[:, :1] ** 2 + 0.3 * x[:, 1:]) / 1.3
keypoints = np.linspace(0.0, 1.0, 5)
calibrators = tfl.layers.ParallelCombination(
    [
        tfl.layers.PWLCalibration(
            input_keypoints=keypoints, output_min=0, output_max=1, monotonicity="increasing"
        ),
        tfl.layers.PWLCalibration(input_keypoints=keypoints, output_min=0, output_max=1),
    ]
)
lattice = tfl.layers.Lattice(
    lattice_sizes=[2, 2], monotonicities=["increasing", "none"], output_min=0, output_max=1
)
model = tf.keras.models.Sequential([calibrators, lattice])
model.compile(tf.keras.optimizers.Adagrad(0.1), "mse")
history = model.fit(x, y, epochs=4, batch_size=16, shuffle=False, verbose=0)
print("losses", [f"{loss:.5f}" for loss in history.history["loss"]])
print("predicted", np.round(model.predict(x[:4], verbose=0), 4).tolist())
print("corners", np.round(lattice.weights[0], 4).tolist())
linear = tfl.layers.Linear(2, monotonicities=["increasing", "none"], kernel_initializer="ones")
print("linear", np.round(linear(x[:2]), 4).tolist())
category = tfl.layers.CategoricalCalibration(num_buckets=3, output_min=0, output_max=1)
print("categories", category(tf.constant([[0.0], [2.0]])).shape.as_list())
