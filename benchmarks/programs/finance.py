"""Programs of finance, forecasting and decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def garch_likelihood(tf: Any, inputs: Inputs) -> Any:
    """Variances of returns that follow their own past: the likelihood and its gradient."""
    assets, t = inputs.size(5, 40, 3), inputs.size(60, 200, 6)
    returns = tf.constant(inputs.normal(t, assets, scale=0.01))

    def step(theta: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(theta)
            omega, alpha, beta = tf.unstack(tf.nn.sigmoid(theta), axis=0)
            variance = tf.math.reduce_variance(returns, 0)
            total = tf.zeros([])
            for i in tf.range(t):
                total += tf.reduce_sum(tf.math.log(variance) + returns[i] ** 2 / variance)
                variance = 1e-4 * omega + 0.2 * alpha * returns[i] ** 2 + 0.9 * beta * variance
        return total, tape.gradient(total, theta)

    return step, (tf.constant(inputs.normal(3, assets)),)


@program()
def american_option(tf: Any, inputs: Inputs) -> Any:
    """Early exercise by regression on the paths, backwards in time."""
    n, t = inputs.size(500, 3000, 40), inputs.size(8, 20, 3)
    z = tf.constant(inputs.normal(t, n))

    def step(z: Any) -> Any:
        paths = 100.0 * tf.exp(tf.cumsum(0.2 * t**-0.5 * z - 0.02 / t, 0))
        value = tf.nn.relu(100.0 - paths[-1])
        for i in range(t - 2, -1, -1):
            s = 5.0 * (paths[i] / 100.0 - 1.0)
            basis = tf.stack([tf.ones_like(s), s, s * s - 1.0, s**3 - 3.0 * s], 1)
            gram = tf.matmul(basis, basis, transpose_a=True) + tf.eye(4)
            right = tf.linalg.matvec(basis, value, transpose_a=True)
            kept = tf.linalg.matvec(basis, tf.linalg.solve(gram, right[:, None])[:, 0])
            now = tf.nn.relu(100.0 - paths[i])
            value = tf.where(now > kept, now, value * 0.999)
        return tf.reduce_mean(value)

    return step, (z,)


@program()
def portfolio_weights(tf: Any, inputs: Inputs) -> Any:
    """Covariances that forget, shrunk, and weights by projected gradients onto a simplex."""
    t, n = inputs.size(100, 400, 12), inputs.size(20, 80, 5)

    def project(w: Any) -> Any:
        s = tf.sort(w, direction="DESCENDING")
        sums = (tf.cumsum(s) - 1.0) / tf.range(1, n + 1, dtype=tf.float32)
        count = tf.reduce_sum(tf.cast(s > sums, tf.int32))
        return tf.nn.relu(w - sums[count - 1])

    def step(returns: Any) -> Any:
        decay = tf.pow(0.97, tf.range(t - 1, -1, -1, dtype=tf.float32))
        decay /= tf.reduce_sum(decay)
        mean = tf.tensordot(decay, returns, 1)
        centred = (returns - mean) * tf.sqrt(decay)[:, None]
        cov = tf.matmul(centred, centred, transpose_a=True)
        cov = 0.9 * cov + 0.1 * tf.linalg.diag(tf.linalg.diag_part(cov))
        w = tf.fill([n], 1.0 / n)
        for _ in tf.range(20):
            w = project(w - 0.5 * (tf.linalg.matvec(cov, w) - 0.1 * mean))
        return w, tf.tensordot(w, tf.linalg.matvec(cov, w), 1)

    return step, (tf.constant(inputs.normal(t, n)),)


@program()
def exponential_smoothing(tf: Any, inputs: Inputs) -> Any:
    """Level, trend and season of many series, and the error of the forecasts."""
    b, t, period = inputs.size(20, 200, 4), inputs.size(48, 120, 16), 8

    def step(y: Any, a: Any) -> Any:
        level, trend = y[:, 0], y[:, 1] - y[:, 0]
        season = y[:, :period] - tf.reduce_mean(y[:, :period], 1, keepdims=True)
        errors = tf.TensorArray(tf.float32, t)
        for i in tf.range(t):
            s = season[:, 0]
            now = y[:, i]
            errors = errors.write(i, now - (level + trend + s))
            new = a * (now - s) + (1 - a) * (level + trend)
            trend = 0.1 * (new - level) + 0.9 * trend
            season = tf.concat([season[:, 1:], (0.2 * (now - new) + 0.8 * s)[:, None]], 1)
            level = new
        return tf.sqrt(tf.reduce_mean(errors.stack() ** 2, 0)), level + trend

    return step, (tf.constant(inputs.normal(b, t)), tf.constant(0.3))


@program()
def quantile_forest(tf: Any, inputs: Inputs) -> Any:
    """Oblivious trees: bits to leaves, tables of leaves, the pinball loss."""
    n, d, trees, depth = inputs.size(200, 3000, 9), inputs.size(8, 40, 4), inputs.size(10, 50, 3), 5
    which, cuts = (
        tf.constant(inputs.integers(d, trees, depth)),
        tf.constant(inputs.normal(trees, depth)),
    )
    leaves = tf.constant(inputs.normal(trees, 2**depth))
    powers = tf.constant(2 ** np.arange(depth), tf.int32)

    def step(x: Any, y: Any) -> Any:
        bits = tf.cast(tf.gather(x, which, axis=1) > cuts, tf.int32)
        leaf = tf.reduce_sum(bits * powers, -1)
        picked = tf.gather(leaves, tf.transpose(leaf), batch_dims=1)
        out = tf.reduce_sum(picked, 0)
        e = y - out
        return out, tf.reduce_mean(tf.maximum(0.9 * e, -0.1 * e))

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(n)))


@program()
def riccati_control(tf: Any, inputs: Inputs) -> Any:
    """A linear regulator: Riccati's recursion backwards, the closed loop forwards."""
    n, m, t = inputs.size(4, 24, 3), inputs.size(2, 6, 2), inputs.size(15, 50, 4)
    a = np.eye(n, dtype="float32") + 0.1 * inputs.normal(n, n)

    def step(a: Any, b: Any, x: Any) -> Any:
        p, r = tf.eye(n), tf.eye(m)
        gains = tf.TensorArray(tf.float32, t, element_shape=[m, n], clear_after_read=False)
        for i in tf.range(t - 1, -1, -1):
            bp = tf.matmul(b, p, transpose_a=True)
            k = tf.linalg.solve(r + bp @ b, bp @ a)
            gains = gains.write(i, k)
            p = tf.eye(n) + tf.matmul(a, p @ (a - b @ k), transpose_a=True)
        cost = tf.zeros([])
        for i in tf.range(t):
            u = -tf.linalg.matvec(gains.read(i), x)
            cost += tf.reduce_sum(x * x) + tf.reduce_sum(u * u)
            x = tf.linalg.matvec(a, x) + tf.linalg.matvec(b, u)
        return cost, x

    return step, (tf.constant(a), tf.constant(inputs.normal(n, m)), tf.constant(inputs.normal(n)))


