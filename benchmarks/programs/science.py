"""Simulation, sampling, graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program(random=True)
def option_pricing(tf: Any, inputs: Inputs) -> Any:
    """An Asian option by Monte Carlo, and its delta by the tape."""
    paths, steps = inputs.size(5000, 30_000, 40), inputs.size(12, 50, 4)

    def step(spot: Any, strike: Any, seed: Any) -> Any:
        noise = tf.random.stateless_normal([paths, steps], seed)
        with tf.GradientTape() as tape:
            tape.watch(spot)
            logs = tf.cumsum((0.02 - 0.5 * 0.04) / steps + 0.2 * steps**-0.5 * noise, axis=1)
            mean = tf.reduce_mean(spot * tf.exp(logs), axis=1)
            price = tf.reduce_mean(tf.nn.relu(mean - strike)) * np.exp(-0.02)
        return price, tape.gradient(price, spot)

    return step, (tf.constant(100.0), tf.constant(98.0), tf.constant([1, 7]))


@program(random=True)
def metropolis(tf: Any, inputs: Inputs) -> Any:
    """Many chains on a banana-shaped density."""
    chains, steps = inputs.size(200, 2000, 6), inputs.size(20, 80, 4)

    def log_density(x: Any) -> Any:
        return -0.5 * (x[:, 0] ** 2 / 4.0 + (x[:, 1] - 0.25 * x[:, 0] ** 2) ** 2)

    def step(x: Any) -> Any:
        now, accepted = log_density(x), tf.zeros([chains])
        for t in tf.range(steps):
            seed = tf.stack([t, 5])
            proposal = x + 0.5 * tf.random.stateless_normal([chains, 2], seed)
            then = log_density(proposal)
            draws = tf.math.log(tf.random.stateless_uniform([chains], seed + 100))
            better = draws < then - now
            x, now = tf.where(better[:, None], proposal, x), tf.where(better, then, now)
            accepted += tf.cast(better, tf.float32)
        return tf.reduce_mean(x, 0), tf.reduce_mean(accepted) / steps

    return step, (tf.constant(inputs.normal(chains, 2)),)


@program(random=True)
def hamiltonian(tf: Any, inputs: Inputs) -> Any:
    """Hamiltonian Monte Carlo for a logistic regression: gradients in a loop."""
    chains, n, d = inputs.size(4, 16, 2), inputs.size(100, 400, 8), inputs.size(4, 20, 3)
    x = tf.constant(inputs.normal(n, d))
    y = tf.constant(inputs.integers(2, n).astype("float32"))

    def energy(w: Any) -> Any:
        logits = tf.matmul(w, x, transpose_b=True)
        losses = tf.nn.softplus(logits) - y * logits
        return tf.reduce_sum(losses, 1) + 0.5 * tf.reduce_sum(w * w, 1)

    def slope(w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            total = tf.reduce_sum(energy(w))
        return tape.gradient(total, w)

    def step(w: Any) -> Any:
        for t in tf.range(3):
            seed = tf.stack([t, 9])
            p = tf.random.stateless_normal([chains, d], seed)
            new, q = w, p
            for _ in tf.range(6):
                q = q - 0.01 * slope(new)
                new = new + 0.02 * q
                q = q - 0.01 * slope(new)
            change = energy(w) - energy(new) + 0.5 * tf.reduce_sum(p * p - q * q, 1)
            accept = tf.math.log(tf.random.stateless_uniform([chains], seed)) < change
            w = tf.where(accept[:, None], new, w)
        return w

    return step, (tf.constant(inputs.normal(chains, d, scale=0.1)),)


@program()
def runge_kutta(tf: Any, inputs: Inputs) -> Any:
    """Lorenz' system, many initial values, adaptive steps in a while loop."""
    b = inputs.size(100, 3000, 4)

    def derivative(s: Any) -> Any:
        x, y, z = tf.unstack(s, axis=1)
        return tf.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z], 1)

    def step(s: Any) -> Any:
        t, h = tf.constant(0.0), tf.constant(0.004)
        while t < 0.15:
            k1 = derivative(s)
            k2 = derivative(s + h / 2 * k1)
            k3 = derivative(s + h / 2 * k2)
            k4 = derivative(s + h * k3)
            new = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            error = tf.reduce_max(tf.abs(new - s - h * k2))
            t, s = t + h, new
            h = h * tf.clip_by_value(0.9 * tf.sqrt(0.05 / (error + 1e-9)), 0.7, 1.3)
        return s, t

    return step, (tf.constant(inputs.uniform(b, 3, low=1.0, high=5.0)),)


