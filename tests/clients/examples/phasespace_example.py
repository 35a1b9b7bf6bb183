"""phasespace: decays of a particle and of its daughters; momentum is conserved."""

import numpy as np
import phasespace
import tensorflow as tf

kaon = phasespace.GenParticle("K", 493.7).set_children(
    phasespace.GenParticle("pi+", 139.6), phasespace.GenParticle("pi-", 139.6)
)
meson = phasespace.GenParticle("B", 5279.0).set_children(
    kaon, phasespace.GenParticle("gamma", 0.0), phasespace.GenParticle("pi0", 135.0)
)
weights, particles = meson.generate(n_events=2000, seed=1)
print("names", sorted(particles))
total = particles["pi+"] + particles["pi-"] + particles["gamma"] + particles["pi0"]
print("sum", np.abs(np.round(total.numpy().mean(axis=0), 2)).tolist())
mass = tf.sqrt(particles["K"][:, 3] ** 2 - tf.reduce_sum(particles["K"][:, :3] ** 2, 1))
print("mass", f"{float(mass[0]):.2f}", weights.shape.as_list())
print("weights", bool(0 < tf.reduce_mean(weights) < 1))
simple = phasespace.nbody_decay(1000.0, [100.0, 200.0], names=["a", "b"])
weights, particles = simple.generate(n_events=3, seed=2)
print("two bodies", np.round(particles["a"][:, 3], 3).tolist(), np.round(weights, 3).tolist())
