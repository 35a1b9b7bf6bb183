"""Generative models, reinforcement learning, mixtures, derivatives of derivatives."""

from __future__ import annotations

import itertools
from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


def _layers(tf: Any, inputs: Inputs, *widths: int) -> list[Any]:
    found = []
    for a, b in itertools.pairwise(widths):
        found += [tf.Variable(inputs.weights(a, b)), tf.Variable(tf.zeros([b]))]
    return found


def _network(tf: Any, x: Any, layers: list[Any]) -> Any:
    for w, b in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        x = tf.nn.leaky_relu(x @ w + b)
    return x @ layers[-2] + layers[-1]


def _descend(variables: list[Any], gradients: Any, rate: float) -> None:
    for v, g in zip(variables, gradients, strict=True):
        v.assign_sub(rate * g)


@program()
def gan_step(tf: Any, inputs: Inputs) -> Any:
    """Generator and discriminator, a step of each."""
    b, z, d, h = (
        inputs.size(32, 128),
        inputs.size(8, 32, 3),
        inputs.size(60, 300),
        inputs.size(64, 200),
    )
    g, c = _layers(tf, inputs, z, h, h, d), _layers(tf, inputs, d, h, 1)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits

    def step(noise: Any, real: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            fake = tf.tanh(_network(tf, noise, g))
            on_fake, on_real = _network(tf, fake, c), _network(tf, real, c)
            of_c = tf.reduce_mean(entropy(tf.ones_like(on_real), on_real))
            of_c += tf.reduce_mean(entropy(tf.zeros_like(on_fake), on_fake))
            of_g = tf.reduce_mean(entropy(tf.ones_like(on_fake), on_fake))
        by_c, by_g = tape.gradient(of_c, c), tape.gradient(of_g, g)
        _descend(c, by_c, 0.01)
        _descend(g, by_g, 0.01)
        return of_c, of_g

    return step, (tf.constant(inputs.normal(b, z)), tf.constant(inputs.normal(b, d)))


@program(random=True)
def vae_step(tf: Any, inputs: Inputs) -> Any:
    """Reparametrised samples, KL divergence, Adam of Keras."""
    b, d, h, z = (
        inputs.size(32, 128),
        inputs.size(100, 400),
        inputs.size(64, 200),
        inputs.size(4, 20),
    )
    encoder, decoder = _layers(tf, inputs, d, h, 2 * z), _layers(tf, inputs, z, h, d)
    variables = encoder + decoder
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(variables)

    def step(x: Any, seed: Any) -> Any:
        with tf.GradientTape() as tape:
            mean, log_variance = tf.split(_network(tf, x, encoder), 2, axis=1)
            noise = tf.random.stateless_normal(tf.shape(mean), seed)
            logits = _network(tf, mean + tf.exp(0.5 * log_variance) * noise, decoder)
            rebuilt = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            kl = -0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance), 1)
            loss = tf.reduce_mean(tf.reduce_sum(rebuilt, 1) + kl)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return step, (tf.constant(inputs.uniform(b, d)), tf.constant([3, 4]))


@program()
def policy_gradient(tf: Any, inputs: Inputs) -> Any:
    """Discounted returns by a reversed scan, advantages, entropy bonus."""
    n, d, actions = inputs.size(100, 500, 8), inputs.size(4, 24, 3), inputs.size(2, 8, 2)
    layers = _layers(tf, inputs, d, 64, actions)

    def step(states: Any, chosen: Any, rewards: Any) -> Any:
        returns = tf.scan(lambda total, r: r + 0.97 * total, rewards, 0.0, reverse=True)
        advantage = (returns - tf.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-3)
        with tf.GradientTape() as tape:
            logs = tf.nn.log_softmax(_network(tf, states, layers))
            taken = tf.gather(logs, chosen, batch_dims=1)
            entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(logs) * logs, 1))
            loss = -tf.reduce_mean(taken * advantage) - 0.01 * entropy
        _descend(layers, tape.gradient(loss, layers), 0.05)
        return loss

    return step, (
        tf.constant(inputs.normal(n, d)), tf.constant(inputs.integers(actions, n)),
        tf.constant(inputs.uniform(n)),
    )  # fmt: skip


@program()
def q_learning(tf: Any, inputs: Inputs) -> Any:
    """Double DQN: Huber loss on chosen actions, target network that follows slowly."""
    b, d, actions = inputs.size(32, 200), inputs.size(4, 30, 3), inputs.size(3, 10, 3)
    online, target = (_layers(tf, inputs, d, 96, 96, actions) for _ in range(2))

    def step(s: Any, a: Any, r: Any, after: Any, done: Any) -> Any:
        best = tf.argmax(_network(tf, after, online), 1, output_type=tf.int32)
        future = tf.gather(_network(tf, after, target), best, batch_dims=1)
        wanted = r + 0.99 * (1.0 - done) * future
        with tf.GradientTape() as tape:
            q = tf.reduce_sum(_network(tf, s, online) * tf.one_hot(a, actions), 1)
            error = tf.abs(wanted - q)
            loss = tf.reduce_mean(tf.where(error < 1.0, 0.5 * error**2, error - 0.5))
        _descend(online, tape.gradient(loss, online), 0.01)
        for slow, fast in zip(target, online, strict=True):
            slow.assign(0.99 * slow + 0.01 * fast)
        return loss

    return step, (
        tf.constant(inputs.normal(b, d)), tf.constant(inputs.integers(actions, b)),
        tf.constant(inputs.normal(b)), tf.constant(inputs.normal(b, d)),
        tf.constant(inputs.integers(2, b).astype("float32")),
    )  # fmt: skip


