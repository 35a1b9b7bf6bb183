"""bayesflow: a summary network and an affine coupling layer."""

import bayesflow as bf
import keras
import numpy as np

keras.utils.set_random_seed(1)
x = np.linspace(-1, 1, 24, dtype="float32").reshape(2, 4, 3)
summary = bf.networks.DeepSet(summary_dim=2, depth=1)
print("summary", tuple(summary(x).shape))
flow = bf.networks.CouplingFlow(depth=2, transform="affine")
flow.build((None, 3), None)
z, density = flow(x[0], density=True)
again = flow(z, inverse=True)
print("inverse", bool(np.allclose(again, x[0], atol=1e-4)), tuple(density.shape))