@program()
def advantage_training(tf: Any, inputs: Inputs) -> Any:
    """Generalised advantages backwards in time and a clipped step of policy and value."""
    t, b, d, k = inputs.size(16, 64, 4), inputs.size(4, 32, 2), inputs.size(4, 24, 3), 4
    w = [tf.Variable(inputs.weights(*s)) for s in ((d, 32), (32, k), (32, 1))]

    def network(x: Any) -> Any:
        h = tf.tanh(tf.tensordot(x, w[0], 1))
        return tf.nn.log_softmax(tf.tensordot(h, w[1], 1)), tf.tensordot(h, w[2], 1)[..., 0]

    def step(x: Any, actions: Any, rewards: Any, done: Any) -> Any:
        _, values = network(x)
        following = tf.concat([values[1:], values[-1:]], 0)
        deltas = rewards + 0.99 * following * (1 - done) - values
        kept = 0.95 * 0.99 * (1 - done)
        advantages = tf.scan(
            lambda a, d: d[0] + d[1] * a, (deltas, kept), tf.zeros([b]), reverse=True
        )
        targets = advantages + values
        scaled = (advantages - tf.reduce_mean(advantages)) / (tf.math.reduce_std(advantages) + 1e-6)
        with tf.GradientTape() as tape:
            logs, values = network(x)
            chosen = tf.gather(logs, actions, batch_dims=2)
            ratio = tf.exp(chosen - tf.stop_gradient(chosen))
            gain = tf.minimum(ratio * scaled, tf.clip_by_value(ratio, 0.8, 1.2) * scaled)
            entropy = -tf.reduce_sum(tf.exp(logs) * logs, -1)
            loss = tf.reduce_mean((values - targets) ** 2 - gain - 0.01 * entropy)
        gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, w), 0.5)
        for v, g in zip(w, gradients, strict=True):
            v.assign_sub(0.01 * g)
        return loss, norm

    return step, (
        tf.constant(inputs.normal(t, b, d)), tf.constant(inputs.integers(k, t, b)),
        tf.constant(inputs.normal(t, b)), tf.constant((inputs.uniform(t, b) > 0.9).astype("float32")),
    )  # fmt: skip


@program()
def grid_world(tf: Any, inputs: Inputs) -> Any:
    """Values of the cells of a maze by iteration until they change no more, and the policy."""
    h, w = inputs.size(15, 60, 6), inputs.size(15, 60, 7)
    walls = inputs.uniform(h, w) < 0.2
    reward = np.zeros((h, w), "float32")
    reward[h // 2, w // 2] = 1.0

    def step(reward: Any, free: Any) -> Any:
        v, change = tf.zeros([h, w]), tf.constant(1.0)
        while change > 1e-3:
            p = tf.pad(v, [[1, 1], [1, 1]])
            moves = tf.stack([p[2:, 1:-1], p[:-2, 1:-1], p[1:-1, 2:], p[1:-1, :-2]])
            new = (reward + 0.9 * tf.reduce_max(moves, 0)) * free
            change = tf.reduce_max(tf.abs(new - v))
            v = new
        return v, tf.argmax(moves, 0)

    return step, (tf.constant(reward), tf.constant(1.0 - walls.astype("float32")))