@program(modes=("eager", "graph"))
def page_rank(tf: Any, inputs: Inputs) -> Any:
    """Power iterations with a sparse matrix."""
    n, edges = inputs.size(500, 4000, 8), inputs.size(4000, 30_000, 20)
    pairs = np.unique(inputs.integers(n, edges, 2, dtype="int64"), axis=0)
    counts = np.bincount(pairs[:, 1], minlength=n).astype("float32")
    values = 1 / counts[pairs[:, 1]]

    def step(values: Any) -> Any:
        matrix = tf.sparse.SparseTensor(tf.constant(pairs), values, [n, n])
        rank = tf.fill([n, 1], 1.0 / n)
        for _ in tf.range(10):
            rank = 0.85 * tf.sparse.sparse_dense_matmul(matrix, rank) + 0.15 / n
            rank = tf.ensure_shape(rank / tf.reduce_sum(rank), [n, 1])
        return rank * n

    return step, (tf.constant(values),)


@program()
def graph_convolution(tf: Any, inputs: Inputs) -> Any:
    """Messages along edges gathered and summed by their ends: training."""
    n, edges = inputs.size(300, 3000, 9), inputs.size(2000, 15_000, 30)
    d, h, k = inputs.size(16, 64, 3), inputs.size(16, 64, 4), inputs.size(4, 10, 3)
    w1, w2 = tf.Variable(inputs.weights(d, h)), tf.Variable(inputs.weights(h, k))

    def propagate(x: Any, origin: Any, end: Any) -> Any:
        sums = tf.math.unsorted_segment_sum(tf.gather(x, origin), end, n)
        degree = tf.math.unsorted_segment_sum(tf.ones_like(end, tf.float32), end, n)
        return (sums + x) / (degree[:, None] + 1.0)

    def step(x: Any, origin: Any, end: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(propagate(x @ w1, origin, end))
            logits = propagate(hidden @ w2, origin, end)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_mean(losses)
        for v, g in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    return step, (
        tf.constant(inputs.normal(n, d)), tf.constant(inputs.integers(n, edges)),
        tf.constant(inputs.integers(n, edges)), tf.constant(inputs.integers(k, n)),
    )  # fmt: skip


@program()
def hopfield(tf: Any, inputs: Inputs) -> Any:
    """Patterns stored by Hebb's rule and recalled."""
    n, patterns, b = inputs.size(100, 400, 12), inputs.size(5, 20, 3), inputs.size(10, 50, 4)

    def step(stored: Any, noisy: Any) -> Any:
        w = tf.matmul(stored, stored, transpose_a=True) / n
        w = tf.linalg.set_diag(w, tf.zeros([n]))
        s = noisy
        for _ in tf.range(8):
            s = tf.where(s @ w >= 0.0, 1.0, -1.0)
        energy = -0.5 * tf.reduce_sum(s * (s @ w), 1)
        return tf.reduce_max(tf.abs(tf.matmul(s, stored, transpose_b=True)), 1) / n, energy

    stored = np.sign(inputs.normal(patterns, n))
    noisy = stored[inputs.integers(patterns, b)] * np.sign(inputs.uniform(b, n) - 0.15)
    return step, (tf.constant(stored), tf.constant(noisy.astype("float32")))


@program()
def mandelbrot(tf: Any, inputs: Inputs) -> Any:
    """Complex iterations with a mask."""
    h, w = inputs.size(80, 250, 8), inputs.size(80, 250, 9)

    def step(c: Any) -> Any:
        z, count = tf.zeros_like(c), tf.zeros([h, w], tf.int32)
        for _ in tf.range(25):
            inside = tf.math.real(z) ** 2 + tf.math.imag(z) ** 2 < 4.0
            z = tf.where(inside, z * z + c, z)
            count += tf.cast(inside, tf.int32)
        return tf.reduce_mean(tf.cast(count, tf.float32), 1)

    y, x = np.mgrid[-1.2 : 1.2 : h * 1j, -2.0 : 0.6 : w * 1j]
    return step, (tf.constant((x + 1j * y).astype("complex64")),)


@program()
def lattice_boltzmann(tf: Any, inputs: Inputs) -> Any:
    """Flow on nine directions: collide, then stream by rolls."""
    h, w = inputs.size(60, 160, 8), inputs.size(60, 200, 9)
    directions = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)]
    shares = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, "float32")
    cy, cx = (tf.constant(np.array(c, "float32")) for c in zip(*directions, strict=True))

    def step(f: Any) -> Any:
        for _ in tf.range(4):
            density = tf.reduce_sum(f, -1, keepdims=True)
            uy = tf.reduce_sum(f * cy, -1, keepdims=True) / density
            ux = tf.reduce_sum(f * cx, -1, keepdims=True) / density
            along = 3.0 * (cy * uy + cx * ux)
            rest = density * shares * (1 + along + 0.5 * along**2 - 1.5 * (uy**2 + ux**2))
            f = f + 0.6 * (rest - f)
            parts = [tf.roll(f[..., n], shift, (0, 1)) for n, shift in enumerate(directions)]
            f = tf.stack(parts, -1)
        return tf.reduce_sum(f, -1)

    f = shares * (1 + 0.1 * inputs.uniform(h, w, 1)) * (1 + 0.05 * inputs.uniform(h, w, 9))
    return step, (tf.constant(f.astype("float32")),)


