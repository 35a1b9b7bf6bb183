"""deepxde: an ordinary differential equation y' = y by a network."""

import os

os.environ["DDE_BACKEND"] = "tensorflow"
import deepxde as dde
import numpy as np

dde.config.set_random_seed(1)
geometry = dde.geometry.Interval(0, 1)


def equation(x, y):
    return dde.grad.jacobian(y, x, i=0, j=0) - y


boundary = dde.icbc.DirichletBC(geometry, lambda x: 1.0, lambda x, on: on and np.isclose(x[0], 0))
data = dde.data.PDE(
    geometry, equation, boundary, num_domain=8, num_boundary=2, train_distribution="uniform"
)
net = dde.nn.FNN([1, 8, 1], "tanh", "Glorot normal")
model = dde.Model(data, net)
model.compile("adam", lr=0.01, verbose=0)
history, _ = model.train(iterations=50, display_every=50, verbose=0)
print(
    "losses",
    len(history.loss_train),
    bool(np.sum(history.loss_train[-1]) < np.sum(history.loss_train[0])),
)
