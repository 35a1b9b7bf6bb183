"""Long runs: whether memory grows, results stay right, and nothing waits for ever.

`python -m trust.soak [--count SCALE] [--write]`; 1 is the whole of it, about ten minutes, and 0.01 a
short form. Each row runs in a process of its own. Memory is the slope of a line through the anonymous
size, in bytes per call, after the first third of the calls: the smaller one of two halves.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from intaglio import tf
from trust import page

# The calls of a row are divided into so many parts; after each the memory is looked at.
PARTS = 45
WARM_PARTS = 15
# Memory may grow by so many bytes in the whole of a row: what allocators round and caches keep.
NOISE_BYTES = 3 << 20
# How many calls a spawned process carries out.
CALLS_OF_A_CHILD = 150
# Seconds after which a process is said to wait for ever: at least, and for each of the row's calls.
MIN_SECONDS = 240.0

Run = Callable[[int], int]


class Row(NamedTuple):
    """Something that is done again and again: `start` gives what does it so many times, and returns
    how many results were wrong."""

    title: str
    calls: int
    start: Callable[[], Run]


def _chained(call: Callable[[Any], Any]) -> Run:
    """A function that adds one is applied to its own result."""
    total = [tf.constant(0, tf.int64)]

    def run(count: int) -> int:
        x = total[0]
        expected = int(x) + count
        for _ in range(count):
            x = call(x)
        total[0] = x
        return int(int(x) != expected)

    return run


def eager() -> Run:
    """Eager ops."""
    one = tf.constant(1, tf.int64)
    return _chained(lambda x: x + one)


def concrete() -> Run:
    """Calls of a concrete function."""
    f = tf.function(lambda x: x + 1)
    return _chained(f.get_concrete_function(tf.constant(0, tf.int64)))


def dispatched() -> Run:
    """Calls of a function that is traced."""
    return _chained(tf.function(lambda x: x + 1))


def compiled() -> Run:
    """Calls of a function that is compiled."""
    return _chained(tf.function(lambda x: x + 1, jit_compile=True))


def retraces() -> Run:
    """One function, traced for numbers: its traces are kept, as TensorFlow keeps them."""
    f = tf.function(lambda x, n: x + n)
    x = tf.constant(1, tf.int64)
    done = [0]

    def run(count: int) -> int:
        wrong = 0
        for n in range(done[0], done[0] + count):
            wrong += int(f(x, n)) != n + 1
        done[0] += count
        return wrong

    return run


def dropped() -> Run:
    """Functions that are made, called and dropped."""
    x = tf.constant([1.0, 2.0])

    def run(count: int) -> int:
        wrong = 0
        for n in range(count):
            f = tf.function(lambda x, n=n: tf.tanh(x) + n)
            wrong += f(x).shape != (2,)
        return wrong

    return run


def dropped_compiled() -> Run:
    """The same with machine code."""
    x = tf.constant([1.0, 2.0])

    def run(count: int) -> int:
        wrong = 0
        for n in range(count):
            f = tf.function(lambda x, n=n: x * (n % 7) + 1.0, jit_compile=True)
            wrong += f(x).numpy().tolist() != [n % 7 + 1.0, 2.0 * (n % 7) + 1.0]
        return wrong

    return run


def tapes() -> Run:
    """Steps of gradient descent, with a persistent tape now and then."""
    v = tf.Variable(1.0)
    expected = [np.float32(1.0)]

    def run(count: int) -> int:
        value = expected[0]
        for n in range(count):
            with tf.GradientTape(persistent=n % 10 == 0) as tape:
                loss = v * v
            v.assign(v - tape.gradient(loss, v) * 0.001 + 0.001)
            value = value - (value + value) * np.float32(0.001) + np.float32(0.001)
        expected[0] = value
        return int(abs(float(v) - float(value)) > 1e-5)

    return run


def epochs() -> Run:
    """Elements of datasets, epoch after epoch."""
    size = 1000
    dataset = (
        tf.data.Dataset.range(size)
        .map(lambda x: x * 2, num_parallel_calls=2)
        .shuffle(64, seed=1)
        .batch(10)
        .prefetch(2)
    )

    def run(count: int) -> int:
        wrong = 0
        for _ in range(max(count // size, 1)):
            total = sum(int(tf.reduce_sum(batch)) for batch in dataset)
            wrong += total != size * (size - 1)
        return wrong

    return run


def fits() -> Run:
    """Calls of Keras' fit."""
    keras = tf.keras
    keras.utils.set_random_seed(1)
    x = np.linspace(0.0, 1.0, 64 * 4, dtype=np.float32).reshape(64, 4)
    y = x.sum(axis=1, keepdims=True)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    def run(count: int) -> int:
        wrong = 0
        for _ in range(count):
            (loss,) = model.fit(x, y, batch_size=16, verbose=0).history["loss"]
            wrong += not np.isfinite(loss)
        return wrong

    return run