@program()
def gaussian_mixture(tf: Any, inputs: Inputs) -> Any:
    """Expectation and maximisation with diagonal covariances."""
    n, d, k = inputs.size(1000, 5000, 20), inputs.size(2, 12, 2), inputs.size(3, 12, 3)

    def step(x: Any, means: Any) -> Any:
        variances, shares = tf.ones([k, d]), tf.fill([k], 1.0 / k)
        for _ in tf.range(4):
            apart = (x[:, None] - means) ** 2 / variances
            logs = -0.5 * tf.reduce_sum(apart + tf.math.log(variances), -1) + tf.math.log(shares)
            shared = tf.nn.softmax(logs)
            total = tf.reduce_sum(shared, 0) + 1e-3
            means = tf.matmul(shared, x, transpose_a=True) / total[:, None]
            squares = tf.matmul(shared, x * x, transpose_a=True) / total[:, None]
            variances, shares = squares - means**2 + 1e-2, total / n
        return means, variances, shares

    x = inputs.normal(n, d)
    return step, (tf.constant(x), tf.constant(x[:k]))


@program()
def physics_informed(tf: Any, inputs: Inputs) -> Any:
    """Second derivatives of a network by its inputs in a loss: nested tapes."""
    n, h = inputs.size(100, 600, 6), inputs.size(16, 64, 4)
    w1, w2 = tf.Variable(inputs.normal(1, h)), tf.Variable(inputs.weights(h, h))
    w3 = tf.Variable(inputs.weights(h, 1))
    variables = [w1, w2, w3]

    def step(x: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    u = tf.tanh(tf.tanh(x @ w1) @ w2) @ w3
                du = first.gradient(u, x)
            ddu = second.gradient(du, x)
            loss = tf.reduce_mean((ddu + u - tf.sin(3.0 * x)) ** 2)
        _descend(variables, outer.gradient(loss, variables), 1e-3)
        return loss

    return step, (tf.constant(inputs.uniform(n, 1, low=-2.0, high=2.0)),)


@program()
def network_jacobian(tf: Any, inputs: Inputs) -> Any:
    """Jacobians of examples, and the norm of each as a penalty."""
    b, d, h, k = (
        inputs.size(16, 64, 3),
        inputs.size(10, 50),
        inputs.size(32, 100),
        inputs.size(4, 12, 3),
    )
    w1, w2 = tf.constant(inputs.weights(d, h)), tf.constant(inputs.weights(h, k))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.softplus(x @ w1) @ w2
        jacobian = tape.batch_jacobian(y, x)
        return y, tf.reduce_sum(jacobian**2, [1, 2])

    return step, (tf.constant(inputs.normal(b, d)),)


@program()
def newton_hessian(tf: Any, inputs: Inputs) -> Any:
    """Newton's step on Rosenbrock's function: gradient and Hessian by nested tapes."""
    n = inputs.size(10, 40)

    def step(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
            gradient = inner.gradient(y, x)
        hessian = outer.jacobian(gradient, x)
        damped = hessian + 500.0 * tf.eye(n)
        return y, x - tf.linalg.solve(damped, gradient[:, None])[:, 0]

    return step, (tf.constant(inputs.uniform(n)),)


@program()
def maml_step(tf: Any, inputs: Inputs) -> Any:
    """A gradient through inner gradient steps, for several tasks at once."""
    tasks, n, h = inputs.size(4, 12, 2), inputs.size(8, 24, 4), inputs.size(16, 48, 4)
    w1, w2 = tf.Variable(inputs.normal(1, h)), tf.Variable(inputs.weights(h, 1))

    def predict(a: Any, c: Any, x: Any) -> Any:
        return tf.tanh(x @ a) @ c

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as outer:
            a, c = tf.repeat(w1[None], tasks, 0), tf.repeat(w2[None], tasks, 0)
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner.watch([a, c])
                    loss = tf.reduce_sum(tf.reduce_mean((predict(a, c, x) - y) ** 2, [1, 2]))
                by_a, by_c = inner.gradient(loss, [a, c])
                a, c = a - 0.1 * by_a, c - 0.1 * by_c
            loss = tf.reduce_mean((predict(a, c, x) - y) ** 2)
        _descend([w1, w2], outer.gradient(loss, [w1, w2]), 0.01)
        return loss

    x = inputs.normal(tasks, n, 1)
    return step, (tf.constant(x), tf.constant(2 * x))


@program()
def pixel_labels(tf: Any, inputs: Inputs) -> Any:
    """Losses and entropies of a segmentation into few classes."""
    h, w, classes = inputs.size(60, 160, 5), inputs.size(60, 160, 6), inputs.size(3, 9, 3)

    def step(logits: Any, labels: Any) -> Any:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        shares = tf.nn.softmax(logits)
        entropy = -tf.reduce_sum(shares * tf.nn.log_softmax(logits), -1)
        return tf.reduce_mean(losses), entropy

    return step, (
        tf.constant(inputs.normal(2, h, w, classes)),
        tf.constant(inputs.integers(classes, 2, h, w)),
    )
