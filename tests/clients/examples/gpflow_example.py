"""gpflow: a Gaussian process regression is fitted and asked."""

import gpflow
import numpy as np

x = np.linspace(0, 1, 20).reshape(-1, 1)
y = np.sin(6 * x) + 0.1 * np.cos(40 * x)
model = gpflow.models.GPR((x, y), gpflow.kernels.SquaredExponential())
print("before", round(float(model.log_marginal_likelihood()), 4))
gpflow.optimizers.Scipy().minimize(
    model.training_loss, model.trainable_variables, options={"maxiter": 20}
)
print("after", round(float(model.log_marginal_likelihood()), 1))
mean, variance = model.predict_f(np.array([[0.25], [0.6]]))
print("mean", np.round(mean, 2).tolist(), np.round(variance, 2).tolist())