def interrupts() -> Run:
    """Ctrl-C at random moments: two variables that are written together stay equal, and free."""
    v, w = tf.Variable(tf.zeros([100])), tf.Variable(tf.zeros([100]))

    @tf.function(jit_compile=True)
    def step() -> Any:
        v.assign_add(tf.ones([100]))
        w.assign_add(tf.ones([100]))

    @tf.function(jit_compile=True)
    def loop(n: Any) -> Any:
        i = tf.constant(0, tf.int64)
        while i < n:
            v.assign_add(tf.ones([100]))
            w.assign_add(tf.ones([100]))
            i += 1
        return i

    random_ = random.Random(1)
    step()
    loop(tf.constant(1, tf.int64))
    forever = tf.constant(1 << 60, tf.int64)

    def run(count: int) -> int:
        return sum(_interrupted(step, lambda: loop(forever), v, w, random_) for _ in range(count))

    return run


def _interrupted(
    step: Callable[[], Any], loop: Callable[[], Any], v: Any, w: Any, random_: random.Random
) -> bool:
    """Whether something is wrong after one interrupt."""
    delay = random_.random() * 0.01
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    in_loop = random_.random() < 0.5
    try:
        timer.start()
        while True:
            step()
            if in_loop:
                loop()
    except KeyboardInterrupt:
        pass
    timer.join()
    other = threading.Thread(target=step, daemon=True)  # is there a lock that was left?
    other.start()
    other.join(10)
    same = bool(tf.reduce_all(v == w)) and bool(tf.reduce_all(v == v[0]))
    v.assign(tf.zeros([100]))
    w.assign(tf.zeros([100]))
    return other.is_alive() or not same


