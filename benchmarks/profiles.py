"""What `intaglio.profile` costs: a run under it, beside the same run without.

    python -m benchmarks.profiles

Times are those of the processor, in all threads. Rounds of both alternate; each share is the median of theirs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import intaglio
from intaglio import tf

ROUNDS, SECONDS = 21, 0.3
WEIGHT = tf.Variable(tf.random.normal([64, 64], seed=1))


@tf.function
def train(x: Any) -> Any:
    """A training step of one layer."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ WEIGHT) - 1.0) ** 2)
    WEIGHT.assign_sub(0.01 * tape.gradient(loss, WEIGHT))
    return loss


@tf.function(jit_compile=True)
def small(x: Any) -> Any:
    """Two ops on a few elements."""
    return x * 2.0 + 1.0


def eager(x: Any) -> Any:
    """Ten ops, one by one."""
    for _ in range(5):
        x = tf.nn.relu(x) * 0.5
    return x


def seconds(call: Callable[[], Any], times: int) -> float:
    """What so many calls take of the processor, in all threads."""
    start = time.process_time()
    for _ in range(times):
        call()
    return time.process_time() - start


def shares(call: Callable[[], Any]) -> tuple[float, float]:
    """The time of a call, and what a profile adds to it as a share."""
    for _ in range(50):
        call()
    times = max(1, int(SECONDS * 100 / seconds(call, 100)))
    without: list[float] = []
    added: list[float] = []
    for _ in range(ROUNDS):
        without.append(seconds(call, times))
        with intaglio.profile():
            added.append(seconds(call, times) / without[-1] - 1)
    return statistics.median(without) / times, statistics.median(added)


def rows() -> Iterator[str]:
    """The table, line by line."""
    batch, few = tf.ones([32, 64]), tf.ones([4])
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("training step of a layer, batch 32", lambda: train(batch)),
        ("compiled function of 4 elements", lambda: small(few)),
        ("10 eager ops on 4 elements", lambda: eager(few)),
    ]
    yield "| call | time | added by a profile |\n| --- | ---: | ---: |"
    for name, call in calls:
        time_of_call, added = shares(call)
        yield f"| {name} | {time_of_call * 1e6:.2f} us | {added:.1%} |"


def main() -> None:
    """Prints the table."""
    for row in rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
