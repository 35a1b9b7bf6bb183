"""Models served over HTTP: Intaglio against TensorFlow behind the same server code, in one run.

    python -m benchmarks.serving [--tensorflow PYTHON] [--rounds N]      writes benchmarks/serving.md

PYTHON is an interpreter of an environment with TensorFlow, starlette, uvicorn and httptools. Both servers
are processes that `intaglio.serve` runs in, with the same SavedModel; the one for TensorFlow loads it by
`tf.saved_model.load` there and calls its signature. Both are up all the time, and asked in turn by 64
connections that each wait for their answer; a figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import datetime
import importlib
import json
import os
import pathlib
import platform
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import uvicorn

import intaglio
from intaglio import tf
from intaglio.base import dtypes
from intaglio.serve import servables
from intaglio.serve.application import Limits, Server
from intaglio.serve.servables import Servable, Signature, TensorInfo
from intaglio.serve.versions import Models
from trust.serving import asked

PAGE = pathlib.Path(__file__).with_name("serving.md")
ROOT = pathlib.Path(__file__).parents[1]
CONNECTIONS = 64
SECONDS = 2.0
# The rows of a request, and those that the server may join.
CASES = {"1 row": (1, 0), "1 row, joined up to 64": (1, 64), "32 rows": (32, 0)}
MODELS = ("digits", "images")


# -- models ----------------------------------------------------------------------------------------


def save(folder: pathlib.Path) -> None:
    """A network for digits of 8x8 pixels, and one with convolutions for images of 28x28."""
    rng = np.random.default_rng(0)

    def weights(*shape: int) -> tf.Variable:
        return tf.Variable((rng.normal(size=shape) * 0.1).astype(np.float32))

    digits = tf.Module()
    digits.w, digits.v = weights(64, 128), weights(128, 10)
    spec = tf.TensorSpec([None, 64], tf.float32, name="x")
    digits.f = tf.function(
        lambda x: tf.nn.softmax(tf.nn.relu(x @ digits.w) @ digits.v), input_signature=[spec]
    )
    tf.saved_model.save(digits, str(folder / "digits" / "1"), signatures=digits.f)
    images = tf.Module()
    images.a, images.b, images.c = weights(3, 3, 1, 16), weights(3, 3, 16, 32), weights(1568, 10)
    spec = tf.TensorSpec([None, 28, 28, 1], tf.float32, name="x")

    def network(x: Any) -> Any:
        for kernel in (images.a, images.b):
            x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, kernel, 1, "SAME")), 2, 2, "VALID")
        return tf.nn.softmax(tf.reshape(x, [-1, 1568]) @ images.c)

    images.f = tf.function(network, input_signature=[spec])
    tf.saved_model.save(images, str(folder / "images" / "1"), signatures=images.f)


def body(model: str, rows: int) -> bytes:
    """A request for a model, its pixels written with three digits."""
    shape = {"digits": (rows, 64), "images": (rows, 28, 28, 1)}[model]
    pixels = np.random.default_rng(1).random(shape).round(3)
    return json.dumps({"instances": pixels.tolist()}).encode()


# -- servers ---------------------------------------------------------------------------------------


def load_with_tensorflow(folder: str) -> Servable:
    """The SavedModel in a folder as TensorFlow loads and runs it."""
    tensorflow = importlib.import_module("tensorflow")
    root = tensorflow.saved_model.load(folder)
    found = {key: _of_tensorflow(tensorflow, key, root) for key in root.signatures}
    return Servable(found, {})


def _of_tensorflow(tensorflow: Any, key: str, root: Any) -> Signature:
    function = root.signatures[key]

    def infos(specs: dict[str, Any]) -> dict[str, TensorInfo]:
        return {
            name: TensorInfo(dtypes.as_dtype(s.dtype.name), tuple(s.shape.as_list()))
            for name, s in specs.items()
        }

    def run(arrays: Any) -> dict[str, np.ndarray]:
        results = function(**{n: tensorflow.constant(a) for n, a in arrays.items()})
        # The root is named because the function does not keep its variables.
        return {n: t.numpy() for n, t in results.items()} if root else {}

    inputs = infos(function.structured_input_signature[1])
    return Signature(key, servables.PREDICT, inputs, infos(function.structured_outputs), run)


def serve(library: str, folder: str, batch_rows: int) -> None:
    """Serves a folder with the models run by a library, until it is terminated."""
    load = {"intaglio": servables.load, "tensorflow": load_with_tensorflow}[library]
    models = Models(folder, load=load)
    models.refresh()
    application = Server(models, Limits(batch_rows=batch_rows, threads=2)).application()
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(application, log_level="error", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


@contextlib.contextmanager
def started(library: str, python: str, folder: str, batch_rows: int) -> Iterator[tuple[int, Any]]:
    """A server's port and process, stopped while nobody asks it."""
    arguments = ["--serve", library, "--folder", folder, "--batch-rows", str(batch_rows)]
    process = subprocess.Popen(
        [python, "-W", "ignore", "-m", "benchmarks.serving", *arguments],
        cwd=ROOT,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line.strip():
            raise RuntimeError(f"the server with {library} did not start")
        process.send_signal(signal.SIGSTOP)
        yield int(line), process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


# -- measuring -------------------------------------------------------------------------------------


class Burst(NamedTuple):
    """Requests a second, the seconds that 50 and 99 of 100 took, the server's CPU seconds for each."""

    rate: float
    median: float
    p99: float
    cpu: float


async def burst(port: int, pid: int, model: str, rows: int, seconds: float) -> Burst:
    """What 64 connections see in so many seconds. Raises RuntimeError for a wrong answer."""
    times: list[float] = []
    content = body(model, rows)
    path = f"/v1/models/{model}:predict"
    start, used = time.perf_counter(), cpu_seconds(pid)

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() - start < seconds:
            begun = time.perf_counter()
            status, answer, _ = await asked(reader, writer, path, content)
            times.append(time.perf_counter() - begun)
            if status != 200:
                raise RuntimeError(answer.decode())
        writer.close()

    await asyncio.gather(*[connection() for _ in range(CONNECTIONS)])
    passed = time.perf_counter() - start
    times.sort()
    cpu = (cpu_seconds(pid) - used) / len(times)
    return Burst(len(times) / passed, times[len(times) // 2], times[int(len(times) * 0.99)], cpu)


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(pythons: dict[str, str], rounds: int) -> dict[str, dict[str, Burst]]:
    """case -> library -> medians of the rounds."""
    found: dict[str, dict[str, Burst]] = {}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        folder = pathlib.Path(place)
        save(folder)
        for title, (rows, joined) in CASES.items():
            servers = {
                name: stack.enter_context(started(name, python, place, joined))
                for name, python in pythons.items()
            }
            for model in MODELS:
                seen: dict[str, list[Burst]] = {name: [] for name in servers}
                for number in range(rounds + 1):
                    for name, (port, process) in servers.items():
                        process.send_signal(signal.SIGCONT)
                        one = asyncio.run(burst(port, process.pid, model, rows, SECONDS))
                        process.send_signal(signal.SIGSTOP)
                        if number:  # the first one warms up
                            seen[name].append(one)
                found[f"{model}, {title}"] = {
                    name: Burst(*map(statistics.median, zip(*several, strict=True)))
                    for name, several in seen.items()
                }
                print(model, title, found[f"{model}, {title}"], flush=True)
    return found


def page(found: dict[str, dict[str, Burst]], rounds: int) -> str:
    """The text of serving.md."""
    lines = [
        "# Serving",
        "",
        "Generated by `python -m benchmarks.serving --tensorflow PYTHON`; do not edit.",
        f"{datetime.date.today().isoformat()}, {platform.machine()}, {os.cpu_count()} cores, which the client "
        f"shares, Intaglio {intaglio.__version__}: predict requests of {CONNECTIONS} connections to `intaglio "
        "serve`, its models run by Intaglio or by TensorFlow. `digits` is a network 64-128-10, `images` has two "
        f"convolutions on 28x28. Medians of {rounds} bursts of {SECONDS:g} s in turn. The first ratio is that of requests "
        "a second, which other work on the machine and the client take part of; the second one is that of requests "
        "for each second of the server's CPU, which they do not. The goal is 2.",
        "",
        "| requests | Intaglio | TensorFlow | ratio | 99 of 100 within | TensorFlow's | the server's CPU for "
        "each | TensorFlow's | ratio |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for case, row in found.items():
        own, other = row["intaglio"], row.get("tensorflow")
        cells = [case, f"{own.rate:.0f}/s", "", "", f"{own.p99 * 1e3:.0f} ms", ""]
        cells += [f"{own.cpu * 1e6:.0f} us", "", ""]
        if other is not None:
            cells[2:4] = [f"{other.rate:.0f}/s", f"{own.rate / other.rate:.2f}"]
            cells[5] = f"{other.p99 * 1e3:.0f} ms"
            cells[7:] = [f"{other.cpu * 1e6:.0f} us", f"{other.cpu / own.cpu:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tensorflow", default="", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--batch-rows", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.folder, options.batch_rows)
        return
    pythons = {"intaglio": sys.executable}
    if options.tensorflow:
        pythons["tensorflow"] = options.tensorflow
    text = page(measured(pythons, options.rounds), options.rounds)
    print(text)
    if options.tensorflow:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