def threads() -> Run:
    """Calls of one function in eight threads, which are switched every microsecond."""
    sys.setswitchinterval(1e-6)
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(1)
        return x + 1

    compiled = tf.function(lambda x: tf.tanh(x) * 0.0 + x + 1.0, jit_compile=True)
    expected = [0]

    def run(count: int) -> int:
        wrong: list[int] = []

        def work() -> None:
            x, y = tf.constant(0, tf.int64), tf.zeros([3])
            for _ in range(count // 8):
                x, y = step(x), compiled(y)
            wrong.append(int(x) != count // 8 or y.numpy().tolist() != [float(count // 8)] * 3)

        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        expected[0] += 8 * (count // 8)
        return sum(wrong) + (len(wrong) != 8) + (int(v) != expected[0])

    return run


def forks() -> Run:
    """Forked processes, while another thread compiles."""
    numbers = iter(range(3, 1 << 30))

    def check(size: int) -> bool:
        f = tf.function(lambda x: tf.tanh(x) * 2.0, jit_compile=True)
        x = np.linspace(0.0, 1.0, size, dtype=np.float32)
        return bool(np.allclose(f(x).numpy(), np.tanh(x) * 2.0, atol=1e-5))

    def run(count: int) -> int:
        wrong = 0
        for _ in range(count):
            thread = threading.Thread(target=check, args=(next(numbers) % 100 + 3,))
            thread.start()
            process = os.fork()
            if process == 0:
                signal.alarm(60)
                os._exit(0 if check(200) else 1)
            wrong += os.waitpid(process, 0)[1] != 0
            thread.join()
        return wrong

    return run


def _square(x: int) -> int:
    return int(tf.function(lambda x: x * x)(tf.constant(x)))


def spawns() -> Run:
    """Calls in spawned processes, each of which ends after some calls."""
    pool = multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=CALLS_OF_A_CHILD)

    def run(count: int) -> int:
        results = pool.map(_square, range(count), chunksize=1)
        return int(results != [n * n for n in range(count)])

    return run


ROWS = {
    row.start.__name__: row
    for row in (
        Row("eager ops", 1_000_000, eager),
        Row("calls of a concrete function", 1_000_000, concrete),
        Row("calls of a `tf.function`", 1_000_000, dispatched),
        Row("calls with `jit_compile=True`", 1_000_000, compiled),
        Row("traces of one function, which are kept", 10_000, retraces),
        Row("functions that are dropped", 20_000, dropped),
        Row("functions with `jit_compile=True` that are dropped", 5_000, dropped_compiled),
        Row("steps with a tape", 100_000, tapes),
        Row("elements of `tf.data` epochs", 1_000_000, epochs),
        Row("calls of Keras' `fit`", 450, fits),
        Row("interrupts by Ctrl-C", 900, interrupts),
        Row("calls in 8 threads, switched every microsecond", 200_000, threads),
        Row("forked processes", 450, forks),
        Row("calls in spawned processes", 4_500, spawns),
    )
}
# Rows whose memory grows by design.
GROWING = frozenset(["retraces"])
# The rows of the short form.
SHORT = ("eager", "dispatched", "compiled", "dropped", "tapes", "interrupts", "threads", "forks")


def anonymous_memory() -> int:
    """The bytes of memory that the process has; those of files, which the kernel may take back, are left out."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages, shared = map(int, file.read().split()[1:3])
        return (pages - shared) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def slope(sizes: list[int], calls: int) -> float:
    """The slope of a line through the sizes, of which there is one after every so many calls.

    The smaller one of the lines through the first and the second half: memory that is taken once, as
    when the compiler is loaded, is in one of them only.
    """
    middle = len(sizes) // 2
    if middle < 2:
        return 0.0
    halves = [np.array(half, float) for half in (sizes[:middle], sizes[middle:])]
    lines = [np.polyfit(np.arange(len(h)) * float(calls), h, 1) for h in halves]
    return round(min(float(line[0]) for line in lines), 3) + 0.0


class Result(NamedTuple):
    """What was seen of a row."""

    calls: int
    slope: float
    wrong: int
    seconds: float


def measured(row: Row, scale: float) -> Result:
    """Runs a row in this process."""
    run = row.start()
    each = max(int(row.calls * scale) // PARTS, 1)
    sizes: list[int] = []
    wrong = 0
    start = time.perf_counter()
    for part in range(PARTS):
        wrong += run(each)
        gc.collect()
        if part >= WARM_PARTS:
            sizes.append(anonymous_memory())
    seconds = time.perf_counter() - start
    return Result(each * PARTS, slope(sizes, each), wrong, seconds)


def in_a_process(name: str, scale: float) -> Result | None:
    """Runs a row in a process of its own; None if it does not end, or fails."""
    limit = MIN_SECONDS + 1200.0 * scale
    command = [sys.executable, "-W", "ignore", "-m", "trust.soak", "--row", name]
    try:
        done = subprocess.run(
            [*command, "--count", str(scale), "--limit", str(limit)],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit + 30.0,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        print(done.stderr[-4000:], file=sys.stderr)
        return None
    return Result(*json.loads(done.stdout.splitlines()[-1]))


def grows(name: str, result: Result) -> bool:
    """Whether a row's memory grows by more than noise."""
    return name not in GROWING and result.slope * result.calls > NOISE_BYTES


def _table(names: list[str], scale: float) -> tuple[str, bool]:
    """The table of rows, and whether something is wrong with one."""
    lines: list[tuple[object, ...]] = []
    bad = False
    for name in names:
        result = in_a_process(name, scale)
        title = ROWS[name].title
        if result is None:
            lines.append((title, "", "", "", "", 1))
            bad = True
        else:
            calls, per_call, wrong, seconds = result
            bad |= bool(wrong) or grows(name, result)
            lines.append((title, f"{calls:,}", f"{per_call:.2f}", wrong, f"{seconds:.0f}", 0))
        print(*lines[-1], sep=" | ", flush=True)
    heads = ("what", "calls", "memory, bytes per call", "wrong", "seconds", "did not end")
    return page.table(heads, lines), bad


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    # A job that a shell has put into the background ignores the signal, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser.add_argument("--count", type=float, default=1.0, help="the scale: 1 is all calls")
    parser.add_argument("--rows", nargs="*", choices=ROWS, help="only these rows")
    parser.add_argument("--row", choices=ROWS, help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--short", action="store_true", help="a few rows only")
    parser.add_argument("--write", action="store_true", help="write the table to docs/trust.md")
    options = parser.parse_args()
    if options.row:
        tf.get_logger().setLevel("ERROR")
        if options.limit:
            faulthandler.dump_traceback_later(options.limit, exit=True)
        print(json.dumps(measured(ROWS[options.row], options.count)))
        return 0
    names = options.rows or (SHORT if options.short else list(ROWS))
    text, bad = _table(list(names), options.count)
    print(text)
    if options.write:
        page.write("soak", f"python -m trust.soak --count {options.count:g}", text)
    return bad


if __name__ == "__main__":
    sys.exit(main())
