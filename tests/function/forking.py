"""Programs that fork and spawn, for a process of their own (`test_forks.py`).

`python -m tests.function.forking case` prints "right" at the end of its work.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import tf

# Seconds after which a child that waits for ever is ended.
CHILD_SECONDS = 30


def child(work: Callable[[], bool]) -> None:
    """Runs work in a forked process, and raises RuntimeError if it is wrong or waits."""
    process = os.fork()
    if process == 0:
        faulthandler.dump_traceback_later(CHILD_SECONDS, exit=True)
        try:
            os._exit(0 if work() else 1)
        except BaseException as e:
            print(f"{type(e).__name__}: {e}", file=sys.stderr, flush=True)
            os._exit(2)
    _, status = os.waitpid(process, 0)
    if status != 0:
        raise RuntimeError(f"a child ended with {status}")


def compiled(size: int) -> bool:
    """A function that is compiled at once."""
    f = tf.function(lambda x: tf.tanh(x) * 2.0 + tf.reduce_sum(x), jit_compile=True)
    x = np.linspace(0.0, 1.0, size, dtype=np.float32)
    return np.allclose(f(x).numpy(), np.tanh(x) * 2.0 + x.sum(), atol=1e-4 * size)


def while_the_compiler_begins() -> None:
    """Forks at many moments while another thread imports the compiler, or compiles."""
    thread = threading.Thread(target=lambda: [compiled(n) for n in range(3, 40)])
    thread.start()
    number = 0
    while thread.is_alive():
        number += 1
        child(lambda n=number: compiled(100 + n))
        time.sleep(0.002)
    thread.join()


def before_the_change_over() -> None:
    """A child that is forked while a function is compiled in the background changes over too."""
    v = tf.Variable(tf.zeros([50]))

    @tf.function
    def step(x: Any) -> Any:
        for _ in range(20):
            v.assign_add(tf.tanh(x) * 0.001)
        return tf.reduce_sum(v)

    def steps(count: int) -> None:
        for _ in range(count):
            step(tf.ones([50]))

    def rest() -> bool:
        steps(600)
        return (
            abs(float(step(tf.ones([50]))) - 20 * 50 * np.tanh(1.0) * 0.001 * 1.0 * total()) < 1.0
        )

    done = [0]

    def total() -> int:
        return done[0] + 601

    for _ in range(30):
        steps(20)
        done[0] += 20
        child(rest)


def pool_of_threads() -> None:
    """A large kernel, whose work threads share, before and after."""
    a = tf.random.stateless_normal([600, 600], [1, 2])
    f = tf.function(lambda x: x @ x + 1.0, jit_compile=True)
    expected = f(a).numpy()
    for _ in range(5):
        child(lambda: np.array_equal(f(a).numpy(), expected))
        assert np.array_equal(f(a).numpy(), expected)


def iterators() -> None:
    """Iterators of a process whose threads its child has not, and new ones."""
    dataset = tf.data.Dataset.range(100).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2)
    going = iter(dataset)
    next(going)

    def aborted() -> bool:
        try:
            for _ in going:
                pass
        except tf.errors.AbortedError:
            return [int(x) for x in dataset] == [*range(1, 101)]
        return False

    child(aborted)
    assert [int(x) for x in going] == [*range(2, 101)]


def _square(x: int) -> int:
    f = tf.function(lambda x: x * x, jit_compile=True)
    return int(f(tf.constant(x)))


def pools() -> None:
    """Pools of processes, forked and spawned, while the compiler is at work."""
    thread = threading.Thread(target=lambda: [compiled(n) for n in range(3, 20)])
    thread.start()
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(_square, range(10)) == [n * n for n in range(10)]
    thread.join()


CASES = {
    f.__name__: f
    for f in (while_the_compiler_begins, before_the_change_over, pool_of_threads, iterators, pools)
}

if __name__ == "__main__":
    CASES[sys.argv[1]]()
    print("right")
