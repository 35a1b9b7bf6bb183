"""Programs of linear algebra and statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def gaussian_process(tf: Any, inputs: Inputs) -> Any:
    """Marginal likelihood and its gradient by Cholesky."""
    n, d = inputs.size(80, 250, 7), inputs.size(1, 6, 2)
    x = tf.constant(inputs.normal(n, d))
    y = tf.constant(inputs.normal(n, 1))

    def step(log_scales: Any, log_noise: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([log_scales, log_noise])
            z = x * tf.exp(-log_scales)
            squares = tf.reduce_sum((z[:, None] - z[None]) ** 2, -1)
            kernel = tf.exp(-0.5 * squares) + (tf.exp(log_noise) + 1e-2) * tf.eye(n)
            factor = tf.linalg.cholesky(kernel)
            whitened = tf.linalg.triangular_solve(factor, y)
            log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
            loss = 0.5 * tf.reduce_sum(whitened**2) + log_det
        return loss, tape.gradient(loss, [log_scales, log_noise])

    return step, (tf.constant(inputs.normal(d, scale=0.3)), tf.constant(-1.0))


@program()
def kalman_filter(tf: Any, inputs: Inputs) -> Any:
    """A loop over observations with small solves."""
    n, m, steps = inputs.size(3, 8, 3), inputs.size(2, 4, 2), inputs.size(40, 120, 6)
    transition = tf.constant(0.7 * np.eye(n, dtype="float32") + inputs.normal(n, n, scale=0.03))
    observe = tf.constant(inputs.normal(m, n))

    def step(observations: Any) -> Any:
        mean, cov = tf.zeros([n, 1]), tf.eye(n)
        for t in tf.range(steps):
            mean = transition @ mean
            cov = transition @ cov @ tf.transpose(transition) + 0.1 * tf.eye(n)
            innovation = observe @ cov @ tf.transpose(observe) + 0.5 * tf.eye(m)
            gain = tf.transpose(tf.linalg.solve(innovation, observe @ cov))
            mean = mean + gain @ (observations[t][:, None] - observe @ mean)
            cov = (tf.eye(n) - gain @ observe) @ cov
        return mean, cov

    return step, (tf.constant(inputs.normal(steps, m)),)


@program()
def batched_small_matrices(tf: Any, inputs: Inputs) -> Any:
    """Solutions, inverses and determinants of many small matrices."""
    b, n = inputs.size(200, 900), inputs.size(3, 9, 3)
    eye = 3.0 * np.eye(n, dtype="float32")

    def step(a: Any, y: Any) -> Any:
        return tf.linalg.solve(a, y), tf.linalg.inv(a), tf.linalg.det(a)

    return step, (tf.constant(inputs.normal(b, n, n) + eye), tf.constant(inputs.normal(b, n, 2)))


@program()
def least_squares_qr(tf: Any, inputs: Inputs) -> Any:
    """Least squares by QR and a triangular solve."""
    n, d = inputs.size(300, 900, 12), inputs.size(20, 80)

    def step(x: Any, y: Any) -> Any:
        q, r = tf.linalg.qr(x)
        w = tf.linalg.triangular_solve(r, tf.matmul(q, y, transpose_a=True), lower=False)
        return w, tf.norm(x @ w - y)

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(n, 3)))


@program()
def principal_components(tf: Any, inputs: Inputs) -> Any:
    """Centred data, covariance, eigenvectors, explained variance."""
    n, d = inputs.size(500, 2000, 20), inputs.size(20, 90)

    def step(x: Any) -> Any:
        centred = x - tf.reduce_mean(x, 0)
        values, vectors = tf.linalg.eigh(tf.matmul(centred, centred, transpose_a=True) / n)
        top = vectors[:, -3:]
        return tf.abs(centred @ top), values[-3:] / tf.reduce_sum(values)

    scales = np.linspace(1, 5, d, dtype="float32")
    return step, (tf.constant(inputs.normal(n, d) * scales),)


@program()
def low_rank_completion(tf: Any, inputs: Inputs) -> Any:
    """Singular value thresholding."""
    n, m = inputs.size(40, 120), inputs.size(40, 120, 6)

    def step(x: Any, mask: Any) -> Any:
        z = tf.zeros_like(x)
        for _ in tf.range(4):
            s, u, v = tf.linalg.svd(z + mask * (x - z))
            z = tf.matmul(u * tf.nn.relu(s - 0.5), v, adjoint_b=True)
        return z

    x = inputs.normal(n, 4) @ inputs.normal(4, m)
    return step, (tf.constant(x), tf.constant(inputs.integers(2, n, m).astype("float32")))


@program(modes=("eager", "graph"))
def matrix_exponential(tf: Any, inputs: Inputs) -> Any:
    """Transition probabilities of Markov chains."""
    b, n = inputs.size(4, 20, 2), inputs.size(8, 30, 4)

    def step(rates: Any) -> Any:
        generator = rates - tf.linalg.diag(tf.reduce_sum(rates, -1))
        return tf.linalg.expm(0.3 * generator)

    return step, (tf.constant(inputs.uniform(b, n, n)),)


@program()
def logistic_newton(tf: Any, inputs: Inputs) -> Any:
    """Newton's method for logistic regression."""
    n, d = inputs.size(500, 3000, 30), inputs.size(8, 40, 4)

    def step(x: Any, y: Any) -> Any:
        w = tf.zeros([d, 1])
        for _ in range(5):
            p = tf.sigmoid(x @ w)
            gradient = tf.matmul(x, p - y, transpose_a=True) + 0.1 * w
            hessian = tf.matmul(x * (p * (1 - p)), x, transpose_a=True) + 0.1 * tf.eye(d)
            w = w - tf.linalg.solve(hessian, gradient)
        return w

    x = inputs.normal(n, d)
    y = (x[:, :1] + inputs.normal(n, 1) > 0).astype("float32")
    return step, (tf.constant(x), tf.constant(y))


