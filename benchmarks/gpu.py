"""What runs on a GPU, against the same written by hand in JAX, side by side in one process.

    python -m benchmarks.gpu [--write] [--small] [--only NAME ...] [--seconds S] [--jax-first]
                            [--results FILE] [--others FILE] [--page-only]

`--write` writes `benchmarks/gpu.md`. Without a GPU the rows say that they were not measured; with
`--small` they run on XLA's host with small sizes, which shows that they run and nothing else. Each group of
rows is a process of its own with a limit of time; what was measured is in `--results`, a line for each row.

A row is the median of many samples, ours and JAX' alternating: a sample is a number of calls and the wait for
the last. `copies` are those between host and device in three calls: as the program counts them, and whether
jax' guard against transfers lets the calls pass. What is compiled first also starts the libraries of the GPU,
and times algorithms that both use, so that first calls are those of two runs: `--jax-first` is the other order.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.gpu_steps import Residual, Steps, Transformer, language_model, residual_network
from intaglio import tf, xla

PAGE = pathlib.Path(__file__).with_suffix(".md")
GPU = "/GPU:0"
NOT_MEASURED = "not measured"
# Seconds after which a group is stopped.
LIMIT = 150.0


def eager_add(small: bool) -> Steps:
    """The sum of two vectors, op by op."""
    x = np.ones(1000 if small else 1 << 20, np.float32)
    a, b = tf.constant(x), tf.constant(x) + 1.0
    c, d = jnp.asarray(x), jnp.asarray(x) + 1.0
    return Steps(lambda: a + b, lambda: c + d)


def call(small: bool) -> Steps:
    """A compiled function of next to nothing."""
    x = np.ones((4, 4), np.float32)
    ours = tf.function(lambda a: a + 1.0)
    jaxs = jax.jit(lambda a: a + 1.0)
    a, b = tf.constant(x) * 1.0, jnp.asarray(x)
    return Steps(lambda: ours(a), lambda: jaxs(b))


def product(small: bool) -> Steps:
    """The product of two matrices in bfloat16."""
    n = 64 if small else 8192
    x = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    a, b = tf.cast(tf.constant(x), tf.bfloat16), jnp.asarray(x).astype(jnp.bfloat16)
    ours, jaxs = tf.function(lambda a: a @ a), jax.jit(lambda a: a @ a)
    return Steps(lambda: ours(a), lambda: jaxs(b))


def product_32(small: bool) -> Steps:
    """The product of two matrices in float32, by TensorFloat-32 where the GPU has it."""
    n = 64 if small else 8192
    x = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
    a, b = tf.constant(x), jnp.asarray(x)
    ours, jaxs = tf.function(lambda a: a @ a), jax.jit(lambda a: a @ a)
    return Steps(lambda: ours(a), lambda: jaxs(b))


def resnet(small: bool) -> Steps:
    """A training step of a residual network with CutMix."""
    return residual_network(Residual(1, 4, 4, 8) if small else Residual())


SMALL = Transformer(2, 16, 2, 64, 8, 2)


def gpt2(small: bool) -> Steps:
    """A training step of GPT-2 small in float32."""
    return language_model(SMALL if small else Transformer(), np.float32)


def gpt2_mixed(small: bool) -> Steps:
    """The same with products in bfloat16, as `mixed_bfloat16`."""
    return language_model(SMALL if small else Transformer(), tf.bfloat16.as_numpy_dtype)


# By name: what makes the calls, how often a sample repeats them, and the goal for the ratio.
ROWS: dict[str, tuple[Callable[[bool], Steps], int, float | None]] = {
    "eager a + b": (eager_add, 50, 1.5),
    "call of a small function": (call, 50, 1.3),
    "8192 x 8192 product, bfloat16": (product, 5, 1.05),
    "8192 x 8192 product, float32": (product_32, 5, 1.05),
    "ResNet with CutMix, step": (resnet, 5, 1.05),
    "GPT-2 small, step, float32": (gpt2, 3, 1.05),
    "GPT-2 small, step, mixed_bfloat16": (gpt2_mixed, 3, 1.05),
}
GROUPS = ([*ROWS][:4], *[[name] for name in [*ROWS][4:]])


def _wait(result: Any) -> None:
    getattr(result, "_buffer", result).block_until_ready()


def measured(name: str, small: bool, seconds: float, jax_first: bool = False) -> dict[str, Any]:
    """The row of a name: milliseconds of a call, seconds of the first one, and copies."""
    make, repeats, _ = ROWS[name]
    with tf.device(GPU):
        steps = make(small)
        row: dict[str, Any] = {"name": name}
        values: dict[str, float] = {}
        both = [("first", steps.ours), ("jax_first", steps.jaxs)]
        for key, run in both[::-1] if jax_first else both:
            start = time.perf_counter()
            result = run()
            _wait(result)
            row[key] = time.perf_counter() - start
            values[key] = float(np.asarray(getattr(result, "_buffer", result)).ravel()[0])
        row["values"] = [values["first"], values["jax_first"]]
        for _ in range(5):
            _wait(steps.ours())
            _wait(steps.jaxs())
        row |= _copies(steps.ours)
        row |= _times(steps, repeats, seconds)
    return row


def _times(steps: Steps, repeats: int, seconds: float) -> dict[str, Any]:
    samples: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[1]) < 3:
        for found, run in zip(samples, steps, strict=True):
            start = time.perf_counter()
            for _ in range(repeats - 1):
                run()
            _wait(run())
            found.append((time.perf_counter() - start) / repeats)
    ours, jaxs = [statistics.median(s) for s in samples]
    return {"ms": ours * 1e3, "jax_ms": jaxs * 1e3, "samples": len(samples[0])}


def _copies(run: Callable[[], Any]) -> dict[str, Any]:
    """Copies between host and device in three calls, and whether jax' guard lets them pass."""
    with xla.transfers.counting() as count:
        for _ in range(2):
            run()
        _wait(run())
    try:
        with jax.transfer_guard("disallow"):
            _wait(run())
        hidden = ""
    except Exception as e:
        hidden = str(e).split("\n")[0]
    return {"copies": count.to_device + count.to_host, "hidden": hidden}


