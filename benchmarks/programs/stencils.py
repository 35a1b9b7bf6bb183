"""Programs that compute each cell of a grid from its neighbours."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def heat_equation(tf: Any, inputs: Inputs) -> Any:
    """Explicit steps on the inner cells; the border is kept."""
    h, w = inputs.size(150, 400, 8), inputs.size(150, 400, 9)

    def step(u: Any) -> Any:
        for _ in tf.range(20):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            inner = inner + 0.2 * (around - 4.0 * inner)
            u = tf.concat([u[:1], tf.concat([u[1:-1, :1], inner, u[1:-1, -1:]], 1), u[-1:]], 0)
        return u

    return step, (tf.constant(inputs.normal(h, w)),)


@program()
def wave_equation(tf: Any, inputs: Inputs) -> Any:
    """Two levels in time, zeros around."""
    h, w = inputs.size(120, 320, 8), inputs.size(120, 320, 9)
    speed = tf.constant(inputs.uniform(h, w, low=0.05, high=0.2))

    def step(before: Any, now: Any) -> Any:
        for _ in tf.range(20):
            p = tf.pad(now, [[1, 1], [1, 1]])
            laplacian = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * now
            before, now = now, 2.0 * now - before + speed * laplacian
        return now

    return step, (tf.constant(inputs.normal(h, w)), tf.constant(inputs.normal(h, w)))


@program()
def game_of_life(tf: Any, inputs: Inputs) -> Any:
    """Conway's rules on a torus of integers."""
    h, w = inputs.size(150, 400, 8), inputs.size(150, 400, 9)

    def step(cells: Any) -> Any:
        for _ in range(4):
            count = tf.zeros_like(cells)
            for shift in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]:
                count += tf.roll(cells, shift, axis=(0, 1))
            alive = tf.logical_or(count == 3, tf.logical_and(cells == 1, count == 2))
            cells = tf.cast(alive, tf.int32)
        return cells

    return step, (tf.constant(inputs.integers(2, h, w)),)


@program()
def gray_scott(tf: Any, inputs: Inputs) -> Any:
    """Reaction and diffusion of two fields on a torus."""
    h, w = inputs.size(100, 300, 8), inputs.size(100, 300, 9)

    def laplacian(u: Any) -> Any:
        near = tf.roll(u, 1, 0) + tf.roll(u, -1, 0) + tf.roll(u, 1, 1) + tf.roll(u, -1, 1)
        return near - 4.0 * u

    def step(u: Any, v: Any) -> Any:
        for _ in tf.range(10):
            reaction = u * v * v
            u, v = (
                u + 0.16 * laplacian(u) - reaction + 0.035 * (1.0 - u),
                v + 0.08 * laplacian(v) + reaction - 0.095 * v,
            )
        return u, v

    return step, (tf.constant(inputs.uniform(h, w)), tf.constant(inputs.uniform(h, w)))


@program()
def burgers_equation(tf: Any, inputs: Inputs) -> Any:
    """Lax-Friedrichs fluxes in one dimension, several initial states."""
    b, n = inputs.size(4, 30, 2), inputs.size(500, 3000, 12)

    def step(u: Any) -> Any:
        for _ in tf.range(30):
            left = tf.concat([u[:, -1:], u[:, :-1]], 1)
            right = tf.concat([u[:, 1:], u[:, :1]], 1)
            flux_out = 0.25 * (u * u + right * right) - 0.4 * (right - u)
            flux_in = 0.25 * (left * left + u * u) - 0.4 * (u - left)
            u = u - 0.2 * (flux_out - flux_in)
        return u

    return step, (tf.constant(inputs.uniform(b, n)),)


@program()
def poisson_3d(tf: Any, inputs: Inputs) -> Any:
    """Jacobi's iterations in three dimensions, and the residual."""
    n, m, k = inputs.size(20, 50, 5), inputs.size(20, 50, 6), inputs.size(20, 50, 4)
    source = tf.constant(inputs.normal(n, m, k))
    pads = [[1, 1]] * 3

    def around(u: Any) -> Any:
        p = tf.pad(u, pads)
        along = p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1]
        return (
            along + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2]
        )

    def step(u: Any) -> Any:
        for _ in tf.range(10):
            u = (around(u) - source) / 6.0
        return u, tf.norm(around(u) - 6.0 * u - source)

    return step, (tf.zeros([n, m, k]),)


@program()
def image_gradients(tf: Any, inputs: Inputs) -> Any:
    """Total variation denoising by gradient descent."""
    h, w = inputs.size(150, 350, 8), inputs.size(150, 350, 9)

    def step(noisy: Any) -> Any:
        x = noisy
        for _ in range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                dy, dx = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
                variation = tf.reduce_sum(tf.sqrt(dy * dy + dx * dx + 1e-3))
                loss = 0.5 * tf.reduce_sum((x - noisy) ** 2) + 0.1 * variation
            x = x - 0.1 * tape.gradient(loss, x)
        return x

    return step, (tf.constant(inputs.normal(h, w)),)


@program()
def upwind_advection(tf: Any, inputs: Inputs) -> Any:
    """Differences against the flow, on a torus."""
    h, w = inputs.size(100, 300, 17), inputs.size(100, 300, 18)

    def step(u: Any) -> Any:
        for _ in tf.range(12):
            along = tf.where(u > 0, u - tf.roll(u, 1, 1), tf.roll(u, -1, 1) - u)
            across = tf.where(u > 0, u - tf.roll(u, 1, 0), tf.roll(u, -1, 0) - u)
            u = u - 0.05 * u * (along + across)
        return u

    return step, (tf.constant(inputs.normal(h, w)),)


@program()
def shallow_water(tf: Any, inputs: Inputs) -> Any:
    """Centred differences, reflecting walls by pads of the edge."""
    h, w = inputs.size(100, 300, 9), inputs.size(100, 300, 8)

    def edge(a: Any) -> Any:
        a = tf.concat([a[:1], a, a[-1:]], 0)
        return tf.concat([a[:, :1], a, a[:, -1:]], 1)

    def step(e: Any, u: Any, v: Any) -> Any:
        for _ in tf.range(10):
            p = edge(e)
            u = u - 0.1 * (p[1:-1, 2:] - p[1:-1, :-2])
            v = v - 0.1 * (p[2:, 1:-1] - p[:-2, 1:-1])
            q, r = edge(u), edge(v)
            e = e - 0.1 * (q[1:-1, 2:] - q[1:-1, :-2] + r[2:, 1:-1] - r[:-2, 1:-1])
        return e, u, v

    return step, tuple(tf.constant(inputs.normal(h, w)) for _ in range(3))


@program()
def brians_brain(tf: Any, inputs: Inputs) -> Any:
    """A cellular automaton of three states, bytes, on a torus."""
    h, w = inputs.size(100, 400, 9), inputs.size(100, 400, 8)

    def step(cells: Any) -> Any:
        for _ in tf.range(6):
            on = tf.cast(cells == 1, tf.uint8)
            rows = on + tf.roll(on, 1, 0) + tf.roll(on, -1, 0)
            near = rows + tf.roll(rows, 1, 1) + tf.roll(rows, -1, 1) - on
            born = tf.logical_and(cells == 0, near == 2)
            one, two = tf.constant(1, tf.uint8), tf.constant(2, tf.uint8)
            cells = tf.where(born, one, tf.where(cells == 1, two, tf.zeros_like(cells)))
        return cells

    return step, (tf.constant(inputs.integers(3, h, w, dtype="uint8")),)