@program()
def conjugate_gradients(tf: Any, inputs: Inputs) -> Any:
    """A symmetric system until the residual is small."""
    n = inputs.size(200, 600, 8)

    def step(a: Any, b: Any) -> Any:
        x, r, p = tf.zeros_like(b), b, b
        rr = tf.reduce_sum(r * r)
        i = 0
        while i < 50 and rr > 1e-6:
            ap = tf.linalg.matvec(a, p)
            alpha = rr / tf.reduce_sum(p * ap)
            x, r = x + alpha * p, r - alpha * ap
            new = tf.reduce_sum(r * r)
            p, rr, i = r + new / rr * p, new, i + 1
        return x

    m = inputs.weights(n, n)
    return step, (tf.constant(m @ m.T + np.eye(n, dtype="float32")), tf.constant(inputs.normal(n)))


@program()
def linear_regression(tf: Any, inputs: Inputs) -> Any:
    """Gradient descent in a traced loop, with momentum."""
    n, d = inputs.size(300, 2000, 20), inputs.size(5, 60)

    def step(x: Any, y: Any) -> Any:
        w, m = tf.zeros([d]), tf.zeros([d])
        for _ in tf.range(30):
            residual = tf.linalg.matvec(x, w) - y
            m = 0.9 * m + tf.linalg.matvec(x, residual, transpose_a=True) / n
            w = w - 0.05 * m
        return w

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(n)))


@program()
def mahalanobis_float64(tf: Any, inputs: Inputs) -> Any:
    """Log density of a multivariate normal in float64, and its gradient."""
    n, d = inputs.size(200, 800, 6), inputs.size(10, 60, 4)

    def step(x: Any, factor: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(factor)
            cov = tf.matmul(factor, factor, transpose_b=True) + tf.eye(d, dtype=tf.float64)
            chol = tf.linalg.cholesky(cov)
            z = tf.linalg.triangular_solve(chol, tf.transpose(x))
            log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
            loss = 0.5 * tf.reduce_mean(tf.reduce_sum(z * z, 0)) + log_det
        return loss, tape.gradient(loss, factor)

    x, f = inputs.normal(n, d), inputs.normal(d, d)
    return step, (tf.constant(x, tf.float64), tf.constant(f, tf.float64))


@program()
def extended_kalman(tf: Any, inputs: Inputs) -> Any:
    """A filter of a turning target for several tracks, the equations written out."""
    b, steps = inputs.size(20, 200, 3), inputs.size(20, 60, 4)
    seen = tf.constant(inputs.normal(steps, b, 2))

    def step(seen: Any) -> Any:
        x = tf.zeros([b, 4])
        p = tf.eye(4, batch_shape=[b])
        for t in tf.range(steps):
            px, py, vx, vy = tf.unstack(x, axis=1)
            x = tf.stack([px + 0.1 * vx, py + 0.1 * vy, vx * 0.99, vy * 0.99], 1)
            f = tf.constant([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 0.99, 0], [0, 0, 0, 0.99]])
            p = f @ p @ tf.transpose(f) + 0.01 * tf.eye(4)
            h = tf.constant([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
            s = h @ p @ tf.transpose(h) + 0.1 * tf.eye(2)
            gain = tf.linalg.matrix_transpose(tf.linalg.solve(s, h @ p))
            x = x + tf.linalg.matvec(gain, seen[t] - tf.linalg.matvec(h, x))
            p = p - gain @ h @ p
        return x, p

    return step, (seen,)


@program()
def tridiagonal_eigen(tf: Any, inputs: Inputs) -> Any:
    """Lowest modes of a Hamiltonian by power iterations with deflation."""
    n, k = inputs.size(200, 500, 9), 3
    potential = tf.constant(inputs.uniform(n, high=4.0))

    def step(v: Any) -> Any:
        off = -tf.ones([n - 1])
        h = tf.linalg.diag(2.0 + potential) + tf.linalg.diag(off, k=1) + tf.linalg.diag(off, k=-1)
        a = 9.0 * tf.eye(n) - h
        for _ in tf.range(20):
            v = a @ v
            columns = []
            for i in range(k):
                c = v[:, i]
                for other in columns:
                    c = c - tf.tensordot(c, other, 1) * other
                columns.append(c / tf.norm(c))
            v = tf.stack(columns, 1)
        return tf.reduce_sum(v * (h @ v), 0)

    return step, (tf.constant(inputs.normal(n, k)),)
