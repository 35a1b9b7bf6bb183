"""A deep Gaussian process of two layers, trained for a few steps."""

import numpy as np
import tensorflow as tf
from gpflux.architectures import Config, build_constant_input_dim_deep_gp

tf.keras.backend.set_floatx("float64")
tf.random.set_seed(0)
x = np.linspace(0, 1, 20)[:, None]
y = np.sin(6 * x)
config = Config(
    num_inducing=5, inner_layer_qsqrt_factor=1e-5, likelihood_noise_variance=1e-2, whiten=True
)
model = build_constant_input_dim_deep_gp(x, 2, config)
training = model.as_training_model()
training.compile(tf.optimizers.Adam(0.01))
losses = training.fit({"inputs": x, "targets": y}, epochs=3, verbose=0).history["loss"]
print("losses", len(losses), "falls", losses[-1] < losses[0])
for layer in model.f_layers:
    print(layer.kernel.kernel.__class__.__name__, layer.q_mu.shape.as_list())