def device_name() -> str:
    """What the GPU is; empty without one."""
    found = tf.config.list_physical_devices("GPU")
    if not found or xla.stand_ins():
        return ""
    return tf.config.experimental.get_device_details(found[0])["device_name"]


def page(
    rows: dict[str, dict[str, Any]], device: str, others: dict[str, dict[str, Any]] | None = None
) -> str:
    """The table; with first calls in both orders if there are `others`, measured in the other one."""
    date = datetime.date.today().isoformat()
    text = "# On a GPU\n\n`python -m benchmarks.gpu --write`"
    text += f" on {date}: {device}.\n\n" if device else " was not run on one.\n\n"
    text += "| | here, ms | JAX, ms | ratio | goal | copies in 3 calls | first call here, s | JAX, s |\n"
    text += "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    for name, (_, _, goal) in ROWS.items():
        row = rows.get(name)
        if row is None or "ms" not in row:
            text += f"| {name} | {NOT_MEASURED} | | | {goal} | | | |\n"
            continue
        copies = f"{row['copies']}{'; a hidden one' if row['hidden'] else ''}"
        numbers = f"{row['ms']:.3f} | {row['jax_ms']:.3f} | {row['ms'] / row['jax_ms']:.2f}"
        found = [r[name] for r in (others or {}, rows) if "first" in r.get(name, {})]
        first = [", ".join([f"{r[k]:.1f}" for r in found]) for k in ("first", "jax_first")]
        text += f"| {name} | {numbers} | {goal} | {copies} | {' | '.join(first)} |\n"
    if others:
        text += (
            "\nFirst calls are those of two runs: in one ours came first, in the other JAX'. "
            "The first one in a process starts the GPU's libraries.\n"
        )
    return text


def _read(path: pathlib.Path | None) -> list[dict[str, Any]]:
    """The rows of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path else []


def _worker(
    names: list[str], small: bool, seconds: float, results: pathlib.Path, jax_first: bool = False
) -> None:
    with xla.host_as("GPU") if small and not xla.accelerators() else contextlib.nullcontext():
        for name in names:
            try:
                row = measured(name, small, seconds, jax_first)
            except Exception as e:
                row = {"name": name, "error": f"{type(e).__name__}: {e}"[:2000]}
            row |= {"device": device_name(), "jax": jax.__version__}
            with results.open("a") as file:
                print(json.dumps(row), file=file)


def main(arguments: list[str] | None = None) -> None:
    """Runs the groups, prints the table, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write benchmarks/gpu.md")
    parser.add_argument("--small", action="store_true", help="small sizes, also without a GPU")
    parser.add_argument("--only", nargs="*", default=[*ROWS], help="names of rows")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each row")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("gpu_results.jsonl"))
    parser.add_argument("--jax-first", action="store_true", help="compile the step of JAX first")
    parser.add_argument("--others", type=pathlib.Path, help="results of a run in the other order")
    parser.add_argument("--page-only", action="store_true", help="of results that are there")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args(arguments)
    if options.worker:
        _worker(options.only, options.small, options.seconds, options.results, options.jax_first)
        return
    if not options.page_only:
        options.results.write_text("")
    if (options.small or xla.accelerators()) and not options.page_only:
        for group in GROUPS:
            names = [n for n in group if n in options.only]
            flags = ["--small"] * options.small + ["--jax-first"] * options.jax_first
            if names:
                command = [sys.executable, "-m", "benchmarks.gpu", "--worker", *flags]
                command += ["--seconds", str(options.seconds), "--results", str(options.results)]
                with contextlib.suppress(subprocess.TimeoutExpired):
                    subprocess.run([*command, "--only", *names], timeout=LIMIT, check=False)
    found = _read(options.results)
    for row in found:
        if "error" in row:
            print(f"{row['name']}: {row['error']}", file=sys.stderr)
    device = next((f"{r['device']}, jax {r['jax']}" for r in found if r.get("device")), "")
    others = {r["name"]: r for r in _read(options.others)}
    text = page({r["name"]: r for r in found}, device, others)
    print(text)
    if options.write:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
