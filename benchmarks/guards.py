"""What guards on captured values cost: a call with them, beside the same call under `captures("freeze")`.

    python -m benchmarks.guards

Times of both alternate; each is the fastest of many batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import intaglio
from intaglio import tf

A, B, C, D = 1.0, 2.0, 3.0, 4.0
BATCHES, CALLS = 25, 4000


class Model:
    """Four attributes."""

    def __init__(self) -> None:
        self.a, self.b, self.c, self.d = 1.0, 2.0, 3.0, 4.0

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
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best


def main() -> None:
    """Prints the table."""
    model, pair, square = Model(), tf.constant([1.0, 2.0]), tf.ones([64, 64])
    small, large = model.small, model.large
    rows: list[tuple[str, Callable[[], Any]]] = [
        ("2 floats, 4 globals", lambda: of_globals(pair)),
        ("2 floats, 4 attributes", lambda: small(pair)),
        ("64x64 product, 4 attributes", lambda: large(square)),
    ]
    print("| call | guarded | frozen | share |\n| --- | ---: | ---: | ---: |")
    for name, call in rows:
        times: dict[str, float] = {}
        for _ in range(BATCHES // 3):
            for mode in ("warn", "freeze"):
                with intaglio.captures(mode):
                    for _ in range(50):
                        call()
                    times[mode] = min(times.get(mode, 1.0), seconds(call))
        share = times["warn"] / times["freeze"] - 1
        print(
            f"| {name} | {times['warn'] * 1e9:.0f} ns | {times['freeze'] * 1e9:.0f} ns | {share:.1%} |"
        )


if __name__ == "__main__":
    main()
