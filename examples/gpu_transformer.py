"""A transformer that learns to write, character by character, on a GPU if there is one.

It is trained on the documentation of NumPy's functions, in seconds, prints the loss as it falls, and then writes some
text of its own. The script is written for TensorFlow, and runs with it too. Intaglio replaces it here:

    intaglio run examples/gpu_transformer.py [--steps N] [--device /GPU:0]

`tf.device("/GPU:0")` places variables and steps on the GPU, through XLA: `pip install "intaglio[xla]"` and jax'
plugin for the GPU. Without one, soft placement says so, and the host computes. On a GPU a step is one
program of XLA, and nothing is copied between host and GPU but the batches and the losses that are
printed; `train_step.compile_report()` says what it runs as.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import tensorflow as tf

WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 4, 2, 48, 16
RATE, FIRST, SECOND = 3e-3, 0.9, 0.99


def corpus() -> tuple[np.ndarray, str]:
    """The documentation strings of NumPy's functions, as numbers of characters, and the characters."""
    names = ("sort", "sum", "mean", "concatenate", "take", "where", "cumsum", "transpose")
    text = "\n".join([getattr(np, name).__doc__ or name for name in names]).replace("    ", " ")
    characters = "".join(sorted(set(text)))
    numbers = {c: i for i, c in enumerate(characters)}
    return np.array([numbers[c] for c in text], np.int32), characters


class Block(tf.Module):
    """Attention to what came before, and a layer on each character, with normalised inputs."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__()

        def weights(*shape: int) -> tf.Variable:
            return tf.Variable((rng.normal(size=shape) * shape[0] ** -0.5).astype("float32"))

        self.qkv, self.out = weights(WIDTH, 3 * WIDTH), weights(WIDTH, WIDTH)
        self.up, self.down = weights(WIDTH, 4 * WIDTH), weights(4 * WIDTH, WIDTH)
        self.scales = [tf.Variable(tf.ones(WIDTH)) for _ in range(2)]

    def __call__(self, x: Any, mask: Any) -> Any:
        x = x + self.attention(normalised(x) * self.scales[0], mask)
        return x + tf.nn.gelu(normalised(x) * self.scales[1] @ self.up) @ self.down

    def attention(self, x: Any, mask: Any) -> Any:
        """Each position's mix of what is before it."""
        length = tf.shape(x)[1]
        shape = (tf.shape(x)[0], length, 3, HEADS, WIDTH // HEADS)
        q, k, v = tf.unstack(tf.reshape(x @ self.qkv, shape), axis=2)
        scores = tf.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
        mixed = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores + mask), v)
        return tf.reshape(mixed, (tf.shape(x)[0], length, WIDTH)) @ self.out


def normalised(x: Any) -> Any:
    """Mean 0 and variance 1 at each position."""
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


class Model(tf.Module):
    """Logits of the next character at each position."""

    def __init__(self, characters: int, seed: int = 0) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)
        self.characters = tf.Variable(
            (rng.normal(size=(characters, WIDTH)) * 0.2).astype("float32")
        )
        self.positions = tf.Variable((rng.normal(size=(LENGTH, WIDTH)) * 0.1).astype("float32"))
        self.blocks = [Block(rng) for _ in range(LAYERS)]
        self.mask = np.triu(np.full((LENGTH, LENGTH), -1e9, np.float32), 1)

    def __call__(self, tokens: Any) -> Any:
        x = tf.gather(self.characters, tokens) + self.positions
        for block in self.blocks:
            x = block(x, self.mask)
        return tf.einsum("btd,cd->btc", normalised(x), self.characters)


class Adam(tf.Module):
    """Adam, with its moments beside the variables."""

    def __init__(self, variables: Any) -> None:
        super().__init__()
        self.moments = [[tf.Variable(tf.zeros_like(v)) for _ in range(2)] for v in variables]
        self.steps = tf.Variable(0.0)

    def apply(self, variables: Any, gradients: Any) -> None:
        """Moves the variables against their gradients."""
        self.steps.assign_add(1.0)
        first, second = 1.0 - FIRST**self.steps, 1.0 - SECOND**self.steps
        for variable, gradient, (m, v) in zip(variables, gradients, self.moments, strict=True):
            gradient = tf.convert_to_tensor(gradient)
            m.assign(FIRST * m + (1.0 - FIRST) * gradient)
            v.assign(SECOND * v + (1.0 - SECOND) * gradient * gradient)
            variable.assign_sub(RATE * (m / first) / (tf.sqrt(v / second) + 1e-8))


def main() -> None:
    """Trains, and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="/GPU:0")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    text, characters = corpus()
    rng = np.random.default_rng(options.seed)
    tf.random.set_seed(options.seed)
    with tf.device(options.device):
        model = Model(len(characters), options.seed)
        optimizer = Adam(model.trainable_variables)
        print(
            f"{len(text)} characters, {len(characters)} of them different, on {model.positions.device}"
        )

        @tf.function
        def train_step(tokens: Any) -> Any:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tokens[:, 1:], logits=model(tokens[:, :-1])
                )
                loss = tf.reduce_mean(losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply(model.trainable_variables, gradients)
            return loss

        @tf.function
        def next_character(tokens: Any) -> Any:
            logits = model(tokens)[:, -1]
            return tf.random.categorical(logits / 0.7, 1, dtype=tf.int32)

        start = time.perf_counter()
        for step in range(options.steps + 1):
            rows = rng.integers(0, len(text) - LENGTH - 1, BATCH)
            loss = train_step(tf.constant(text[rows[:, None] + np.arange(LENGTH + 1)]))
            if step % max(1, options.steps // 5) == 0:
                print(f"step {step:4}: loss {float(loss):.3f}")
        print(f"{(time.perf_counter() - start) / (options.steps + 1) * 1e3:.1f} ms each step")
        written = text[:LENGTH]
        for _ in range(2 * LENGTH):
            new = next_character(tf.constant(written[None, -LENGTH:]))
            written = np.append(written, np.int32(new[0, 0]))
        print("".join([characters[i] for i in written]))


if __name__ == "__main__":
    main()
