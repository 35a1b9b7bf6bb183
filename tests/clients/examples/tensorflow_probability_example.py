"""TensorFlow Probability: densities, bijectors and Hamiltonian Monte Carlo's acceptance."""

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd, tfb = tfp.distributions, tfp.bijectors
x = tf.constant([0.1, 0.5, 0.9])
for one in (
    tfd.Normal(0.0, 1.0),
    tfd.Gamma(2.0, 3.0),
    tfd.Beta(2.0, 2.0),
    tfd.StudentT(3.0, 0.0, 1.0),
):
    with tf.GradientTape() as tape:
        tape.watch(x)
        density = one.log_prob(x)
    print(one.name, np.round(density, 5).tolist(), np.round(tape.gradient(density, x), 4).tolist())
chain = tfb.Chain([tfb.Exp(), tfb.Scale(2.0), tfb.Shift(0.5)])
print("chain", np.round(chain.forward(x), 4).tolist(), np.round(chain.inverse(x), 4).tolist())
print("jacobian", np.round(chain.forward_log_det_jacobian(x, 0), 4).tolist())
kernel = tfp.mcmc.HamiltonianMonteCarlo(tfd.Normal(0.0, 1.0).log_prob, 0.1, 3)
samples = tfp.mcmc.sample_chain(
    20, 0.5, kernel=kernel, num_burnin_steps=5, trace_fn=None, seed=[1, 2]
)
print("hmc", np.round(samples, 3).tolist())
