"""What guards on captured values cost: a call with them, beside the same call under `captures("freeze")`.

    python -m benchmarks.guards

Rounds of both alternate, in time of the calling thread on a processor; each is the fastest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import intaglio
from intaglio import tf

A, B, C, D = 1.0, 2.0, 3.0, 4.0
ROUNDS, SECONDS = 41, 0.01


class Model:
    """Four attributes."""

    def __init__(self) -> None:
        self.a, self.b, self.c, self.d = 1.0, 2.0, 3.0, 4.0
        self.weights, self.options = [0.1] * 8, {"clip": 1.0}
        self.kernel = tf.Variable(tf.zeros([64, 64]))
        self.bias = tf.Variable(tf.zeros([64]))

    def step(self, x: Any, rate: float) -> Any:
        """A step of gradient descent."""
        with tf.GradientTape() as tape:
            y = tf.tanh(x @ self.kernel * self.a + self.bias * self.b) * self.c
            loss = tf.reduce_mean((y - self.d) ** 2)
        for v, g in zip(
            (self.kernel, self.bias), tape.gradient(loss, (self.kernel, self.bias)), strict=True
        ):
            v.assign_sub(rate * g)
        return loss

    @tf.function
    def train(self, x: Any) -> Any:
        """Reads attributes."""
        return self.step(x, 0.1)

    @tf.function
    def train_by(self, x: Any) -> Any:
        """Reads a list and a dictionary, too."""
        rate = sum(self.weights)
        return self.step(x, rate if "clip" in self.options else 2 * rate)

    @tf.function(jit_compile=True)
    def small(self, x: Any) -> Any:
        return x * self.a + self.b * self.c + self.d

    @tf.function(jit_compile=True)
    def large(self, x: Any) -> Any:
        return tf.reduce_sum(tf.tanh(x @ x * self.a + self.b) * self.c + self.d)


@tf.function(jit_compile=True)
def of_globals(x: Any) -> Any:
    return x * A + B * C + D


def seconds(call: Callable[[], Any]) -> float:
    """The time of a call, in the fastest of a few batches."""
    start = time.thread_time()
    call()
    calls = max(1, int(SECONDS / (time.thread_time() - start)))
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        for _ in range(calls):
            call()
        best = min(best, (time.thread_time() - start) / calls)
    return best


def rows() -> Iterator[str]:
    """The table, line by line."""
    model, pair, square = Model(), tf.constant([1.0, 2.0]), tf.ones([64, 64])
    small, large = model.small, model.large
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("2 floats, 4 globals", lambda: of_globals(pair)),
        ("2 floats, 4 attributes", lambda: small(pair)),
        ("64x64 product, 4 attributes", lambda: large(square)),
        ("training step of a layer, 4 attributes, 2 variables", lambda: model.train(square)),
        ("the same, a list of 8 numbers, a key of a dictionary", lambda: model.train_by(square)),
    ]
    yield "| call | guarded | frozen | share |\n| --- | ---: | ---: | ---: |"
    for name, call in calls:
        times: dict[str, list[float]] = {"warn": [], "freeze": []}
        for number in range(ROUNDS):
            for mode in sorted(times, reverse=bool(number % 2)):
                with intaglio.captures(mode):
                    for _ in range(50):
                        call()
                    times[mode].append(seconds(call))
        share = min(times["warn"]) / min(times["freeze"]) - 1
        guarded, frozen = (f"{min(t) * 1e9:.0f} ns" for t in times.values())
        yield f"| {name} | {guarded} | {frozen} | {share:.1%} |"


def main() -> None:
    """Prints the table."""
    for row in rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