@program()
def special_functions(tf: Any, inputs: Inputs) -> Any:
    """Log densities of gamma, beta and Student distributions, and their gradients."""
    n = inputs.size(5000, 30_000, 20)

    def step(x: Any, a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            gamma = a * tf.math.log(b) - tf.math.lgamma(a) + (a - 1) * tf.math.log(x) - b * x
            student = tf.math.lgamma((a + 1) / 2) - tf.math.lgamma(a / 2)
            student -= (a + 1) / 2 * tf.math.log1p(x * x / a)
            loss = tf.reduce_mean(gamma + student + tf.math.erf(x))
        return loss, tape.gradient(loss, [a, b])

    return step, tuple(tf.constant(inputs.uniform(n, low=0.5, high=3.0)) for _ in range(3))


@program()
def cumulative_distributions(tf: Any, inputs: Inputs) -> Any:
    """Distribution functions of gamma and beta variables, and their p-values."""
    n = inputs.size(2000, 12_000, 20)

    def step(shape: Any, x: Any) -> Any:
        share = x / (x + 3.0)
        low, high = tf.math.igamma(shape, x), tf.math.igammac(shape, x)
        return low, high, tf.math.betainc(shape, x + 1.0, share), tf.math.zeta(shape + 1.5, x)

    return step, tuple(tf.constant(inputs.uniform(n, low=0.5, high=9.0)) for _ in range(2))


@program(modes=("eager", "graph"))
def special_integrals(tf: Any, inputs: Inputs) -> Any:
    """Integrals of diffraction, radiation and plasma physics along a line."""
    n = inputs.size(5000, 30_000, 20)

    def step(x: Any) -> Any:
        waves = tf.math.special.fresnel_cos(x), tf.math.special.fresnel_sin(x)
        decays = tf.math.special.expint(x), tf.math.special.dawsn(x), tf.math.special.spence(x)
        return *waves, *decays, tf.math.special.bessel_k0(x), tf.math.special.bessel_y1(x)

    return step, (tf.constant(inputs.uniform(n, low=0.1, high=12.0)),)


@program()
def asian_option(tf: Any, inputs: Inputs) -> Any:
    """Paths from given normal numbers: averages along time, the payoff, its gradient."""
    n, t = inputs.size(2000, 10000, 9), inputs.size(20, 60, 5)
    z = tf.constant(inputs.normal(n, t))

    def step(z: Any, spot: Any, sigma: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([spot, sigma])
            dt = 1.0 / t
            growth = tf.cumsum((0.02 - 0.5 * sigma**2) * dt + sigma * dt**0.5 * z, 1)
            paths = spot * tf.exp(growth)
            price = tf.reduce_mean(tf.nn.relu(tf.reduce_mean(paths, 1) - 100.0))
        return price, tape.gradient(price, [spot, sigma])

    return step, (z, tf.constant(100.0), tf.constant(0.2))


@program(tolerance=1e-1)
def molecular_dynamics(tf: Any, inputs: Inputs) -> Any:
    """Lennard-Jones in a periodic box; forces by the gradient."""
    n = inputs.size(100, 300, 6)
    box = float(n) ** (1 / 3) * 1.3

    def energy(x: Any) -> Any:
        d = x[:, None] - x[None]
        d = d - box * tf.round(d / box)
        r2 = tf.reduce_sum(d * d, -1) + tf.eye(n) * 1e6
        inverse = (1.0 / tf.maximum(r2, 0.64)) ** 3
        return 2.0 * tf.reduce_sum(inverse * inverse - inverse)

    def step(x: Any, v: Any) -> Any:
        for _ in range(2):
            with tf.GradientTape() as tape:
                tape.watch(x)
                e = energy(x)
            v = v - 0.0005 * tape.gradient(e, x)
            x = tf.math.floormod(x + 0.0005 * v, box)
        return x, e

    return step, (tf.constant(inputs.uniform(n, 3, high=box)), tf.constant(inputs.normal(n, 3)))
