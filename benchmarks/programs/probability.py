"""Programs of Bayesian statistics and sampling, with the random numbers as inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def ising_sampling(tf: Any, inputs: Inputs) -> Any:
    """Spins on a torus, both colours of a checkerboard in turn."""
    n, sweeps = inputs.size(20, 120, 6, 2), inputs.size(5, 15, 2)
    rows, columns = np.indices((n, n))
    black = tf.constant((rows + columns) % 2 == 0)
    u = tf.constant(inputs.uniform(2 * sweeps, n, n))

    def step(s: Any) -> Any:
        energy = tf.zeros([])
        for i in tf.range(2 * sweeps):
            near = tf.roll(s, 1, 0) + tf.roll(s, -1, 0) + tf.roll(s, 1, 1) + tf.roll(s, -1, 1)
            up = u[i] < tf.sigmoid(0.88 * near)
            colour = tf.equal(black, tf.equal(i % 2, 0))
            s = tf.where(colour, tf.where(up, 1.0, -1.0), s)
            energy += tf.reduce_mean(s * near)
        return tf.reduce_mean(s), energy

    return step, (tf.constant(np.sign(inputs.normal(n, n)).astype("float32")),)


@program()
def variational_regression(tf: Any, inputs: Inputs) -> Any:
    """A logistic regression with a normal posterior of full covariance: a step of Adam."""
    n, d, s = inputs.size(100, 800, 8), inputs.size(6, 30, 3), 8
    mean, factor = tf.Variable(tf.zeros([d])), tf.Variable(0.1 * np.eye(d, dtype="float32"))
    m = [tf.Variable(tf.zeros_like(v)) for v in (mean, factor)]
    v2 = [tf.Variable(tf.zeros_like(v)) for v in (mean, factor)]

    def step(x: Any, y: Any, eps: Any) -> Any:
        with tf.GradientTape() as tape:
            lower = tf.linalg.band_part(factor, -1, 0)
            w = mean + tf.matmul(eps, lower, transpose_b=True)
            logits = tf.matmul(w, x, transpose_b=True)
            like = tf.nn.sigmoid_cross_entropy_with_logits(tf.broadcast_to(y, [s, n]), logits)
            diagonal = tf.linalg.diag_part(lower)
            kl = 0.5 * (tf.reduce_sum(lower**2) + tf.reduce_sum(mean**2) - d)
            kl -= tf.reduce_sum(tf.math.log(tf.abs(diagonal) + 1e-6))
            loss = tf.reduce_sum(tf.reduce_mean(like, 0)) + kl
        for p, a, b, g in zip(
            (mean, factor), m, v2, tape.gradient(loss, (mean, factor)), strict=True
        ):
            a.assign(0.9 * a + 0.1 * g)
            b.assign(0.99 * b + 0.01 * g * g)
            p.assign_sub(0.01 * a / (tf.sqrt(b) + 1e-7))
        return loss

    y = (inputs.uniform(n) > 0.5).astype("float32")
    return step, (
        tf.constant(inputs.normal(n, d)),
        tf.constant(y),
        tf.constant(inputs.normal(s, d)),
    )


@program()
def topic_model(tf: Any, inputs: Inputs) -> Any:
    """Topics of documents by expectations and maximisations with digamma."""
    n, v, k = inputs.size(30, 150, 5), inputs.size(100, 600, 9), inputs.size(5, 20, 3)
    counts = tf.constant(inputs.integers(4, n, v).astype("float32"))

    def step(beta: Any) -> Any:
        gamma = tf.ones([n, k])
        for _ in tf.range(5):
            total = tf.math.digamma(tf.reduce_sum(gamma, 1, keepdims=True))
            theta = tf.exp(tf.math.digamma(gamma) - total)
            norm = theta @ beta + 1e-8
            gamma = 0.1 + theta * tf.matmul(counts / norm, beta, transpose_b=True)
        new = beta * tf.matmul(theta, counts / norm, transpose_a=True)
        new = new / tf.reduce_sum(new, 1, keepdims=True)
        bound = tf.reduce_sum(counts * tf.math.log(norm)) - tf.reduce_sum(tf.math.lgamma(gamma))
        return new, bound

    beta = inputs.uniform(k, v, low=0.1)
    return step, (tf.constant(beta / beta.sum(1, keepdims=True)),)


@program()
def change_points(tf: Any, inputs: Inputs) -> Any:
    """Lengths of runs and their probabilities, online."""
    t = inputs.size(50, 200, 8)

    def step(x: Any) -> Any:
        p = tf.one_hot(0, t + 1)
        mean, count = tf.zeros([t + 1]), tf.ones([t + 1])
        best = tf.TensorArray(tf.int32, t)
        for i in tf.range(t):
            scale = 1.0 + 1.0 / count
            like = tf.exp(-0.5 * (x[i] - mean) ** 2 / scale) * tf.math.rsqrt(scale)
            grown, fresh = p * like * 0.98, tf.reduce_sum(p * like * 0.02)
            p = tf.concat([[fresh], grown[:-1]], 0)
            p = p / tf.reduce_sum(p)
            updated = mean + (x[i] - mean) / (count + 1.0)
            mean = tf.concat([[0.0], updated[:-1]], 0)
            count = tf.concat([[1.0], count[:-1] + 1.0], 0)
            best = best.write(i, tf.argmax(p, output_type=tf.int32))
        return best.stack(), p

    jumps = np.repeat(inputs.normal(t // 4 + 1, scale=3.0), 4)[:t]
    return step, (tf.constant(jumps + inputs.normal(t)),)


@program()
def bootstrap_intervals(tf: Any, inputs: Inputs) -> Any:
    """Statistics of resampled rows, their sorted quantiles and a jackknife."""
    n, r, d = inputs.size(100, 500, 9), inputs.size(50, 200, 6), inputs.size(2, 6, 2)
    picks = tf.constant(inputs.integers(n, r, n))

    def step(x: Any) -> Any:
        samples = tf.gather(x, picks)
        means = tf.reduce_mean(samples, 1)
        spread = tf.math.reduce_std(samples, 1)
        ordered = tf.sort(means / spread, 0)
        low, high = ordered[r // 20], ordered[-r // 20]
        without = (tf.reduce_sum(x, 0) - x) / (n - 1.0)
        z = tf.reduce_sum(tf.cast(means < tf.reduce_mean(x, 0), tf.float32), 0) / r
        return (
            low,
            high,
            tf.math.ndtri(tf.clip_by_value(z, 0.01, 0.99)),
            tf.math.reduce_std(without, 0),
        )

    return step, (tf.constant(inputs.normal(n, d)),)


@program()
def rejection_tempering(tf: Any, inputs: Inputs) -> Any:
    """Chains at several temperatures that swap their neighbours' states."""
    chains, d, t = inputs.size(4, 16, 4, 2), inputs.size(2, 10, 2), inputs.size(30, 80, 4)
    noise, u = tf.constant(inputs.normal(t, chains, d)), tf.constant(inputs.uniform(t, 2, chains))
    beta = tf.constant(np.geomspace(1, 0.05, chains).astype("float32"))
    order = np.arange(chains).reshape(-1, 2)[:, ::-1].ravel()

    def target(x: Any) -> Any:
        return -tf.reduce_sum((x**2 - 1.0) ** 2, -1) - 0.1 * tf.reduce_sum(x, -1)

    def step(x: Any) -> Any:
        kept = tf.zeros([])
        for i in tf.range(t):
            new = x + 0.5 * noise[i]
            accept = tf.math.log(u[i, 0]) < beta * (target(new) - target(x))
            x = tf.where(accept[:, None], new, x)
            e = target(x)
            gain = (tf.gather(beta, order) - beta) * (e - tf.gather(e, order))
            pair = tf.repeat(u[i, 1, ::2], 2)
            swap = tf.math.log(pair) < gain
            x = tf.where(swap[:, None], tf.gather(x, order), x)
            kept += tf.reduce_mean(tf.cast(accept, tf.float32))
        return x, kept / t

    return step, (tf.constant(inputs.normal(chains, d)),)


