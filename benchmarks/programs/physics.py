"""Programs of physics and of signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def shallow_water_basin(tf: Any, inputs: Inputs) -> Any:
    """Waves in a basin: staggered fields, walls by pads, several steps."""
    h, w, t = inputs.size(30, 120, 8), inputs.size(30, 120, 9), inputs.size(5, 20, 2)

    def step(height: Any, u: Any, v: Any) -> Any:
        for _ in tf.range(t):
            u = u - 0.1 * tf.pad(height[:, 1:] - height[:, :-1], [[0, 0], [1, 1]])
            v = v - 0.1 * tf.pad(height[1:] - height[:-1], [[1, 1], [0, 0]])
            height = height - 0.1 * (u[:, 1:] - u[:, :-1] + v[1:] - v[:-1])
        energy = tf.reduce_sum(height**2) + tf.reduce_sum(u**2) + tf.reduce_sum(v**2)
        return height, energy

    return step, (
        tf.constant(inputs.normal(h, w)), tf.zeros([h, w + 1]), tf.zeros([h + 1, w]),
    )  # fmt: skip


@program()
def schroedinger(tf: Any, inputs: Inputs) -> Any:
    """A wave packet by split steps: phases in space and in frequency."""
    n, t = inputs.size(64, 512, 16, 16), inputs.size(5, 20, 2)
    x = np.linspace(-8, 8, n)
    k = np.fft.fftfreq(n, 16 / n) * 2 * np.pi
    v = tf.constant(np.exp(-0.5j * 0.01 * x**2).astype("complex64"))
    kinetic = tf.constant(np.exp(-0.5j * 0.01 * k**2).astype("complex64"))

    def step(psi: Any) -> Any:
        for _ in tf.range(t):
            psi = v * tf.signal.ifft(kinetic * tf.signal.fft(v * psi))
        density = tf.abs(psi) ** 2
        return density, tf.reduce_sum(density * tf.constant(x.astype("float32")), -1)

    packet = np.exp(-((x - inputs.normal(4, 1)) ** 2) + 2j * x)
    return step, (tf.constant(packet.astype("complex64")),)


@program()
def rigid_bodies(tf: Any, inputs: Inputs) -> Any:
    """Quaternions of spinning bodies, by Runge and Kutta, and points that they carry."""
    n, m, t = inputs.size(20, 300, 4), inputs.size(5, 30, 3), inputs.size(5, 20, 2)
    inertia = tf.constant(inputs.uniform(n, 3, low=0.5, high=2.0))

    def product(p: Any, q: Any) -> Any:
        a, b, c, d = tf.unstack(p, axis=-1)
        e, f, g, h = tf.unstack(q, axis=-1)
        return tf.stack(
            [
                a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
                a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e,
            ], -1,
        )  # fmt: skip

    def rates(q: Any, spin: Any) -> Any:
        pure = tf.concat([tf.zeros_like(spin[:, :1]), spin], -1)
        torque = -tf.linalg.cross(spin, inertia * spin) / inertia
        return 0.5 * product(q, pure), torque

    def step(q: Any, spin: Any, points: Any) -> Any:
        for _ in tf.range(t):
            dq, ds = rates(q, spin)
            mq, ms = rates(q + 0.005 * dq, spin + 0.005 * ds)
            q, spin = q + 0.01 * mq, spin + 0.01 * ms
            q = q / tf.norm(q, axis=-1, keepdims=True)
        axis = q[:, None, 1:] + tf.zeros_like(points)
        turn = 2.0 * tf.linalg.cross(axis, points)
        return points + q[:, None, :1] * turn + tf.linalg.cross(axis, turn), spin

    return step, (
        tf.constant(inputs.normal(n, 4)), tf.constant(inputs.normal(n, 3)),
        tf.constant(inputs.normal(n, m, 3)),
    )  # fmt: skip


@program()
def plucked_strings(tf: Any, inputs: Inputs) -> Any:
    """Sound of strings by delays with a filter in the loop."""
    b, n, t = inputs.size(2, 12, 2), inputs.size(30, 100, 8), inputs.size(5, 20, 3)

    def step(noise: Any) -> Any:
        out = tf.TensorArray(tf.float32, t)
        line = noise
        for i in tf.range(t):
            line = 0.995 * 0.5 * (line + tf.concat([line[:, -1:], line[:, :-1]], 1))
            out = out.write(i, line)
        sound = tf.reshape(tf.transpose(out.stack(), [1, 0, 2]), [b, t * n])
        return sound, tf.reduce_max(tf.abs(sound), 1)

    return step, (tf.constant(inputs.uniform(b, n, low=-1.0)),)


@program()
def recursive_filters(tf: Any, inputs: Inputs) -> Any:
    """Sections of second order after each other, sample by sample, and decimation."""
    b, t = inputs.size(4, 32, 2), inputs.size(64, 400, 16, 4)
    sections = [(0.2, 0.4, 0.2, -0.5, 0.3), (0.3, -0.3, 0.1, 0.2, 0.1)]

    def step(x: Any) -> Any:
        for b0, b1, b2, a1, a2 in sections:

            def section(state: Any, now: Any, c: Any = (b0, b1, b2, a1, a2)) -> Any:
                y = c[0] * now + state[1]
                return y, c[1] * now - c[3] * y + state[2], c[2] * now - c[4] * y

            zero = tf.zeros([b])
            x = tf.scan(section, x, (zero, zero, zero))[0]
        return tf.reduce_mean(tf.reshape(x, [t // 4, 4, b]), 1), tf.reduce_max(tf.abs(x))

    return step, (tf.constant(inputs.normal(t, b)),)


@program()
def spectral_peaks(tf: Any, inputs: Inputs) -> Any:
    """Frames, windows and spectra; peaks, centroids, flatness and autocorrelation."""
    b, n, frame = inputs.size(1, 4, 1), inputs.size(2000, 8000, 200), 256

    def step(x: Any) -> Any:
        frames = tf.signal.frame(x, frame, frame // 2, pad_end=True)
        spectrum = tf.signal.rfft(frames * tf.signal.hann_window(frame))
        power = tf.abs(spectrum) ** 2 + 1e-9
        auto = tf.signal.irfft(tf.complex(power, tf.zeros_like(power)))
        hz = tf.linspace(0.0, 8000.0, frame // 2 + 1)
        centroid = tf.reduce_sum(power * hz, -1) / tf.reduce_sum(power, -1)
        flat = tf.exp(tf.reduce_mean(tf.math.log(power), -1)) / tf.reduce_mean(power, -1)
        pitch = tf.argmax(auto[..., 20:100], -1)
        top, _ = tf.math.top_k(power, 5)
        return centroid, flat, pitch, top

    return step, (tf.constant(inputs.normal(b, n)),)


@program()
def neural_ode(tf: Any, inputs: Inputs) -> Any:
    """A network as a derivative, integrated, and trained through the loop."""
    b, d, h, t = inputs.size(16, 128, 3), inputs.size(2, 8, 2), inputs.size(16, 64, 4), 10
    w1, w2 = tf.Variable(inputs.weights(d, h)), tf.Variable(inputs.weights(h, d))

    def step(x: Any, target: Any) -> Any:
        with tf.GradientTape() as tape:
            y = x
            for _ in tf.range(t):
                k1 = tf.tanh(y @ w1) @ w2
                k2 = tf.tanh((y + 0.05 * k1) @ w1) @ w2
                y += 0.1 * k2
            loss = tf.reduce_mean((y - target) ** 2)
        for v, g in zip((w1, w2), tape.gradient(loss, (w1, w2)), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    return step, (tf.constant(inputs.normal(b, d)), tf.constant(inputs.normal(b, d)))


@program()
def electron_structure(tf: Any, inputs: Inputs) -> Any:
    """Orbitals of a symmetric operator until densities agree, in float64."""
    n, k = inputs.size(16, 64, 6), inputs.size(3, 8, 2)
    a = inputs.normal(n, n)

    def step(core: Any, pair: Any) -> Any:
        density = tf.zeros([n, n], tf.float64)
        for _ in tf.range(6):
            fock = core + 0.05 * pair * density
            energies, orbitals = tf.linalg.eigh(fock)
            c = orbitals[:, :k]
            density = 0.5 * density + tf.matmul(c, c, transpose_b=True)
        return tf.reduce_sum(energies[:k]), tf.linalg.trace(density @ core)

    return step, (
        tf.constant((a + a.T).astype("float64")),
        tf.constant(np.abs(a + a.T).astype("float64")),
    )
