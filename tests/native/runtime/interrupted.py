"""Loops that never end by themselves, for a process that is sent signals (`test_interrupts.py`).

`python -m tests.native.runtime.interrupted case` prints what was seen as a Python literal.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import intaglio.tf as tf

FOREVER = 1 << 62
# Seconds from the first call to the signal: the loop runs by then, most likely.
DELAY_SECONDS = 0.3


def signalled(number: int = signal.SIGINT, delay: float = DELAY_SECONDS) -> None:
    """Sends this process a signal, later."""
    timer = threading.Timer(delay, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def interrupted(call: Callable[[], Any]) -> bool:
    """Whether Ctrl-C ends a call, and the next one too."""
    for _ in range(2):
        signalled()
        try:
            call()
        except KeyboardInterrupt:
            continue
        return False
    return True


def plain(n: Any, x: Any) -> Any:
    """A loop in registers."""
    i = tf.constant(0, tf.int64)
    while i < n:
        x = tf.tanh(x + 1.0)
        i += 1
    return x


def exact(n: Any, x: Any) -> Any:
    """A loop whose machine code gives the interpreter's bits."""
    i = tf.constant(0, tf.int64)
    while i < n:
        x = x * 0.5 + 1.0
        i += 1
    return x


def nested(n: Any, x: Any) -> Any:
    """A loop that never ends in one of one iteration."""
    i = tf.constant(0, tf.int64)
    while i < 1:
        x = plain(n, x)
        i += 1
    return x


def called_back(n: Any, x: Any) -> Any:
    """A loop whose body calls NumPy."""
    i = tf.constant(0, tf.int64)
    while i < n:
        x = tf.raw_ops.IgammaGradA(a=x + 1.0, x=x + 1.0)
        i += 1
    return x


def matrices(n: Any, x: Any) -> Any:
    """A loop whose rows threads share."""
    w = tf.eye(64) * 0.5
    i = tf.constant(0, tf.int64)
    h = tf.ones([64, 64]) * x[0]
    while i < n:
        h = tf.tanh(h @ w)
        i += 1
    return h


# What reports say of loops that run in another way than in machine code alone.
KINDS = {"matrices": "side by side", "called_back": "called back"}


def ends(body: Callable[..., Any], jit: bool) -> list[bool]:
    """Whether Ctrl-C ends the loop of a function that was called before; if it is of its kind."""
    f = tf.function(body, jit_compile=jit or None)
    x = tf.ones([4])
    f(tf.constant(1, tf.int64), x)
    kind = KINDS.get(body.__name__, "")
    return [
        interrupted(lambda: f(tf.constant(FOREVER, tf.int64), x)),
        not jit or kind in f.compile_report(),
    ]


def in_the_background() -> bool:
    """Whether the code that a plain function changes over to is interrupted too."""
    f = tf.function(exact)
    x = tf.ones([4])
    while "compiled, for it took long" not in f.compile_report():
        f(tf.constant(10_000, tf.int64), x)
    return interrupted(lambda: f(tf.constant(FOREVER, tf.int64), x))


def variables() -> list[Any]:
    """Values of two variables before and after, and whether another thread may write them."""
    v, u = tf.Variable(tf.zeros([1000])), tf.Variable(tf.zeros([], tf.int64))

    @tf.function(jit_compile=True)
    def f(n: Any) -> Any:
        i = tf.constant(0, tf.int64)
        while i < n:
            v.assign_add(tf.ones([1000]))
            j = tf.constant(0, tf.int64)
            while j < 100:
                j += 1
            u.assign_add(1)
            i += 1
        return i

    f(tf.constant(3, tf.int64))
    before = (v.numpy().tolist(), int(u))
    seen = interrupted(lambda: f(tf.constant(FOREVER, tf.int64)))
    after = (v.numpy().tolist(), int(u))
    other = threading.Thread(target=v.assign_add, args=(tf.ones([1000]),), daemon=True)
    other.start()
    other.join(30)
    f(tf.constant(2, tf.int64))
    last = (v.numpy().tolist(), int(u))
    return [seen, before == after, last == ([6.0] * 1000, 5)]


def handlers() -> list[Any]:
    """Whether a handler that returns runs during the loop, which reads a variable, and the result."""
    v = tf.Variable(tf.zeros([4], tf.int64))
    seen: list[Any] = []

    @tf.function(jit_compile=True)
    def f(n: Any) -> Any:
        i = tf.constant(0, tf.int64)
        while i < n:
            v.assign_add(tf.ones([4], tf.int64))
            i += 1
        return i

    f(tf.constant(1, tf.int64))
    n = 1 << 20
    while not seen:  # until the signal comes while the loop runs
        start = time.perf_counter()
        f(tf.constant(n, tf.int64))
        n *= 1 if time.perf_counter() - start > 4 * DELAY_SECONDS else 2
        if time.perf_counter() - start > 4 * DELAY_SECONDS:
            v.assign(tf.zeros([4], tf.int64))

            def note(number: int, frame: Any) -> None:
                seen.append((time.perf_counter(), v.numpy().tolist()))

            signal.signal(signal.SIGINT, note)
            signalled()
            result = int(f(tf.constant(n, tf.int64)))
            end = time.perf_counter()
    (when, value), *_ = seen
    return [end - when > DELAY_SECONDS, value, result == n, v.numpy().tolist() == [n] * 4]


def other_threads() -> list[Any]:
    """A loop of another thread goes on while the main thread is interrupted."""
    f = tf.function(plain, jit_compile=True)
    x, n = tf.ones([4]), tf.constant(30_000_000, tf.int64)
    f(tf.constant(1, tf.int64), x)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(f(n, x).shape.as_list()))
    thread.start()
    seen = interrupted(lambda: f(tf.constant(FOREVER, tf.int64), x))
    thread.join()
    return [seen, found]


BODIES = {f.__name__: f for f in (plain, nested, called_back, matrices)}
CASES: dict[str, Callable[[], Any]] = {
    f.__name__: f for f in (in_the_background, variables, handlers, other_threads)
}

if __name__ == "__main__":
    # A job that a shell has put into the background ignores the signal, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name, _, kind = sys.argv[1].partition(":")
    print(ends(BODIES[name], kind == "jit") if name in BODIES else CASES[name]())