@program()
def spline_regression(tf: Any, inputs: Inputs) -> Any:
    """Cubic B-splines by recursion, a penalised fit, and its effective degrees of freedom."""
    n, k = inputs.size(200, 1500, 40), inputs.size(10, 40, 5)
    knots = np.linspace(-0.3, 1.3, k + 4).astype("float32")

    def step(x: Any, y: Any) -> Any:
        t = tf.constant(knots)
        basis = tf.cast((x[:, None] >= t[:-1]) & (x[:, None] < t[1:]), tf.float32)
        for p in range(1, 4):
            left = (x[:, None] - t[: -p - 1]) / (t[p:-1] - t[: -p - 1])
            right = (t[p + 1 :] - x[:, None]) / (t[p + 1 :] - t[1:-p])
            basis = left * basis[:, :-1] + right * basis[:, 1:]
        gram = tf.matmul(basis, basis, transpose_a=True)
        diff = tf.eye(k)[2:] - 2.0 * tf.eye(k)[1:-1] + tf.eye(k)[:-2]
        lhs = gram + 0.1 * tf.matmul(diff, diff, transpose_a=True) + 1e-3 * tf.eye(k)
        chol = tf.linalg.cholesky(lhs)
        coefficients = tf.linalg.cholesky_solve(
            chol, tf.matmul(basis, y[:, None], transpose_a=True)
        )
        freedom = tf.linalg.trace(tf.linalg.cholesky_solve(chol, gram))
        return (basis @ coefficients)[:, 0], freedom

    return step, (tf.constant(inputs.uniform(n)), tf.constant(inputs.normal(n)))
