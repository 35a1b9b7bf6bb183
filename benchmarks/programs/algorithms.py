"""Algorithms of several fields: transport, graphs, filters, circuits, rendering, flows."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def sinkhorn(tf: Any, inputs: Inputs) -> Any:
    """Optimal transport between two clouds of points, by logarithms of sums."""
    n, m, d = inputs.size(50, 200, 5), inputs.size(50, 200, 6), 3

    def step(x: Any, y: Any) -> Any:
        c = tf.reduce_sum((x[:, None] - y[None]) ** 2, -1)
        f, g = tf.zeros([n]), tf.zeros([m])
        for _ in tf.range(15):
            f = -0.1 * tf.reduce_logsumexp((g[None] - c) / 0.1, 1)
            g = -0.1 * tf.reduce_logsumexp((f[:, None] - c) / 0.1, 0)
        p = tf.exp((f[:, None] + g[None] - c) / 0.1)
        return tf.reduce_sum(p * c), p

    return step, (tf.constant(inputs.normal(n, d)), tf.constant(inputs.normal(m, d)))


@program()
def floyd_warshall(tf: Any, inputs: Inputs) -> Any:
    """All shortest paths of a graph."""
    n = inputs.size(40, 120, 6)

    def step(d: Any) -> Any:
        for k in tf.range(n):
            d = tf.minimum(d, d[:, k][:, None] + d[k, :][None, :])
        return d

    return step, (tf.constant(inputs.uniform(n, n, low=1.0, high=50.0)),)


@program()
def collatz_sieve(tf: Any, inputs: Inputs) -> Any:
    """Steps of integers until all are one."""
    n = inputs.size(500, 3000, 30)

    def step(x: Any) -> Any:
        steps = tf.zeros_like(x)
        while tf.reduce_any(x > 1):
            odd = tf.math.floormod(x, 2) == 1
            nxt = tf.where(odd, 3 * x + 1, x // 2)
            steps += tf.cast(x > 1, tf.int64)
            x = tf.where(x > 1, nxt, x)
        bits = tf.bitwise.bitwise_xor(steps, tf.bitwise.right_shift(steps, tf.ones_like(steps)))
        return steps, bits

    return step, (tf.constant(np.arange(1, n + 1, dtype="int64")),)


@program()
def particle_filter(tf: Any, inputs: Inputs) -> Any:
    """Particles of a state that is observed, resampled by their weights."""
    n, t = inputs.size(300, 2000, 10), inputs.size(8, 20, 3)
    noise, us = tf.constant(inputs.normal(t, n)), tf.constant(inputs.uniform(t))
    obs = tf.constant(inputs.normal(t))

    def step(x: Any) -> Any:
        ms = []
        for i in range(t):
            x = 0.9 * x + 0.3 * tf.sin(x) + 0.5 * noise[i]
            w = tf.nn.softmax(-0.5 * tf.square(obs[i] - x))
            ms.append(tf.reduce_sum(w * x))
            cum = tf.cumsum(w)
            where = (tf.range(n, dtype=tf.float32) + us[i]) / n
            k = tf.minimum(tf.searchsorted(cum, where), n - 1)
            x = tf.gather(x, k)
        return tf.stack(ms), x

    return step, (tf.constant(inputs.normal(n)),)


@program()
def quantum_circuit(tf: Any, inputs: Inputs) -> Any:
    """Rotations and controlled signs of a register of qubits."""
    q = inputs.size(8, 12, 4)
    ang = inputs.uniform(q)

    def gate(psi: Any, m: Any, k: Any) -> Any:
        psi = tf.reshape(psi, [2**k, 2, 2 ** (q - k - 1)])
        return tf.reshape(tf.einsum("ab,ibj->iaj", m, psi), [-1])

    cz = np.ones(2**q, "complex64")
    for s in range(2**q):
        for k in range(q - 1):
            if s >> k & 1 and s >> (k + 1) & 1:
                cz[s] *= -1

    def step(th: Any) -> Any:
        psi = tf.cast(tf.one_hot(0, 2**q), tf.complex64)
        for _ in range(2):
            for k in range(q):
                c, s = tf.cos(th[k] / 2), tf.sin(th[k] / 2)
                m = tf.complex(tf.stack([tf.stack([c, -s]), tf.stack([s, c])]), tf.zeros([2, 2]))
                psi = gate(psi, m, k)
            psi = psi * cz
        return tf.abs(psi) ** 2

    return step, (tf.constant(ang),)


@program()
def median_filter(tf: Any, inputs: Inputs) -> Any:
    """Medians, ranges and extremes of windows of 3x3 pixels."""
    b, h, w = inputs.size(1, 4, 1), inputs.size(40, 120, 8), inputs.size(40, 120, 8)

    def step(x: Any) -> Any:
        p = tf.pad(x, [[0, 0], [1, 1], [1, 1]], "REFLECT")
        ws = tf.stack([p[:, i : i + h, j : j + w] for i in range(3) for j in range(3)], -1)
        med = tf.sort(ws, -1)[..., 4]
        return med, tf.reduce_max(ws, -1) - tf.reduce_min(ws, -1), tf.argmax(ws, -1)

    return step, (tf.constant(inputs.uniform(b, h, w)),)


@program()
def thomas_solver(tf: Any, inputs: Inputs) -> Any:
    """Tridiagonal systems, written out row by row."""
    b, n = inputs.size(50, 300, 4), inputs.size(20, 60, 5)

    def step(lo: Any, di: Any, up: Any, rhs: Any) -> Any:
        cs, ds = [up[:, 0] / di[:, 0]], [rhs[:, 0] / di[:, 0]]
        for i in range(1, n):
            den = di[:, i] - lo[:, i] * cs[-1]
            cs.append(up[:, i] / den)
            ds.append((rhs[:, i] - lo[:, i] * ds[-1]) / den)
        xs = [ds[-1]]
        for i in range(n - 2, -1, -1):
            xs.append(ds[i] - cs[i] * xs[-1])
        return tf.stack(xs[::-1], 1)

    a = [inputs.uniform(b, n) for _ in range(4)]
    a[1] += 3
    return step, tuple(tf.constant(x) for x in a)


@program()
def nerf_render(tf: Any, inputs: Inputs) -> Any:
    """Colours along rays through a network, composited, and a step of training."""
    r, s, d = inputs.size(50, 200, 4), inputs.size(16, 48, 4), inputs.size(16, 48, 5)
    w1, w2 = tf.Variable(inputs.weights(3 + 36, d)), tf.Variable(inputs.weights(d, 4))
    target = tf.constant(inputs.uniform(r, 3))

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            enc = [x]
            for i in range(6):
                enc += [tf.sin(x * 2.0**i), tf.cos(x * 2.0**i)]
            out = tf.nn.relu(tf.concat(enc, -1) @ w1) @ w2
            rgb, sigma = tf.sigmoid(out[..., :3]), tf.nn.softplus(out[..., 3])
            alpha = 1 - tf.exp(-sigma * 0.1)
            trans = tf.math.cumprod(1 - alpha + 1e-7, -1, exclusive=True)
            c = tf.reduce_sum((alpha * trans)[..., None] * rgb, 1)
            loss = tf.reduce_mean((c - target) ** 2)
        g1, g2 = tape.gradient(loss, [w1, w2])
        w1.assign_sub(0.1 * g1)
        w2.assign_sub(0.1 * g2)
        return loss

    return step, (tf.constant(inputs.normal(r, s, 3)),)


@program()
def two_layer_experts(tf: Any, inputs: Inputs) -> Any:
    """Two experts of six for each token, by its gate."""
    n, d, e, f = inputs.size(100, 400, 6), inputs.size(16, 48, 4), 6, inputs.size(16, 64, 5)
    wg, w1, w2 = (
        tf.constant(inputs.weights(d, e)),
        tf.constant(inputs.normal(e, d, f, scale=0.1)),
        tf.constant(inputs.normal(e, f, d, scale=0.1)),
    )

    def step(x: Any) -> Any:
        probs = tf.nn.softmax(x @ wg)
        top, idx = tf.math.top_k(probs, 2)
        gate = tf.reduce_sum(
            tf.one_hot(idx, e) * (top / tf.reduce_sum(top, -1, keepdims=True))[..., None], 1
        )
        h = tf.nn.silu(tf.einsum("nd,edf->enf", x, w1))
        y = tf.einsum("enf,efd->end", h, w2)
        out = tf.einsum("end,ne->nd", y, gate)
        aux = e * tf.reduce_sum(
            tf.reduce_mean(probs, 0) * tf.reduce_mean(tf.one_hot(idx[:, 0], e), 0)
        )
        return out, aux

    return step, (tf.constant(inputs.normal(n, d)),)


@program()
def crf_loss(tf: Any, inputs: Inputs) -> Any:
    """The loss of a conditional random field, and its gradient."""
    b, t, k = inputs.size(8, 40, 3), inputs.size(15, 40, 5), inputs.size(5, 20, 3)
    tags = tf.constant(inputs.integers(k, b, t))
    trans = tf.Variable(inputs.normal(k, k))

    def step(logits: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(logits)
            unary = tf.reduce_sum(tf.gather(logits, tags, batch_dims=2), 1)
            pair = tf.reduce_sum(tf.gather_nd(trans, tf.stack([tags[:, :-1], tags[:, 1:]], -1)), 1)
            alpha = logits[:, 0]
            for i in tf.range(1, t):
                alpha = tf.reduce_logsumexp(alpha[:, :, None] + trans[None], 1) + logits[:, i]
            z = tf.reduce_logsumexp(alpha, 1)
            loss = tf.reduce_mean(z - unary - pair)
        return [loss, *tape.gradient(loss, [logits, trans])]

    return step, (tf.constant(inputs.normal(b, t, k)),)


@program()
def graph_attention_training(tf: Any, inputs: Inputs) -> Any:
    """Attention along the edges of a graph, and a step of training."""
    n, e, d = inputs.size(300, 1200, 8), inputs.size(2000, 8000, 20), inputs.size(16, 48, 4)
    src, dst = tf.constant(inputs.integers(n, e)), tf.constant(inputs.integers(n, e))
    x = tf.constant(inputs.normal(n, d))
    w, a = tf.Variable(inputs.weights(d, d)), tf.Variable(inputs.weights(2 * d, 1))
    y = tf.constant(inputs.integers(d, n))

    def step(rate: Any) -> Any:
        with tf.GradientTape() as tape:
            h = x @ w
            hs, hd = tf.gather(h, src), tf.gather(h, dst)
            s = tf.nn.leaky_relu(tf.concat([hs, hd], 1) @ a)[:, 0]
            m = tf.math.unsorted_segment_max(s, dst, n)
            p = tf.exp(s - tf.gather(m, dst))
            z = tf.math.unsorted_segment_sum(p, dst, n)
            p = p / (tf.gather(z, dst) + 1e-9)
            out = tf.math.unsorted_segment_sum(hs * p[:, None], dst, n)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out)
            )
        ga, gw = tape.gradient(loss, [a, w])
        a.assign_sub(rate * ga)
        w.assign_sub(rate * gw)
        return loss

    return step, (tf.constant(np.float32(0.01)),)


@program()
def real_nvp(tf: Any, inputs: Inputs) -> Any:
    """A normalising flow of coupling layers, trained with momentum."""
    b, d, hid = inputs.size(100, 400, 6), inputs.size(4, 12, 4, 2), inputs.size(24, 64, 6)
    ws = [
        tuple(tf.Variable(inputs.weights(*s)) for s in ((d // 2, hid), (hid, d))) for _ in range(4)
    ]
    flat = [v for w in ws for v in w]
    m = [tf.Variable(np.zeros(v.shape, "float32")) for v in flat]

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            z, logdet = x, 0.0
            for w1, w2 in ws:
                a, b2 = tf.split(z, 2, 1)
                s, t = tf.split(tf.nn.tanh(a @ w1) @ w2, 2, 1)
                s = tf.tanh(s)
                z = tf.concat([b2 * tf.exp(s) + t, a], 1)
                logdet += tf.reduce_sum(s, 1)
            loss = tf.reduce_mean(0.5 * tf.reduce_sum(z * z, 1) - logdet)
        for v, mm, g in zip(flat, m, tape.gradient(loss, flat), strict=True):
            mm.assign(0.9 * mm + g)
            v.assign_sub(1e-3 * mm)
        return loss

    return step, (tf.constant(inputs.normal(b, d)),)


@program()
def message_passing(tf: Any, inputs: Inputs) -> Any:
    """A network on edges, its messages added and the largest taken at nodes; with gradients."""
    n, e, d = inputs.size(300, 2000, 6), inputs.size(2000, 9000, 12), inputs.size(8, 40, 4)
    x = tf.constant(inputs.normal(n, d))
    source, target = (tf.constant(inputs.integers(n, e)) for _ in range(2))
    first, second = tf.Variable(inputs.weights(2 * d, d)), tf.Variable(inputs.weights(2 * d, d))

    def step(x: Any, source: Any, target: Any) -> Any:
        with tf.GradientTape() as tape:
            h = x
            for _ in range(2):
                pairs = tf.concat([tf.gather(h, source), tf.gather(h, target)], 1)
                messages = tf.nn.relu(pairs @ first)
                total = tf.math.unsorted_segment_sum(messages, target, n)
                most = tf.math.unsorted_segment_max(messages, target, n)
                most = tf.where(most > -1e30, most, 0.0)
                h = tf.tanh(tf.concat([total, most], 1) @ second)
            loss = tf.reduce_mean(h * h)
        return loss, tape.gradient(loss, [first, second])

    return step, (x, source, target)
